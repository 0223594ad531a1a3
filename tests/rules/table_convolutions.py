"""Samples of convolution and correlation."""

from __future__ import annotations

import numpy as onp
from samples import NO_RULE, Row, arr, sample

LENGTHS = [(5, 3), (3, 5), (4, 4), (5, 2), (2, 5), (1, 4), (4, 1), (1, 1)]
CONVOLVE = [
    sample(arr(5), arr(3)).but(dtypes="dfDF"),
    *[sample(arr(n), arr(m), mode).but(dtypes="dD") for n, m in LENGTHS for mode in ("full", "same", "valid")],
    sample(arr(5), arr(3), mode="valid"),
    sample(arr(5, layout="R"), arr(3, layout="S")),
    sample(arr(5), arr(3, kind="D")),
    sample(arr(5, kind="f"), arr(3)),
    sample(arr(5), onp.array([1, 2])),
    sample(arr(3), [0.5, 1.5]),
]
CONVOLVE_NUMBERS = [sample(arr(5), 0.5), sample(0.5, arr(2), "same"), sample(0.5, arr())]

ROWS = [
    Row("convolve", [*CONVOLVE, *CONVOLVE_NUMBERS], oracle=NO_RULE),
    Row("correlate", CONVOLVE, oracle=NO_RULE),
]
