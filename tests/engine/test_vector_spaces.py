"""Vector spaces, and values of users' types with boxes and spaces of their own."""

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import elementwise_grad, grad, make_jvp
from fastgrad.core import vspace
from fastgrad.extend import (
    Box,
    VSpace,
    defjvp,
    defvjp,
    primitive,
)
from fastgrad.numpy.numpy_boxes import ArrayBox
from fastgrad.numpy.numpy_vspaces import ArrayVSpace, ComplexArrayVSpace
from fastgrad.tracer import getval, isbox, new_box


def tangent(f, argnum, *args):
    seed = 1.0 if isinstance(argnum, int) else (1.0,) * len(argnum)
    return make_jvp(f, argnum)(*args)(seed)[1]


# -------------------------------------------------------------------------------------------------- new kinds of values


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


# -------------------------------------------------------------------------------------------------------- vector spaces


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
