"""Derivatives of incomplete gamma and beta functions with respect to their shapes."""

import numpy as onp
import pytest
import scipy.linalg
import scipy.special
import scipy.stats

import fastgrad.numpy as np
from fastgrad import grad
from fastgrad.scipy import special


@pytest.mark.parametrize(
    "a, x", [(0.05, 1e-5), (0.5, 0.3), (2.0, 6.0), (50.0, 45.0), (1e3, 1.05e3), (1.5, 30.0), (3.0, 0.0)]
)
def test_incomplete_gamma_function_of_any_shape(a, x):
    h = 1e-3 * a
    f = scipy.special.gammainc if x < a else scipy.special.gammaincc
    expected = (8 * (f(a + h, x) - f(a - h, x)) - (f(a + 2 * h, x) - f(a - 2 * h, x))) / (12 * h)
    got = grad(special.gammainc if x < a else special.gammaincc)(a, x)
    assert got == pytest.approx(expected, rel=1e-6, abs=1e-300)


def test_derivative_of_the_incomplete_beta_function_survives_nan_of_its_inverse():
    shapes = onp.array([1.01309485, 2.39495998])
    assert onp.all(onp.isfinite(grad(lambda b: np.sum(special.betainc(0.9627902, b, 0.86388884)))(shapes)))
