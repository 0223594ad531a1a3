"""Samples of cumulative sums and products."""

from __future__ import annotations

import numpy as onp
from samples import ERRS, NO_RULE, WRONG, Row, Sample, arr, sample, val

ONE = onp.int64(1)
ZEROS = [
    sample(val((2.0, 0.0, 3.0))).but(oracle=WRONG),
    sample(val((2.0, 0.0, 0.0, 3.0))).but(oracle=WRONG),
]


def _accumulate() -> list[Sample]:
    return [
        sample(arr(4)).but(dtypes="dfD"),
        sample(0.7).but(oracle=ERRS),
        sample(arr()),
        sample(arr(2, 3)).but(dtypes="dfD"),
        sample(arr(2, 3, layout="T")),
        sample(arr(2, 3), axis=0).but(dtypes="dfD"),
        sample(arr(2, 3, layout="R"), axis=-1),
        sample(arr(2, 3), 1),
        sample(arr(2, 3, 4), axis=ONE),
        sample(arr(2, 3, 4), axis=-2),
        sample(arr(0)),
        sample(arr(2, 0), axis=1),
        sample(arr(2, 0), axis=0),
        sample(arr(3), dtype="f").but(coarse=True, oracle=ERRS),
    ]


WITH_NAN = ((1.0, onp.nan, 2.5), (onp.nan, 1.5, -0.5))
NANCUM = [
    sample(arr(4)).but(dtypes="dfD"),
    sample(arr(2, 3, layout="T"), axis=0),
    sample(arr(2, 3), -1),
    sample(arr(2, 3), ONE),
    sample(arr(3), dtype="d"),
]
NANCUM_HOLES = [sample(val(WITH_NAN)), sample(val(WITH_NAN), 1), sample(val(WITH_NAN), axis=0)]
CUMULATIVE = [
    sample(arr(4)).but(dtypes="dfD"),
    sample(arr(2, 3, layout="T"), axis=0),
    sample(arr(2, 3), axis=-1, include_initial=True),
    sample(arr(4), include_initial=True, dtype="d"),
    sample(val((1.0, 0.0, 2.0, 0.0))),
]

ROWS = [
    Row("cumsum", _accumulate() + [sample(arr(3), dtype="D").but(oracle=ERRS)]),
    Row("cumprod", _accumulate() + ZEROS, oracle=NO_RULE),
    Row("nancumsum", [*NANCUM, *NANCUM_HOLES], oracle=NO_RULE),
    Row("nancumprod", [*NANCUM, *NANCUM_HOLES], oracle=NO_RULE),
    Row("cumulative_sum", CUMULATIVE, oracle=NO_RULE),
    Row("cumulative_prod", CUMULATIVE, oracle=NO_RULE),
]
