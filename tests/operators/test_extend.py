"""The extension interface: new primitives, their rules, new kinds of values."""

import functools
import inspect
import subprocess
import sys

import numpy as onp
import pytest

import fastgrad
import fastgrad.numpy as np
from fastgrad import elementwise_grad, grad, jacobian, make_jvp, make_vjp
from fastgrad.core import primitive_jvps, primitive_vjps, vspace
from fastgrad.extend import (
    Box,
    VSpace,
    def_linear,
    defjvp,
    defjvp_argnum,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    defvjp_argnums,
    primitive,
)
from fastgrad.numpy.numpy_boxes import ArrayBox
from fastgrad.numpy.numpy_vspaces import ArrayVSpace, ComplexArrayVSpace
from fastgrad.tracer import getval, isbox, new_box


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


# ---- reverse rules -----------------------------------------------------------------------------------------------


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


# ---- forward rules -----------------------------------------------------------------------------------------------


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


# ---- the primitive as an object ----------------------------------------------------------------------------------


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


# ---- registries --------------------------------------------------------------------------------------------------


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
    """Give ``np.tanh`` rules of our own for one test."""
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
    """In a process of its own: these rules serve everything else."""
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


# ---- what a primitive may be given -------------------------------------------------------------------------------


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


# ---- new kinds of values -----------------------------------------------------------------------------------------


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


class PointSpace(VSpace):
    size = 2

    def __init__(self, value):
        pass

    def zeros(self):
        return Point(0.0, 0.0)

    def ones(self):
        return Point(1.0, 1.0)

    def standard_basis(self):
        yield Point(1.0, 0.0)
        yield Point(0.0, 1.0)

    def _add(self, a, b):
        return Point(a.x + b.x, a.y + b.y)

    def _mut_add(self, a, b):
        a.x += b.x
        a.y += b.y
        return a

    def _scalar_mul(self, a, factor):
        return Point(a.x * factor, a.y * factor)

    def _inner_prod(self, a, b):
        return a.x * b.x + a.y * b.y


@primitive
def read(point, name):
    return getattr(point, name)


@primitive
def unread(g, name):
    return Point(**{"x": 0.0, "y": 0.0, name: g})


defvjp(read, lambda ans, point, name: lambda g: unread(g, name))
defvjp(unread, lambda ans, g, name: lambda h: read(h, name))
defjvp(read, "same")


class PointBox(Box):
    __slots__ = ()
    x = property(lambda self: read(self, "x"))
    y = property(lambda self: read(self, "y"))


@pytest.fixture
def points():
    PointBox.register(Point)
    PointSpace.register(Point)
    yield
    for key in (Point, PointBox):
        Box.type_mappings.pop(key)
    VSpace.mappings.pop(Point)
    Box.types.discard(PointBox)


def test_a_user_value_with_its_own_box_and_vspace(points):
    seen = []

    def f(p):
        seen.append(p)
        return p.x * p.x * p.y + p.x + p.y

    g = grad(f)(Point(2.0, 3.0))
    assert type(g) is Point
    assert (g.x, g.y) == (13.0, 5.0)
    assert type(seen[0]) is PointBox
    assert isbox(seen[0])
    assert type(getval(seen[0])) is Point
    assert type(vspace(Point(1.0, 2.0))) is PointSpace
    assert type(vspace(seen[0])) is PointSpace
    assert make_jvp(f)(Point(2.0, 3.0))(Point(1.0, 0.0))[1] == 13.0


def test_second_order_through_a_user_value(points):
    gradient_norm = lambda x: grad(lambda p: p.x**2 * p.y)(unread(x, "x")).y  # noqa: E731
    assert grad(gradient_norm)(3.0) == 6.0


def test_an_unregistered_value_is_refused_again():
    with pytest.raises(TypeError, match="Can't differentiate w.r.t. type"):
        grad(lambda p: p.x)(Point(1.0, 2.0))


class Tensor(onp.ndarray):
    """An ndarray subclass with an attribute."""

    def __new__(cls, values, trainable=True):
        out = onp.asarray(values, dtype=float).view(cls)
        out.trainable = trainable
        return out

    def __array_finalize__(self, other):
        self.trainable = getattr(other, "trainable", True)


class NonDifferentiable(Exception):
    pass


@pytest.fixture
def tensors():
    """Register a subclass by plain callables written into the registries, as some libraries do."""

    def boxed(value, trace, node):
        if not value.trainable:
            raise NonDifferentiable(f"{value} is not trainable")
        return ArrayBox(value, trace, node)

    Box.type_mappings[Tensor] = boxed
    VSpace.mappings[Tensor] = lambda value: ComplexArrayVSpace(value) if onp.iscomplexobj(value) else ArrayVSpace(value)
    yield
    del Box.type_mappings[Tensor], VSpace.mappings[Tensor]


def test_callables_in_the_registries_are_asked_by_exact_type(tensors):
    g = grad(lambda x: np.sum(np.sin(x) * x))(Tensor([0.5, 1.0]))
    x = onp.array([0.5, 1.0])
    onp.testing.assert_allclose(g, onp.sin(x) + x * onp.cos(x))
    with pytest.raises(NonDifferentiable):
        grad(lambda x: np.sum(x))(Tensor([1.0], trainable=False))
    assert type(new_box(Tensor([1.0]), 0, None)) is ArrayBox
    assert type(vspace(Tensor([1.0]))) is ArrayVSpace


def test_a_subclass_that_is_not_registered_is_refused():
    with pytest.raises(TypeError, match="Can't differentiate w.r.t. type"):
        new_box(Tensor([1.0]), 0, None)
    with pytest.raises(TypeError, match="Can't find vector space"):
        vspace(Tensor([1.0]))


def test_register_with_a_vspace_maker():
    class Parameter(onp.ndarray):
        pass

    ArrayBox.register(Parameter)
    VSpace.register(Parameter, vspace_maker=VSpace.mappings[onp.ndarray])
    try:
        g = grad(lambda p: np.sum(p**2.0))(onp.ones(3).view(Parameter))
        onp.testing.assert_array_equal(g, onp.full(3, 2.0))
    finally:
        del Box.type_mappings[Parameter], VSpace.mappings[Parameter]


@pytest.mark.parametrize("value", [1.0, onp.float64(1.0), onp.ones(2)], ids=repr)
def test_the_registries_are_asked_for_built_in_types_once_they_are_changed(value):
    kind, seen = type(value), []
    original = Box.type_mappings[kind]
    Box.type_mappings[kind] = lambda *args: (seen.append(kind), original(*args))[1]
    try:
        grad(lambda x: np.sum(x))(value)
    finally:
        Box.type_mappings[kind] = original
    assert seen


def test_the_registries_are_plain_dicts():
    assert isinstance(Box.type_mappings, dict)
    assert type(VSpace.mappings) is dict
    assert Box.type_mappings[onp.ndarray] is ArrayBox
    assert Box.type_mappings[float] is ArrayBox
    assert ArrayBox in Box.type_mappings


# ---- vector spaces -----------------------------------------------------------------------------------------------


def test_the_operations_of_a_vspace_are_primitives():
    vs = vspace(onp.ones(2))
    x, y = onp.array([1.0, 2.0]), onp.array([3.0, 5.0])
    assert vs.add(x, y).tolist() == [4.0, 7.0]
    assert vs.scalar_mul(x, 3.0).tolist() == [3.0, 6.0]
    assert vs.inner_prod(x, y) == 13.0
    assert grad(lambda v: vs.inner_prod(v, v))(x).tolist() == [2.0, 4.0]
    assert grad(lambda a: vs.inner_prod(vs.scalar_mul(x, a), y))(2.0) == 13.0
    assert tangent(lambda a: vs.inner_prod(vs.scalar_mul(x, a), y), 0, 2.0) == 13.0
    assert elementwise_grad(lambda v: vs.add(v, v))(x).tolist() == [2.0, 2.0]


def test_mut_add_changes_its_first_argument_only():
    vs = vspace(onp.ones(2))
    total, x = onp.zeros(2), onp.ones(2)
    assert vs.mut_add(total, x) is total
    assert total.tolist() == [1.0, 1.0]
    copy = vs.mut_add(None, x)
    assert copy is not x
    assert copy.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("value", "size"),
    [(1.0, 1), (1j, 2), (onp.ones((2, 3)), 6), ([1.0, onp.ones(2)], 3), ({"a": (1.0, 2j)}, 3)],
    ids=repr,
)
def test_the_standard_basis_spans_the_space(value, size):
    vs = vspace(value)
    basis = list(vs.standard_basis())
    assert vs.size == len(basis) == size
    gram = [[float(vs._inner_prod(a, b)) for b in basis] for a in basis]
    assert onp.array_equal(gram, onp.eye(size))
    assert vs == vspace(vs.zeros()) == vspace(vs.ones()) == vspace(vs.randn())
    assert [float(vs._inner_prod(vs.ones(), b)) for b in basis] == [1.0] * size
    assert [float(vs._inner_prod(vs.zeros(), b)) for b in basis] == [0.0] * size


def test_vspaces_compare_by_kind_shape_and_dtype():
    assert vspace(onp.ones(2)) == vspace(onp.zeros(2))
    assert vspace(1.0) == vspace(onp.array(3.0))
    assert vspace(onp.ones(2)) != vspace(onp.ones(3))
    assert vspace(onp.ones(2)) != vspace(onp.ones(2, onp.float32))
    assert vspace(onp.ones(2)) != vspace(onp.ones(2, complex))
    assert vspace([1.0]) != vspace((1.0,))


@pytest.mark.parametrize("value", [1, "text", None, onp.int64(3)], ids=repr)
def test_a_value_without_a_vspace_is_refused(value):
    with pytest.raises(TypeError, match="Can't find vector space for value .* of type"):
        vspace(value)
