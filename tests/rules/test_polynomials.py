"""Polynomials and interpolation beyond the table: known values, ends and refusals."""

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import deriv, elementwise_grad, grad, jacobian, make_jvp, make_vjp
from fastgrad.test_util import check_grads


def refused(f, x, match):
    """Check that both modes refuse an argument that has no rule."""
    with pytest.raises(NotImplementedError, match=match):
        vjp, answer = make_vjp(f)(x)
        vjp(onp.ones_like(answer))
    with pytest.raises(NotImplementedError, match=match):
        make_jvp(f)(x)(onp.ones_like(x))


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


def test_polynomials():
    p = onp.array([1.0, -2.0, 0.5, 3.0])
    assert onp.allclose(grad(np.polyval)(p, 2.0), [8.0, 4.0, 2.0, 1.0])
    assert deriv(lambda x: np.polyval(p, x))(2.0) == onp.polyval(onp.polyder(p), 2.0)
    assert grad(grad(lambda x: np.polyval(p, x)))(2.0) == onp.polyval(onp.polyder(p, 2), 2.0)
    assert deriv(lambda x: np.polyval(onp.poly1d(p), x))(2.0) == onp.polyval(onp.polyder(p), 2.0)
