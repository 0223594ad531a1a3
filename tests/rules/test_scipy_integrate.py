"""`odeint`: second order, nested arguments, times and refusals."""

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import grad, hessian, jacobian, make_jvp, make_vjp
from fastgrad.builtins import tuple as traced_tuple
from fastgrad.scipy import integrate
from fastgrad.test_util import check_grads


def both_modes(fun, *args, order=2):
    check_grads(fun, modes=["rev", "fwd"], order=order)(*args)


TIGHT = {"rtol": 1e-11, "atol": 1e-11}
TIMES = onp.array([0.1, 0.4, 0.6])


def pendulum(y, t, pull, drag):
    return np.array([y[1], -pull * np.sin(y[0]) - drag * y[1] * t])


def test_odeint_to_second_order():
    def path(y0, pull, drag):
        return integrate.odeint(pendulum, y0, TIMES, (pull, drag), **TIGHT)

    both_modes(path, onp.array([0.5, -0.2]), 1.3, 0.4)


def test_odeint_with_a_nested_tuple_of_arguments():
    def end(args):
        return integrate.odeint(lambda y, t, p, q: -p[0] * y + q * p[1], onp.ones(2), TIMES, args, **TIGHT)[-1, 0]

    args = ((0.3, onp.array([1.0, 0.5])), 0.7)
    vjp, _ = make_vjp(end)(args)
    push = make_jvp(end)(args)
    (p0, p1), q = vjp(1.0)
    tangent = push(((1.0, onp.array([1.0, 2.0])), 0.5))[1]
    assert p0 + p1 @ [1.0, 2.0] + 0.5 * q == pytest.approx(tangent, rel=1e-8)
    h = 1e-5
    moved = [end(((0.3 + s * h, onp.array([1.0 + s * h, 0.5 + 2 * s * h])), 0.7 + 0.5 * s * h)) for s in (1, -1)]
    assert tangent == pytest.approx((moved[0] - moved[1]) / (2 * h), rel=1e-6)


def test_odeint_in_its_times():
    def end(t):
        return integrate.odeint(pendulum, onp.array([0.5, -0.2]), t, (1.3, 0.4), **TIGHT)[-1, 0]

    curvature = hessian(end)(TIMES)
    onp.testing.assert_allclose(curvature, curvature.T, atol=1e-7)
    h = 1e-5
    differences = [(grad(end)(TIMES + h * e) - grad(end)(TIMES - h * e)) / (2 * h) for e in onp.eye(3)]
    onp.testing.assert_allclose(curvature, differences, atol=1e-6)


def test_odeint_of_traced_values_at_two_levels():
    def inner(pull, drag):
        return grad(lambda d: integrate.odeint(pendulum, onp.ones(2), TIMES, (pull, d), **TIGHT)[-1, 0])(drag)

    def end(p):
        return integrate.odeint(pendulum, onp.ones(2), TIMES, (p[0], p[1]), **TIGHT)[-1, 0]

    mixed = grad(inner, 0)(1.3, 0.4)
    assert mixed == pytest.approx(hessian(end)(onp.array([1.3, 0.4]))[0, 1], rel=1e-6)


def test_odeint_refuses_what_is_no_array():
    with pytest.raises((NotImplementedError, TypeError)):
        grad(lambda y: integrate.odeint(lambda y, t: -y, y, TIMES, full_output=True)[0][0, 0])(1.0)


def test_odeint_names_a_traced_value_in_the_closure():
    def end(rate):
        return np.sum(integrate.odeint(lambda y, t: -rate * y, onp.ones(2), TIMES))

    with pytest.raises(NotImplementedError, match="pass them in 'args'"):
        grad(end)(0.5)
    with pytest.raises(ValueError, match="inhomogeneous|sequence|size"):
        integrate.odeint(lambda y, t: [y, 1.0], onp.ones(2), TIMES)


def test_odeint_takes_positional_options():
    def slope(y, t):
        return -y * y

    def derivative(y, t):
        return -2 * onp.diag(y)

    by_position = grad(lambda y: np.sum(integrate.odeint(slope, y, TIMES, (), derivative)))(onp.ones(2))
    onp.testing.assert_allclose(by_position, grad(lambda y: np.sum(integrate.odeint(slope, y, TIMES)))(onp.ones(2)))
    _, info = integrate.odeint(slope, onp.ones(2), TIMES, full_output=True)
    assert info["message"]


def test_odeint_by_autograds_names():
    y0, g = onp.array([0.5, -0.2]), onp.ones((3, 2))
    path = integrate.odeint(pendulum, y0, TIMES, (1.3, 0.4))
    pulled = integrate.grad_odeint(path, pendulum, y0, TIMES, traced_tuple((1.3, 0.4)))(g)
    expected = make_vjp(integrate.odeint, 1)(pendulum, y0, TIMES, (1.3, 0.4))[0](g)
    assert pulled[0] is None
    onp.testing.assert_allclose(pulled[1], expected)
    rule = integrate.argnums_unpack(lambda ans, x: lambda g: (None, g, 2 * g))
    assert rule((2, 1), None, (0.0,), {})(3.0) == (6.0, 3.0)


def test_jacobian_of_a_path():
    value = jacobian(lambda y0: integrate.odeint(lambda y, t: -y, y0, TIMES, **TIGHT))(onp.ones(2))
    decay = onp.exp(-(TIMES - TIMES[0]))
    onp.testing.assert_allclose(value, decay[:, None, None] * onp.eye(2), atol=1e-9)
