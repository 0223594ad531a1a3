"""Samples of ``numpy.linalg``.

What a matrix does not fix, phases and bases, differences cannot check: such results are checked through functions that
do not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as onp
from checks import COMPLEX, ERRS, NO_RULE, SHAPE, WRONG, Row, Sample, Variable, arr, const, sample, val

NUMPY_2 = hasattr(onp.linalg, "matrix_transpose")
INF = onp.inf
# An autograd that knows nothing of the function or keyword.
UNKNOWN = ERRS

REGULAR = ((2.0, 0.5, -0.3), (0.4, -1.5, 0.6), (0.2, 0.7, 1.2))
# Rank 2 and rank 1.
SINGULAR = ((1.0, 2.0, 3.0), (4.0, 5.0, 6.0), (5.0, 7.0, 9.0))
SIX = onp.eye(6) * 2 + onp.random.default_rng(0).uniform(-0.5, 0.5, (6, 6))
RANK_1 = ((1.0, 2.0, 3.0), (2.0, 4.0, 6.0), (-1.0, -2.0, -3.0))


def la(name: str) -> Callable:
    """The function of this name of ``linalg``, for `Row`."""
    return lambda np: getattr(np.linalg, name)


def adjoint(np, x):
    return np.conj(np.swapaxes(x, -1, -2))


@dataclass(frozen=True)
class Matrix(Variable):
    """Random matrices whose eigenvalues and singular values are apart from each other and from zero."""

    def _entries(self, rng: onp.random.Generator, dtype: str) -> onp.ndarray:
        while True:
            entries = super()._entries(rng, dtype)
            if all(map(_is_spread, entries.reshape(-1, *self.shape[-2:]))):
                return entries


def _is_spread(x: onp.ndarray) -> bool:
    k = min(x.shape)
    spectra = [onp.linalg.svd(x)[1], 2 * onp.linalg.svd(x[:k, :k])[1]]
    if x.shape == (k, k):
        spectra += [onp.linalg.eigvals(x), onp.linalg.eigvalsh(x), onp.linalg.eigvalsh(x, "U")]
    distances = [abs(w[:, None] - w)[~onp.eye(k, dtype=bool)] for w in spectra]
    return min(min(d, default=1) for d in distances) > 0.25 and min(abs(w).min() for w in spectra) > 0.25


def mat(*shape: int, **options) -> Matrix:
    """A random matrix or stack of them, as `Matrix` says."""
    return Matrix(shape, **options)


def square(*dtypes: str) -> list[Sample]:
    """Matrices, stacks of them, and layouts."""
    return [
        sample(mat(3, 3)).but(dtypes="dfD"),
        sample(mat(2, 2, layout="T")).but(dtypes="dfD"),
        sample(mat(1, 1)),
        sample(mat(2, 3, 3)).but(dtypes="dfD"),
        sample(mat(2, 1, 2, 2, layout="R")),
        sample(mat(4, 4, layout="S")),
    ]


def with_all(samples: list[Sample], **changes) -> list[Sample]:
    return [s.but(**changes) for s in samples]


# --------------------------------------------------------------------------------- inverses, equations, determinants

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
if NUMPY_2:  # before, b with one axis less than a was a stack of vectors
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

# ------------------------------------------------------------------------------------------------------ decompositions
# `WEIGHTS` tell the vectors apart by their place.

WEIGHTS = onp.array([1.0, -2.0, 0.5, 3.0])


def of_eigh(np):
    def fun(a, *args, **kwargs):
        w, v = np.linalg.eigh(a, *args, **kwargs)
        return (v * (WEIGHTS[: np.shape(a)[-1]].astype(w.dtype) + w**2)[..., None, :]) @ adjoint(np, v)

    return fun


def of_eig(np):
    def fun(a):
        w, v = np.linalg.eig(a)
        return np.matmul(v * (WEIGHTS[: np.shape(a)[-1]] + w**2)[..., None, :], np.linalg.inv(v))

    return fun


def lengths_of_eig(np):
    return lambda a: np.abs(np.linalg.eig(a)[1]) ** 2


def of_svd(np):
    def fun(a, **kwargs):
        u, s, vh = np.linalg.svd(a, **kwargs)
        k = np.shape(s)[-1]
        return np.matmul(u[..., :k] * (WEIGHTS[:k].astype(s.dtype) + s**2)[..., None, :], vh[..., :k, :])

    return fun


def spans_of_svd(first: int, side: int) -> Callable:
    """The projector on the vectors from the ``first`` on: the left ones or, with side 2, the right ones."""

    def make(np):
        def fun(a, **kwargs):
            x = np.linalg.svd(a, **kwargs)[side]
            x = x[..., first:] if side == 0 else adjoint(np, x)[..., first:]
            return np.matmul(x, adjoint(np, x))

        return fun

    return make


def of_cholesky(np):
    def fun(a, **kwargs):
        n = np.shape(a)[-1]
        return np.linalg.cholesky((a + adjoint(np, a)) * 0.5 + 4 * onp.eye(n, dtype="f"), **kwargs)

    return fun


def part(name: str, index: int) -> Callable:
    return lambda np: lambda *args, **kwargs: getattr(np.linalg, name)(*args, **kwargs)[index]


def complement_of_qr(np):
    def fun(a, mode):
        rest = np.linalg.qr(a, mode)[0][..., :, np.shape(a)[-1] :]
        return np.matmul(rest, adjoint(np, rest))

    return fun


HERMITIAN = [
    *square(),
    sample(mat(3, 3), "U").but(dtypes="dD"),
    sample(mat(2, 3, 3), UPLO="U").but(dtypes="dfD"),
    sample(mat(3, 3), UPLO="l").but(oracle=ERRS),
]
EIG = [
    sample(val(REGULAR)),
    sample(mat(3, 3)).but(dtypes="dD"),
    sample(val(((0.5, 1.0), (-2.0, 0.3)))),
    sample(mat(2, 2, 2)).but(dtypes="dD"),
]
SVD = [
    sample(mat(3, 3), full_matrices=False).but(dtypes="dfD"),
    sample(mat(4, 2), full_matrices=False).but(dtypes="dfD"),
    sample(mat(2, 4), full_matrices=False).but(dtypes="dfD"),
    sample(mat(2, 3, 2), full_matrices=False).but(dtypes="dD"),
    sample(mat(3, 3)).but(dtypes="dD", oracle=ERRS),
    sample(mat(4, 2)).but(dtypes="dD", oracle=ERRS),
    sample(mat(2, 2, 3)).but(dtypes="dD", oracle=ERRS),
    sample(mat(3, 3), full_matrices=False, hermitian=True).but(dtypes="dD", oracle=ERRS),
]
LEFT = [s for s in SVD if "hermitian" not in s.kwargs]
SVD_VALUES = [
    sample(mat(3, 3), compute_uv=False).but(dtypes="dfD"),
    sample(mat(4, 2), compute_uv=False).but(dtypes="dD"),
    sample(mat(2, 4), False, False).but(dtypes="dD"),
    sample(mat(2, 3, 2), compute_uv=False).but(dtypes="dfD"),
    sample(mat(3, 3), compute_uv=False, hermitian=True).but(dtypes="dD", oracle=ERRS),
]
TALL = [sample(mat(4, 3)).but(dtypes="dfD"), sample(mat(3, 3)).but(dtypes="dfD"), sample(mat(2, 4, 2)).but(dtypes="dD")]
WIDE = [sample(mat(2, 4)).but(dtypes="dfD"), sample(mat(2, 2, 3)).but(dtypes="dD")]
COMPLETE = [
    sample(mat(3, 3), "complete").but(dtypes="dD"),
    sample(mat(2, 3), mode="complete"),
    sample(mat(2, 3, 3), mode="complete"),
]
QR_R = [
    *with_all(TALL + WIDE, kwargs={"mode": "r"}),
    sample(mat(4, 2), "r"),
]

# --------------------------------------------------------------------------------------------------------------- norms

VECTORS = [
    sample(arr(4)).but(dtypes="dfD"),
    sample(arr(2, 3)).but(dtypes="dfD"),
    sample(arr(2, 3, 2, layout="T")).but(dtypes="dD"),
    sample(2.5).but(oracle=ERRS),
    sample(arr(2, 3), None, 1).but(dtypes="dD"),
    sample(arr(2, 3), axis=-1),
    sample(arr(2, 3, 2), axis=(0, 2)).but(dtypes="dD"),
    sample(arr(2, 3, 2), axis=(2,)).but(oracle=ERRS),
    sample(arr(3), 2).but(dtypes="dD"),
    sample(arr(2, 3), ord=2, axis=0),
    sample(arr(4, gap=0.2), 3).but(dtypes="dfD"),
    sample(arr(4, gap=0.2), const(1.5)).but(dtypes="dD"),
    sample(arr(2, 3, gap=0.2), 4, 1).but(dtypes="dD"),
    sample(arr(2, 3, gap=0.2), 3, 0),
    sample(arr(3, gap=0.2), -2).but(dtypes="dD", oracle=ERRS),
    sample(arr(3, gap=0.2), const(0.5)).but(oracle=ERRS),
    *[sample(arr(4, gap=0.2), const(p)).but(dtypes="dD", oracle=ERRS) for p in (1, -INF, 0)],
    *[sample(arr(2, 3, gap=0.2), const(p), 1).but(dtypes="dD", oracle=ERRS) for p in (1, -INF)],
    sample(arr(4, gap=0.2), const(INF)).but(dtypes="dfD", oracle=WRONG),
    sample(arr(2, 3, gap=0.2), const(INF), -1).but(dtypes="dD", oracle=WRONG),
]
MATRICES = [
    sample(mat(3, 2), "fro").but(dtypes="dfD"),
    sample(mat(2, 3, 2), "fro", (0, 2)),
    sample(mat(3, 2), "nuc").but(dtypes="dfD"),
    sample(mat(3, 3), "nuc"),
    sample(mat(2, 3, 2), "nuc", (2, 0)),
    *[sample(mat(3, 2, gap=0.1), const(p)).but(dtypes="dD", oracle=ERRS) for p in (1, -1, INF, -INF, 2, -2)],
    *[sample(mat(2, 3, 2, gap=0.1), const(p), (0, -1)).but(oracle=ERRS) for p in (1, -1, INF, -INF, 2, -2)],
    sample(mat(2, 3, 2, gap=0.1), 1, (2, 1)).but(oracle=ERRS),
    sample(mat(3, 2, gap=0.1), 1).but(dtypes="f", oracle=ERRS),
]
KEEPDIMS = [
    sample(arr(3), keepdims=True).but(dtypes="dD"),
    sample(arr(2, 3), axis=1, keepdims=True).but(dtypes="dD", oracle=ERRS),
    sample(arr(2, 3), None, 1, True).but(oracle=ERRS),
    sample(arr(2, 3, gap=0.2), 3, axis=0, keepdims=True).but(oracle=ERRS),
    sample(arr(2, 3), "fro", keepdims=True),
    sample(arr(2, 3, 2), "nuc", axis=(0, 1), keepdims=True).but(oracle=ERRS),
    sample(arr(2, 3, gap=0.2), const(INF), keepdims=True).but(oracle=ERRS),
]
AT_ZERO = [
    sample(val((0.0, 0.0, 0.0))).but(dtypes="dD"),
    sample(val(((0.0, 0.0), (1.0, 2.0))), axis=1),
    sample(val(((0.0, 0.0), (1.0, 2.0))), axis=1, keepdims=True),
    *[sample(val((0.0, 0.0, 0.0)), const(p)).but(dtypes="dD") for p in (1, 3, 1.5, INF)],
    *[sample(val(((0.0, 0.0), (0.0, 0.0))), const(p)).but(dtypes="dD") for p in ("fro", "nuc", 2, 1, INF)],
]
ZERO = with_all(AT_ZERO, kink=True, oracle=WRONG)
TIES = with_all(
    [sample(val((1.0, -1.0, 0.5)), const(INF)), sample(val(((1.0, 2.0), (-2.0, 1.0))), 1), sample(val(REGULAR), 2)],
    kink=True,
    oracle=ERRS,
)
VECTOR_NORM = [
    sample(arr(4)).but(dtypes="dfD"),
    sample(arr(2, 3, 2), axis=(0, 2), keepdims=True).but(dtypes="dD"),
    sample(arr(2, 3, gap=0.2), ord=3).but(dtypes="dD"),
    sample(arr(2, 3, 2, gap=0.2), ord=1, axis=(0, 1)),
    sample(arr(2, 3, gap=0.2), ord=INF, axis=-1),
    sample(val(((0.0, 0.0), (1.0, 2.0))), axis=1).but(kink=True),
]
MATRIX_NORM = [
    sample(mat(3, 2)).but(dtypes="dfD"),
    sample(mat(2, 3, 2), keepdims=True).but(dtypes="dD"),
    *[sample(mat(2, 3, 2, gap=0.1), ord=p).but(dtypes="dD") for p in ("nuc", 2, -2, 1, -1, INF, -INF)],
]


# ------------------------------------------------------------------------------------------------------------ the rows


def row(name: str, samples: list[Sample], fun: Callable | None = None, of: tuple[str, ...] = (), **options) -> Row:
    return Row(f"linalg.{name}", samples, fun or la(name), covers=of or (name,), **options)


ROWS = [
    row("inv", square()),
    row("pinv", PINV),
    row("solve", SOLVE),
    row("det", DET),
    row("slogdet", SLOGDET, part("slogdet", 1), ("slogdet", "make_result")),
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
    row("eig", EIG, of_eig),
    row("eig lengths", EIG, lengths_of_eig, ("eig",)),
    row("eigvals", EIG, oracle=NO_RULE),
    row("eigh", HERMITIAN, of_eigh),
    row("eigvalsh", HERMITIAN, oracle=NO_RULE),
    row("svd", SVD, of_svd),
    row("svd left", LEFT, spans_of_svd(1, 0), ("svd",)),
    row("svd right", LEFT, spans_of_svd(1, 2), ("svd",)),
    row("svd values", SVD_VALUES, la("svd"), ("svd",)),
    row("cholesky", with_all(square()[:5], oracle={"D": WRONG}), of_cholesky),
    row("qr Q", TALL + WIDE + COMPLETE, part("qr", 0), ("qr",), oracle=NO_RULE),
    row("qr R", TALL + WIDE + COMPLETE, part("qr", 1), ("qr",), oracle=NO_RULE),
    row("qr r", QR_R, la("qr"), ("qr",), oracle=NO_RULE),
    row("qr complete", [sample(mat(4, 2), "complete").but(dtypes="dD")], complement_of_qr, ("qr",), oracle=NO_RULE),
    row("qr raw", [sample(mat(3, 2), "raw").but(refused=True)], la("qr"), ("qr",)),
    row("norm", VECTORS),
    row("norm of matrices", MATRICES, la("norm"), ("norm",)),
    row("norm keepdims", KEEPDIMS, la("norm"), ("norm",)),
    row("norm at zero", ZERO, la("norm"), ("norm",)),
    row("norm ties", TIES, la("norm"), ("norm",)),
]
if NUMPY_2:
    STACKED = [sample(arr(3, 3)).but(dtypes="dD"), sample(arr(2, 3, 4)), sample(arr(2, 3, 4), offset=-1)]
    ROWS += [
        row("svdvals", [sample(mat(3, 2)).but(dtypes="dfD"), sample(mat(2, 2, 3)).but(dtypes="dD")], oracle=NO_RULE),
        row(
            "cholesky upper", [sample(mat(3, 3), upper=True).but(dtypes="dfD")], of_cholesky, ("cholesky",), oracle=ERRS
        ),
        row("vector_norm", VECTOR_NORM, oracle=NO_RULE),
        row("matrix_norm", MATRIX_NORM, oracle=NO_RULE),
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
