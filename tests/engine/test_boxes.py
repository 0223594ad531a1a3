"""The box class: operators, what NumPy does with it, and what libraries do to it."""

import copy
import operator

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import elementwise_grad, grad, make_vjp
from fastgrad.core import VJPNode, VSpace, backward_pass
from fastgrad.extend import Box, defvjp, primitive
from fastgrad.numpy.numpy_boxes import ArrayBox
from fastgrad.numpy.numpy_vspaces import ArrayVSpace
from fastgrad.tracer import isbox, new_box

X = onp.array([1.5, 2.0, 3.0])
OFF_KINKS = onp.array([1.3, 2.3, 3.4])


def boxed(value):
    return new_box(value, 0, VJPNode.new_root())


def numeric(f, x, step=1e-6):
    """Return the gradient of the sum of ``f`` by central differences."""
    x = onp.asarray(x, dtype=float)
    out = onp.zeros(x.shape)
    for index in onp.ndindex(*x.shape):
        h = onp.zeros(x.shape)
        h[index] = step
        out[index] = (onp.sum(f(x + h)) - onp.sum(f(x - h))) / (2 * step)
    return out


# ---- the class ---------------------------------------------------------------------------------------------------


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


# ---- operators ---------------------------------------------------------------------------------------------------

BINARY = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "pow": operator.pow,
    "mod": operator.mod,
}
OTHERS = [
    2.5,
    2,
    True,
    onp.float64(2.5),
    onp.float32(2.5),
    onp.int64(2),
    onp.array(2.5),
    onp.array([2.2, 0.7, 1.1]),
    onp.array([[2.2], [0.7]]),
    onp.array([2, 3, 1]),
    [2.2, 0.7, 1.1],
    (2.2, 0.7, 1.1),
]


@pytest.mark.parametrize("other", OTHERS, ids=lambda v: f"{type(v).__name__}{onp.shape(v)}")
@pytest.mark.parametrize("value", [1.7, onp.float64(1.7), onp.array(1.7), OFF_KINKS], ids=repr)
@pytest.mark.parametrize("op", BINARY.values(), ids=BINARY)
@pytest.mark.parametrize("reflected", [False, True])
def test_binary_operators(op, value, other, reflected):
    array = onp.asarray(other) if isinstance(other, (list, tuple)) else other
    plain = lambda x: op(array, x) if reflected else op(x, array)  # noqa: E731
    seen = []

    def traced(x):
        y = op(other, x) if reflected else op(x, other)
        seen.append(y)
        return y

    g = elementwise_grad(traced)(value)
    assert type(seen[0]) is ArrayBox
    onp.testing.assert_allclose(seen[0]._value, plain(value), rtol=1e-12)
    assert onp.shape(g) == onp.shape(value)
    onp.testing.assert_allclose(g, numeric(plain, value), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("op", BINARY.values(), ids=BINARY)
def test_operators_between_boxes(op):
    y = onp.array([0.7, 1.4, 2.2])
    gx, gy = elementwise_grad(lambda x, y: op(x, y), (0, 1))(X, y)
    onp.testing.assert_allclose(gx, numeric(lambda x: op(x, y), X), rtol=1e-5, atol=1e-7)
    onp.testing.assert_allclose(gy, numeric(lambda y: op(X, y), y), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow])
def test_operators_of_a_box_with_itself(op):
    onp.testing.assert_allclose(
        elementwise_grad(lambda x: op(x, x))(X), numeric(lambda x: op(x, x), X), rtol=1e-5, atol=1e-7
    )


@pytest.mark.parametrize(
    "other", [onp.arange(12.0).reshape(4, 3), [[1.0, 2.0, 3.0]], X], ids=["matrix", "list", "vector"]
)
def test_matmul(other):
    f = lambda x: other @ x  # noqa: E731
    plain = onp.asarray(other)
    onp.testing.assert_allclose(elementwise_grad(f)(X), plain.sum(axis=0) if plain.ndim == 2 else plain)
    g = lambda x: x @ (plain.T if plain.ndim == 2 else other)  # noqa: E731
    onp.testing.assert_allclose(elementwise_grad(g)(X), elementwise_grad(f)(X))


def test_unary_operators():
    assert grad(lambda x: -x)(2.0) == -1.0
    assert grad(lambda x: abs(x))(-2.0) == -1.0
    assert elementwise_grad(lambda x: abs(-x))(X).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("op", [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow])
def test_augmented_assignment_to_a_box_rebinds_it(op):
    x = boxed(2.0)
    y = op(x, 3.0)
    assert x._value == 2.0
    assert y is not x
    assert y._value == op(2.0, 3.0)


@pytest.mark.parametrize("op", [operator.iadd, operator.isub, operator.imul, operator.itruediv])
def test_augmented_assignment_to_an_array_rebinds_the_name_to_the_traced_result(op):
    def f(x):
        total = onp.ones(3)
        kept = total
        total = op(total, x)
        assert type(total) is ArrayBox
        assert kept.tolist() == [1.0, 1.0, 1.0]
        return total

    plain = lambda x: op(onp.ones(3), x)  # noqa: E731
    onp.testing.assert_allclose(elementwise_grad(f)(X), numeric(plain, X), rtol=1e-6)


def test_a_loop_that_adds_boxes_to_an_array():
    def f(x):
        total = onp.zeros(3)
        for k in range(3):
            total += x * k
        return np.sum(total**2)

    onp.testing.assert_allclose(grad(f)(X), 18.0 * X)


def test_an_explicit_out_that_is_the_first_input_is_left_alone():
    target = onp.ones(3)
    result = onp.add(target, boxed(X), out=target)
    assert type(result) is ArrayBox
    assert result._value.tolist() == (1.0 + X).tolist()
    assert target.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("other", [None, "text", {}, object()], ids=lambda v: type(v).__name__)
def test_operators_with_other_objects_are_type_errors(other):
    for op in (operator.add, operator.mul):
        with pytest.raises(TypeError):
            op(boxed(2.0), other)
        with pytest.raises(TypeError):
            op(other, boxed(2.0))


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne])
@pytest.mark.parametrize("other", [2.0, 2, onp.float64(2.0), onp.array([2.0, 1.0, 3.0])], ids=repr)
def test_comparisons_are_plain(compare, other):
    for left, right in ((boxed(X), other), (other, boxed(X)), (boxed(X), boxed(onp.asarray(other) + 0.0 * X))):
        result = compare(left, right)
        assert type(result) is onp.ndarray
        assert result.dtype == bool
        plain = compare(*(side._value if isbox(side) else side for side in (left, right)))
        assert result.tolist() == plain.tolist()
    assert bool(compare(boxed(2.0), 2.0)) is compare(2.0, 2.0)
    assert not isbox(compare(boxed(2.0), boxed(2.0)))


def test_a_box_is_found_in_a_list():
    a, b = boxed(2.0), boxed(3.0)
    assert b in [a, b]
    assert [a, b].index(b) == 1


# ---- protocols ---------------------------------------------------------------------------------------------------


def test_truth():
    assert boxed(1.0)
    assert not boxed(0.0)
    assert boxed(onp.array([2.0]))
    with pytest.raises(ValueError):
        bool(boxed(X))


def test_length_and_iteration():
    box = boxed(X)
    assert len(box) == 3
    elements = list(box)
    assert [type(element) for element in elements] == [ArrayBox] * 3
    assert [element._value for element in elements] == X.tolist()
    assert elementwise_grad(lambda x: sum(k * e for k, e in enumerate(x)))(X).tolist() == [0.0, 1.0, 2.0]
    first, *rest = boxed(onp.ones((2, 2)))
    assert first.shape == (2,)
    assert len(rest) == 1


@pytest.mark.parametrize("value", [1.0, onp.float64(1.0), onp.array(1.0)], ids=repr)
def test_a_scalar_has_no_length_and_cannot_be_iterated(value):
    with pytest.raises(TypeError):
        len(boxed(value))
    with pytest.raises(TypeError):
        list(boxed(value))


@pytest.mark.parametrize("convert", [float, int, complex, operator.index])
def test_a_conversion_to_a_python_number_is_refused(convert):
    """It would cut the value off from its derivative."""
    with pytest.raises(TypeError):
        convert(boxed(2.0))


def test_array_attributes():
    matrix = boxed(onp.ones((2, 3), onp.float32))
    assert (matrix.shape, matrix.ndim, matrix.size, matrix.dtype) == ((2, 3), 2, 6, onp.float32)
    scalar = boxed(2.0)
    assert (scalar.shape, scalar.ndim, scalar.size, scalar.dtype) == ((), 0, 1, float)
    assert type(matrix.shape) is tuple
    assert type(matrix.T) is ArrayBox
    assert matrix.T.shape == (3, 2)
    assert (boxed(boxed(X)).shape, boxed(boxed(X)).dtype) == ((3,), float)


def test_item_assignment_is_refused():
    with pytest.raises(TypeError, match="assignment"):
        boxed(X)[0] = 1.0


def test_the_array_namespace_is_our_numpy():
    namespace = boxed(X).__array_namespace__()
    assert namespace.sin is np.sin
    assert namespace.sum is np.sum


METHODS = [
    ("clip", (1.6, 2.5)),
    ("cumsum", ()),
    ("flatten", ()),
    ("max", ()),
    ("mean", ()),
    ("min", ()),
    ("prod", ()),
    ("ravel", ()),
    ("repeat", (2,)),
    ("reshape", ((3, 1),)),
    ("squeeze", ()),
    ("std", ()),
    ("sum", ()),
    ("swapaxes", (0, 0)),
    ("transpose", ()),
    ("var", ()),
    ("astype", (float,)),
]


@pytest.mark.parametrize(("name", "args"), METHODS, ids=[name for name, _ in METHODS])
def test_methods_are_traced(name, args):
    seen = []

    def f(x):
        y = getattr(x, name)(*args)
        seen.append(y)
        return y

    g = elementwise_grad(f)(X)
    plain = lambda x: getattr(x, name)(*args)  # noqa: E731
    assert type(seen[0]) is ArrayBox
    onp.testing.assert_allclose(seen[0]._value, plain(X))
    onp.testing.assert_allclose(g, numeric(plain, X), rtol=1e-6, atol=1e-8)


def test_the_trace_method():
    assert grad(lambda m: m.trace() ** 2)(onp.full((2, 2), 3.0)).tolist() == [[12.0, 0.0], [0.0, 12.0]]


OPTIONAL_METHODS = [("compress", ([True, False, True],)), ("cumprod", ()), ("take", ([2, 0, 2],)), ("diagonal", ())]


@pytest.mark.parametrize(("name", "args"), OPTIONAL_METHODS, ids=[name for name, _ in OPTIONAL_METHODS])
def test_methods_that_may_lack_a_rule_are_right_or_refused(name, args):
    x = onp.arange(9.0).reshape(3, 3) if name == "diagonal" else X
    f = lambda x: getattr(x, name)(*args)  # noqa: E731
    try:
        g = elementwise_grad(f)(x)
    except NotImplementedError as error:
        assert name in str(error) or "diagonal" in str(error)
    else:
        onp.testing.assert_allclose(g, numeric(f, x), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["all", "any", "argmax", "argmin", "argsort", "nonzero", "round"])
def test_methods_without_a_derivative_give_plain_values(name):
    result = getattr(boxed(X), name)()
    assert not isbox(result)
    onp.testing.assert_array_equal(result, getattr(X, name)())


def test_methods_take_keywords():
    g = grad(lambda x: x.sum(axis=0, keepdims=True).mean(axis=1)[0])(onp.ones((2, 4)))
    assert g.tolist() == [[0.25] * 4] * 2


# ---- plain NumPy on boxes ----------------------------------------------------------------------------------------

UFUNC_CALLS = {
    "sin": lambda x: onp.sin(x),
    "exp": lambda x: onp.exp(x),
    "sqrt": lambda x: onp.sqrt(x),
    "add": lambda x: onp.add(x, onp.arange(3.0)),
    "multiply by a scalar": lambda x: onp.multiply(2.0, x),
    "power": lambda x: onp.power(x, 2.0),
    "maximum": lambda x: onp.maximum(x, 1.9),
    "arctan2": lambda x: onp.arctan2(x, onp.ones(3)),
    "array * box": lambda x: onp.arange(3.0) * x,
    "float64 * box": lambda x: onp.float64(2.0) * x,
    "float32 / box": lambda x: onp.float32(2.0) / x,
    "int64 - box": lambda x: onp.int64(2) - x,
    "column * box": lambda x: onp.ones((2, 1)) * x,
    "nested": lambda x: onp.log(onp.sin(x) ** 2 + onp.cosh(x)),
}


@pytest.mark.parametrize("name", UFUNC_CALLS)
def test_numpys_own_ufuncs_give_traced_results(name):
    f, seen = UFUNC_CALLS[name], []
    g = elementwise_grad(lambda x: (seen.append(f(x)), seen[-1])[1])(X)
    assert type(seen[0]) is ArrayBox
    onp.testing.assert_allclose(seen[0]._value, f(X))
    onp.testing.assert_allclose(g, numeric(f, X), rtol=1e-6, atol=1e-8)


def test_numpys_ufuncs_differentiate_again():
    assert grad(grad(lambda x: onp.sin(x) * x))(0.5) == pytest.approx(2 * onp.cos(0.5) - 0.5 * onp.sin(0.5))


@pytest.mark.parametrize("f", [onp.sum, onp.mean, onp.reshape], ids=lambda f: f.__name__)
def test_numpy_functions_that_call_a_method(f):
    args = ((3, 1),) if f is onp.reshape else ()
    call = lambda x: f(x, *args)  # noqa: E731
    onp.testing.assert_allclose(elementwise_grad(call)(X), numeric(call, X), rtol=1e-6)


def test_what_cannot_be_traced_is_refused():
    with pytest.raises(TypeError):
        onp.add.reduce(boxed(X))
    with pytest.raises(TypeError):
        onp.add(boxed(X), boxed(X), out=onp.ones(3))
    with pytest.raises(TypeError):
        onp.add.at(onp.ones(3), [0], boxed(1.0))


class Quantity:
    """A foreign array type that takes part in NumPy's dispatch."""

    def __init__(self, inner):
        self.inner = inner

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [i.inner if isinstance(i, Quantity) else i for i in inputs]
        return Quantity(getattr(ufunc, method)(*plain, **kwargs))

    def __mul__(self, other):
        return onp.multiply(self, other)

    def __rmul__(self, other):
        return onp.multiply(other, self)


@pytest.mark.parametrize(
    "multiply",
    [
        lambda box, q: box * q,
        lambda box, q: q * box,
        lambda box, q: np.multiply(box, q),
        lambda box, q: onp.multiply(q, box),
    ],
)
def test_a_foreign_array_type_gets_its_turn(multiply):
    seen = []

    def f(x):
        result = multiply(x, Quantity(onp.array([2.0, 3.0, 5.0])))
        seen.append(result)
        return np.sum(result.inner)

    assert grad(f)(X).tolist() == [2.0, 3.0, 5.0]
    assert type(seen[0]) is Quantity
    assert type(seen[0].inner) is ArrayBox


def test_a_box_inside_a_foreign_array_type():
    f = lambda x: np.sum(onp.sin(Quantity(x)).inner)  # noqa: E731
    onp.testing.assert_allclose(grad(f)(X), onp.cos(X))


# ---- what libraries set on the class -----------------------------------------------------------------------------


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


# ---- subclasses --------------------------------------------------------------------------------------------------


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


# ---- a box used after its trace ----------------------------------------------------------------------------------


def test_boxes_outlive_their_trace():
    kept = []
    vjp, _ = make_vjp(lambda x: (kept.append(x), x * x)[1])(3.0)
    late = kept[0] * 2.0
    assert late._value == 6.0
    assert backward_pass(1.0, late._node) == 2.0
    assert vjp(1.0) == 6.0
