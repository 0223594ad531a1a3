"""Functions that call a function, and random draws: their traced arguments stay traced or are refused."""

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import grad, make_jvp, make_vjp
from fastgrad.test_util import check_grads


def draw(*shape):
    return onp.random.randn(*shape)


def refused(f, x, match):
    """Check that both modes refuse an argument that has no rule."""
    with pytest.raises(NotImplementedError, match=match):
        vjp, answer = make_vjp(f)(x)
        vjp(onp.ones_like(answer))
    with pytest.raises(NotImplementedError, match=match):
        make_jvp(f)(x)(onp.ones_like(x))


def squares(x):
    return np.vectorize(lambda v: v * v)(x)


def test_vectorized_functions_stay_traced():
    x = draw(2, 3)
    check_grads(squares)(x)
    check_grads(lambda x: np.vectorize(lambda v, w: v * w, signature="(n),(n)->(n)")(x, x))(x)
    check_grads(lambda x: np.vectorize(lambda v, n: v**n, excluded={1})(x, 3))(x)
    check_grads(lambda scale: np.vectorize(lambda v: scale * v)(x))(0.5)
    first, second = make_jvp(lambda x: np.array(np.vectorize(lambda v: (v * v, 2.0 * v))(x)))(x)(x)[1]
    assert onp.allclose(first, 2.0 * x * x) and onp.allclose(second, 2.0 * x)
    assert onp.array_equal(squares(x), x * x) and squares(x).dtype == float
    assert isinstance(np.vectorize(abs), onp.vectorize)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
@pytest.mark.parametrize(
    "fun",
    [lambda v: np.sum(v**2), lambda v: v[:2] * v[1], lambda v: np.outer(v, v)],
    ids=["number", "vector", "matrix"],
)
def test_functions_along_an_axis_stay_traced(fun, axis):
    x = draw(2, 3, 4)
    expected = onp.apply_along_axis(fun, axis, x)
    assert onp.array_equal(np.apply_along_axis(fun, axis, x), expected)
    assert onp.allclose(make_vjp(lambda x: np.apply_along_axis(fun, axis, x))(x)[1], expected)
    check_grads(lambda x: np.apply_along_axis(fun, axis, x))(x)
    check_grads(lambda scale: np.apply_along_axis(lambda v: scale * fun(v), axis, x))(0.5)


def test_functions_of_coordinates_stay_traced():
    check_grads(lambda scale: np.fromfunction(lambda i, j: scale * i + scale**2 * j, (2, 3)))(0.5)


def test_functions_of_functions_that_are_refused():
    x = draw(3)
    refused(lambda x: np.apply_over_axes(onp.sum, x, [0]), x, "apply_over_axes")
    refused(lambda x: np.piecewise(x, [x < 0, x >= 0], [-1.0, 1.0]), x, "piecewise")


DRAWS = {
    "one": "chisquare dirichlet exponential geometric pareto poisson power rayleigh standard_gamma standard_t weibull",
    "two": "beta f gamma gumbel laplace logistic lognormal normal uniform vonmises wald",
}


@pytest.mark.parametrize("name", DRAWS["one"].split() + DRAWS["two"].split())
def test_a_draw_never_drops_a_traced_parameter(name):
    rest = (2.0,) if name in DRAWS["two"].split() else ()
    for parameter in (0.5, onp.array([0.4, 0.6])):
        for fun in (getattr(np.random, name), getattr(np.random.RandomState(0), name)):
            with pytest.raises((TypeError, ValueError, NotImplementedError)):
                grad(lambda p, fun=fun: np.sum(fun(p, *rest)))(parameter)
