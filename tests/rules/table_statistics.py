"""Samples of covariances, quantiles and counts."""

from __future__ import annotations

import numpy as onp
from samples import NO_RULE, Row, arr, const, sample

COV = [
    sample(arr(3, 5)).but(dtypes="dfD"),
    sample(arr(5)).but(dtypes="dD"),
    sample(arr(5, 3, layout="T"), rowvar=False),
    sample(arr(3, 5), arr(2, 5)).but(dtypes="dD"),
    sample(arr(5), arr(5)),
    sample(arr(5, 2), arr(5), False),
    sample(arr(3, 5), bias=True),
    sample(arr(3, 5), ddof=2),
    sample(arr(2, 4), fweights=onp.array([1, 2, 1, 3])),
    sample(arr(2, 4), aweights=onp.array([0.5, 1.0, 2.0, 1.0])),
    sample(arr(2, 4), ddof=0, fweights=onp.array([1, 2, 1, 3]), aweights=onp.array([0.5, 1.0, 2.0, 1.0])),
    sample(arr(2, 4), None, True, False, None, onp.array([1, 2, 1, 3]), arr(4, lo=0.5)),
]
CORRCOEF = [
    sample(arr(3, 5)).but(dtypes="dfD"),
    sample(arr(5, 3, layout="T"), rowvar=False),
    sample(arr(5), arr(5)),
    sample(arr(2, 5), arr(2, 5)),
]

ORDERED = arr(7, distinct=0.05)
TABLE = arr(4, 6, distinct=0.05)
METHODS = (
    "inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull linear "
    "median_unbiased normal_unbiased lower higher midpoint nearest"
).split()
QUANTILE = [
    sample(ORDERED, const(0.3)).but(dtypes="df"),
    sample(ORDERED, onp.array([0.0, 0.25, 1.0])),
    sample(TABLE, const(0.4), axis=0),
    sample(TABLE, onp.array([[0.1, 0.5], [0.9, 0.3]]), axis=-1),
    sample(arr(2, 3, 4, distinct=0.05, layout="T"), onp.array([0.2, 0.7]), axis=(0, -1)),
    sample(arr(2, 3, 4, distinct=0.05), const(0.6), axis=(2, 0), keepdims=True),
    sample(TABLE, onp.array([0.2, 0.7]), keepdims=True),
    *[sample(ORDERED, onp.array([0.15, 0.5, 0.77]), method=method) for method in METHODS],
    sample(ORDERED, const(0.3), overwrite_input=True).but(refused=True),
    sample(arr(1), const(0.3)),
]
PERCENTILE = [
    sample(ORDERED, 30).but(dtypes="df"),
    sample(TABLE, onp.array([25, 99]), axis=1),
    sample(TABLE, 50, 0, keepdims=True, method="hazen"),
]
MEDIAN = [
    sample(ORDERED).but(dtypes="df"),
    sample(arr(6, distinct=0.05)),
    sample(TABLE, axis=0),
    sample(TABLE, axis=-1, keepdims=True),
    sample(arr(2, 3, 4, distinct=0.05, layout="T"), (0, 2)),
    sample(0.5),
    sample(ORDERED, overwrite_input=True).but(refused=True),
]
BINCOUNT = [
    sample(onp.array([0, 2, 2, 1]), arr(4)).but(dtypes="d"),
    sample(onp.array([0, 2, 2, 1]), arr(4), minlength=6),
]

ROWS = [
    Row("cov", COV, oracle=NO_RULE),
    Row("corrcoef", CORRCOEF, oracle=NO_RULE),
    Row("quantile", QUANTILE, oracle=NO_RULE),
    Row("percentile", PERCENTILE, oracle=NO_RULE),
    Row("median", MEDIAN, oracle=NO_RULE),
    Row("bincount", BINCOUNT, oracle=NO_RULE),
]
