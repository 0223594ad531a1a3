"""Quantiles, covariances and phases beyond the table: ties, options and refusals."""

import warnings

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import grad, jacobian, make_jvp, make_vjp
from fastgrad.test_util import check_grads

NUMPY_1 = int(onp.__version__.split(".")[0]) < 2


def draw(*shape):
    return onp.random.randn(*shape)


def refused(f, x, match):
    """Check that both modes refuse an argument that has no rule."""
    with pytest.raises(NotImplementedError, match=match):
        vjp, answer = make_vjp(f)(x)
        vjp(onp.ones_like(answer))
    with pytest.raises(NotImplementedError, match=match):
        make_jvp(f)(x)(onp.ones_like(x))


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
