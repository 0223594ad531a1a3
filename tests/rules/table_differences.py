"""Samples of differences, integrals by the trapezoidal rule, and evenly spaced numbers."""

from __future__ import annotations

import numpy as onp
from samples import ERRS, NO_RULE, SHAPE, Row, arr, const, sample

ONE = onp.int64(1)
TRAPEZOID = [
    sample(arr(5)).but(dtypes="dfD"),
    sample(arr(2, 5, layout="T")),
    sample(arr(5), dx=0.5),
    sample(arr(4, 3), axis=0),
    sample(arr(5), x=onp.array([0.0, 0.5, 0.7, 1.5, 2.0])),
    sample(arr(2, 5), onp.array([0.0, 0.5, 0.7, 1.5, 2.0]), axis=-1),
]

DIFF = [
    sample(arr(5)).but(dtypes="dfD"),
    sample(arr(5), 2),
    sample(arr(5), n=3),
    sample(arr(5), n=0),
    sample(arr(2, 4)),
    sample(arr(4, 3, layout="T"), axis=0),
    sample(arr(4, 3), n=2, axis=-2),
    sample(arr(2, 4, 3, layout="R"), 1, 1),
    sample(arr(2, 4, 3), axis=ONE),
    sample(arr(1)),
    sample(arr(3), n=5).but(oracle=SHAPE),
    sample(arr(0)).but(oracle=SHAPE),
    sample(arr(5), prepend=1.0).but(oracle=ERRS),
    sample(arr(5), append=onp.array([1.0, 2.0])).but(oracle=ERRS),
    sample(arr(2, 4), n=2, axis=0, prepend=1.0, append=onp.ones((1, 4))).but(oracle=ERRS),
]
DIFF_TRACED = [sample(arr(5), 0.5, 1.5), sample(arr(2, 4), arr(2, 1), arr(2, 2)), sample(arr(5), const(0.5), 1.5)]
GRADIENT = [
    sample(arr(5)).but(dtypes="dfD"),
    sample(arr(5), const(0.5)).but(oracle=ERRS),
    sample(arr(5), 2).but(oracle=ERRS),
    sample(arr(5), const(onp.array([0.0, 0.5, 0.7, 1.5, 2.0]))).but(oracle=ERRS),
    sample(arr(4, 5)),
    sample(arr(4, 5, layout="T"), axis=0),
    sample(arr(4, 5), axis=-1),
    sample(arr(4, 5), const(2.0), axis=1).but(oracle=ERRS),
    sample(arr(4, 5), const(2.0), const(0.5)).but(oracle=ERRS),
    sample(arr(4, 5), const(2.0), const(onp.array([0.0, 0.5, 0.7, 1.5, 2.0]))).but(oracle=ERRS),
    sample(arr(4, 5), axis=(1, 0)),
    sample(arr(4, 5), axis=(0,)),
    sample(arr(3, 4, 5), axis=(0, -1)).but(oracle=ERRS),
    sample(arr(3, 4, 5), const(2.0), axis=(0, -1)).but(oracle=ERRS),
    sample(arr(5), edge_order=2).but(oracle=ERRS),
    sample(arr(4, 5), const(0.5), axis=0, edge_order=2).but(oracle=ERRS),
    sample(arr(5), const(onp.array([0.0, 0.5, 0.7, 1.5, 2.0])), edge_order=2).but(oracle=ERRS),
    sample(arr(2)).but(oracle=ERRS),
    sample(arr(4, 5), axis=ONE).but(oracle=ERRS),
]
LINSPACE = [
    sample(0.5, 1.7, 5).but(dtypes="dD"),
    sample(0.5, 1.7).but(oracle=ERRS),
    sample(0.5, 1.7, num=4, endpoint=False).but(oracle=ERRS),
    sample(0.5, const(1.7), 4),
    sample(const(0.5), 1.7, 4),
    sample(0.5, 1.7, 1),
    sample(0.5, 1.7, 1, endpoint=False).but(oracle=ERRS),
    sample(0.5, 1.7, 0),
    sample(arr(3), arr(3), 4).but(dtypes="df"),
    sample(arr(3), 1.7, 4).but(oracle=SHAPE),
    sample(0.5, arr(2, 3), 4).but(oracle=ERRS),
    sample(arr(2, 1), arr(3), 4, endpoint=False).but(oracle=ERRS),
    sample(arr(3), arr(3), 4, axis=-1).but(oracle=ERRS),
    sample(arr(2, 3), arr(2, 3, layout="T"), 4, axis=1).but(oracle=ERRS),
    sample(arr(), 1.7, 3),
    sample(0.5, 1.7, 3, dtype="f").but(coarse=True, oracle=ERRS),
]
LINSPACE_STEP = [
    sample(0.5, 1.7, 5),
    sample(0.5, arr(3), 4),
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

ROWS = [
    *[Row(name, TRAPEZOID, oracle=NO_RULE) for name in ("trapezoid", "trapz") if hasattr(onp, name)],
    Row("diff", DIFF),
    Row(
        "diff traced ends",
        DIFF_TRACED,
        fun=lambda np: lambda x, before, after: np.diff(x, prepend=before, append=after),
        covers=("diff",),
        oracle=NO_RULE,
    ),
    Row("gradient", GRADIENT),
    Row("linspace", LINSPACE),
    Row(
        "linspace with step",
        LINSPACE_STEP,
        fun=lambda np: lambda start, stop, num: np.linspace(start, stop, num, retstep=True),
        covers=("linspace",),
        oracle=NO_RULE,
    ),
    Row("ediff1d", EDIFF1D, oracle=NO_RULE),
    Row("unwrap", UNWRAP, oracle=NO_RULE),
]
