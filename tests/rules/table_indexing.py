"""Samples of indexing and of the functions that select, move and insert entries by index."""

from __future__ import annotations

import numpy as onp
from samples import NO_RULE, Row, arr, const, sample

ONE = onp.int64(1)

FOUR = arr(4, 5)
EVERY = slice(None)
ROWS_REPEATED = onp.array([0, 2, 2, 0])
BOOLEAN = onp.array([True, False, True, True])
SQUARE_MASK = onp.arange(20).reshape(4, 5) % 3 == 0
GETITEM = [
    sample(arr(5), 2).but(dtypes="dfD"),
    sample(arr(5), -1),
    sample(arr(5), ONE),
    sample(FOUR, 1).but(dtypes="dfD"),
    sample(FOUR, (1, 2)),
    sample(arr(4, 5, layout="T"), (slice(1, 3), slice(None, None, 2))).but(dtypes="dfD"),
    sample(arr(4, 5, layout="S"), (slice(None, None, -1), slice(3, 0, -2))),
    sample(arr(4, 5, layout="R"), slice(1, None)),
    sample(FOUR, slice(2, 2)),
    sample(FOUR, (EVERY, slice(7, 9))),
    sample(FOUR, Ellipsis),
    sample(FOUR, (Ellipsis, 1)),
    sample(arr(2, 3, 4), (0, Ellipsis, slice(1, 3))),
    sample(FOUR, None),
    sample(FOUR, (EVERY, None, 2)),
    sample(FOUR, (None, Ellipsis, None)),
    sample(arr(), ()),
    sample(arr(), Ellipsis),
    sample(arr(), None),
    sample(FOUR, ()),
    sample(FOUR, [0, 2]).but(dtypes="dfD"),
    sample(FOUR, ROWS_REPEATED).but(dtypes="dfD"),
    sample(FOUR, onp.array([[0, -1], [2, 2], [1, 0]])),
    sample(FOUR, (ROWS_REPEATED, onp.array([1, 3, 3, 1]))),
    sample(FOUR, (onp.array([[0], [2]]), onp.array([1, 1, 4]))),
    sample(FOUR, (EVERY, ROWS_REPEATED)),
    sample(arr(4, 5, layout="T"), (slice(None, None, -1), [0, 0, 3])),
    sample(FOUR, (1, [0, 0, 3])),
    sample(arr(2, 3, 4), (0, EVERY, [1, 1])),
    sample(arr(2, 3, 4), ([0, 1, 0], EVERY, [1, 1, 1])),
    sample(arr(2, 3, 4), (EVERY, onp.array([[0, 2], [2, 2]]), None, slice(1, 3))),
    sample(arr(2, 3, 4), (Ellipsis, [0, 0])),
    sample(FOUR, BOOLEAN).but(dtypes="dfD"),
    sample(FOUR, SQUARE_MASK),
    sample(FOUR, (BOOLEAN, 2)),
    sample(FOUR, (BOOLEAN, [0, 1, 1])),
    sample(FOUR, (slice(1, 3), onp.array([True, False, True, True, False]))),
    sample(FOUR, onp.zeros(4, bool)),
    sample(FOUR, onp.zeros((4, 5), bool)),
    sample(arr(2, 3, 4), onp.ones((2, 3), bool)),
    sample(arr(3), True),
    sample(arr(3), False),
    sample(arr(), True),
    sample(FOUR, onp.array([], int)),
    sample(FOUR, onp.array(1)),
    sample(FOUR, (onp.array(1), EVERY)),
    sample(arr(0, 3), slice(None)),
    sample(arr(0), onp.array([], int)),
]
TAKE = [
    sample(arr(5), [0, 2, 2]).but(dtypes="dfD"),
    sample(arr(2, 3), [0, 4, 4]),
    sample(arr(2, 3), 1),
    sample(arr(2, 3), 1, axis=0),
    sample(arr(2, 3), onp.array([[0, -1], [2, 2]]), axis=1),
    sample(arr(2, 3, layout="T"), [1, 1, 0], axis=-2),
    sample(arr(2, 3), [5, -7, 1], axis=1, mode="wrap"),
    sample(arr(2, 3), [5, -7, 1], axis=1, mode="clip"),
]

COMPRESS = [
    sample([True, False, True], arr(3)).but(dtypes="dfD"),
    sample(onp.array([True, False, True, True]), arr(2, 3, layout="T")),
    sample([True, False], arr(2, 3), axis=0),
    sample([0, 1, 1], arr(2, 3), axis=-1),
]
EXTRACT = [
    sample(onp.array([True, False, True]), arr(3)).but(dtypes="dfD"),
    sample(onp.array([[True, False, True], [False, False, True]]), arr(2, 3, layout="T")),
    sample(onp.zeros(3, bool), arr(3)),
]
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

ROWS = [
    Row("indexing", GETITEM, fun=lambda np: lambda x, index: x[index], covers=("getitem",)),
    Row("take", TAKE, oracle=NO_RULE),
    Row("compress", COMPRESS, oracle=NO_RULE),
    Row("extract", EXTRACT, oracle=NO_RULE),
    Row("take_along_axis", TAKE_ALONG_AXIS, oracle=NO_RULE),
    Row("delete", DELETE, oracle=NO_RULE),
    Row("insert", INSERT, oracle=NO_RULE),
    Row("resize", RESIZE, oracle=NO_RULE),
    Row("choose", CHOOSE, oracle=NO_RULE),
]
