"""Samples of the decompositions of `numpy.linalg`.

Differences cannot check phases and bases, which a matrix does not determine: these results are checked through
functions that do not depend on them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as onp
from linalg_samples import NUMPY_2, REGULAR, adjoint, la, mat, part, row, square, with_all
from samples import ERRS, NO_RULE, WRONG, sample, val

# ------------------------------------------------------------------------------------------------------- decompositions

# `WEIGHTS` distinguish the vectors by their position.
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
    """Return the projector on the vectors from number ``first`` on, the left (side 0) or the right (side 2) ones."""

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

# ------------------------------------------------------------------------------------------------------------- the rows

ROWS = [
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
]
if NUMPY_2:
    ROWS += [
        row("svdvals", [sample(mat(3, 2)).but(dtypes="dfD"), sample(mat(2, 2, 3)).but(dtypes="dD")], oracle=NO_RULE),
        row(
            "cholesky upper", [sample(mat(3, 3), upper=True).but(dtypes="dfD")], of_cholesky, ("cholesky",), oracle=ERRS
        ),
    ]
