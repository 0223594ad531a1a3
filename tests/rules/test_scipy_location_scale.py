"""Distributions with location and scale beyond the table: keywords, supports and tails."""

import warnings

import numpy as onp
import pytest
import scipy.linalg
import scipy.special
import scipy.stats

import fastgrad.numpy as np
from fastgrad import grad, make_vjp
from fastgrad.scipy import signal
from fastgrad.scipy.stats import beta, chi2, gamma, multivariate_normal, norm, t
from fastgrad.test_util import check_grads


def both_modes(fun, *args, order=2):
    check_grads(fun, modes=["rev", "fwd"], order=order)(*args)


@pytest.mark.parametrize("fun", [norm.pdf, norm.logpdf, norm.cdf, norm.sf, norm.logcdf, norm.logsf])
def test_traced_keywords(fun):
    for i in range(2):
        by_keyword = grad(lambda loc, scale: fun(0.3, scale=scale, loc=loc), i)(0.1, 1.3)
        assert by_keyword == grad(fun, i + 1)(0.3, 0.1, 1.3)
    assert grad(lambda s: fun(0.3, scale=s))(1.3) == grad(fun, 2)(0.3, 0.0, 1.3)


@pytest.mark.parametrize(
    "fun, shapes", [(gamma.pdf, {"a": 2.0}), (beta.pdf, {"a": 2.0, "b": 3.0}), (t.cdf, {"df": 3.0})]
)
def test_shapes_by_keyword(fun, shapes):
    values = tuple(shapes.values())
    for i, name in enumerate(shapes):
        rest = {k: v for k, v in shapes.items() if k != name}
        got = grad(lambda s, name=name, rest=rest: fun(0.4, scale=1.5, **{name: s}, **rest))(values[i])
        assert got == pytest.approx(grad(fun, i + 1)(0.4, *values, 0.0, 1.5))
    assert grad(lambda x: fun(x, loc=-0.1, **shapes))(0.4) == pytest.approx(grad(fun)(0.4, *values, -0.1))


@pytest.mark.parametrize("fun", [gamma.pdf, gamma.cdf, gamma.logpdf, gamma.logcdf, chi2.pdf, chi2.logcdf])
def test_outside_the_support(fun):
    x = onp.array([-1.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        by_x = grad(lambda x: fun(x, 1.5)[1] + fun(x, 1.5)[0])(x)
        by_shape = grad(lambda a: np.sum(make_vjp(lambda a: fun(x, a))(a)[0](onp.array([1.0, 0.0]))))(1.5)
    assert by_x[0] == 0 and by_x[1] != 0
    assert by_shape == 0


def test_lists_with_traced_values():
    def log_density(x, y):
        parts = norm.logpdf([x, y, 0.5], [0.0, x, y])
        return np.sum(parts) + multivariate_normal.logpdf([x, y], [y, 0.1], [[2.0, 0.3], [0.3, np.exp(x)]])

    both_modes(log_density, 0.4, -0.2)
    onp.testing.assert_allclose(grad(lambda x: np.sum(signal.convolve([x, 1.0], [1.0, x])))(2.0), 6.0)


def test_far_tails_keep_their_precision():
    assert grad(norm.logcdf)(-40.0) == pytest.approx(40.0, rel=1e-2)
    assert grad(norm.logsf)(40.0) == pytest.approx(-40.0, rel=1e-2)
    above, below = (scipy.stats.gamma.logsf(60.0, 2 + h) for h in (1e-5, -1e-5))
    expected = (above - below) / 2e-5
    assert grad(gamma.logsf, 1)(60.0, 2.0) == pytest.approx(expected, rel=1e-7)
