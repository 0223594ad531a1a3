"""Matrices that the tables of numpy.linalg share, and the rows of its functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as onp
from samples import ERRS, Row, Sample, Variable, sample

NUMPY_2 = hasattr(onp.linalg, "matrix_transpose")
INF = onp.inf
# autograd does not know the function or keyword.
UNKNOWN = ERRS

REGULAR = ((2.0, 0.5, -0.3), (0.4, -1.5, 0.6), (0.2, 0.7, 1.2))


def la(name: str) -> Callable:
    """Return what `Row` takes as the function of this name of ``linalg``."""
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
    """Return a random matrix or a stack of them; see `Matrix`."""
    return Matrix(shape, **options)


def square(*dtypes: str) -> list[Sample]:
    """Return samples of square matrices and stacks of them, in several layouts."""
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


def part(name: str, index: int) -> Callable:
    return lambda np: lambda *args, **kwargs: getattr(np.linalg, name)(*args, **kwargs)[index]


def row(name: str, samples: list[Sample], fun: Callable | None = None, of: tuple[str, ...] = (), **options) -> Row:
    return Row(f"linalg.{name}", samples, fun or la(name), covers=of or (name,), **options)
