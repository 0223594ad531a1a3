"""Compiled rules give what the Python rules give, and give way to a replacement."""

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import grad, make_jvp, make_vjp
from fastgrad.extend import defvjp
from fastgrad.tracer import getval

X = onp.linspace(0.1, 1.9, 7)


def by_python(vjp, g):
    """Pull a traced cotangent back: the rules' Python functions run, no fused derivative, and nothing in place."""
    return make_jvp(vjp)(g)(0 * g)[0]


# ------------------------------------------------------------------------------------------------------- replaced rules


@pytest.mark.parametrize(
    "fun, call",
    [
        (np.sin, lambda x: np.sum(np.sin(x))),
        (np.sum, lambda x: np.sum(x)),
        (np.sum, lambda x: x.sum()),
        (np.sum, lambda x: np.sum(x, 0)),
        (np.mean, lambda x: np.mean(x)),
        (np.max, lambda x: np.max(x)),
        (np.maximum, lambda x: np.sum(np.maximum(x, 0.5))),
        (np.dot, lambda x: np.dot(x, X)),
        (np.power, lambda x: np.sum(x**2)),
        (np.reshape, lambda x: np.sum(np.reshape(x, (7, 1)))),
        (np.getitem, lambda x: x[1] * 1.0),
        (np.getitem, lambda x: np.sum(x[1:3])),
    ],
)
def test_a_replaced_rule_is_the_one_that_runs(fun, call):
    before = grad(call)(X)
    rules = fun.vjp_rules
    defvjp(fun, lambda ans, x, *args, **kwargs: lambda g: onp.full(7, 5.0))
    try:
        assert onp.array_equal(grad(call)(X), onp.full(7, 5.0))
    finally:
        fun.vjp_rules = rules
    assert onp.array_equal(grad(call)(X), before)


# ------------------------------------------------------------------------------------------------------ random programs

INDICES = [0, slice(None), -1, slice(None, None, -1), [0, -1], [0, 0], Ellipsis, None]
STEPS = [
    lambda a, b, k: np.sin(a) * np.exp(-a * a),
    lambda a, b, k: np.sqrt(abs(a) + 0.3) - np.log(a * a + 0.5),
    lambda a, b, k: (abs(a) + 0.2) ** [2, 3, 0.5, -1, 1, 0, 1.7][k % 7],
    lambda a, b, k: np.tanh(a) * np.sum(b) + a / (1.5 + np.cos(np.mean(b))),
    lambda a, b, k: np.maximum(a, np.min(b)) - np.minimum(a, 0.25),
    lambda a, b, k: a[INDICES[k % 8]] if np.ndim(a) else a * 0.5,
    lambda a, b, k: np.dot(a, np.transpose(a)) if np.ndim(a) < 3 else a * 0.5,
    lambda a, b, k: np.sum(a, axis=k % max(np.ndim(a), 1), keepdims=bool(k % 3)) if np.ndim(a) else np.array([a, 2.0]),
    lambda a, b, k: np.max(a) * a - np.mean(a),
    lambda a, b, k: np.concatenate([np.ravel(a), np.ravel(b)]),
    lambda a, b, k: np.stack([a, a * 0.7]) if np.ndim(a) < 3 else np.reshape(a, (-1,)),
    lambda a, b, k: np.where(getval(a) > 0.3, a, 0.1 * a) - np.arctan(a),
]


def program(seed):
    rng = onp.random.default_rng(seed)
    shape = [(), (3,), (2, 3), (1, 3), (3, 1), (2, 2, 3)][rng.integers(6)]
    steps = [(STEPS[rng.integers(len(STEPS))], *rng.integers(100, size=2)) for _ in range(6)]

    def fun(x):
        values = [x]
        for step, k, other in steps:
            values.append(step(values[-1], values[other % len(values)], k))
        return sum(np.sum(np.sin(v)) for v in values[-3:])

    return fun, rng.normal(size=shape)[()], rng.normal(size=shape)[()]


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed):
    fun, x, v = program(seed)
    vjp, _ = make_vjp(fun)(x)
    gradient = grad(fun)(x)
    onp.testing.assert_allclose(gradient, vjp(1.0), rtol=0, atol=0)
    onp.testing.assert_allclose(gradient, by_python(vjp, 1.0), rtol=1e-9, atol=1e-9)
    onp.testing.assert_allclose(onp.sum(gradient * v), make_jvp(fun)(x)(v)[1], rtol=1e-8, atol=1e-8)
    curvature = grad(lambda x: np.sum(grad(fun)(x) * v))(x)
    onp.testing.assert_allclose(curvature, make_jvp(grad(fun))(x)(v)[1], rtol=1e-7, atol=1e-7)
    onp.testing.assert_allclose(curvature, grad(lambda x: make_jvp(fun)(x)(v)[1])(x), rtol=1e-7, atol=1e-7)
    # Differences of two step sizes disagree near a kink; the gradient is compared only where they agree.
    coarse, fine = ((fun(x + h * v) - fun(x - h * v)) / (2 * h) for h in (1e-5, 1e-6))
    if abs(coarse - fine) < 1e-6 * (1 + abs(fine)):
        onp.testing.assert_allclose(onp.sum(gradient * v), fine, rtol=1e-4, atol=1e-4)
