"""Fused derivatives give the numbers and the floating-point errors of the rules' Python functions."""

import warnings

import numpy as onp
import pytest

import fastgrad.numpy as np
import fastgrad.scipy.special as special
from fastgrad import deriv, grad, make_jvp, make_vjp
from fastgrad._engine.core import Primitive

SPECIAL = onp.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 1e-310, 1e300, -1e-200, onp.inf, -onp.inf, onp.nan, 30.0, -745.0])


def quiet_vjp(fun, x):
    with onp.errstate(all="ignore"):
        return make_vjp(fun)(x)


def by_python(vjp, g):
    """Pull a traced cotangent back: the rules' Python functions run, no fused derivative, and nothing in place."""
    return make_jvp(vjp)(g)(0 * g)[0]


def same_numbers(found, wanted):
    found, wanted = onp.asarray(found), onp.asarray(wanted)
    assert found.dtype == wanted.dtype
    onp.testing.assert_array_equal(found, wanted)
    if found.dtype.kind == "f":
        held = ~onp.isnan(found)
        assert onp.array_equal(onp.signbit(found) & held, onp.signbit(wanted) & held)


@pytest.mark.parametrize(
    "fun, x",
    [
        (lambda x: x**0.5, -2.0),
        (lambda x: np.float_power(x, 1.5), -2.0),
        (lambda x: x**0.5, 0.0),
        (lambda x: x**-1, 0.0),
        (lambda x: x**-2, 1e-200),
        (lambda x: x**3, 1e200),
        (lambda x: np.log2(x), 0.0),
        (lambda x: np.log10(x), 0.0),
        (lambda x: np.log1p(x), -1.0),
        (lambda x: np.arctanh(x), 1.0),
        (lambda x: np.arctan2(x, 0.0), 0.0),
        (lambda x: np.mod(1.0, x), 0.0),
        (lambda x: np.fmod(5.0, x), 0.0),
        (lambda x: special.logit(x), 0.0),
        (lambda x: np.sqrt(x), 0.0),
        (lambda x: 1 / x, 0.0),
    ],
)
def test_a_python_float_counts_as_a_float64(fun, x):
    with warnings.catch_warnings(), onp.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for operator in (grad, deriv, lambda f: grad(grad(f))):
            found, wanted = operator(fun)(x), operator(fun)(onp.float64(x))
            assert onp.asarray(found).dtype == onp.float64
            assert onp.array_equal(found, wanted, equal_nan=True)


def test_powers_of_a_negative_python_float_by_both_arguments():
    with onp.errstate(all="ignore"):
        found = grad(lambda x, y: x**y, (0, 1))(-2.0, 0.5)
    assert onp.isnan(found[0]) and onp.isnan(found[1])


SLOW_AT_LARGE_ORDERS = {"jn", "jv", "kn", "yn", "yv", "bdtr", "pdtr"}
UFUNCS = {
    f"{where}.{name}": fun
    for where, space in (("numpy", np), ("special", special))
    for name, fun in vars(space).items()
    if isinstance(fun, Primitive) and isinstance(fun.fun, onp.ufunc) and fun.fun.nout == 1 and fun.fun.nin <= 2
    if fun.vjp_rules is not None and fun.fun.signature is None and name not in SLOW_AT_LARGE_ORDERS
}


def edge_operands(fun, dtype, n):
    rng = onp.random.default_rng(n)
    with onp.errstate(all="ignore"):
        return [rng.choice(SPECIAL, n).astype(dtype) for _ in range(fun.fun.nin)]


@pytest.mark.parametrize("name", UFUNCS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "c16"])
def test_a_fused_derivative_gives_the_numbers_of_its_python_function(name, dtype):
    fun = UFUNCS[name]
    for n in (5, 1100):
        args = edge_operands(fun, dtype, n)
        for argnum in range(len(args)):

            def call(x, argnum=argnum, args=args):
                given = list(args)
                given[argnum] = np.positive(x)
                return np.positive(fun(*given))

            with warnings.catch_warnings(), onp.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    vjp, ans = make_vjp(call)(args[argnum])
                    seed = onp.random.default_rng(1).normal(size=n).astype(ans.dtype)
                    wanted = by_python(vjp, seed)
                except (TypeError, NotImplementedError):
                    continue
                before = seed.copy()
                same_numbers(vjp(seed), wanted)
                assert onp.array_equal(seed, before)


@pytest.mark.parametrize(
    "fun, x",
    [
        (lambda y: np.fmod(onp.array([1.0, 2.0]), y), onp.array([0.0, 3.0])),
        (lambda y: np.mod(onp.array([1.0, 2.0]), y), onp.array([0.0, 3.0])),
        (np.cos, onp.array([onp.inf, 3.0])),
        (np.reciprocal, onp.array([1e-200] + [1.0] * 999)),
        (lambda y: 1 / y, onp.array([1e-200] + [1.0] * 999)),
        (lambda y: 1 / y, onp.array([1e-200] + [1.0] * 99)),
        (np.cos, onp.float64(onp.inf)),
    ],
)
def test_no_floating_point_flag_is_lost_in_a_fused_derivative(fun, x):
    vjp, ans = quiet_vjp(fun, x)
    with onp.errstate(all="raise"), pytest.raises(FloatingPointError):
        by_python(vjp, onp.ones(ans.shape)[()])
    with onp.errstate(all="raise"), pytest.raises(FloatingPointError):
        vjp(onp.ones(ans.shape)[()])


def test_a_negated_tangent_of_a_float_does_not_widen_float32():
    x = onp.array([1.0, 2.0], "f")
    tangent = make_jvp(lambda pair: np.subtract(pair[0], pair[1]))((x, 0.5))((x, 1.0))[1]
    assert tangent.dtype == onp.float32
    onp.testing.assert_array_equal(tangent, [0.0, 1.0])
