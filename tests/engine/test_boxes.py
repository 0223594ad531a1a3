"""The box class itself, and the methods and attributes that libraries set on it."""

import copy

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import grad, make_vjp
from fastgrad.core import VJPNode, VSpace, backward_pass
from fastgrad.extend import Box, defvjp, primitive
from fastgrad.numpy.numpy_boxes import ArrayBox
from fastgrad.numpy.numpy_vspaces import ArrayVSpace
from fastgrad.tracer import isbox, new_box

X = onp.array([1.5, 2.0, 3.0])


def boxed(value):
    return new_box(value, 0, VJPNode.new_root())


# ------------------------------------------------------------------------------------------------------------ the class


def test_one_class_for_arrays_and_scalars():
    for value in (1.0, onp.float32(1.0), onp.ones(()), X, 1j):
        assert type(boxed(value)) is ArrayBox
    assert issubclass(ArrayBox, Box)


def test_the_constructor_takes_value_trace_and_node_by_position():
    node = VJPNode.new_root()
    box = ArrayBox(X, 3, node)
    assert box._value is X
    assert box._trace == 3
    assert box._node is node


def test_where_the_class_lives():
    assert ArrayBox.__name__ == "ArrayBox"
    assert ArrayBox.__module__ == "fastgrad.numpy.numpy_boxes"
    assert Box.__module__ == "fastgrad.tracer"


def test_priorities_over_arrays():
    assert boxed(1.0).__array_priority__ == 100.0
    assert ArrayBox.__array_priority__ == 100.0
    assert Box.__array_priority__ == 90.0


def test_printing():
    assert str(boxed(2.0)) == "Autograd ArrayBox with value 2.0"
    assert str(boxed(onp.ones(2))) == "Autograd ArrayBox with value [1. 1.]"
    assert f"{boxed(2.0)}" == str(boxed(2.0))
    assert "ArrayBox" in repr(boxed(2.0))


def test_boxes_hash_by_identity():
    a, b = boxed(2.0), boxed(2.0)
    assert len({a, b, a}) == 2
    assert hash(a) == hash(a)
    assert {a: "found"}[a] == "found"


def test_a_box_has_no_room_for_instance_attributes():
    with pytest.raises(AttributeError):
        boxed(1.0).note = "lost"


def test_an_unknown_attribute_is_an_error():
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = boxed(1.0).no_such_thing


# -------------------------------------------------------------------------------------- what libraries set on the class


def test_methods_and_properties_can_be_set_on_the_box_class(monkeypatch):
    monkeypatch.setattr(ArrayBox, "item", lambda self: self.flatten()[0], raising=False)
    monkeypatch.setattr(ArrayBox, "real", property(lambda self: np.real(self)), raising=False)
    monkeypatch.setattr(ArrayBox, "conj", np.conj, raising=False)
    assert grad(lambda x: x.item() * 2.0)(onp.array([3.0])).tolist() == [2.0]
    assert grad(lambda z: (z * z.conj()).real)(1.0 + 2.0j) == pytest.approx(2.0 - 4.0j)


def test_class_methods_and_plain_attributes_can_be_set(monkeypatch):
    monkeypatch.setattr(ArrayBox, "_marker", True, raising=False)
    wrap = classmethod(lambda cls, box: cls(box._value, box._trace, box._node))
    monkeypatch.setattr(ArrayBox, "from_arraybox", wrap, raising=False)
    box = boxed(2.0)
    again = ArrayBox.from_arraybox(box)
    assert type(again) is ArrayBox
    assert again._node is box._node
    assert again._marker


def test_attributes_that_were_set_are_gone_again():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ArrayBox, "_marker", 1, raising=False)
        assert boxed(1.0)._marker == 1
    assert not hasattr(ArrayBox, "_marker")
    assert not hasattr(boxed(1.0), "_marker")


def test_array_function_can_be_set(monkeypatch):
    def dispatch(self, func, types, args, kwargs):
        return getattr(np, func.__name__)(*args, **kwargs)

    monkeypatch.setattr(ArrayBox, "__array_function__", dispatch, raising=False)
    assert grad(lambda x: onp.sum(onp.concatenate([x, x]) * 2.0))(X).tolist() == [4.0] * 3
    assert grad(lambda x: onp.dot(x, X))(X).tolist() == X.tolist()


def test_array_ufunc_can_be_replaced(monkeypatch):
    calls = []
    original = ArrayBox.__array_ufunc__

    def spy(self, ufunc, method, *inputs, **kwargs):
        calls.append(ufunc)
        return original(self, ufunc, method, *inputs, **kwargs)

    monkeypatch.setattr(ArrayBox, "__array_ufunc__", spy)
    assert grad(lambda x: onp.sin(x))(0.0) == 1.0
    assert calls == [onp.sin]
    monkeypatch.undo()
    assert grad(lambda x: onp.sin(x))(0.0) == 1.0
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("name", "use", "method", "expected"),
    [
        ("__str__", str, lambda self: "shown", "shown"),
        ("__repr__", repr, lambda self: "shown", "shown"),
        ("__copy__", copy.copy, lambda self: "copied", "copied"),
        ("__deepcopy__", copy.deepcopy, lambda self, memo: "copied", "copied"),
    ],
)
def test_methods_set_on_the_base_class(monkeypatch, name, use, method, expected):
    monkeypatch.setattr(Box, name, method, raising=False)
    for value in (1.0, [1.0], {"a": 1.0}):
        assert use(boxed(value)) == expected
    monkeypatch.undo()
    if name in ("__str__", "__repr__"):
        assert use(boxed(1.0)) != expected


@pytest.mark.parametrize(
    ("name", "use", "args"),
    [
        ("__add__", lambda box: box + 1.0, 1),
        ("__radd__", lambda box: 1.0 + box, 1),
        ("__mul__", lambda box: box * 2.0, 1),
        ("__rmul__", lambda box: 2.0 * box, 1),
        ("__matmul__", lambda box: box @ box, 1),
        ("__neg__", lambda box: -box, 0),
        ("__abs__", abs, 0),
        ("__pos__", lambda box: +box, 0),
        ("__floordiv__", lambda box: box // 2.0, 1),
        ("__getitem__", lambda box: box[0], 1),
        ("__call__", lambda box: box(), 0),
        ("__lt__", lambda box: box < 1.0, 1),
    ],
)
def test_special_methods_can_be_set_and_taken_away(monkeypatch, name, use, args):
    marker = object()
    before = outcome(use, boxed(X))
    monkeypatch.setattr(ArrayBox, name, lambda self, *rest: (marker, len(rest)), raising=False)
    assert use(boxed(X)) == (marker, args)
    monkeypatch.undo()
    assert outcome(use, boxed(X)) == before


def outcome(use, box):
    """Return a comparable account of what ``use`` does with a box."""
    try:
        result = use(box)
    except TypeError:
        return TypeError
    return type(result), onp.asarray(result._value if isbox(result) else result).tolist()


@pytest.mark.parametrize(
    ("name", "use", "method"),
    [
        ("__len__", len, lambda self: 42),
        ("__bool__", bool, lambda self: False),
        ("__float__", float, lambda self: 42.0),
    ],
)
def test_conversions_can_be_set(monkeypatch, name, use, method):
    monkeypatch.setattr(ArrayBox, name, method, raising=False)
    assert use(boxed(onp.array([2.0]))) == method(None)


def test_iteration_can_be_set(monkeypatch):
    monkeypatch.setattr(ArrayBox, "__iter__", lambda self: iter("ab"), raising=False)
    assert list(boxed(X)) == ["a", "b"]
    monkeypatch.undo()
    assert len(list(boxed(X))) == 3


def test_containment_can_be_set(monkeypatch):
    monkeypatch.setattr(ArrayBox, "__contains__", lambda self, element: element == "key", raising=False)
    assert "key" in boxed(X)
    assert 1.5 not in boxed(X)


def test_a_primitive_as_a_method_is_bound(monkeypatch):
    @primitive
    def halved(x):
        return x / 2.0

    defvjp(halved, lambda ans, x: lambda g: g / 2.0)
    monkeypatch.setattr(ArrayBox, "halved", halved, raising=False)
    assert grad(lambda x: x.halved())(2.0) == 0.5


# ----------------------------------------------------------------------------------------------------------- subclasses


def test_a_python_subclass_of_the_box():
    class Labelled(onp.ndarray):
        pass

    class LabelledBox(ArrayBox):
        __slots__ = ()

        def doubled(self):
            return self + self

    LabelledBox.register(Labelled)
    ArrayVSpace.register(Labelled)
    try:
        seen = []

        def f(x):
            seen.extend([x, x.doubled(), 1.0 - x, onp.ones(3) * x])
            return np.sum(x.doubled() * x)

        g = grad(f)(X.view(Labelled))
        assert [type(box) for box in seen] == [LabelledBox] * 4
        assert isbox(seen[0])
        onp.testing.assert_allclose(onp.asarray(g), 4.0 * X)
    finally:
        for key in (Labelled, LabelledBox):
            Box.type_mappings.pop(key)
        VSpace.mappings.pop(Labelled)
        Box.types.discard(LabelledBox)


# ------------------------------------------------------------------------------------------- a box used after its trace


def test_boxes_outlive_their_trace():
    kept = []
    vjp, _ = make_vjp(lambda x: (kept.append(x), x * x)[1])(3.0)
    late = kept[0] * 2.0
    assert late._value == 6.0
    assert backward_pass(1.0, late._node) == 2.0
    assert vjp(1.0) == 6.0
