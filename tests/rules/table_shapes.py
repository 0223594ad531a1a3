"""Samples of the functions that change shapes and move entries."""

from __future__ import annotations

from typing import Any

import numpy as onp
from samples import ERRS, NO_RULE, SHAPE, WRONG, Row, Sample, arr, sample

ONE = onp.int64(1)


def matrices(dtypes: str = "dfD") -> list[Sample]:
    """Return samples for functions of arrays of at least two dimensions without further arguments."""
    return [
        sample(arr(2, 3)).but(dtypes=dtypes),
        sample(arr(3, 2, layout="T")),
        sample(arr(2, 3, 2, layout="R")),
        sample(arr(2, 3, layout="S")),
        sample(arr(0, 3)),
    ]


RESHAPE = [
    sample(arr(2, 3), (3, 2)).but(dtypes="dfD"),
    sample(arr(2, 3), -1),
    sample(arr(2, 3, layout="T"), (6,)),
    sample(arr(2, 3, layout="R"), (3, -1)),
    sample(arr(2, 3), (3, 2), order="F"),
    sample(arr(2, 3, layout="T"), (3, 2), order="F"),
    sample(arr(2, 3), (3, 2), order="A"),
    sample(arr(2, 3, layout="T"), (3, 2), order="A"),
    sample(arr(2, 3), [3, 2]),
    sample(arr(1), ()),
    sample(0.7, (1, 1)),
    sample(arr(), (1,)),
    sample(arr(0, 3), (3, 0)),
    sample(arr(4), ONE * 4),
    sample([[0.1, 0.2], [0.3, 0.4]], (4,)).but(oracle=WRONG),
]
RAVEL = [
    *matrices(),
    sample(0.7),
    sample(arr()),
    sample(arr(2, 3), order="F"),
    sample(arr(2, 3, layout="T"), "F"),
    sample(arr(2, 3), order="A"),
    sample(arr(2, 3, layout="T"), order="A").but(oracle=WRONG),
    sample(arr(2, 3, 2, layout="T"), order="K").but(oracle=ERRS),
]
TRANSPOSE = [
    *matrices(),
    sample(arr(3)),
    sample(arr()),
    sample(0.7),
    sample(arr(2, 3, 4), (1, 2, 0)),
    sample(arr(2, 3, 4), (-1, 0, 1)).but(oracle=SHAPE),
    sample(arr(2, 3, 4), axes=(0, -1, -2)).but(oracle=SHAPE),
    sample(arr(2, 3, 4), [2, 0, 1]),
    sample(arr(2, 3, 4), (ONE, 2, 0)),
    sample(arr(2, 3, 4), onp.array([1, 2, 0])),
]
MOVEAXIS = [
    sample(arr(2, 3, 4), 0, 2).but(dtypes="dfD"),
    sample(arr(2, 3, 4, layout="T"), -1, 0),
    sample(arr(2, 3, 4), (0, 1), (2, 0)),
    sample(arr(2, 3, 4), [0, -1], [-1, 0]),
    sample(arr(2, 3, 4), ONE, -1),
]
ROLLAXIS = [
    sample(arr(2, 3, 4), 2).but(dtypes="dfD"),
    sample(arr(2, 3, 4), 0, 3),
    sample(arr(2, 3, 4), 1, 3),
    sample(arr(2, 3, 4), 0, 2),
    sample(arr(2, 3, 4), 1, 0),
    sample(arr(2, 3, 4), -1, 1).but(oracle=ERRS),
    sample(arr(2, 3, 4), 1, -1).but(oracle=ERRS),
    sample(arr(2, 3, 4), axis=2, start=1),
]
EXPAND_DIMS = [
    sample(arr(3), 0).but(dtypes="dfD"),
    sample(arr(2, 3), -1),
    sample(arr(2, 3), axis=1),
    sample(arr(2, 3), (0, -1)),
    sample(0.7, 0),
    sample(arr(), 0),
    sample(arr(2, 0), ONE),
]
SQUEEZE = [
    sample(arr(1, 3, 1)).but(dtypes="dfD"),
    sample(arr(1, 3, 1), 0),
    sample(arr(1, 3, 1), axis=-1),
    sample(arr(1, 3, 1), axis=(0, 2)),
    sample(arr(1, 3, 1), axis=(-1,)),
    sample(arr(1, 1)),
    sample(arr()),
    sample(arr(2, 3)),
    sample(arr(1, 0)),
    sample(arr(2, 1), axis=ONE),
]
BROADCAST_TO = [
    sample(arr(3), (2, 3)).but(dtypes="dfD", oracle=ERRS),
    sample(arr(3, 1), (3, 4)),
    sample(arr(1, 3, layout="R"), (4, 2, 3)).but(oracle=ERRS),
    sample(0.7, (2, 2)).but(oracle=ERRS),
    sample(arr(), (2,)).but(oracle=ERRS),
    sample(arr(1), (1,)),
    sample(arr(1), (0,)).but(oracle=SHAPE),
    sample(arr(1), 3).but(oracle=ERRS),
    sample(arr(2, 1, 3), shape=(2, 4, 3)).but(oracle=ERRS),
]
ATLEAST = [
    sample(0.7).but(dtypes="df"),
    sample(arr()),
    sample(arr(3)).but(dtypes="dfD"),
    sample(arr(2, 3)),
    sample(arr(2, 3, 4, layout="T")),
    sample(arr(2, 3, 4, 2)),
    sample(arr(0)),
]
FLIP = [
    *matrices(),
    sample(arr(3)),
    sample(arr(2, 3), 0),
    sample(arr(2, 3), axis=-1),
    sample(arr(2, 3, 4), axis=(0, 2)),
    sample(arr(2, 3, 4), axis=ONE),
    sample(arr()),
]
ROT90 = [
    *matrices(),
    sample(arr(2, 3), 2),
    sample(arr(2, 3), k=3),
    sample(arr(2, 3), -1),
    sample(arr(2, 3), 0),
    sample(arr(2, 3), 5),
    sample(arr(2, 3), k=2.5).but(oracle="its pullback turns too far"),
    sample(arr(2, 3, 4), axes=(1, 2)).but(oracle=ERRS),
    sample(arr(2, 3, 4), k=1, axes=(2, 0)).but(oracle=ERRS),
    sample(arr(2, 3, 4), k=-1, axes=(-1, -3)).but(oracle=ERRS),
]
ROLL = [
    sample(arr(5), 2).but(dtypes="dfD"),
    sample(arr(5), -7),
    sample(arr(2, 3), 1),
    sample(arr(2, 3, layout="T"), 1, axis=1),
    sample(arr(2, 3), 1, axis=-1),
    sample(arr(2, 3), (1, 2), axis=(0, 1)).but(oracle=ERRS),
    sample(arr(2, 3), [1, -1], axis=[1, 0]).but(oracle=ERRS),
    sample(arr(2, 3), 1, axis=(0, 1)),
    sample(arr(5), (1, 2), axis=0).but(oracle=ERRS),
    sample(arr(2, 3), ONE, axis=ONE),
    sample(arr(0), 1),
]
REPEAT = [
    sample(arr(3), 2).but(dtypes="dfD"),
    sample(arr(2, 3), 2),
    sample(arr(2, 3), 2, axis=0),
    sample(arr(2, 3, layout="T"), 2, axis=1),
    sample(arr(2, 3), 2, axis=-1).but(oracle=WRONG),
    sample(arr(2, 3), repeats=ONE * 2, axis=-2).but(oracle=SHAPE),
    sample(arr(3), [1, 0, 2]).but(oracle=ERRS),
    sample(arr(3), onp.array([1, 2, 3])).but(oracle=ERRS),
    sample(arr(2, 3), [1, 0, 2], axis=1).but(oracle=ERRS),
    sample(arr(2, 3), onp.array([2, 1]), 0).but(oracle=ERRS),
    sample(arr(2, 2), [1, 2, 0, 1]).but(oracle=ERRS),
    sample(arr(2, 3), [2], axis=1).but(oracle=ERRS),
    sample(arr(2, 3), 1, axis=0),
    sample(arr(2, 3), 0, axis=0),
    sample(arr(2, 3, 2), 3, axis=1),
    sample(0.7, 3).but(oracle=ERRS),
    sample(arr(), 2).but(oracle=ERRS),
    sample(arr(0), 2),
]
TILE = [
    sample(arr(3), 2).but(dtypes="dfD"),
    sample(arr(3), (2, 2)),
    sample(arr(2, 3), 2).but(oracle=WRONG),
    sample(arr(2, 3), (2,)).but(oracle=WRONG),
    sample(arr(2, 3, layout="T"), (2, 3)),
    sample(arr(2, 3), (2, 1, 3)),
    sample(arr(2, 3, 2), (2, 3)).but(oracle=WRONG),
    sample(arr(2, 3), [1, 2]),
    sample(arr(2, 3), onp.array([1, 2])),
    sample(0.7, 3),
    sample(0.7, (2, 3)),
    sample(arr(), (2,)),
    sample(arr(3), ()),
    sample(arr(3), (1, 1)),
    sample(arr(3), 0).but(oracle=ERRS),
    sample(arr(0), 2),
    sample(arr(3), reps=ONE * 2),
]
DIAG = [
    sample(arr(3)).but(dtypes="dfD"),
    sample(arr(3), 1),
    sample(arr(3), k=-2),
    sample(arr(3, 3)).but(dtypes="dfD"),
    sample(arr(2, 4)).but(oracle=SHAPE),
    sample(arr(4, 2)).but(oracle=SHAPE),
    sample(arr(3, 4), 1).but(oracle=SHAPE),
    sample(arr(3, 4, layout="T"), k=-1).but(oracle=SHAPE),
    sample(arr(4, 3), k=-2).but(oracle=SHAPE),
    sample(arr(0)),
]
FIRST_TWO = [
    sample(arr(3, 3)).but(dtypes="dfD"),
    sample(arr(2, 4)),
    sample(arr(4, 2, layout="T"), 1),
    sample(arr(3, 4), offset=-1),
    sample(arr(2, 3, 4)),
]
LAST_TWO = sample(arr(2, 3, 3), axis1=-1, axis2=-2)
ANY_TWO = [
    sample(arr(3, 4), 0, 1, 0),
    sample(arr(2, 3, 4), axis1=1, axis2=2),
    sample(arr(2, 3, 4), offset=1, axis1=0, axis2=2),
    sample(arr(2, 3, 4, 2), offset=-1, axis1=-1, axis2=1),
]
MAKE_DIAGONAL = [
    sample(arr(3), axis1=-1, axis2=-2).but(dtypes="dfD", oracle={"D": WRONG}),
    sample(arr(2, 3), offset=0, axis1=-1, axis2=-2),
    sample(arr(2, 3, 2, layout="T"), 0, -1, -2),
    sample(arr(3), offset=1, axis1=-2, axis2=-1).but(oracle=ERRS),
    sample(arr(2, 3), -2, 0, 2).but(oracle=ERRS),
]


def _make_diagonal(diagonals: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    n = diagonals.shape[-1]
    result = onp.zeros((*diagonals.shape[:-1], n + abs(offset), n + abs(offset)), diagonals.dtype)
    for i in range(n):
        result[..., i + max(-offset, 0), i + max(offset, 0)] = diagonals[..., i]
    return onp.moveaxis(result, (-2, -1), (axis1, axis2))


TRIANGLE = [
    *matrices(),
    sample(arr(3, 3), 1),
    sample(arr(3, 4), k=-1),
    sample(arr(4, 3), k=2),
    sample(arr(2, 3, 3), k=-1),
    sample(arr(3)).but(oracle=SHAPE),
]

FAMILY = {
    "reshape": RESHAPE,
    "ravel": RAVEL,
    "transpose": TRANSPOSE,
    "swapaxes": [
        sample(arr(2, 3), 0, 1).but(dtypes="dfD"),
        sample(arr(2, 3, 4), 0, -1),
        sample(arr(2, 3, 4, layout="T"), -2, ONE),
        sample(arr(2, 3, 4), 1, 1),
    ],
    "moveaxis": MOVEAXIS,
    "rollaxis": ROLLAXIS,
    "expand_dims": EXPAND_DIMS,
    "squeeze": SQUEEZE,
    "broadcast_to": BROADCAST_TO,
    "atleast_1d": ATLEAST,
    "atleast_2d": ATLEAST,
    "atleast_3d": ATLEAST,
    "fliplr": matrices(),
    "flipud": [*matrices(), sample(arr(3))],
    "rot90": ROT90,
    "roll": ROLL,
    "repeat": REPEAT,
    "tile": TILE,
    "diag": DIAG,
    "diagonal": [LAST_TWO, *[s.but(oracle=ERRS) for s in FIRST_TWO + ANY_TWO]],
    "trace": [*FIRST_TWO, *[s.but(oracle=ERRS) for s in [LAST_TWO, *ANY_TWO]]],
    "tril": TRIANGLE,
    "triu": TRIANGLE,
}
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

ROWS = [
    *[Row(name, samples) for name, samples in FAMILY.items()],
    Row("make_diagonal", MAKE_DIAGONAL, ref=_make_diagonal),
    Row("flip", FLIP, oracle=NO_RULE),
    Row("matrix_transpose", matrices(), oracle=NO_RULE),
    Row("diagflat", DIAGFLAT, oracle=NO_RULE),
    Row("broadcast_arrays", BROADCAST_ARRAYS, oracle=NO_RULE),
    Row("meshgrid", MESHGRID, oracle=NO_RULE),
]
