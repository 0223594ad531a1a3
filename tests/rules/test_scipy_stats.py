"""The Poisson, Dirichlet and multivariate normal distributions beyond the table."""

import numpy as onp
import pytest
import scipy.linalg
import scipy.special
import scipy.stats

import fastgrad.numpy as np
from fastgrad import grad
from fastgrad.scipy.stats import dirichlet, multivariate_normal, poisson
from fastgrad.test_util import check_grads


def both_modes(fun, *args, order=2):
    check_grads(fun, modes=["rev", "fwd"], order=order)(*args)


def test_poisson_of_mean_zero():
    assert grad(poisson.pmf, 1)(0, 0.0) == -1
    with pytest.raises(NotImplementedError, match="poisson.pmf has no derivative with respect to 'k'"):
        grad(poisson.pmf)(1.0, 2.0)


def test_dirichlet_in_its_own_coordinates():
    x, alpha = onp.array([0.2, 0.5, 0.3]), onp.array([1.0, 2.5, 0.7])
    onp.testing.assert_allclose(grad(dirichlet.logpdf)(x, alpha), (alpha - 1) / x)
    onp.testing.assert_allclose(grad(dirichlet.pdf)(x, alpha), dirichlet.pdf(x, alpha) * (alpha - 1) / x)
    # A component that is zero and whose parameter is one.
    assert grad(dirichlet.logpdf)(onp.array([0.0, 0.7, 0.3]), alpha)[0] == 0
    assert dirichlet.rvs(alpha, 4, random_state=1).shape == (4, 3)


FACTOR = onp.array([[1.0, 0.0, 0.0], [0.4, 1.2, 0.0], [-0.3, 0.2, 0.8]])
POINTS = onp.array([[0.3, -0.2, 0.5], [1.0, 0.4, -0.7]])


@pytest.mark.parametrize("name", ["pdf", "logpdf"])
def test_normal_in_symmetric_directions_of_the_covariance(name):
    fun = getattr(multivariate_normal, name)
    both_modes(lambda factor, x, mean: fun(x, mean, np.dot(factor, factor.T)), FACTOR, POINTS, onp.zeros(3))
    both_modes(lambda factor: multivariate_normal.entropy(None, np.dot(factor, factor.T)), FACTOR)
    gradient = grad(lambda cov: np.sum(fun(POINTS, onp.zeros(3), cov)))(FACTOR @ FACTOR.T)
    onp.testing.assert_allclose(gradient, gradient.T)


def test_normal_of_singular_covariance():
    factor = onp.array([[1.0, 0.0], [0.5, 1.0], [0.2, -0.4]])

    def log_density(factor, z):
        return multivariate_normal.logpdf(np.dot(factor, z), None, np.dot(factor, factor.T), allow_singular=True)

    both_modes(log_density, factor, onp.array([0.3, -0.6]), order=1)
    with pytest.raises(onp.linalg.LinAlgError):
        multivariate_normal.logpdf(onp.zeros(3), None, factor @ factor.T)


def test_normal_with_a_covariance_object():
    cov = FACTOR @ FACTOR.T
    objects = scipy.stats.Covariance.from_cholesky(FACTOR)
    for i, x in enumerate((POINTS, onp.ones(3))):
        by_object = grad(lambda *args: np.sum(multivariate_normal.logpdf(*args, objects)), i)(POINTS, onp.ones(3))
        by_matrix = grad(lambda *args: np.sum(multivariate_normal.logpdf(*args, cov)), i)(POINTS, onp.ones(3))
        onp.testing.assert_allclose(by_object, by_matrix)
        assert by_object.shape == x.shape


def test_covgrad_is_the_gradient():
    cov, mean = FACTOR @ FACTOR.T, onp.zeros(3)
    each = multivariate_normal.covgrad(POINTS, mean, cov)
    expected = grad(lambda cov: np.sum(multivariate_normal.logpdf(POINTS, mean, cov)))(cov)
    onp.testing.assert_allclose(each.sum(axis=0), expected)
    onp.testing.assert_allclose(multivariate_normal.covgrad(POINTS[0], mean, cov, True), each[0])
