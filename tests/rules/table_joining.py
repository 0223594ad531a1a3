"""Samples of joining, splitting, construction, differences and choice."""

from __future__ import annotations

import numpy as onp
from checks import COMPLEX, ERRS, NO_RULE, SHAPE, Row, arr, const, sample

ONE = onp.int64(1)

CONCATENATE = [
    sample([arr(2), arr(3)]).but(dtypes="dfD"),
    sample((arr(2, 3), arr(1, 3, layout="R"))),
    sample([arr(2, 3, layout="T"), arr(2, 1)], axis=1),
    sample([arr(2, 3), arr(2, 1)], axis=-1),
    sample([arr(2, 3), arr(2, 1), arr(2, 2)], 1),
    sample([arr(2, 3), arr(4), arr()], axis=None).but(oracle=ERRS),
    sample([arr(2), const(onp.ones(2)), arr(1)]),
    sample([arr(2), onp.array([1, 2])]),
    sample([arr(2)]),
    sample([arr(2), arr(0)]),
    sample([arr(2), arr(3, kind="D")]).but(oracle=COMPLEX),
    sample([arr(2), arr(3, kind="f")]),
    sample(arr(2, 3, 4)),
    sample(arr(2, 3, 4), axis=1),
    sample([arr(2, 3), arr(2, 3)], axis=ONE),
]
STACK = [
    sample([arr(3), arr(3)]).but(dtypes="dfD"),
    sample([arr(2, 3), arr(2, 3, layout="T")], axis=1),
    sample((arr(2, 3), arr(2, 3)), axis=-1),
    sample([arr(3), const(onp.ones(3)), arr(3)], -2),
    sample([0.5, 1.5]),
    sample([arr(), arr()]),
    sample([arr(0), arr(0)], axis=1),
    sample([arr(3), arr(3, kind="D")]),
    sample(arr(2, 3), axis=1),
]
ROWWISE = [
    sample([arr(3), arr(3)]).but(dtypes="dfD"),
    sample((arr(2, 3), arr(2, 3, layout="T"))),
    sample([0.5, 1.5]),
    sample([arr(3), const(onp.ones(3))]),
    sample([arr(2, 3, 2), arr(2, 3, 2)]),
    sample([arr(3), arr(3, kind="D")]).but(oracle=COMPLEX),
    sample(arr(2, 3)),
]
COLUMN_STACK = [
    sample([arr(3), arr(3)]).but(dtypes="dfD"),
    sample([arr(3), arr(3, 2)]),
    sample((arr(3, 2, layout="T"), const(onp.ones(3)), arr(3))),
    sample([arr(3), arr(3, kind="D")]).but(oracle=COMPLEX),
]
APPEND = [
    sample(arr(3), arr(2)).but(dtypes="dfD"),
    sample(arr(3), 0.5),
    sample(arr(2, 3), arr(2)),
    sample(arr(2, 3), arr(1, 3), axis=0),
    sample(arr(2, 3), arr(2, 1), axis=-1),
    sample(0.5, arr(2)),
]
CUTS = [
    sample(arr(6), 3).but(dtypes="dfD"),
    sample(arr(6), [2, 3]),
    sample(arr(6, 2), (1, 4)),
    sample(arr(6, 2, layout="T"), onp.array([1, 4])),
    sample(arr(6, 2), [0, 9]),
]
ALONG = [sample(arr(2, 6), 3, 1), sample(arr(2, 6, layout="R"), [1, 4], axis=-1), sample(arr(2, 6), 2, axis=ONE)]
HORIZONTAL = [
    sample(arr(6), 3).but(oracle=ERRS),
    sample(arr(2, 6), 3).but(dtypes="dfD"),
    sample(arr(2, 6, layout="T"), [1, 4]),
    sample(arr(2, 6, 2), (2,)),
]
VERTICAL = [
    sample(arr(6, 2), 3).but(dtypes="dfD"),
    sample(arr(6, 2, layout="T"), [1, 4]),
    sample(arr(6, 2, 2), (2,)),
]
DEPTHWISE = [sample(arr(2, 2, 6), 3).but(dtypes="dfD"), sample(arr(2, 2, 6, layout="T"), [1, 4])]

ARRAY = [
    sample([0.5, 1.5, 2.5]).but(dtypes="dD"),
    sample([[0.5, 1.5], [2.5, -1.0]]),
    sample([0.5, 2, const(1.0)]),
    sample((0.5, 1.5)),
    sample([arr(3), arr(3, layout="R")]).but(dtypes="dfD"),
    sample([[arr(2), arr(2)], [arr(2), arr(2)]]),
    sample([arr(2), [0.5, 1.5]]),
    sample([arr(2), const(onp.ones(2)), const([1.0, 2.0])]),
    sample([arr(), 0.5]),
    sample([[arr(), 0.5], [1, 2]]),
    sample([0.5, 1.5 + 0j]).but(oracle=COMPLEX),
    sample([arr(2), arr(2, kind="D")]).but(oracle=COMPLEX),
    sample(0.5),
    sample(arr()),
    sample(arr(2, 3, layout="T")).but(dtypes="dfD"),
    sample([[0.5]]),
    sample([arr(0), arr(0)]),
    sample([0.5, 1.5], dtype="d"),
    sample([0.5, arr()], dtype="f").but(coarse=True),
    sample([0.5, 1.5], dtype="D").but(oracle=COMPLEX),
    sample([0.5, 1.5], ndmin=2).but(oracle=ERRS),
    sample(arr(2), ndmin=3),
    sample([arr(2, 2), arr(2, 2)], copy=True),
]
FULL = [
    sample((2, 3), 0.7).but(dtypes="dD"),
    sample(3, 0.7),
    sample((2, 3), arr()),
    sample((2, 3), arr(3)).but(dtypes="dfD", oracle=SHAPE),
    sample((2, 3), arr(2, 1)).but(oracle=SHAPE),
    sample((2, 3), arr(1)).but(oracle=SHAPE),
    sample((2, 3), arr(2, 3, layout="T")).but(oracle=SHAPE),
    sample((), 0.7),
    sample((0,), 0.7),
    sample((2,), 0.7, "d"),
    sample((2,), 0.7, dtype="f").but(coarse=True),
    sample((2,), fill_value=1.0),
]
ASTYPE = [
    sample(arr(3), float).but(dtypes="df"),
    sample(arr(2, 3, layout="T"), onp.float32).but(coarse=True),
    sample(arr(3), "D").but(dtypes="dD"),
    sample(arr(), "d"),
    sample(arr(0), "d"),
]
FULL_LIKE = [
    sample(arr(2, 3), 0.7),
    sample(arr(2, 3, layout="T"), arr(3)).but(dtypes="df"),
    sample(onp.ones((2, 3)), arr(2, 1)),
    sample(arr(2), 0.7, dtype="d"),
]
UNSTACK = [sample(arr(2, 3)).but(dtypes="dfD"), sample(arr(2, 3, layout="T"), axis=1), sample(arr(2, 3, 4), axis=-2)]
TRAPEZOID = [
    sample(arr(5)).but(dtypes="dfD"),
    sample(arr(2, 5, layout="T")),
    sample(arr(5), dx=0.5),
    sample(arr(4, 3), axis=0),
    sample(arr(5), x=onp.array([0.0, 0.5, 0.7, 1.5, 2.0])),
    sample(arr(2, 5), onp.array([0.0, 0.5, 0.7, 1.5, 2.0]), axis=-1),
]
SPLIT_AT = onp.array([True, False, False])
SELECT = [
    sample([SPLIT_AT, ~SPLIT_AT], [arr(3), arr(3)]).but(dtypes="dfD"),
    sample([SPLIT_AT, onp.array([True, True, False])], [arr(3), arr(3)]),
    sample([SPLIT_AT, onp.array([True, True, False])], [arr(3), arr(3, layout="R")], 0.5),
    sample([SPLIT_AT], [arr(3)], default=2.0),
    sample([SPLIT_AT, onp.array([False, True, False])], [arr(3), 0.5], const(1.0)),
    sample([SPLIT_AT, onp.array([False, True, False])], [arr(2, 3), arr(3)]),
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

SINGLE = [
    ("stack", STACK, ("stack_args",)),
    ("vstack", ROWWISE, ("concatenate_args",)),
    ("hstack", ROWWISE, ("concatenate_args",)),
    ("column_stack", COLUMN_STACK, ("concatenate_args",)),
    ("concatenate", CONCATENATE, ("concatenate_args",)),
    ("append", APPEND, ("concatenate_args",)),
    ("array", ARRAY, ("array_from_args", "array_from_scalars", "_array_from_scalar_or_array")),
    ("select", SELECT, ("where",)),
]

ROWS = [
    *[Row(name, samples, covers=covers) for name, samples, covers in SINGLE],
    Row("dstack", ROWWISE, covers=("concatenate_args",), oracle="makes an object array, or errs"),
    Row("array_split", [*CUTS, *ALONG, sample(arr(7), 3), sample(arr(2), 3)]),
    Row("split", [*CUTS, *ALONG]),
    Row("hsplit", HORIZONTAL),
    Row("vsplit", VERTICAL),
    Row("dsplit", DEPTHWISE),
    Row("full", FULL),
    Row("full_like", FULL_LIKE, oracle=NO_RULE),
    Row("astype", ASTYPE, covers=("_astype",)),
    Row("unstack", UNSTACK, oracle=NO_RULE),
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
]
