"""Samples of polynomials, interpolation and unevenly spaced numbers."""

from __future__ import annotations

import numpy as onp
from samples import NO_RULE, Row, arr, const, sample, val

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

ROWS = [
    Row("interp", INTERP, oracle=NO_RULE),
    Row("polyval", POLYVAL, oracle=NO_RULE),
    Row("polyder", POLYDER, oracle=NO_RULE),
    Row("polyint", POLYINT, oracle=NO_RULE),
    Row("polyadd", POLYADD, oracle=NO_RULE),
    Row("polysub", POLYADD, oracle=NO_RULE),
    Row("vander", VANDER, oracle=NO_RULE),
    Row("logspace", LOGSPACE, oracle=NO_RULE),
    Row("geomspace", GEOMSPACE, oracle=NO_RULE),
]
