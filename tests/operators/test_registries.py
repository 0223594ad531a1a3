"""The registries of rules: reading, wrapping and replacing what they hold."""

import subprocess
import sys

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import grad, make_jvp
from fastgrad.core import primitive_jvps, primitive_vjps
from fastgrad.extend import (
    defjvp,
    defjvp_argnums,
    defvjp,
    defvjp_argnums,
    primitive,
)


def product():
    """Return a new primitive without rules: ``x * y * z``."""

    @primitive
    def product(x, y, z=1.0):
        """Multiply three numbers."""
        return x * y * z

    return product


def tangent(f, argnum, *args):
    seed = 1.0 if isinstance(argnum, int) else (1.0,) * len(argnum)
    return make_jvp(f, argnum)(*args)(seed)[1]


def test_the_registries_know_which_primitives_have_rules():
    f = product()
    assert f not in primitive_vjps
    assert f not in primitive_jvps
    defvjp(f, lambda ans, x, y: lambda g: g * y)
    assert f in primitive_vjps
    assert f not in primitive_jvps
    defjvp(f, "same")
    assert f in primitive_jvps
    for registry in (primitive_vjps, primitive_jvps):
        assert np.sin in registry
        assert np.multiply in registry
        assert np.floor_divide not in registry
        with pytest.raises(KeyError):
            registry[np.floor_divide]


def test_what_the_registries_hold_can_be_called():
    f = product()
    defvjp(f, lambda ans, x, y: lambda g: g * y, lambda ans, x, y: lambda g: g * x)
    defjvp(f, "same", "same")
    pullback = primitive_vjps[f]((0, 1), 6.0, (2.0, 3.0), {})
    assert tuple(pullback(10.0)) == (30.0, 20.0)
    assert primitive_jvps[f]((0, 1), (1.0, 10.0), 6.0, (2.0, 3.0), {}) == 3.0 + 20.0


def test_built_in_rules_can_be_called_through_the_registries():
    pullback = primitive_vjps[np.multiply]((0, 1), 6.0, (2.0, 3.0), {})
    assert tuple(pullback(10.0)) == (30.0, 20.0)
    assert tuple(primitive_vjps[np.sum]((0,), 3.0, (onp.ones(3),), {})(2.0))[0].tolist() == [2.0] * 3
    assert primitive_jvps[np.sin]((0,), (2.0,), 0.0, (0.0,), {}) == 2.0


def test_a_rule_taken_from_the_registry_can_be_wrapped():
    f, seen = product(), []
    defvjp(f, lambda ans, x, y: lambda g: g * y)
    original = primitive_vjps[f]

    def wrapped(argnums, ans, args, kwargs):
        seen.append(argnums)
        return original(argnums, ans, args, kwargs)

    defvjp_argnums(f, wrapped)
    assert grad(f)(2.0, 3.0) == 3.0
    assert len(seen) == 1


@pytest.fixture
def own_rule_of_tanh():
    """Replace the rules of ``np.tanh`` for one test."""
    saved = primitive_vjps[np.tanh], primitive_jvps[np.tanh]
    defvjp(np.tanh, lambda ans, x: lambda g: 100.0 * g)
    defjvp(np.tanh, lambda g, ans, x: 1000.0 * g)
    yield
    defvjp_argnums(np.tanh, saved[0])
    defjvp_argnums(np.tanh, saved[1])


def test_a_built_in_rule_can_be_overridden_after_its_use(own_rule_of_tanh):
    assert grad(np.tanh)(0.5) == 100.0
    assert grad(lambda x: np.sum(np.tanh(x)))(onp.ones(2)).tolist() == [100.0, 100.0]
    assert tangent(np.tanh, 0, 0.5) == 1000.0
    assert grad(lambda x: onp.tanh(x))(0.5) == 100.0


def test_and_the_built_in_rule_put_back():
    assert grad(np.tanh)(0.5) == pytest.approx(1 - onp.tanh(0.5) ** 2)
    assert tangent(np.tanh, 0, 0.5) == pytest.approx(1 - onp.tanh(0.5) ** 2)
    assert grad(grad(np.tanh))(0.5) == pytest.approx(-2 * onp.tanh(0.5) * (1 - onp.tanh(0.5) ** 2))


OVERRIDES = [
    ("x * x", "np.multiply", 14.0),
    ("x + x", "np.add", 14.0),
    ("-x", "np.negative", 7.0),
    ("np.sum(x)", "np.sum", 7.0),
    ("x.sum()", "np.sum", 7.0),
]


@pytest.mark.parametrize(("expression", "name", "expected"), OVERRIDES)
def test_rules_of_the_primitives_behind_operators_can_be_overridden(expression, name, expected):
    """Run in a process of its own, because everything else uses these rules."""
    code = f"""
import numpy as onp
import fastgrad.numpy as np
from fastgrad import elementwise_grad
from fastgrad.extend import defvjp
derivative = elementwise_grad(lambda x: {expression})
derivative(onp.ones(3))
maker = lambda ans, *args, **kwargs: lambda g: onp.full(3, 7.0)
defvjp({name}, maker, maker)
assert derivative(onp.ones(3)).tolist() == [{expected}] * 3
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
