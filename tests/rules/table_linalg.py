"""Samples of inverses, equations and determinants of `numpy.linalg`, and of what it shares with `numpy`."""

from __future__ import annotations

import numpy as onp
from linalg_samples import NUMPY_2, REGULAR, UNKNOWN, la, mat, part, row, square, with_all
from samples import COMPLEX, ERRS, NO_RULE, SHAPE, WRONG, arr, const, sample, val

# Rank 2 and rank 1.
SINGULAR = ((1.0, 2.0, 3.0), (4.0, 5.0, 6.0), (5.0, 7.0, 9.0))
SIX = onp.eye(6) * 2 + onp.random.default_rng(0).uniform(-0.5, 0.5, (6, 6))
RANK_1 = ((1.0, 2.0, 3.0), (2.0, 4.0, 6.0), (-1.0, -2.0, -3.0))

# ------------------------------------------------------------------------------------ inverses, equations, determinants

PINV = [
    sample(mat(3, 3)).but(dtypes="dfD"),
    sample(mat(3, 2)).but(dtypes="dfD", oracle={"D": WRONG}),
    sample(mat(2, 4)).but(dtypes="dfD", oracle={"D": WRONG}),
    sample(mat(2, 3, 2)).but(dtypes="dD", oracle={"D": WRONG}),
    sample(mat(3, 2, layout="T"), const(1e-10)).but(oracle=ERRS),
    sample(mat(3, 2), rcond=1e-10).but(oracle=ERRS),
    sample(mat(3, 3), hermitian=True).but(dtypes="dD", oracle=UNKNOWN),
]
SOLVE = [
    sample(mat(3, 3), arr(3)).but(dtypes="dfD"),
    sample(mat(3, 3), arr(3, 2)).but(dtypes="dfD"),
    sample(mat(3, 3, layout="T"), arr(3, 3, layout="R")).but(dtypes="dD"),
    sample(mat(2, 3, 3), arr(2, 3, 2)).but(dtypes="dfD"),
    sample(mat(3, 3), arr(2, 3, 1)).but(dtypes="dD", oracle=ERRS),
    sample(mat(1, 3, 3), arr(4, 3, 2)).but(oracle=SHAPE),
    sample(mat(3, 3), arr(3, kind="D")).but(oracle=COMPLEX),
    sample(mat(3, 3, kind="D"), arr(3, 2)).but(oracle=COMPLEX),
    sample(mat(3, 3, kind="f"), arr(3)),
    sample(const(onp.array(REGULAR)), arr(3)),
    sample(val(REGULAR), const(onp.ones(3))),
    sample(((2.0, 1.0), (0.5, 3.0)), arr(2)).but(oracle=ERRS),
    sample([[2, 1], [1, 3]], arr(2)),
]
if NUMPY_2:  # earlier, a b with one axis fewer than a was a stack of vectors
    SOLVE += [
        sample(mat(2, 3, 3), arr(3, 2)).but(dtypes="dD", oracle=ERRS),
        sample(mat(2, 1, 3, 3), arr(4, 3, 2)).but(oracle=ERRS),
        sample(mat(2, 3, 3), arr(3)).but(dtypes="dD", oracle=ERRS),
        sample(mat(2, 3, 3), arr(3, 3)).but(oracle=ERRS),
        sample(mat(2, 1, 3, 3), arr(3)).but(oracle=ERRS),
    ]
DET = [
    *square(),
    sample(val(SINGULAR)).but(dtypes="dfD"),
    sample(val(RANK_1)).but(dtypes="dD", oracle=ERRS),
    sample(val(((0.0, 0.0), (0.0, 0.0)))).but(dtypes="dD", oracle=ERRS),
    sample(val(((0.0,),))).but(oracle=ERRS),
    sample(val((SINGULAR, REGULAR, RANK_1))).but(oracle=WRONG),
]
SLOGDET = [
    *square(),
    sample(val(REGULAR)),
    sample(val((REGULAR, tuple(-onp.array(REGULAR))))),
]
POWER = [
    *[sample(mat(3, 3), n).but(dtypes="dD") for n in (0, 1, 2, 3, 5, 8)],
    sample(val(REGULAR), -1).but(dtypes="dfD"),
    sample(val(REGULAR), -3),
    sample(mat(2, 3, 3), 3).but(dtypes="df"),
    sample(mat(2, 2), n=onp.int64(4)),
]
MULTI_DOT = [
    sample(arr(2, 3), arr(3, 4)).but(oracle=WRONG, dtypes="dfD"),
    sample(arr(2, 3), arr(3, 4), arr(4, 2)).but(oracle=WRONG, dtypes="dD"),
    sample(arr(4), arr(4, 3), arr(3, 5), arr(5, 2)).but(oracle=WRONG),
    sample(arr(2, 4), arr(4, 3), arr(3, 5), arr(5)).but(oracle=WRONG, dtypes="dD"),
    sample(arr(3), arr(3, 4), arr(4, 2), arr(2)),
    sample(arr(3), arr(3)),
    sample(arr(2, 3), const(onp.ones((3, 4))), arr(4, 2, kind="D")).but(oracle=WRONG),
]
LSTSQ = [
    sample(mat(5, 3), arr(5), None).but(dtypes="dD"),
    sample(mat(5, 3), arr(5, 2), rcond=None).but(dtypes="dD"),
    sample(mat(3, 5), arr(3), None).but(dtypes="dD"),
    sample(mat(3, 3), arr(3, 2), const(1e-12)),
    sample(mat(4, 2), arr(4), rcond=-1),
]
VECDOT = [
    sample(arr(3), arr(3)).but(dtypes="dfD"),
    sample(arr(2, 3), arr(2, 3)).but(dtypes="dD"),
    sample(arr(2, 3), arr(3)).but(dtypes="dD"),
    sample(arr(3, 1, 2), arr(3, 4, 2)),
    sample(arr(3, 2), arr(3, 2), axis=0).but(dtypes="dD"),
    sample(arr(4, 3, 2), arr(3, 2), axis=-2),
    sample(arr(3), arr(3, kind="D")),
]

# ------------------------------------------------------------------------------------------------------------- the rows

ROWS = [
    row("inv", square()),
    row("pinv", PINV),
    row("solve", SOLVE),
    row("det", DET),
    row("slogdet", SLOGDET, part("slogdet", 1)),
    row("slogdet sign", with_all(SLOGDET[:4], dtypes="dD", oracle={"D": WRONG}), part("slogdet", 0), ("slogdet",)),
    row("matrix_power", POWER, oracle=NO_RULE),
    row("multi_dot", MULTI_DOT, lambda np: lambda *x: np.linalg.multi_dot(x), ("multi_dot_args",)),
    *[row(f"lstsq[{i}]", LSTSQ, part("lstsq", i), ("lstsq_parts",), oracle=NO_RULE) for i in (0, 1, 3)],
    row(
        "tensorinv",
        [sample(val(SIX.reshape(2, 3, 6))), sample(val(SIX.reshape(6, 2, 3)), 1)],
        of=("inv",),
        oracle=NO_RULE,
    ),
    row(
        "tensorsolve",
        [sample(val(SIX.reshape(2, 3, 6)), arr(2, 3)), sample(val(SIX.reshape(2, 6, 3)), arr(2, 3), axes=(1,))],
        of=("solve",),
        oracle=NO_RULE,
    ),
]
if NUMPY_2:
    STACKED = [sample(arr(3, 3)).but(dtypes="dD"), sample(arr(2, 3, 4)), sample(arr(2, 3, 4), offset=-1)]
    ROWS += [
        row("pinv rtol", [sample(mat(3, 2), rtol=1e-10)], la("pinv"), ("pinv",), oracle=ERRS),
        row("vecdot", VECDOT, oracle=NO_RULE),
        row("trace", STACKED, of=("trace",), oracle=NO_RULE),
        row("diagonal", STACKED, of=("diagonal",), oracle=NO_RULE),
        row("matrix_transpose", STACKED[:2], of=("matrix_transpose",), oracle=NO_RULE),
        row("outer", [sample(arr(3), arr(2)).but(dtypes="dD")], of=("outer",), oracle=NO_RULE),
        row("cross", [sample(arr(3), arr(3)), sample(arr(3, 2), arr(3, 2), axis=0)], of=("cross",), oracle=NO_RULE),
        row("matmul", [sample(arr(2, 3), arr(3, 2))], of=("matmul",), oracle=NO_RULE),
        row(
            "tensordot",
            [sample(arr(2, 3, 4), arr(3, 4, 2)), sample(arr(2, 3), arr(3), axes=1)],
            of=("tensordot",),
            oracle=NO_RULE,
        ),
    ]
