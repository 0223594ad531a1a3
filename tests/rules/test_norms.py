"""Norms beyond the table: zeros, ties, and very large and small numbers."""

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import grad, hessian, make_jvp, make_vjp


def close(found, wanted, tol=1e-9):
    onp.testing.assert_allclose(found, wanted, rtol=tol, atol=tol)


@pytest.mark.parametrize("dtype", ["d", "D", "f"])
@pytest.mark.parametrize("ord", [None, 1, 2, 3, 1.5, onp.inf, "fro", "nuc"])
@pytest.mark.filterwarnings("error")
def test_the_subgradient_of_a_norm_at_zero_is_zero(ord, dtype):
    x = onp.zeros((2, 2) if type(ord) is str else 3, dtype)
    cotangent, value = make_vjp(np.linalg.norm)(x, ord)[0](onp.ones((), dtype.lower())[()]), np.linalg.norm(x, ord)
    assert cotangent.dtype == x.dtype and not cotangent.any() and value == 0
    assert make_jvp(np.linalg.norm)(x, ord)(onp.ones_like(x))[1] == 0


def test_ties_share_the_subgradient():
    close(grad(np.linalg.norm)(onp.array([2.0, -2.0, 1.0]), onp.inf), [0.5, -0.5, 0])
    close(grad(np.linalg.norm)(onp.array([2.0, -1.0, 1.0]), -onp.inf), [0, -0.5, 0.5])
    close(grad(np.linalg.norm)(onp.array([[1.0, 2.0], [-3.0, 2.0]]), 1), [[0.5, 0.5], [-0.5, 0.5]])


def test_norms_of_large_and_small_numbers():
    for scale in (1e100, 1e-100):
        close(grad(np.linalg.norm)(onp.array([3.0, 4.0]) * scale, 3), onp.array([9.0, 16.0]) / 91 ** (2 / 3))


def test_norm_of_zero_entries_has_second_derivatives():
    x = onp.array([0.0, 1.0, -2.0])
    close(hessian(np.linalg.norm)(x), (onp.eye(3) - onp.outer(x, x) / 5) / onp.sqrt(5))
    assert onp.all(onp.isfinite(hessian(np.linalg.norm)(x, 3)))
    for z in (x.astype("D"), onp.array([[0.0, 0.0], [1.0, 2.0]])):
        cotangent = grad(lambda y: np.sum(np.linalg.norm(y, 3, axis=-1)))
        assert onp.all(onp.isfinite(grad(lambda y, f=cotangent: np.sum(np.abs(f(y)) ** 2))(z)))
