"""Functions that NumPy composes of others, beyond the table: refusals, ties, ends and what NumPy's options mean."""

import itertools
import warnings

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import deriv, elementwise_grad, grad, hessian, jacobian, make_jvp, make_vjp
from fastgrad.extend import primitive
from fastgrad.numpy.composing import def_composed
from fastgrad.test_util import check_grads

NUMPY_1 = int(onp.__version__.split(".")[0]) < 2


def draw(*shape):
    return onp.random.randn(*shape)


def refused(f, x, match):
    """Say that neither mode passes over what it has no rule for."""
    with pytest.raises(NotImplementedError, match=match):
        vjp, answer = make_vjp(f)(x)
        vjp(onp.ones_like(answer))
    with pytest.raises(NotImplementedError, match=match):
        make_jvp(f)(x)(onp.ones_like(x))


# ------------------------------------------------------------------------------------------------------------ mechanism


def squared_distance(a, b, scale=1.0, offset=None, debug=False):
    return scale * onp.sum((a - b) ** 2)


def composed():
    """A primitive with the rules of a composition that has no `offset` and does not know `debug`."""
    fun = primitive(squared_distance)
    def_composed(fun, lambda a, b, scale=1.0, _offset=None: scale * np.sum((a - b) ** 2), constant=("scale",))
    return fun


def test_a_composition_gives_both_modes_to_any_order():
    fun = composed()
    check_grads(fun, (0, 1), order=3)(draw(3), draw(3))
    assert onp.allclose(grad(fun)(onp.arange(3.0), onp.ones(3), scale=2.0), [-4.0, 0.0, 4.0])


def test_a_composition_refuses_what_it_has_no_place_for():
    fun, x = composed(), draw(3)
    refused(lambda x: fun(x, 0.0, offset=1.0), x, "squared_distance .*'offset'")
    refused(lambda x: fun(x, 0.0, 1.0, 1.0), x, "squared_distance .*'offset'")
    refused(lambda x: fun(x, 0.0, debug=True), x, "squared_distance .*'debug'")
    refused(lambda s: fun(x, 0.0, s), 1.0, "squared_distance has no derivative with respect to 'scale'")
    assert grad(lambda x: fun(x, 0.0, offset=None, debug=False))(1.0) == 2.0


def test_a_composition_does_not_repeat_numpys_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = onp.array([1.0, onp.inf, 2.0, 3.0])
        assert onp.array_equal(grad(lambda x: np.quantile(x, 0.25))(x), [0.25, 0.0, 0.75, 0.0])


def test_out_is_refused():
    x = draw(3)
    refused(lambda x: np.nancumsum(x, out=onp.empty(3)), x, "nancumsum .*'out'")
    refused(lambda x: np.median(x, out=onp.empty(())), x, "median .*'out'")
    refused(lambda x: np.choose(onp.array([0, 1, 0]), [x, x], out=onp.empty(3)), x, "choose .*'out'")


# --------------------------------------------------------------------------------------------------------- convolutions


@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("mode", ["full", "same", "valid", 0, 1, 2])
def test_every_combination_of_lengths(name, mode):
    fun, numpys = getattr(np, name), getattr(onp, name)
    for n, m in itertools.product(range(1, 6), repeat=2):
        a, v = draw(n), draw(m)
        by_basis = onp.stack([numpys(row, v, mode) for row in onp.eye(n)], -1)
        assert onp.allclose(jacobian(fun, 0)(a, v, mode), by_basis)
        by_basis = onp.stack([numpys(a, row, mode) for row in onp.eye(m)], -1)
        assert onp.allclose(jacobian(fun, 1)(a, v, mode), by_basis)


def test_autocorrelation():
    check_grads(lambda x: np.correlate(x, x, "full"))(draw(4) + 1j * draw(4))
    check_grads(lambda x: np.convolve(x, x))(draw(4))


# ------------------------------------------------------------------------------------------------------------ quantiles


def test_a_median_of_few():
    assert onp.array_equal(grad(np.median)(onp.array([3.0, 1.0, 2.0])), [0.0, 0.0, 1.0])
    assert onp.array_equal(grad(np.median)(onp.array([3.0, 1.0, 2.0, 0.0])), [0.0, 0.5, 0.5, 0.0])
    assert onp.array_equal(grad(np.median)(onp.array([5.0])), [1.0])


def test_quantiles_with_ties_are_transposes():
    x, v, g = onp.array([1.0, 0.0, 1.0, 0.0, 1.0]), draw(5), draw(3)

    def f(x):
        return np.quantile(x, onp.array([0.2, 0.5, 0.8]))

    assert onp.isclose(onp.dot(make_jvp(f)(x)(v)[1], g), onp.dot(make_vjp(f)(x)[0](g), v))
    assert onp.isclose(onp.sum(make_vjp(f)(x)[0](g)), onp.sum(g))


def test_arguments_of_quantiles_that_are_refused():
    x = draw(5)
    refused(lambda q: np.quantile(x, q), 0.3, "quantile has no derivative with respect to 'q'")
    refused(lambda q: np.percentile(x, q=q), 30.0, "percentile has no derivative with respect to 'q'")
    refused(lambda x: np.percentile(x, 30.0, overwrite_input=True), x, "percentile .*'overwrite_input'")


@pytest.mark.skipif(NUMPY_1, reason="weights of quantiles came with NumPy 2.0")
def test_weights_of_quantiles_are_refused():
    weights = onp.ones(5)
    refused(lambda x: np.quantile(x, 0.3, weights=weights, method="inverted_cdf"), draw(5), "quantile .*'weights'")


# ------------------------------------------------------------------------------------------------------- interpolation

KNOWN = onp.array([0.0, 1.0, 3.0])


def test_interpolation_outside_and_at_the_known_places():
    x = onp.array([-1.0, 0.0, 0.5, 1.0, 3.0, 4.0])
    values = onp.array([0.0, 2.0, 3.0])
    assert onp.array_equal(elementwise_grad(lambda x: np.interp(x, KNOWN, values))(x), [0.0, 2.0, 2.0, 0.5, 0.5, 0.0])
    weights = jacobian(lambda fp: np.interp(x, KNOWN, fp))(values)
    assert onp.array_equal(weights[0], [1.0, 0.0, 0.0]) and onp.array_equal(weights[-1], [0.0, 0.0, 1.0])
    assert onp.allclose(weights @ values, onp.interp(x, KNOWN, values))


def test_values_beyond_the_ends_are_differentiated():
    x, values = onp.array([-1.0, 0.5, 4.0, 5.0]), onp.ones(3)
    assert grad(lambda left: np.sum(np.interp(x, KNOWN, values, left=left)))(0.5) == 1.0
    assert grad(lambda right: np.sum(np.interp(x, KNOWN, values, None, right)))(0.5) == 2.0
    check_grads(lambda fp: np.interp(x, KNOWN, fp, left=0.0))(values)


def test_a_traced_period_is_refused():
    refused(lambda p: np.interp(onp.ones(2), KNOWN, KNOWN, period=p), 2.0, "interp has no derivative .*'period'")


# ------------------------------------------------------------------------------------------------------------- the rest


def test_covariances():
    x, y = draw(3, 6), draw(2, 6)
    check_grads(lambda x, y: np.cov(x, y), (0, 1))(x, y)
    check_grads(lambda w: np.cov(x, aweights=w))(onp.random.rand(6) + 0.5)
    check_grads(lambda x: np.cov(x, dtype="d"))(x)
    assert onp.allclose(jacobian(np.cov)(x[0]), 2.0 * (x[0] - x[0].mean()) / 5)
    assert not onp.any(onp.diagonal(make_jvp(np.corrcoef)(x)(draw(3, 6))[1]).round(14))


def test_a_covariance_of_a_matrix_of_one_row():
    x = draw(1, 4)
    for rowvar in (True, False):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = onp.cov(x, rowvar=rowvar, ddof=0)
            tangent = make_jvp(lambda x, r=rowvar: np.cov(x, rowvar=r, ddof=0))(x)(x)[1]
        assert onp.allclose(tangent, 2.0 * value)


def test_polynomials():
    p = onp.array([1.0, -2.0, 0.5, 3.0])
    assert onp.allclose(grad(np.polyval)(p, 2.0), [8.0, 4.0, 2.0, 1.0])
    assert deriv(lambda x: np.polyval(p, x))(2.0) == onp.polyval(onp.polyder(p), 2.0)
    assert grad(grad(lambda x: np.polyval(p, x)))(2.0) == onp.polyval(onp.polyder(p, 2), 2.0)
    assert deriv(lambda x: np.polyval(onp.poly1d(p), x))(2.0) == onp.polyval(onp.polyder(p), 2.0)


def test_elements_that_move_come_back():
    x = draw(2, 3)
    assert onp.array_equal(grad(lambda x: np.sum(np.delete(x, 1, axis=1)))(x), [[1.0, 0.0, 1.0]] * 2)
    assert onp.array_equal(grad(lambda v: np.sum(np.insert(x, 1, v, axis=1)))(0.5), 2.0)
    assert onp.array_equal(grad(lambda x: np.sum(np.resize(x, 8)))(x), [[2.0, 2.0, 1.0], [1.0, 1.0, 1.0]])
    places = onp.array([[0, 0, 1]])
    assert onp.array_equal(
        grad(lambda x: np.sum(np.take_along_axis(x, places, 0)))(x), [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    )


def test_coordinates_from_vectors():
    def f(x, y):
        a, b = np.meshgrid(x, y)
        return np.sum(a * b**2)

    x, y = draw(3), draw(2)
    check_grads(f, (0, 1))(x, y)
    assert onp.allclose(grad(f)(x, y), onp.full(3, onp.sum(y**2)))


def test_unwrap_moves_by_constants():
    x = onp.array([0.0, 3.0, 6.5, 13.0])
    assert onp.array_equal(jacobian(np.unwrap)(x), onp.eye(4))
    assert onp.allclose(hessian(lambda x: np.sum(np.unwrap(x) ** 2))(x), 2.0 * onp.eye(4))


@pytest.mark.parametrize("name", ["digitize", "isin", "searchsorted"])
def test_places_and_memberships_are_constants(name):
    x, bins = onp.array([0.5, 1.5, 1.0]), onp.array([0.0, 1.0, 2.0])

    def f(x):
        first, second = (bins, x) if name == "searchsorted" else (x, bins)
        return np.sum(x * getattr(np, name)(first, second))

    expected = getattr(onp, name)(*((bins, x) if name == "searchsorted" else (x, bins)))
    assert onp.array_equal(grad(f)(x), expected)


# --------------------------------------------------------------------------------------- functions of callables, draws


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
