"""Samples of functions that NumPy composes of others, and of convolutions."""

from __future__ import annotations

import numpy as onp
from checks import NO_RULE, Row, arr, const, sample, val

ONE = onp.int64(1)

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
TAKE_ALONG_AXIS = [
    sample(arr(4, 5), onp.array([[0, 2, 2, 1, 3]]), 0).but(dtypes="dfD"),
    sample(arr(2, 3, layout="T"), onp.array([[2, 0], [1, 1]]), axis=1),
    sample(arr(2, 3, 4), onp.array([[[1, 1, 0, 2]]]), axis=-2),
    sample(arr(2, 3), onp.array([5, 0, 0]), None),
    sample(arr(4), onp.array([-1, 2, -1]), ONE - 1),
    sample(arr(4), onp.array([], int), 0),
]
DELETE = [
    sample(arr(5), 2).but(dtypes="dfD"),
    sample(arr(3, 4, layout="T"), [0, -1], 1),
    sample(arr(3, 4), slice(1, 3), axis=-2),
    sample(arr(2, 3), [1, 1]),
    sample(arr(3), onp.array([True, False, True])),
]
INSERT = [
    sample(arr(4), 1, 0.5).but(dtypes="dfD"),
    sample(arr(4), [0, 2, 4], arr(3)),
    sample(arr(4), [1, 1], arr(2)),
    sample(arr(4), -1, arr(3)),
    sample(arr(2, 3), 1, arr(2), axis=1),
    sample(arr(2, 3, layout="T"), 1, arr(3), axis=0),
    sample(arr(2, 3), [0, 2], arr(2, 1), axis=1),
    sample(arr(2, 3), [0, 1], arr(2, 3), axis=0),
    sample(arr(2, 3), 4, 0.5),
    sample(arr(4), slice(0, 4, 2), const(onp.ones(2))),
    sample(arr(4), 1, arr(1, kind="f")),
]
RESIZE = [
    sample(arr(4), (2, 3)).but(dtypes="dfD"),
    sample(arr(2, 3, layout="T"), 4),
    sample(arr(2, 2), (3, 3)),
    sample(arr(3), (0,)),
    sample(0.5, (2, 2)),
]
CHOOSE = [
    sample(onp.array([0, 1, 0]), [arr(3), arr(3)]).but(dtypes="dfD"),
    sample(onp.array([[0, 1, 2], [2, 1, 0]]), arr(3, 3)),
    sample(onp.array([[0], [1]]), arr(2, 3)),
    sample(onp.array([0, 3, -1]), arr(2, 3), mode="wrap"),
    sample(onp.array([0, 3, -1]), arr(2, 3), mode="clip"),
    sample(1, arr(2, 3)),
]
DIAGFLAT = [
    sample(arr(3)).but(dtypes="dfD"),
    sample(arr(2, 2, layout="T"), 1),
    sample(0.5, k=-2),
]
BROADCAST_ARRAYS = [
    sample(arr(3), arr(2, 1)).but(dtypes="dfD"),
    sample(arr(3), 0.5, onp.ones((2, 3))),
    sample(arr(2, 3, layout="T")),
]
MESHGRID = [
    sample(arr(3), arr(2)).but(dtypes="dfD"),
    sample(arr(3), arr(2), indexing="ij"),
    sample(arr(3), arr(2), arr(4), sparse=True),
    sample(arr(3), arr(2), onp.arange(2.0)),
    sample(arr(3)),
    sample(arr(3), 0.5),
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
EDIFF1D = [
    sample(arr(4)).but(dtypes="dfD"),
    sample(arr(2, 3, layout="T")),
    sample(arr(4), 0.5, 1.5),
    sample(arr(4), to_end=onp.array([1.0, 2.0])),
    sample(arr(4), arr(2)),
    sample(arr(1)),
]
UNWRAP = [
    sample(arr(5, lo=-9.0, hi=9.0)).but(dtypes="df"),
    sample(arr(5, 3, lo=-9.0, hi=9.0, layout="T"), axis=0),
    sample(arr(5), period=1.3),
    sample(arr(5, lo=-9.0, hi=9.0), discont=4.0),
]

VECDOT = [
    sample(arr(3), arr(3)).but(dtypes="dfD"),
    sample(arr(2, 3), arr(3)).but(dtypes="dD"),
    sample(arr(2, 1, 3, layout="T"), arr(4, 3)),
    sample(arr(3, 2), arr(3, 2), axis=0),
    sample(arr(3, 2), arr(4, 3, 2), axis=-2),
    sample(arr(3), arr(3, kind="D")),
]
MATVEC = [
    sample(arr(2, 3), arr(3)).but(dtypes="dfD"),
    sample(arr(4, 2, 3, layout="T"), arr(3)),
    sample(arr(2, 3), arr(4, 3)),
]
VECMAT = [
    sample(arr(2), arr(2, 3)).but(dtypes="dfD"),
    sample(arr(2), arr(4, 2, 3)),
    sample(arr(4, 2), arr(2, 3)),
]

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

KNOWN = onp.array([0.0, 0.5, 0.7, 1.5, 2.0])
INTERP = [
    sample(arr(6, lo=-1.0, hi=3.0), const(KNOWN), arr(5)),
    sample(0.6, const(KNOWN), arr(5)),
    sample(arr(2, 3, lo=0.1, hi=1.9, layout="T"), val(tuple(KNOWN)), arr(5)),
    sample(arr(6, lo=-1.0, hi=3.0), val(tuple(KNOWN)), arr(5), 0.3, 0.4),
    sample(arr(6, lo=-1.0, hi=3.0), const(KNOWN), const(onp.ones(5)), 0.3),
    sample(arr(6, lo=-1.0, hi=3.0), const(KNOWN), arr(5, kind="D")),
    sample(arr(6, lo=-5.0, hi=7.0), val((0.3, 2.1, 1.1)), arr(3), period=2.5),
    sample(arr(3), const(onp.array([0.5])), arr(1)),
    sample(arr(3, kind="f"), const(KNOWN), arr(5)),
]

POLYVAL = [
    sample(arr(4), 0.7).but(dtypes="dD"),
    sample(arr(4), arr(2, 3, layout="T")).but(dtypes="dfD"),
    sample([1, 2, 3], arr(3)),
    sample(arr(1), arr(3)),
    sample(arr(3), const(2.0)),
]
POLYDER = [sample(arr(4)).but(dtypes="dD"), sample(arr(4), 2), sample(arr(4), m=0), sample(arr(1))]
POLYINT = [
    sample(arr(3)).but(dtypes="dD"),
    sample(arr(3), 2),
    sample(arr(3), m=2, k=[1.0, 2.0]),
    sample(arr(3), 2, 0.5),
]
POLYADD = [sample(arr(3), arr(3)).but(dtypes="dfD"), sample(arr(2), arr(4)), sample(arr(3), 0.5)]
VANDER = [
    sample(arr(3)).but(dtypes="dfD"),
    sample(arr(3), 5),
    sample(arr(3), N=4, increasing=True),
    sample(val((0.0, 1.0)), 4),
    sample(arr(3), 0),
]
LOGSPACE = [
    sample(0.2, 1.1, 4).but(dtypes="d"),
    sample(0.2, 1.1, 4, endpoint=False),
    sample(0.2, 1.1, 4, base=2.0),
    sample(0.2, 1.1, 4, True, 2.5),
    sample(arr(3), arr(2, 3), 4, axis=-1),
    sample(arr(3), 1.1, 3, dtype="d"),
]
GEOMSPACE = [
    sample(0.5, 3.0, 4),
    sample(arr(3, lo=0.5), arr(2, 3, lo=0.5), 4, axis=1),
    sample(-0.5, -3.0, 4, endpoint=False),
]
HEAVISIDE = [
    sample(arr(4, gap=0.2), 0.5).but(dtypes="df"),
    sample(onp.array([0, 1, -1, 0]), arr(4)),
    sample(onp.array([[0], [1]]), arr(3, kind="f")),
    sample(arr(2, kind="f", gap=0.2), arr(2, kind="f")),
    sample(onp.zeros(2, "f"), arr(2, kind="f")),
]
LDEXP = [sample(arr(4), 3).but(dtypes="df"), sample(arr(3), onp.array([[1], [-2]]))]
BINCOUNT = [
    sample(onp.array([0, 2, 2, 1]), arr(4)).but(dtypes="d"),
    sample(onp.array([0, 2, 2, 1]), arr(4), minlength=6),
]

ROWS = [
    Row("convolve", [*CONVOLVE, *CONVOLVE_NUMBERS], oracle=NO_RULE),
    Row("correlate", CONVOLVE, oracle=NO_RULE),
    Row("take_along_axis", TAKE_ALONG_AXIS, oracle=NO_RULE),
    Row("delete", DELETE, oracle=NO_RULE),
    Row("insert", INSERT, oracle=NO_RULE),
    Row("resize", RESIZE, oracle=NO_RULE),
    Row("choose", CHOOSE, oracle=NO_RULE),
    Row("diagflat", DIAGFLAT, oracle=NO_RULE),
    Row("broadcast_arrays", BROADCAST_ARRAYS, oracle=NO_RULE),
    Row("meshgrid", MESHGRID, oracle=NO_RULE),
    Row("nancumsum", [*NANCUM, *NANCUM_HOLES], oracle=NO_RULE),
    Row("nancumprod", [*NANCUM, *NANCUM_HOLES], oracle=NO_RULE),
    Row("cumulative_sum", CUMULATIVE, oracle=NO_RULE),
    Row("cumulative_prod", CUMULATIVE, oracle=NO_RULE),
    Row("ediff1d", EDIFF1D, oracle=NO_RULE),
    Row("unwrap", UNWRAP, oracle=NO_RULE),
    Row("vecdot", VECDOT, oracle=NO_RULE),
    Row("matvec", MATVEC, oracle=NO_RULE),
    Row("vecmat", VECMAT, oracle=NO_RULE),
    Row("cov", COV, oracle=NO_RULE),
    Row("corrcoef", CORRCOEF, oracle=NO_RULE),
    Row("quantile", QUANTILE, oracle=NO_RULE),
    Row("percentile", PERCENTILE, oracle=NO_RULE),
    Row("median", MEDIAN, oracle=NO_RULE),
    Row("interp", INTERP, oracle=NO_RULE),
    Row("polyval", POLYVAL, oracle=NO_RULE),
    Row("polyder", POLYDER, oracle=NO_RULE),
    Row("polyint", POLYINT, oracle=NO_RULE),
    Row("polyadd", POLYADD, oracle=NO_RULE),
    Row("polysub", POLYADD, oracle=NO_RULE),
    Row("vander", VANDER, oracle=NO_RULE),
    Row("logspace", LOGSPACE, oracle=NO_RULE),
    Row("geomspace", GEOMSPACE, oracle=NO_RULE),
    Row("heaviside", HEAVISIDE, oracle=NO_RULE),
    Row("ldexp", LDEXP, oracle=NO_RULE),
    Row("bincount", BINCOUNT, oracle=NO_RULE),
]
