"""Reductions and accumulations where a rule is easily wrong: ties, zeros, masks, axes and dtypes."""

import math

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import elementwise_grad, grad, hessian, jacobian, make_hvp, make_jvp, make_vjp
from fastgrad.numpy.numpy_vjps import balanced_eq
from fastgrad.test_util import check_grads

pytestmark = [
    pytest.mark.filterwarnings("error"),
    pytest.mark.filterwarnings("ignore:Output seems independent of input"),
]

NUMPY_1 = onp.__version__.startswith("1.")
TRAPEZOID = "trapezoid" if hasattr(onp, "trapezoid") else "trapz"


def draw(*shape):
    return onp.random.randn(*shape)


def pulled(f, x):
    """Return the cotangent of x for a seed of ones."""
    vjp, ans = make_vjp(f)(x)
    return vjp(onp.ones_like(ans))


def like(x):
    return onp.shape(x), onp.result_type(x)


# ------------------------------------------------------------------------------------------------------------ gradients


@pytest.mark.parametrize(
    "f",
    [
        np.sum,
        np.mean,
        np.prod,
        np.std,
        np.max,
        lambda x: np.sum(np.sum(x, axis=0)),
        lambda x: np.sum(np.cumsum(x)),
        lambda x: np.sum(np.sort(x)),
        lambda x: np.sum(np.diff(x)),
    ],
)
def test_a_gradient_may_be_written_to(f):
    x = draw(5)
    g = grad(f)(x)
    before = g.copy()
    g -= 1.0
    assert onp.array_equal(g, before - 1.0)
    assert onp.array_equal(grad(f)(x), before)


def test_a_hessian_vector_product_of_a_sum_may_be_written_to():
    x = draw(4)
    product = make_hvp(lambda x: np.sum(x**2))(x)[0](onp.ones(4))
    product += 1.0
    assert onp.array_equal(product, onp.full(4, 3.0))
    tangent = make_jvp(lambda c: grad(lambda x: c * np.sum(x))(x))(2.0)(1.0)[1]
    tangent += 1.0
    assert onp.array_equal(tangent, onp.full(4, 2.0))


@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
@pytest.mark.parametrize(
    "f",
    [
        np.sum,
        np.mean,
        np.prod,
        np.var,
        np.std,
        np.nansum,
        np.nanmean,
        np.nanprod,
        np.nanvar,
        lambda x: np.average(x, weights=onp.arange(1.0, 7.0)),
        np.cumsum,
        np.cumprod,
        lambda x: np.prod(x * 0.0),
        lambda x: np.cumprod(x * 0.0),
        np.sort,
        lambda x: np.partition(x, 2),
        np.diff,
        lambda x: np.diff(x, prepend=0, append=1.0),
        np.gradient,
        lambda x: np.gradient(x, 0.5, edge_order=2),
        lambda x: np.linspace(x, 1.0, 4),
        getattr(np, TRAPEZOID),
    ],
)
def test_cotangents_and_tangents_keep_the_dtype(f, dtype):
    x = draw(6).astype(dtype) + onp.arange(6, dtype=dtype)
    vjp, ans = make_vjp(f)(x)
    assert like(vjp(onp.ones_like(ans))) == like(x)
    tangent = make_jvp(f)(x)(onp.ones_like(x))[1]
    assert onp.shape(tangent) == onp.shape(ans)
    assert onp.iscomplexobj(tangent) == onp.iscomplexobj(ans)


@pytest.mark.parametrize(
    "name, kwargs",
    [
        ("sum", {"axis": 0}),
        ("mean", {}),
        ("prod", {"axis": (0, 1)}),
        ("std", {"ddof": 1}),
        ("var", {"axis": 1, "ddof": 1}),
        ("max", {"axis": 1}),
        ("min", {"keepdims": True}),
        ("ptp", {"axis": 0}),
        ("cumsum", {}),
        ("cumprod", {"axis": 1}),
    ],
)
def test_methods_of_a_traced_array(name, kwargs):
    x = draw(3, 4)
    by_method = pulled(lambda x: getattr(x, name)(**kwargs), x)
    assert onp.array_equal(by_method, pulled(lambda x: getattr(np, name)(x, **kwargs), x))
    assert like(by_method) == like(x)
    check_grads(lambda x: getattr(np, name)(x, **kwargs))(x)


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "std", "var", "max", "min", "cumsum", "cumprod"])
def test_numpys_own_function_on_a_traced_array(name):
    # NumPy calls the method and may pass on its placeholders for keywords that were not given.
    x = draw(3, 4)
    assert onp.array_equal(
        pulled(lambda x: getattr(onp, name)(x, axis=1), x), pulled(lambda x: getattr(np, name)(x, 1), x)
    )


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "std", "var"])
@pytest.mark.parametrize("keepdims", [onp._NoValue, 1, 0])
def test_other_spellings_of_keepdims(name, keepdims):
    x = draw(3, 4)
    check_grads(lambda x: getattr(np, name)(x, axis=1, keepdims=keepdims))(x)


@pytest.mark.parametrize("f", [np.sum, np.mean, np.prod, np.max, np.var])
def test_a_reduction_over_no_axes(f):
    x = onp.arange(1.0, 4.0)
    expected = 0 * x if f is np.var else 2 * x
    onp.testing.assert_array_equal(f(x, ()), make_vjp(lambda x: f(x, ()))(x)[1])
    onp.testing.assert_allclose(grad(lambda x: np.sum(f(x, ()) ** 2))(x), expected)
    onp.testing.assert_allclose(grad(lambda x: np.sum(f(x, axis=()) ** 2))(x), expected)


def test_a_reduction_of_a_number_takes_an_axis():
    assert pulled(lambda x: np.sum(x, axis=0), 3.0) == 1.0
    assert pulled(lambda x: np.max(x, axis=-1), onp.array(3.0)) == 1.0


# ------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "name", ["sum", "mean", "prod", "var", "std", "max", "min", "ptp", "cumsum", "cumprod", "nansum"]
)
@pytest.mark.parametrize("mode", ["VJP", "JVP"])
def test_out_is_refused(name, mode):
    x = draw(3, 4)
    out = onp.empty_like(getattr(onp, name)(x, axis=0))

    def f(x):
        return getattr(np, name)(x, axis=0, out=out)

    with pytest.raises(NotImplementedError, match=rf"a?{name} of a traced value .*'out' given; use the returned"):
        pulled(f, x) if mode == "VJP" else make_jvp(f)(x)(x)


@pytest.mark.skipif(NUMPY_1, reason="the keyword mean came with NumPy 2.0")
@pytest.mark.parametrize("name", ["var", "std"])
def test_a_mean_given_to_a_variance_is_refused(name):
    with pytest.raises(NotImplementedError, match=f"{name} .*'mean' given; leave it out"):
        grad(lambda x: getattr(np, name)(x, mean=onp.zeros(1)))(draw(3))


def test_average_with_returned_is_refused():
    with pytest.raises(NotImplementedError, match="average .*returned"):
        grad(lambda x: np.average(x, weights=onp.ones(3), returned=True)[0])(draw(3))


# ------------------------------------------------------------------------------------------------------------- products


@pytest.mark.parametrize(
    "x",
    [[2.0, 0.0, 3.0], [0.0, 0.0, 5.0, 1.0], [0.0, 0.0, 0.0, 1.0, 2.0], [0.0], [1e-200, 1e-200, 3.0, 2.0]],
)
def test_derivatives_of_products_with_zeros(x):
    x, n = onp.array(x), len(x)
    others = [[math.prod(x[k] for k in range(n) if k not in {i, j}) for j in range(n)] for i in range(n)]
    expected = onp.array(others)
    assert onp.allclose(grad(np.prod)(x), onp.diag(expected), rtol=1e-12, atol=0)
    assert onp.allclose(make_jvp(np.prod)(x)(onp.ones(n))[1], onp.trace(expected), rtol=1e-12, atol=0)
    onp.fill_diagonal(expected, 0.0)
    assert onp.allclose(hessian(np.prod)(x), expected, rtol=1e-12, atol=0)


def test_third_derivative_of_a_product_with_zeros():
    x = onp.array([0.0, 2.0, 0.0, 0.0])
    third = jacobian(hessian(np.prod))(x)
    assert third[0, 2, 3] == third[3, 2, 0] == 2.0
    assert third[0, 1, 2] == third[0, 0, 1] == 0.0


ZEROS = onp.array([[[1.0, 0.0, 2.0], [3.0, -1.0, 0.0]], [[0.0, 0.0, 2.0], [0.5, 2.0, 1.5]]])


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (2, 1), (0, 1, 2), ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_prod_of_an_array_with_zeros(axis, keepdims):
    check_grads(lambda x: np.prod(x, axis=axis, keepdims=keepdims))(ZEROS)


def test_prod_of_zeros_with_a_mask_and_an_initial_value():
    mask = ZEROS != 2.0
    check_grads(lambda x: np.prod(x, axis=1, where=mask, initial=2.5))(ZEROS)
    assert onp.array_equal(pulled(lambda x: np.prod(x, initial=0.0), onp.ones(3)), onp.zeros(3))


# ------------------------------------------------------------------------------------------------------------- extremes


def test_a_tie_is_shared_equally():
    x = onp.array([[1.0, 3.0, 3.0], [3.0, 0.0, 1.0]])
    third = 1.0 / 3.0
    assert onp.allclose(grad(np.max)(x), [[0, third, third], [third, 0, 0]])
    assert onp.allclose(pulled(lambda x: np.max(x, axis=1), x), [[0, 0.5, 0.5], [1, 0, 0]])
    assert onp.allclose(pulled(lambda x: np.max(x, axis=(0, 1), keepdims=True), x), [[0, third, third], [third, 0, 0]])
    assert onp.allclose(grad(np.ptp)(x), [[0, third, third], [third, -1, 0]])
    assert make_jvp(np.max)(x)(onp.arange(6.0).reshape(2, 3))[1] == 2.0


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("kwargs", [{}, {"axis": 0}, {"axis": (0, 2), "keepdims": True}, {"axis": -1}])
def test_ties_are_shared_as_autograd_does(name, kwargs):
    autograd = pytest.importorskip("autograd", reason="the comparison needs autograd itself")
    anp = pytest.importorskip("autograd.numpy")
    x = onp.random.randint(0, 3, (3, 4, 2)).astype(float)
    theirs = autograd.elementwise_grad(lambda x: getattr(anp, name)(x, **kwargs))(x)
    assert onp.allclose(elementwise_grad(lambda x: getattr(np, name)(x, **kwargs))(x), theirs, rtol=1e-14)


def test_an_initial_value_that_wins_leaves_nothing():
    x = onp.array([1.0, 2.0])
    assert onp.array_equal(grad(lambda x: np.max(x, initial=5.0))(x), [0.0, 0.0])
    assert onp.array_equal(grad(lambda x: np.max(x, initial=1.5))(x), [0.0, 1.0])


def test_nan_is_the_extreme():
    x = onp.array([[1.0, onp.nan, 2.0], [4.0, 3.0, 4.0]])
    assert onp.array_equal(pulled(lambda x: np.max(x, axis=1), x), [[0, 1, 0], [0.5, 0, 0.5]])
    assert onp.array_equal(grad(np.min)(x), [[0, 1, 0], [0, 0, 0]])


def test_balanced_eq_halves_a_tie():
    x, y = onp.array([1.0, 2.0, 3.0]), onp.array([2.0, 2.0, 2.0])
    assert onp.array_equal(balanced_eq(x, onp.maximum(x, y), y), [0.0, 0.5, 1.0])


# ------------------------------------------------------------------------------------------------------------ variances


@pytest.mark.parametrize("value", [2.0, 0.1, 1e-8, 1e8 / 3])
@pytest.mark.parametrize("kwargs", [{}, {"axis": 1}, {"axis": 0, "ddof": 1, "keepdims": True}])
def test_the_spread_of_equal_values_has_zero_gradient(value, kwargs):
    # The computed mean of three times 0.1 is not 0.1, so the computed spread is not zero.
    x = onp.full((3, 7), value)
    assert onp.array_equal(pulled(lambda x: np.std(x, **kwargs), x), onp.zeros((3, 7)))
    assert not onp.any(make_jvp(lambda x: np.std(x, **kwargs))(x)(draw(3, 7))[1])


def test_only_the_slices_of_equal_values_have_zero_gradient():
    x = onp.array([[0.1, 0.1, 0.1], [1.0, 2.0, 4.0]])
    g = pulled(lambda x: np.std(x, axis=1), x)
    assert onp.array_equal(g[0], onp.zeros(3))
    assert onp.allclose(g[1], grad(np.std)(x[1]))
    second = jacobian(lambda x: pulled(lambda x: np.std(x, axis=1), x))(x)
    assert onp.all(onp.isfinite(second))
    assert onp.allclose(second[1, :, 1], hessian(np.std)(x[1]))


def test_a_spread_as_small_as_its_rounding_keeps_its_gradient():
    x = onp.array([1.0, 1.0 + onp.finfo(float).eps, 1.0, 1.0])
    assert onp.any(grad(np.std)(x))


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("kwargs", [{}, {"axis": 0}, {"axis": (0, 1), "ddof": 1}, {"axis": 1, "keepdims": True}])
def test_spread_of_complex_arrays(name, kwargs):
    z = draw(3, 4) + 1j * draw(3, 4)
    check_grads(lambda z: getattr(np, name)(z, **kwargs))(z)


def test_gradient_of_a_complex_variance_is_the_conjugate_distance():
    z = draw(4) + 1j * draw(4)
    assert onp.allclose(grad(np.var)(z), 0.5 * onp.conj(z - z.mean()))


@pytest.mark.parametrize("name", ["var", "std"])
def test_spread_under_a_mask(name):
    x, mask = draw(3, 5), onp.arange(15).reshape(3, 5) % 4 != 0
    check_grads(lambda x: getattr(np, name)(x, axis=1, ddof=1, where=mask))(x)
    g = pulled(lambda x: getattr(np, name)(x, where=mask), x)
    assert not onp.any(g[~mask])


@pytest.mark.skipif(NUMPY_1, reason="the keyword correction came with NumPy 2.0")
def test_correction_is_ddof():
    x = draw(5)
    assert onp.array_equal(grad(lambda x: np.var(x, correction=1))(x), grad(lambda x: np.var(x, ddof=1))(x))


def test_no_degrees_of_freedom_gives_nan():
    with pytest.warns(RuntimeWarning):  # NumPy warns when it computes the value
        g = grad(lambda x: np.var(x, ddof=1))(onp.ones(1))
    assert onp.array_equal(g, [onp.nan], equal_nan=True)


# --------------------------------------------------------------------------------------------------- averages and masks


@pytest.mark.parametrize(
    "shape, weights, axis",
    [((4,), (4,), None), ((3, 4), (3, 4), None), ((3, 4), (3, 4), 0), ((3, 4), (4,), 1), ((3, 4), (3,), -2)],
)
@pytest.mark.parametrize("keepdims", [False, True])
def test_average(shape, weights, axis, keepdims):
    x, w = draw(*shape), onp.random.rand(*weights) + 0.5
    check_grads(lambda x, w: np.average(x, axis, w, keepdims=keepdims), (0, 1))(x, w)
    check_grads(lambda w: np.average(x, axis=axis, weights=w, keepdims=keepdims))(w)


@pytest.mark.skipif(NUMPY_1, reason="weights over several axes came with NumPy 2.0")
def test_average_with_weights_over_several_axes():
    x, w = draw(2, 3, 4), onp.random.rand(4, 2) + 0.5
    check_grads(lambda x, w: np.average(x, (2, 0), w), (0, 1))(x, w)


def test_average_without_weights_is_the_mean():
    x = draw(3, 4)
    assert onp.allclose(pulled(lambda x: np.average(x, axis=0), x), onp.full((3, 4), 1 / 3))
    check_grads(lambda x: np.average(x, axis=0))(x)


@pytest.mark.parametrize("name", ["sum", "mean"])
def test_a_masked_element_does_not_count(name):
    x = onp.array([[1.0, onp.nan, 2.0], [onp.inf, 3.0, 4.0]])
    mask = onp.isfinite(x)
    per_element = 1.0 if name == "sum" else 0.5
    assert onp.array_equal(pulled(lambda x: getattr(np, name)(x, axis=1, where=mask), x), per_element * mask)


@pytest.mark.parametrize("name", ["nansum", "nanmean", "nanprod", "nanmax", "nanmin", "nanvar", "nanstd"])
@pytest.mark.parametrize("kwargs", [{}, {"axis": 1}, {"axis": 0, "keepdims": True}])
def test_functions_that_skip_nan(name, kwargs):
    x = onp.array([[1.0, onp.nan, 2.5, 0.5], [3.0, 1.5, -1.0, 0.0], [onp.nan, 4.0, 2.0, 1.0]])
    holes = onp.isnan(x)

    def f(y):
        return getattr(np, name)(np.where(holes, onp.nan, y), **kwargs)

    filled = onp.where(holes, 0.0, x)
    check_grads(f)(filled)
    assert not onp.any(pulled(lambda x: getattr(np, name)(x, **kwargs), x)[holes])


# -------------------------------------------------------------------------------------------------------- accumulations


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3)])
@pytest.mark.parametrize(
    "f",
    [np.sum, np.prod, np.cumsum, np.cumprod, np.sort, np.nansum, lambda x: np.sum(x, axis=0), lambda x: np.prod(x, -1)],
)
def test_empty_arrays(f, shape):
    x = onp.zeros(shape)
    assert like(pulled(f, x)) == like(x)
    value, tangent = make_jvp(f)(x)(x)
    assert onp.shape(tangent) == onp.shape(value)
    assert not onp.any(tangent)
