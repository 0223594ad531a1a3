"""Derivatives of derivatives, in every mixture of the two modes."""

import itertools

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import builtins as traced
from fastgrad import deriv, elementwise_grad, grad, hessian, jacobian, make_hvp, make_jvp, make_vjp
from fastgrad.core import JVPNode, VJPNode
from fastgrad.extend import defjvp, defvjp, primitive
from fastgrad.tracer import getval, isbox


def forward(f):
    return lambda x: make_jvp(f)(x)(1.0)[1]


def pullback(f):
    return lambda x: make_vjp(f)(x)[0](1.0)


MODES = {"forward": forward, "grad": grad}
MIXTURES = [mix for order in (1, 2, 3, 4) for mix in itertools.product(MODES, repeat=order)]
PAIRS = list(itertools.product([*MODES.values(), pullback, deriv], repeat=2))


def derivative(f, mixture):
    for mode in mixture:
        f = MODES[mode](f)
    return f


# ---- boxes in boxes ----------------------------------------------------------------------------------------------


def levels(box):
    found = []
    while isbox(box):
        found.append(box._trace)
        box = box._value
    return found


def test_the_cube_three_times():
    seen = []

    def cube(x):
        seen.append(levels(x))
        return x**3

    f = grad(cube)
    assert f(2.0) == 12.0
    f = grad(f)
    assert f(2.0) == 12.0
    f = grad(f)
    assert f(2.0) == 6.0
    assert [len(trace_levels) for trace_levels in seen] == [1, 2, 3]
    assert all(trace_levels == sorted(trace_levels, reverse=True) for trace_levels in seen)


def test_the_innermost_value_is_the_plain_number():
    seen = []
    grad(grad(grad(lambda x: (seen.append(x), x**3)[1])))(2.0)
    assert type(getval(seen[0])) is float
    assert getval(seen[0]) == 2.0


def test_each_level_records_in_nodes_of_its_own_mode():
    seen = []
    forward(grad(lambda x: (seen.append(x), x**3)[1]))(2.0)
    inner, outer = seen[0]._node, seen[0]._value._node
    assert (type(inner), type(outer)) == (VJPNode, JVPNode)


def test_a_call_records_only_at_the_levels_of_its_arguments():
    seen = []

    def f(x):
        def g(y):
            seen.extend([x * 2.0, y * 2.0, y * x])
            outer, inner = x._trace, y._trace
            assert outer < inner
            assert [levels(box) for box in seen] == [[outer], [inner], [inner, outer]]
            return y * x

        return grad(g)(3.0)

    assert grad(f)(2.0) == 1.0
    assert len(seen) == 3


# ---- mixtures against the analytic derivative --------------------------------------------------------------------


def polynomial(x):
    return 2.0 * x**5 - x**3 + x / 4.0


def polynomial_derivatives(x):
    return [10 * x**4 - 3 * x**2 + 0.25, 40 * x**3 - 6 * x, 120 * x**2 - 6, 240 * x]


def sine_derivatives(x):
    return [2 * onp.cos(2 * x), -4 * onp.sin(2 * x), -8 * onp.cos(2 * x), 16 * onp.sin(2 * x)]


def product_derivatives(x):
    """Return the first four derivatives of x exp(-x)."""
    return [(-1) ** (n + 1) * (n - x) * onp.exp(-x) for n in (1, 2, 3, 4)]


def quotient_derivatives(x):
    """Return the first four derivatives of log(x) + 1/x."""
    return [1 / x - 1 / x**2, -1 / x**2 + 2 / x**3, 2 / x**3 - 6 / x**4, -6 / x**4 + 24 / x**5]


def sum_derivatives(x):
    """Return the first four derivatives of the sum of (k x)^3 for k = 0, 1, 2, minus x at two places."""
    return [27 * x**2 - 2, 54 * x, 54.0, 0.0]


def sum_of_an_array(x):
    y = x * onp.arange(3.0)
    stacked = np.stack([x, x])
    return np.sum(y**3) - np.dot(stacked, onp.ones(2))


FUNCTIONS = {
    "polynomial": (polynomial, polynomial_derivatives),
    "sine": (lambda x: np.sin(2.0 * x), sine_derivatives),
    "product": (lambda x: x * np.exp(-x), product_derivatives),
    "quotient": (lambda x: np.log(x) + 1.0 / x, quotient_derivatives),
    "array": (sum_of_an_array, sum_derivatives),
}


@pytest.mark.filterwarnings("ignore:Output seems independent")
@pytest.mark.parametrize("mixture", MIXTURES, ids=" of ".join)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_mixtures_of_modes(name, mixture):
    f, derivatives = FUNCTIONS[name]
    expected = derivatives(0.7)[len(mixture) - 1]
    assert derivative(f, mixture)(0.7) == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_seven_deep():
    mixture = ("grad", "forward", "forward", "grad", "grad", "forward", "grad")
    assert derivative(lambda x: x**7, mixture)(1.3) == pytest.approx(5040.0)
    assert derivative(np.sin, mixture)(0.3) == pytest.approx(-onp.cos(0.3))


@pytest.mark.parametrize("mixture", MIXTURES[:14], ids=" of ".join)
def test_mixtures_through_control_flow_and_containers(mixture):
    def f(x):
        state = traced.tuple((x, traced.list([x * x, 1.0])))
        total = state[0]
        for _ in range(2):
            if total > 0:
                total = total * state[1][0]
        return total

    powers = [5 * 0.7**4, 20 * 0.7**3, 60 * 0.7**2]
    assert derivative(f, mixture)(0.7) == pytest.approx(powers[len(mixture) - 1])


# ---- custom rules ------------------------------------------------------------------------------------------------


@primitive
def logsumexp(x):
    top = onp.max(x)
    return float(top + onp.log(onp.sum(onp.exp(x - top))))


defvjp(logsumexp, lambda ans, x: lambda g: g * np.exp(x - ans))
defjvp(logsumexp, lambda g, ans, x: np.sum(g * np.exp(x - ans)))


@primitive
def cubed(x):
    return onp.asarray(x) ** 3.0 + 0.0


defvjp(cubed, lambda ans, x: lambda g: g * 3.0 * x * x)
defjvp(cubed, lambda g, ans, x: g * 3.0 * x * x)


@pytest.mark.filterwarnings("ignore:Output seems independent")
@pytest.mark.parametrize("mixture", MIXTURES, ids=" of ".join)
def test_a_custom_rule_made_of_primitives_differentiates_again(mixture):
    expected = [3 * 0.7**2, 6 * 0.7, 6.0, 0.0][len(mixture) - 1]
    assert derivative(cubed, mixture)(0.7) == pytest.approx(expected)


def softmax(x):
    weights = onp.exp(x - onp.max(x))
    return weights / onp.sum(weights)


def test_hessian_of_a_custom_rule():
    x = onp.array([0.1, -0.3, 0.8])
    p = softmax(x)
    expected = onp.diag(p) - onp.outer(p, p)
    onp.testing.assert_allclose(hessian(logsumexp)(x), expected, atol=1e-12)
    v = onp.array([1.0, 2.0, -1.0])
    onp.testing.assert_allclose(make_jvp(grad(logsumexp))(x)(v)[1], expected @ v, atol=1e-12)
    forward_over_v = lambda x: make_jvp(logsumexp)(x)(v)[1]  # noqa: E731
    onp.testing.assert_allclose(grad(forward_over_v)(x), expected @ v, atol=1e-12)


def test_a_custom_rule_that_uses_the_answer():
    @primitive
    def exp(x):
        return float(onp.exp(x))

    defvjp(exp, lambda ans, x: lambda g: g * ans)
    defjvp(exp, lambda g, ans, x: g * ans)
    f = lambda x: exp(2.0 * x)  # noqa: E731
    for mixture in MIXTURES:
        assert derivative(f, mixture)(0.3) == pytest.approx(2 ** len(mixture) * onp.exp(0.6))


def test_a_derivative_inside_a_rule():
    """A rule may use the operators: here the derivative of an inner minimum."""

    @primitive
    def square_of(x):
        return x * x

    defvjp(square_of, lambda ans, x: lambda g: g * grad(lambda y: y * y)(x))
    defjvp(square_of, lambda g, ans, x: g * forward(lambda y: y * y)(x))
    for mixture in MIXTURES[:6]:
        assert derivative(square_of, mixture)(3.0) == [6.0, 2.0][len(mixture) - 1]


# ---- perturbation confusion --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_an_inner_derivative_does_not_see_the_outer_perturbation(outer, inner):
    """d/dx [x d/dy (x + y)] is 1; an engine that confuses the two perturbations returns 2."""
    assert outer(lambda x: x * inner(lambda y: x + y)(1.0))(1.0) == 1.0


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_the_inner_derivative_taken_at_the_outer_variable(outer, inner):
    """d/dx [x d/dy (x y) at y = x] is 2x."""
    assert outer(lambda x: x * inner(lambda y: x * y)(x))(3.0) == 6.0


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_the_inner_derivative_of_a_function_of_both(outer, inner):
    """d/dx [d/dy (x^2 y^3) at y = 2x] is 48 x^3: d/dx of 3 x^2 (2x)^2."""
    assert outer(lambda x: inner(lambda y: x**2 * y**3)(2.0 * x))(0.5) == pytest.approx(48 * 0.125)


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_an_inner_function_that_only_returns_the_outer_variable_inside_a_product(outer, inner):
    """d/dx [x d/dy (x + 0 y)] is 0."""
    assert outer(lambda x: x * inner(lambda y: x + 0.0 * y)(2.0))(1.0) == 0.0


@pytest.mark.parametrize("modes", list(itertools.product(MODES.values(), repeat=3)))
def test_three_levels_of_one_expression(modes):
    """d/dx [x d/dy [y d/dz (x y z)]] with z = x, y = x: y d/dz = x y^2, d/dy = 2 x y, so x 2 x x and 6 x^2."""
    dx, dy, dz = modes

    def f(x):
        return x * dy(lambda y: y * dz(lambda z: x * y * z)(x))(x)

    assert dx(f)(2.0) == pytest.approx(24.0)


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_two_inner_derivatives_side_by_side(outer, inner):
    def f(x):
        first = inner(lambda y: x * y * y)(3.0)
        second = inner(lambda y: np.sin(x * y))(0.0)
        return first * second

    assert outer(f)(2.0) == pytest.approx(24.0)


def test_a_box_kept_from_a_finished_trace_is_a_constant_to_a_new_one():
    kept = []
    grad(lambda x: (kept.append(x), x * x)[1])(5.0)
    assert grad(lambda y: y * y * getval(kept[0]))(2.0) == 20.0


# ---- closures ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_closures_over_traced_arrays_and_containers(outer, inner):
    def f(x):
        table = {"row": np.array([x, x * x, 1.0]), "scale": [x, 2.0]}

        def g(y):
            return np.sum(table["row"] * y) * table["scale"][0] + y * table["scale"][1]

        return inner(g)(1.0)

    assert outer(f)(2.0) == pytest.approx(2 * 2.0 + 3 * 4.0 + 1.0)


def test_gradient_descent_differentiated_by_its_step():
    """After two steps of size s on y^2 from 1, y = (1 - 2s)^2."""

    def run(step):
        y = 1.0
        for _ in range(2):
            y = y - step * grad(lambda v: v * v)(y + 0.0 * step)
        return y

    for mode in MODES.values():
        assert mode(run)(0.1) == pytest.approx(-4 * 0.8)


def test_an_outer_array_inside_an_inner_gradient():
    def f(x):
        return np.sum(elementwise_grad(lambda y: y * y * x)(x))

    x = onp.array([1.0, 2.0])
    assert grad(f)(x).tolist() == [4.0, 8.0]
    onp.testing.assert_array_equal(jacobian(lambda x: elementwise_grad(lambda y: y**2 * x)(x))(x), onp.diag(4.0 * x))


# ---- jacobians and hessians --------------------------------------------------------------------------------------


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1.0 - x[:-1]) ** 2.0)


def rosenbrock_hessian(x):
    n = len(x)
    h = onp.zeros((n, n))
    for i in range(n - 1):
        h[i, i] += 1200.0 * x[i] ** 2 - 400.0 * x[i + 1] + 2.0
        h[i, i + 1] -= 400.0 * x[i]
        h[i + 1, i] -= 400.0 * x[i]
        h[i + 1, i + 1] += 200.0
    return h


def forward_jacobian(f):
    return lambda x: np.stack([make_jvp(f)(x)(e)[1] for e in onp.eye(len(x))], axis=-1)


@pytest.mark.parametrize(
    "second_order",
    [
        hessian,
        lambda f: jacobian(grad(f)),
        lambda f: jacobian(jacobian(f)),
        lambda f: forward_jacobian(grad(f)),
        lambda f: jacobian(forward_jacobian(f)),
        lambda f: forward_jacobian(forward_jacobian(f)),
        lambda f: lambda x: onp.stack([make_hvp(f)(x)[0](e) for e in onp.eye(len(x))]),
    ],
    ids=["hessian", "rev grad", "rev rev", "fwd grad", "rev fwd", "fwd fwd", "hvp"],
)
def test_the_hessian_by_every_mixture(second_order):
    x = onp.array([-0.5, 0.8, 1.2, 0.3])
    onp.testing.assert_allclose(second_order(rosenbrock)(x), rosenbrock_hessian(x), rtol=1e-10)


def test_the_third_derivative_tensor():
    x = onp.array([0.5, 2.0])
    third = jacobian(hessian(lambda v: v[0] ** 3 * v[1] ** 2))(x)
    assert third.shape == (2, 2, 2)
    assert third[0, 0, 0] == pytest.approx(6 * 4.0)
    assert third[0, 0, 1] == third[1, 0, 0] == pytest.approx(6 * 0.5 * 2 * 2.0)
    assert third[1, 1, 0] == third[0, 1, 1] == pytest.approx(3 * 0.25 * 2)
    assert third[1, 1, 1] == 0.0


def test_gradient_of_a_gradient_norm():
    x = onp.array([1.0, -2.0])
    penalty = lambda v: np.sum(grad(lambda u: np.sum(u**3.0))(v) ** 2.0)  # noqa: E731
    onp.testing.assert_allclose(grad(penalty)(x), 36.0 * x**3)
