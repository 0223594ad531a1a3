"""Samples of `scipy.linalg`."""

from __future__ import annotations

import importlib

import numpy as onp
from samples import COMPLEX, ERRS, NO_RULE, SHAPE, WRONG, Row, Sample, Variable, arr, sample, val
from scipy_samples import SCIPY, scipy_row

RNG = onp.random.default_rng(7)


def regular(n: int = 3, **options: object) -> Variable:
    """Return a matrix far from singular, with eigenvalues far from the negative axis."""
    noise = RNG.uniform(-0.4, 0.4, (n, n))
    entries = noise + 2.0 * onp.eye(n)
    if options.get("kind") in ("D", "F"):
        entries = entries + 0.3j * RNG.uniform(-1.0, 1.0, (n, n))
    return val(tuple(map(tuple, entries)), **options)


def systems(*args: object, oracle: bool | str = True, of_complex: bool | str = True, **kwargs: object) -> list[Sample]:
    """Return samples of a solve with each kind of right-hand side."""
    return [
        sample(regular(), arr(3), *args, **kwargs).but(oracle=oracle),
        sample(regular(layout="T"), arr(3, 2), *args, **kwargs).but(oracle=oracle),
        sample(regular(kind="D"), arr(3, 2, kind="D"), *args, **kwargs).but(oracle=of_complex),
    ]


ADJOINT = {"of_complex": WRONG}
ALL_WRONG = {"oracle": WRONG, "of_complex": WRONG}
SOLVE_TRIANGULAR = [
    *[s for trans in (0, 1, "N", "T") for s in systems(trans=trans)],
    *[s for trans in (2, "C") for s in systems(trans=trans, **ADJOINT)],
    *[s for trans in (0, 1) for s in systems(trans, True)],
    *systems(2, True, **ADJOINT),
    *[s for lower in (False, True) for s in systems(lower=lower, unit_diagonal=True, **ALL_WRONG)],
    *systems("C", True, True, oracle=ERRS, of_complex=ERRS),
    sample(regular(kind="f"), arr(3, 1, kind="f"), lower=True),
    sample(regular(), arr(3, kind="D")).but(oracle=COMPLEX),
    sample(regular(kind="D"), arr(3), trans="C").but(oracle=WRONG),
    sample(onp.eye(3), arr(3)),
]
SOLVE = [
    *systems(),
    *systems(transposed=True)[:2],
    sample(regular(kind="f"), arr(3, kind="f")),
    sample(regular(), arr(3, kind="D")),
    sample(regular(), arr(3), assume_a="gen"),
    sample(val(((2.0, 0.3), (0.3, 1.0))), arr(2), assume_a="pos").but(refused=True),
]
MATRICES = [regular(), regular(layout="T"), regular(kind="D"), regular(1), regular(kind="f")]
SQUARE = [sample(matrix) for matrix in MATRICES]
NORMS = [
    sample(arr(4)),
    sample(arr(2, 3, kind="D")),
    sample(arr(4), 3),
    sample(arr(2, 3), "fro"),
    sample(arr(2, 3), axis=1, keepdims=True),
]


def cholesky_of_product(np: object) -> object:
    """Return the Cholesky factor as a function of a product, because SciPy reads one triangle of its argument."""
    module = importlib.import_module(f"{SCIPY[np.__name__]}.linalg")
    return lambda a, **kwargs: module.cholesky(np.matmul(a, np.conj(np.swapaxes(a, -1, -2))), **kwargs)


CHOLESKY = [sample(m, **options) for m in (regular(), regular(kind="D")) for options in ({}, {"lower": True})]
SYLVESTER = [
    sample(regular(), regular(2), arr(3, 2)),
    sample(regular(kind="D"), regular(2, kind="D"), arr(3, 2, kind="D")),
    sample(val(((2.0, 0.3), (0.3, 1.0))), regular(1), arr(2, 1, kind="D")).but(oracle=COMPLEX),
    sample(regular(kind="f"), regular(2, kind="f"), arr(3, 2, kind="f")),
    sample(onp.eye(3), regular(2), arr(3, 2, layout="T")),
]
LYAPUNOV = [sample(regular(), arr(3, 3)), sample(regular(kind="D"), arr(3, 3, kind="D"))]


def bands(lower: int, upper: int, n: int = 5, **options: object) -> Variable:
    """Return the diagonals of a banded matrix with a large main diagonal."""
    entries = RNG.uniform(-0.5, 0.5, (lower + upper + 1, n))
    entries[upper] += 3.0
    return val(tuple(map(tuple, entries)), **options)


BANDED = [
    sample((1, 1), bands(1, 1), arr(5)),
    sample((2, 1), bands(2, 1), arr(5)),
    sample((0, 2), bands(0, 2, layout="T"), arr(5)),
    sample((0, 0), bands(0, 0), arr(5)).but(oracle=SHAPE),
    sample((3, 0), bands(3, 0, 4), arr(4)),
    sample((1, 1), bands(1, 1, kind="f"), arr(5, kind="f")),
    sample((1, 2), bands(1, 2), arr(5, 2)).but(oracle=SHAPE),
    sample((1, 1), bands(1, 1, kind="D"), arr(5, kind="D")),
    sample((1, 1), bands(1, 1), arr(5, 2, kind="D")).but(oracle=SHAPE),
    sample([1, 1], bands(1, 1), arr(5)),
]
BLOCKS = [
    sample(arr(2, 3), arr(1, 1), arr(3, 2, layout="T")).but(dtypes="dfD"),
    sample(arr(3), arr(2, 2), arr(), 1.5),
    sample(arr(2, 2), onp.ones((2, 1)), arr(1, 2)),
    sample(arr(2, 2, kind="D"), arr(1, 2)),
    sample(arr(2, 2)),
]

ROWS = [
    scipy_row("linalg", "solve_triangular", SOLVE_TRIANGULAR),
    scipy_row("linalg", "solve", SOLVE, oracle=NO_RULE),
    scipy_row("linalg", "inv", SQUARE, oracle=NO_RULE),
    scipy_row("linalg", "det", SQUARE, oracle=NO_RULE),
    scipy_row("linalg", "norm", NORMS, oracle=NO_RULE),
    Row("linalg.cholesky", CHOLESKY, fun=cholesky_of_product, covers=("cholesky",), oracle=NO_RULE),
    scipy_row("linalg", "solve_sylvester", SYLVESTER),
    scipy_row("linalg", "solve_continuous_lyapunov", LYAPUNOV, oracle=NO_RULE),
    scipy_row("linalg", "solve_banded", BANDED),
    scipy_row("linalg", "sqrtm", [s.but(oracle=WRONG) if s.args[0].kind == "D" else s for s in SQUARE]),
    *[
        scipy_row("linalg", name, SQUARE, oracle=NO_RULE)
        for name in ("expm", "cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm")
    ],
    # SciPy itself warns of the logarithm in single precision.
    scipy_row("linalg", "logm", SQUARE[:-1], oracle=NO_RULE),
    scipy_row("linalg", "block_diag", BLOCKS, oracle=NO_RULE),
]
