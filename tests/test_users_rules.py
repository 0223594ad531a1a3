"""Rules that libraries give to their own functions, and what they count on."""

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import checkpoint, grad, hessian, jacobian, make_jvp
from fastgrad.builtins import list as traced_list
from fastgrad.extend import defjvp, defjvp_argnum, defvjp, defvjp_argnums, primitive


@pytest.mark.parametrize("define", [defvjp, lambda fun, rule: defvjp_argnums(fun, whole(rule))])
@pytest.mark.parametrize("before", [lambda x: x, lambda x: x * 2.0, np.sin, lambda x: x + np.ones(3)])
def test_a_complex_cotangent_of_a_real_argument_is_made_real(define, before):
    """Sparse solvers with complex matrices give such cotangents to their real entries (ceviche)."""

    @primitive
    def weighted(x):
        return onp.asarray(x) * 3.0

    define(weighted, lambda ans, x: lambda g: g * (3.0 + 2.0j))

    def f(x):
        return np.sum(weighted(before(x)) ** 2)

    x = onp.array([0.1, 0.2, 0.3])
    expected = grad(lambda x: np.sum((3.0 * before(x)) ** 2))(x)
    got = grad(f)(x)
    assert got.dtype == onp.float64
    onp.testing.assert_allclose(got, expected, rtol=1e-14)
    assert jacobian(lambda x: weighted(before(x)))(x).dtype == onp.float64
    second = grad(lambda x: np.sum(grad(f)(x) * x))(x)
    onp.testing.assert_allclose(second, grad(lambda x: np.sum(grad(lambda y: 9 * np.sum(before(y) ** 2))(x) * x))(x))


def whole(rule):
    def maker(argnums, ans, args, kwargs):
        pullback = rule(ans, *args)
        return lambda g: [pullback(g) for _ in argnums]

    return maker


def test_a_complex_cotangent_of_a_complex_argument_stays():
    @primitive
    def weighted(z):
        return onp.real(z) * 3.0

    defvjp(weighted, lambda ans, z: lambda g: g * (3.0 + 2.0j))
    assert grad(lambda z: weighted(z * 2.0))(1.0 + 1.0j) == 6.0 + 4.0j


def test_rules_for_a_function_that_is_no_primitive_are_taken_with_a_warning():
    def double(x):
        return 2 * x

    with pytest.warns(UserWarning, match="not a primitive"):
        defvjp(double, lambda ans, x: lambda g: 7 * g)
    with pytest.warns(UserWarning, match="not a primitive"):
        defjvp(double, lambda g, ans, x: 7 * g)
    assert grad(double)(1.0) == 2.0


def test_the_rule_speaks_for_a_container_of_values_closed_over():
    """PennyLane's `_execute` gets parameters, and tapes that hold the same parameters, still traced."""

    @primitive
    def run(parameters, tapes):
        return tuple(np.array(2.0 * tape) for tape in tapes)

    defvjp(run, lambda ans, parameters, tapes: lambda g: [2.0 * v for v in g], argnums=[0])
    defjvp_argnum(run, lambda argnum, g, ans, args, kwargs: tuple(2.0 * v for v in g))

    def f(x):
        results = run(traced_list([x, x * x]), [x, x * x])
        assert results[0] * results[1] == 4 * x**3
        return results[0] * results[-1]

    value = grad(f)(1.5)
    assert type(value) is onp.float64 and value == 12 * 1.5**2
    assert make_jvp(f)(1.5)(1.0) == (4 * 1.5**3, 12 * 1.5**2)
    assert grad(grad(f))(1.5) == 24 * 1.5
    assert hessian(f)(onp.float64(1.5)) == 24 * 1.5


def test_a_checkpoint_that_gives_a_container_of_what_it_closes_over_is_traced():
    def f(x):
        inner = checkpoint(lambda y: {"a": (x * y, [x])})
        result = inner(2.0 * x)["a"]
        return result[0] * result[1][0]

    assert grad(f)(1.5) == 6 * 1.5**2
