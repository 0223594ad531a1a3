"""Samples of padding."""

from __future__ import annotations

import numpy as onp
from samples import ERRS, NO_RULE, Row, arr, sample

PAD = [
    sample(arr(3), 2, "constant").but(dtypes="dfD"),
    sample(arr(3), (1, 2), "constant"),
    sample(arr(3), ((1, 2),), "constant"),
    sample(arr(2, 3), 1, "constant"),
    sample(arr(2, 3), (1, 2), "constant"),
    sample(arr(2, 3), ((1, 2),), "constant"),
    sample(arr(2, 3, layout="T"), ((1, 0), (0, 2)), "constant"),
    sample(arr(2, 3), [[1, 2], [0, 1]], mode="constant"),
    sample(arr(2, 3), onp.array([[1, 2], [0, 1]]), "constant"),
    sample(arr(2, 3), ((1,), (2,)), "constant").but(oracle=ERRS),
    sample(arr(2, 3), 1, "constant", constant_values=2.5),
    sample(arr(2, 3), 1, "constant", constant_values=((1.0, 2.0), (3.0, 4.0))),
    sample(arr(3), 0, "constant"),
    sample(arr(3), 2).but(oracle=ERRS),
    sample(arr(0), 2, "constant"),
]
PAD_MODES = [
    sample(arr(3), 2, "edge").but(dtypes="df"),
    sample(arr(2, 3), ((1, 0), (2, 1)), "edge"),
    sample(arr(4), 2, "reflect").but(dtypes="df"),
    sample(arr(2, 4), ((1, 0), (2, 5)), "reflect"),
    sample(arr(4), 2, "symmetric"),
    sample(arr(2, 4), ((1, 0), (2, 5)), "symmetric"),
    sample(arr(4), (2, 5), "wrap"),
    sample(arr(2, 4), ((1, 0), (2, 5)), "wrap"),
]
PAD_COMPUTED = [
    sample(arr(4), 2, "reflect", reflect_type="odd").but(dtypes="dfD"),
    sample(arr(4), (2, 9), "reflect", reflect_type="odd"),
    sample(arr(4), (2, 1), "symmetric", reflect_type="odd"),
    sample(arr(2, 3, layout="T"), ((0, 2), (1, 3)), "symmetric", reflect_type="odd"),
    sample(arr(4), 2, "reflect", reflect_type="even"),
    sample(arr(4), (2, 3), "linear_ramp", end_values=(1.0, -1.0)).but(dtypes="dfD"),
    sample(arr(2, 4), (2, 3), "linear_ramp"),
    sample(arr(2, 4), ((1, 0), (2, 3)), "linear_ramp", end_values=((1.0, 2.0), (3.0, 4.0))),
    sample(arr(4), (2, 1), "mean").but(dtypes="dfD"),
    sample(arr(2, 4), (1, 1), "mean", stat_length=2),
    sample(arr(2, 4), 1, "mean", stat_length=((1, 2), (3, 9))),
    sample(arr(4, distinct=0.05), (2, 1), "maximum").but(dtypes="df"),
    sample(arr(2, 4, distinct=0.05), 1, "minimum", stat_length=2),
    sample(arr(5, distinct=0.05), (2, 1), "median").but(dtypes="df"),
]

ROWS = [
    Row("pad", PAD),
    Row(
        "pad modes",
        [*PAD_MODES, *PAD_COMPUTED],
        fun=lambda np: np.pad,
        covers=("pad",),
        oracle=NO_RULE,
    ),
]
