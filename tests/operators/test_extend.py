"""The extension interface: new primitives, their rules, new kinds of values."""

import functools
import inspect

import numpy as onp
import pytest

import fastgrad
import fastgrad.numpy as np
from fastgrad import elementwise_grad, grad, jacobian, make_jvp, make_vjp
from fastgrad.extend import (
    def_linear,
    defjvp,
    defjvp_argnum,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
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


# -------------------------------------------------------------------------------------------------------- reverse rules


def test_defvjp_one_maker_per_argument():
    f = product()
    defvjp(
        f,
        lambda ans, x, y, z: lambda g: g * y * z,
        lambda ans, x, y, z: lambda g: g * x * z,
        lambda ans, x, y, z: lambda g: g * x * y,
    )
    assert grad(f, (0, 1, 2))(2.0, 3.0, 5.0) == (15.0, 10.0, 6.0)
    assert grad(f, (2, 0))(2.0, 3.0, 5.0) == (6.0, 15.0)
    assert grad(lambda x: f(x, x, x))(2.0) == 12.0
    assert grad(lambda x: f(x, 3.0, x))(2.0) == 12.0


def test_defvjp_with_argnums():
    f = product()
    defvjp(f, lambda ans, x, y, z: lambda g: g * x * y, lambda ans, x, y, z: lambda g: g * y * z, argnums=(2, 0))
    assert grad(f, (0, 2))(2.0, 3.0, 5.0) == (15.0, 6.0)
    with pytest.raises(NotImplementedError, match="product"):
        grad(f, 1)(2.0, 3.0, 5.0)


def test_a_none_maker_means_a_zero_of_the_arguments_kind():
    f = product()
    defvjp(f, None, lambda ans, x, y: lambda g: g * x)
    gx, gy = grad(f, (0, 1))(2.0, 3.0)
    assert (gx, gy) == (0.0, 2.0)
    gx = elementwise_grad(f)(onp.ones(3, onp.float32), 2.0)
    assert (gx.tolist(), gx.dtype) == ([0.0] * 3, onp.float32)


def test_more_makers_than_arguments():
    f = product()
    maker = lambda ans, x, y, z=1.0: lambda g: g * ans / x  # noqa: E731
    defvjp(f, maker, maker, maker, maker, maker)
    assert grad(f)(2.0, 3.0) == 3.0


def test_makers_run_in_the_forward_pass_and_pullbacks_in_the_backward_pass():
    f, events = product(), []

    def maker(ans, x, y):
        events.append(("maker", ans, x, y))

        def pullback(g):
            events.append(("pullback", g))
            return g * y

        return pullback

    defvjp(f, maker)
    vjp, value = make_vjp(lambda x: f(x, 3.0))(2.0)
    assert value == 6.0
    assert events == [("maker", 6.0, 2.0, 3.0)]
    assert vjp(10.0) == 30.0
    assert events[1:] == [("pullback", 10.0)]


def test_only_the_makers_of_traced_arguments_run():
    f, ran = product(), []

    def maker(position):
        return lambda *args: (ran.append(position), lambda g: g)[1]

    defvjp(f, maker(0), maker(1), maker(2))
    grad(f, 1)(2.0, 3.0, 5.0)
    assert ran == [1]
    ran.clear()
    grad(f, (0, 2))(2.0, 3.0, 5.0)
    assert sorted(ran) == [0, 2]


def test_defvjp_argnum():
    f, asked = product(), []

    def maker(argnum, ans, args, kwargs):
        asked.append((argnum, kwargs))
        return lambda g: g * ans / args[argnum]

    defvjp_argnum(f, maker)
    assert grad(f, (0, 1))(2.0, 3.0, z=5.0) == (15.0, 10.0)
    assert asked == [(0, {"z": 5.0}), (1, {"z": 5.0})]


@pytest.mark.parametrize("container", [tuple, list, iter])
def test_defvjp_argnums_serves_all_arguments_at_once(container):
    f, asked = product(), []

    def maker(argnums, ans, args, kwargs):
        asked.append(tuple(argnums))
        return lambda g: container([g * ans / args[i] for i in argnums])

    defvjp_argnums(f, maker)
    assert grad(f, (0, 1, 2))(2.0, 3.0, 5.0) == (15.0, 10.0, 6.0)
    assert grad(f, 2)(2.0, 3.0, 5.0) == 6.0
    assert asked == [(0, 1, 2), (2,)]


def test_a_later_rule_replaces_the_earlier_one():
    f = product()
    defvjp(f, lambda ans, x, y: lambda g: 100.0 * g)
    assert grad(f)(2.0, 3.0) == 100.0
    defvjp_argnum(f, lambda argnum, ans, args, kwargs: lambda g: 200.0 * g)
    assert grad(f)(2.0, 3.0) == 200.0
    defvjp(f, lambda ans, x, y: lambda g: y * g)
    assert grad(f)(2.0, 3.0) == 3.0


@pytest.mark.parametrize(("define", "mode"), [(defvjp, "VJP"), (defjvp, "JVP")])
def test_a_rule_that_is_not_callable_is_refused(define, mode):
    with pytest.raises(Exception, match=f"Bad {mode} 'nonsense' for 'product'"):
        define(product(), "nonsense")


# -------------------------------------------------------------------------------------------------------- forward rules


def test_defjvp_one_rule_per_argument():
    f = product()
    defjvp(f, lambda g, ans, x, y, z: g * y * z, lambda g, ans, x, y, z: g * x * z, lambda g, ans, x, y, z: g * x * y)
    assert [tangent(f, i, 2.0, 3.0, 5.0) for i in range(3)] == [15.0, 10.0, 6.0]
    assert tangent(f, (0, 1, 2), 2.0, 3.0, 5.0) == 31.0
    assert tangent(lambda x: f(x, x, x), 0, 2.0) == 12.0


def test_defjvp_same_for_a_linear_argument():
    f = product()
    defjvp(f, "same", None, "same")
    assert tangent(f, 0, 2.0, 3.0, 5.0) == 15.0
    assert tangent(f, 2, 2.0, 3.0, 5.0) == 6.0
    assert tangent(f, 1, 2.0, 3.0, 5.0) == 0.0
    assert tangent(f, (0, 1), 2.0, 3.0, 5.0) == 15.0


def test_defjvp_with_argnums():
    f = product()
    defjvp(f, lambda g, ans, x, y, z: g * x * y, "same", argnums=(2, 0))
    assert tangent(f, (0, 2), 2.0, 3.0, 5.0) == 21.0
    with pytest.raises(NotImplementedError, match="product"):
        tangent(f, 1, 2.0, 3.0, 5.0)


def test_defjvp_argnum():
    f = product()
    defjvp_argnum(f, lambda argnum, g, ans, args, kwargs: g * ans / args[argnum])
    assert tangent(f, (0, 1, 2), 2.0, 3.0, 5.0) == 31.0


def test_defjvp_argnums():
    f, asked = product(), []

    def rule(argnums, gs, ans, args, kwargs):
        asked.append((tuple(argnums), tuple(gs), ans, kwargs))
        return sum(g * ans / args[i] for i, g in zip(argnums, gs, strict=True))

    defjvp_argnums(f, rule)
    assert tangent(f, (0, 1), 2.0, 3.0, 5.0) == 25.0
    assert asked == [((0, 1), (1.0, 1.0), 30.0, {})]


def test_def_linear():
    @primitive
    def weigh(x, y, factor=1.0):
        return factor * (x + 2.0 * y)

    def_linear(weigh)
    assert make_jvp(weigh)(3.0, 0.0)(1.5)[1] == 1.5
    assert make_jvp(lambda x: weigh(0.0, x, factor=10.0))(3.0)(1.5)[1] == 30.0


# ------------------------------------------------------------------------------------------- the primitive as an object


def test_a_primitive_keeps_the_names_of_its_function():
    f = product()
    assert f.__name__ == "product"
    assert f.__doc__ == "Multiply three numbers."
    assert callable(f.fun)
    assert f.fun(2.0, 3.0) == 6.0
    assert not isinstance(f, type)
    assert not isinstance(np.sin, type)
    assert (np.sin.__name__, np.sum.__name__) == ("sin", "sum")
    assert np.sin.fun is onp.sin


def test_a_primitive_says_its_signature():
    f = product()
    assert list(inspect.signature(f).parameters) == ["x", "y", "z"]
    assert inspect.unwrap(f) is f.fun
    assert f.__wrapped__ is f.fun


def test_functools_wraps_of_a_primitive():
    @functools.wraps(np.sin)
    def wrapper(x):
        return np.sin(x)

    assert wrapper.__name__ == "sin"
    assert wrapper.__doc__ == np.sin.__doc__
    assert grad(wrapper)(0.0) == 1.0


def test_a_primitive_accepts_attributes():
    f = product()
    f.note = "kept"
    assert f.note == "kept"
    del f.note
    with pytest.raises(AttributeError):
        _ = f.note
    f.__name__ = "renamed"
    f.__doc__ = "Other."
    assert (f.__name__, f.__doc__) == ("renamed", "Other.")
    with pytest.raises(NotImplementedError, match="renamed"):
        grad(f)(1.0, 2.0)


def test_a_primitive_is_hashable_and_equal_to_itself_only():
    f, g = product(), product()
    assert len({f, g, f}) == 2
    assert f != g


def test_a_primitive_in_a_class_binds_as_a_method():
    class Spring:
        def __init__(self, stiffness):
            self.stiffness = stiffness

        @primitive
        def energy(self, x):
            return 0.5 * self.stiffness * x * x

    defvjp(Spring.energy, lambda ans, self, x: lambda g: g * self.stiffness * x, argnums=(1,))
    spring = Spring(3.0)
    assert spring.energy(2.0) == 6.0
    assert Spring.energy(spring, 2.0) == 6.0
    assert grad(spring.energy)(2.0) == 6.0
    assert grad(grad(spring.energy))(2.0) == 3.0
    assert spring.energy.__self__ is spring


def test_a_primitive_of_a_callable_without_a_name():
    class Doubler:
        def __call__(self, x):
            return 2.0 * x

    f = primitive(Doubler())
    defvjp(f, lambda ans, x: lambda g: 2.0 * g)
    assert f(3.0) == 6.0
    assert grad(f)(3.0) == 2.0


@pytest.mark.parametrize("fun", [max, functools.partial(pow, 2.0), onp.linalg.norm, float])
def test_any_callable_can_be_made_a_primitive(fun):
    f = primitive(fun)
    args = (3.0, 4.0) if fun is max else (3.0,)
    assert f(*args) == fun(*args)
    defvjp(f, lambda ans, *args: lambda g: 5.0 * g)
    assert grad(f)(*args) == 5.0


def test_exceptions_of_the_function_pass_through():
    @primitive
    def fails(x):
        raise LookupError("own message")

    for call in (fails, grad(fails)):
        with pytest.raises(LookupError, match="own message"):
            call(1.0)
    with pytest.raises(TypeError):
        product()(1.0)
    with pytest.raises(TypeError, match="unknown"):
        product()(1.0, 2.0, unknown=3.0)


def test_the_top_level_primitive_is_the_one_of_extend_in_use():
    @fastgrad.primitive
    def twice(x):
        return 2.0 * x

    defvjp(twice, lambda ans, x: lambda g: 2.0 * g)
    assert grad(twice)(1.0) == 2.0


# ---------------------------------------------------------------------------------------- what a primitive may be given


def test_arbitrary_untraced_objects_reach_the_function_and_its_rule_unchanged():
    class Circuit:
        gain = 3.0

    circuit, indices = Circuit(), onp.array([2, 0])

    @primitive
    def run(x, circuit, indices, names, *, mode):
        assert (type(circuit), names, mode) == (Circuit, ("a", 1), {"fast": True})
        return circuit.gain * x[indices]

    def maker(ans, x, circuit_, indices_, names, *, mode):
        assert circuit_ is circuit
        assert indices_ is indices
        assert mode == {"fast": True}

        def pullback(g):
            out = onp.zeros_like(x)
            onp.add.at(out, indices_, circuit_.gain * g)
            return out

        return pullback

    defvjp(run, maker)
    j = jacobian(lambda x: run(x, circuit, indices, ("a", 1), mode={"fast": True}))(onp.ones(3))
    assert j.tolist() == [[0.0, 0.0, 3.0], [3.0, 0.0, 0.0]]


def test_a_primitive_over_tuples():
    @primitive
    def total(pair, scale=1.0):
        return scale * (pair[0] + 2.0 * pair[1])

    defvjp(total, lambda ans, pair, scale=1.0: lambda g: (g * scale, 2.0 * g * scale))
    assert grad(total)((3.0, 4.0)) == (1.0, 2.0)
    assert grad(lambda pair: total(pair, scale=10.0))((3.0, 4.0)) == (10.0, 20.0)
    f = lambda x: total(fastgrad.tuple((x, x * x)))  # noqa: E731
    assert grad(f)(3.0) == 1.0 + 2.0 * 6.0


def test_a_primitive_with_several_outputs():
    @primitive
    def sincos(x):
        return onp.sin(x), onp.cos(x)

    defvjp(sincos, lambda ans, x: lambda g: g[0] * ans[1] - g[1] * ans[0])

    def f(x):
        s, c = sincos(x)
        return s * c

    assert grad(f)(0.3) == pytest.approx(onp.cos(0.6))
    assert grad(grad(f))(0.3) == pytest.approx(-2 * onp.sin(0.6))


def test_object_arrays_reach_the_function():
    seen = []

    @primitive
    def peek(x, table):
        seen.append(table)
        return x * table[0]

    defvjp(peek, lambda ans, x, table: lambda g: g * table[0])
    table = onp.array([2.0, "text", None], dtype=object)
    assert grad(peek)(3.0, table) == 2.0
    assert seen[0] is table


def test_keyword_arguments_are_the_same_objects_in_the_rule():
    f = product()
    weight = onp.ones(2)

    def maker(ans, x, y, z):
        assert z is weight
        return lambda g: onp.sum(g * y * z)

    defvjp(f, maker)
    assert grad(lambda x: np.sum(f(x, 3.0, z=weight)))(2.0) == 6.0
