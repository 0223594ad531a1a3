"""Differences, trapezoidal rule and evenly spaced numbers beyond the table."""

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import grad, hessian, jacobian, make_vjp
from fastgrad.test_util import check_grads

pytestmark = [
    pytest.mark.filterwarnings("error"),
    pytest.mark.filterwarnings("ignore:Output seems independent of input"),
]
TRAPEZOID = "trapezoid" if hasattr(onp, "trapezoid") else "trapz"


def draw(*shape):
    return onp.random.randn(*shape)


def pulled(f, x):
    """Return the cotangent of x for a seed of ones."""
    vjp, ans = make_vjp(f)(x)
    return vjp(onp.ones_like(ans))


# ------------------------------------------------------------------------------------------------------------- refusals


def test_the_spacing_of_a_gradient_has_no_rule():
    with pytest.raises(NotImplementedError, match="VJP of gradient wrt argnum 1 .*take a plain value"):
        grad(lambda h: np.sum(np.gradient(onp.arange(4.0), h)))(0.5)


# ---------------------------------------------------------------------------------------------------------- differences


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("axis", [0, -1])
def test_diff_with_traced_ends(n, axis):
    x, before, after = draw(3, 4), 0.7, draw(*((2, 4) if axis == 0 else (3, 2)))
    check_grads(lambda x, before, after: np.diff(x, n, axis, before, after), (0, 1, 2))(x, before, after)
    check_grads(lambda after: np.diff(x, n=n, axis=axis, append=after))(after)
    check_grads(lambda x: np.diff(x, n=n, axis=axis, prepend=before, append=after))(x)


@pytest.mark.parametrize("n", [3, 4, 9])
def test_more_differences_than_elements(n):
    assert onp.array_equal(pulled(lambda x: np.diff(x, n), onp.ones(3)), onp.zeros(3))


COORDINATES = onp.array([0.0, 0.5, 0.7, 1.5, 2.0])


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("spacing", [(), (0.5,), (2,), (COORDINATES,)])
@pytest.mark.parametrize("axis", [0, -2])
def test_gradient_along_an_axis(spacing, axis, edge_order):
    x = draw(5, 2)
    check_grads(lambda x: np.gradient(x, *spacing, axis=axis, edge_order=edge_order))(x)
    numeric = onp.gradient(onp.eye(5), *spacing, axis=0, edge_order=edge_order)
    by_rule = jacobian(lambda x: np.gradient(x, *spacing, edge_order=edge_order))(x[:, 0])
    assert onp.allclose(by_rule, numeric, rtol=1e-13)


@pytest.mark.parametrize("n", [2, 3, 4, 6, 7])
@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradient_of_few_points(n, edge_order):
    if n > edge_order:
        for spacing in (1.0, onp.arange(n) ** 1.5):
            numeric = onp.gradient(onp.eye(n), spacing, axis=0, edge_order=edge_order)
            by_rule = jacobian(lambda x, h=spacing: np.gradient(x, h, edge_order=edge_order))(draw(n))
            assert onp.allclose(by_rule, numeric, rtol=1e-13)


@pytest.mark.parametrize("axis", [None, (0, 1), (-1, 0)])
@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradient_along_several_axes(axis, edge_order):
    def f(x):
        first, second = np.gradient(x, COORDINATES, 2.0, axis=axis, edge_order=edge_order)
        return np.sin(first) * second

    check_grads(f)(draw(5, 5))


def test_gradient_answers_as_numpy_does():
    x = draw(3, 4)
    plain, traced = onp.gradient(x), []
    grad(lambda x: traced.append(np.gradient(x)) or np.sum(traced[0][1]))(x)
    assert len(traced[0]) == len(plain) == 2
    assert type(traced[0]._value) is type(plain)


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("num", [0, 1, 2, 5])
def test_linspace(num, endpoint):
    check_grads(lambda a, b: np.linspace(a, b, num, endpoint=endpoint), (0, 1))(0.5, 2.0)
    check_grads(lambda a, b: np.linspace(a, b, num, endpoint, axis=-1), (0, 1))(draw(2, 1), draw(3))
    check_grads(lambda b: np.linspace(1, stop=b, num=num, endpoint=endpoint))(draw(3))


def test_linspace_with_its_step():
    check_grads(lambda a, b: np.linspace(a, b, 4, retstep=True)[1] ** 2, (0, 1))(draw(2), 3.0)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("ndim", [1, 2])
def test_trapezoidal_rule(axis, ndim):
    integral = getattr(np, TRAPEZOID)
    y = draw(3, 4)
    x = onp.sort(draw(y.shape[axis])) if ndim == 1 else draw(3, 4)
    check_grads(lambda y, x: integral(y, x, axis=axis), (0, 1))(y, x)
    check_grads(lambda y: integral(y, dx=0.3, axis=axis))(y)


def test_unwrap_moves_by_constants():
    x = onp.array([0.0, 3.0, 6.5, 13.0])
    assert onp.array_equal(jacobian(np.unwrap)(x), onp.eye(4))
    assert onp.allclose(hessian(lambda x: np.sum(np.unwrap(x) ** 2))(x), 2.0 * onp.eye(4))
