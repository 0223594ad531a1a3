"""Samples of joining, splitting and construction."""

from __future__ import annotations

import numpy as onp
from samples import COMPLEX, ERRS, NO_RULE, SHAPE, Row, arr, const, sample
from table_shapes import matrices

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

SINGLE = [
    ("stack", STACK, ("stack_args",)),
    ("vstack", ROWWISE, ("concatenate_args",)),
    ("hstack", ROWWISE, ("concatenate_args",)),
    ("column_stack", COLUMN_STACK, ("concatenate_args",)),
    ("concatenate", CONCATENATE, ("concatenate_args",)),
    ("append", APPEND, ("concatenate_args",)),
    ("array", ARRAY, ("array_from_args", "array_from_scalars", "_array_from_scalar_or_array")),
]


COPIES = ("asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "copy")
SAME = [*matrices(), sample(arr(3)), sample(0.7)]

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
    *[Row(name, SAME, oracle=NO_RULE) for name in COPIES],
]
