"""Samples of the products."""

from __future__ import annotations

import itertools

import numpy as onp
from samples import COMPLEX, ERRS, NO_RULE, SHAPE, WRONG, Row, Sample, arr, const, sample

Shape = tuple[int, ...]


def pairs(shapes: list[tuple[Shape, Shape]], dtypes: str = "dfD") -> list[Sample]:
    """Return a sample for each pair of shapes; every dtype for the first three, every layout in turn."""
    layouts = itertools.cycle([("C", "C"), ("T", "C"), ("C", "R"), ("S", "T")])
    samples = [
        sample(arr(*a, layout=left), arr(*b, layout=right))
        for (a, b), (left, right) in zip(shapes, layouts, strict=False)
    ]
    return [s.but(dtypes=dtypes) for s in samples[:3]] + samples[3:]


def mixed(a: Shape, b: Shape, oracle: bool | str = True) -> list[Sample]:
    """Return samples with one argument complex (where autograd may be wrong), constant, or of integers."""
    return [
        sample(arr(*a), arr(*b, kind="D")).but(oracle=oracle),
        sample(arr(*a, kind="D"), arr(*b)).but(oracle=oracle),
        sample(arr(*a, kind="f"), arr(*b)),
        sample(const(onp.ones(a)), arr(*b)),
        sample(arr(*a), const(onp.ones(b))),
        sample(arr(*a), onp.arange(int(onp.prod(b))).reshape(b)),
    ]


DOT = [
    *pairs(
        [
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((2, 3), (3, 4)),
            ((3,), (3, 2)),
            ((), ()),
            ((), (3,)),
            ((3,), ()),
            ((2, 3), ()),
            ((2, 3, 4), (4,)),
            ((4,), (2, 4, 3)),
            ((2, 3, 4), (4, 2)),
            ((2, 4), (2, 4, 3)),
            ((2, 3, 4), (3, 4, 2)),
            ((2, 1, 3, 4), (4, 2)),
            ((1,), (1,)),
            ((0,), (0,)),
            ((2, 0), (0, 3)),
            ((2, 0), (0,)),
        ]
    ),
    *mixed((2, 3), (3, 4)),
    *mixed((3,), (3,)),
    *mixed((2, 3, 4), (2, 4, 3)),
    sample(2.5, arr(3)),
    sample(arr(2, 3), 2.5),
    sample(2.5, 1.5).but(dtypes="dD"),
]
MATMUL = [
    *pairs(
        [
            ((3,), (3,)),
            ((2, 3), (3, 4)),
            ((5, 2, 3), (5, 3, 4)),
            ((2, 3), (3,)),
            ((3,), (3, 2)),
            ((5, 2, 3), (3, 4)),
            ((2, 3), (5, 3, 4)),
            ((1, 2, 3), (5, 3, 4)),
            ((5, 2, 3), (1, 3, 4)),
            ((5, 1, 2, 3), (4, 3, 2)),
            ((4, 2, 3), (5, 1, 3, 2)),
            ((3,), (5, 3, 2)),
            ((5, 2, 3), (3,)),
            ((2, 5, 2, 3), (3,)),
            ((3,), (2, 5, 3, 2)),
            ((1,), (1,)),
            ((2, 0), (0, 3)),
            ((0, 2, 3), (3, 2)),
            ((0,), (0,)),
        ]
    ),
    *mixed((2, 3), (3, 4)),
    *mixed((3,), (5, 3, 2)),
]
TENSORDOT = [
    sample(arr(2, 3, 4), arr(3, 4, 2)).but(dtypes="dfD"),
    sample(arr(2, 3), arr(3, 4), 1).but(dtypes="dfD"),
    sample(arr(2, 3, layout="T"), arr(4), 0),
    sample(arr(2, 3), arr(2, 3, layout="R"), axes=2),
    sample(arr(2, 3, 4), arr(4, 5), axes=1),
    sample(arr(2, 3, 4), arr(2, 4, 3), axes=([2, 1], [1, 2])),
    sample(arr(2, 3, 4), arr(3, 5), axes=((1,), (0,))),
    sample(arr(2, 3, 4), arr(3, 5), axes=(1, 0)),
    sample(arr(2, 3, 4), arr(5, 3), axes=(-2, -1)),
    sample(arr(2, 3, 4), arr(4, 2, 5), axes=([-1, 0], [0, -2])),
    sample(arr(2, 3, 4), arr(2, 3, 5), axes=([0, 1], [0, 1])),
    sample(arr(2, 3, 4), arr(5, 3, 2), axes=[[0, 1], [2, 1]]),
    sample(arr(2, 3), arr(4), axes=([], [])),
    sample(arr(2, 3), arr(), axes=0),
    sample(1.5, arr(3), 0),
    sample(arr(2, 3), arr(3, 2), onp.int64(1)).but(oracle=ERRS),
    sample(arr(2, 0), arr(0, 3), 1),
    sample(arr(2, 3), arr(3, 2, kind="D"), 1),
    sample(arr(2, 3, kind="D"), arr(3, 2), axes=([0, 1], [1, 0])),
    sample(const(onp.ones((2, 3))), arr(3, 2), 1),
]
INNER = [
    *pairs(
        [
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((2, 3), (4, 3)),
            ((3,), (2, 3)),
            ((2, 4, 3), (3,)),
            ((2, 4, 3), (5, 3)),
            ((2, 4, 3), (2, 5, 3)),
            ((), ()),
            ((), (3,)),
            ((2, 3), ()),
            ((2, 0), (3, 0)),
        ]
    ),
    *mixed((2, 3), (4, 3), COMPLEX),
    sample(2.5, arr(3)),
]
VDOT = [*pairs([((3,), (3,)), ((2, 3), (2, 3)), ((), ()), ((2, 3), (6,)), ((0,), (0,))]), *mixed((3,), (3,))]
OUTER = [
    *pairs([((3,), (2,)), ((4,), (3,)), ((0,), (3,))]),
    *[s.but(oracle=ERRS) for s in pairs([((2, 3), (4,)), ((2, 3), (2, 2)), ((3,), (2, 3))])],
    *[s.but(oracle=SHAPE) for s in pairs([((), (3,)), ((3,), ()), ((), ())], "d")],
    *mixed((3,), (2,)),
    sample(2.5, arr(3)).but(oracle=ERRS),
]
KRON = [
    *pairs(
        [
            ((2,), (3,)),
            ((2, 3), (3, 2)),
            ((2,), (3, 2)),
            ((2, 3), (2,)),
            ((2, 3, 2), (3, 2)),
            ((), (3,)),
            ((2, 3), ()),
            ((), ()),
        ]
    ),
    *mixed((2, 2), (1, 3)),
    sample(arr(2, 2), arr(2, 1, 3)).but(oracle=WRONG),
]
CROSS = [
    sample(arr(3), arr(3)).but(dtypes="dfD"),
    sample(arr(4, 3), arr(4, 3, layout="T")).but(dtypes="df"),
    sample(arr(3), arr(4, 3)).but(oracle=SHAPE),
    sample(arr(4, 3), arr(3)).but(oracle=SHAPE),
    sample(arr(4, 1, 3), arr(2, 3)).but(oracle=SHAPE),
    sample(arr(3, 4), arr(3, 4), axis=0),
    sample(arr(3, 4), arr(3, 4), axis=-2),
    sample(arr(3, 4), arr(4, 3), axisa=0),
    sample(arr(4, 3), arr(3, 4), axisb=0),
    sample(arr(4, 3), arr(4, 3), axisc=0),
    sample(arr(3, 4), arr(3, 4), 0, 0, 0),
    sample(arr(2, 3, 4), arr(4, 3), axisa=1, axisc=1).but(oracle=SHAPE),
    sample(arr(3, 4), arr(3), axisa=0).but(oracle=SHAPE),
    sample(arr(3), arr(3, kind="D")).but(oracle=COMPLEX),
    sample(arr(3), const(onp.array([1.0, 2.0, 3.0]))),
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

ROWS = [
    Row("dot", DOT),
    Row("matmul", MATMUL),
    Row("tensordot", TENSORDOT),
    Row("inner", INNER),
    Row("vdot", VDOT, oracle=NO_RULE),
    Row("outer", OUTER),
    Row("kron", KRON),
    Row("cross", CROSS),
    Row("vecdot", VECDOT, oracle=NO_RULE),
    Row("matvec", MATVEC, oracle=NO_RULE),
    Row("vecmat", VECMAT, oracle=NO_RULE),
]
