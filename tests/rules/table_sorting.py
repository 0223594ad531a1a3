"""Samples of sorting and partitioning."""

from __future__ import annotations

import numpy as onp
from samples import ERRS, Row, arr, sample, val

ONE = onp.int64(1)

SPACED = {"distinct": 0.05}
SORT = [
    sample(arr(5, **SPACED)).but(dtypes="df"),
    sample(arr(2, 5, **SPACED)).but(dtypes="df", oracle=ERRS),
    sample(arr(4, 3, **SPACED), axis=0).but(oracle=ERRS),
    sample(arr(4, 3, layout="T", **SPACED), 1).but(oracle=ERRS),
    sample(arr(4, 3, **SPACED), axis=None).but(oracle=ERRS),
    sample(arr(2, 3, 4, layout="R", **SPACED), axis=1).but(oracle=ERRS),
    sample(arr(2, 3, 4, **SPACED), axis=-2).but(oracle=ERRS),
    sample(arr(2, 3, 4, **SPACED), axis=ONE).but(oracle=ERRS),
    sample(arr(5, **SPACED), kind="stable"),
    sample(arr(0)),
    sample(arr(2, 0)).but(oracle=ERRS),
    sample(arr(1)),
    sample(val((1.0, 2.0, 1.0, 0.0))).but(kink=True),
]
PARTITION = [
    sample(arr(6, **SPACED), 2).but(dtypes="df"),
    sample(arr(6, **SPACED), -1),
    sample(arr(6, **SPACED), (1, 3)),
    sample(arr(2, 6, **SPACED), 2).but(oracle=ERRS),
    sample(arr(5, 3, **SPACED), 2, axis=0).but(oracle=ERRS),
    sample(arr(5, 3, layout="T", **SPACED), 1, 1).but(oracle=ERRS),
    sample(arr(5, 3, **SPACED), 4, axis=None).but(oracle=ERRS),
    sample(arr(2, 4, 3, layout="R", **SPACED), 1, axis=-2).but(oracle=ERRS),
    sample(arr(6, **SPACED), kth=ONE),
]

ROWS = [
    Row("sort", SORT),
    Row("msort", [sample(arr(5, **SPACED)), sample(arr(4, 3, **SPACED)).but(oracle=ERRS)]),
    Row("partition", PARTITION),
]
