"""What a primitive call records, and what a trace leaves behind."""

import subprocess
import sys
import warnings

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import builtins as traced
from fastgrad import grad, make_jvp, make_vjp
from fastgrad.core import JVPNode, VJPNode, vspace
from fastgrad.extend import defjvp, defvjp, notrace_primitive, primitive, register_notrace
from fastgrad.numpy.numpy_boxes import ArrayBox
from fastgrad.tracer import Node, find_top_boxed_args, getval, isbox, new_box, trace, trace_stack
from fastgrad.util import toposort

INDEPENDENT = r"^Output seems independent of input\.$"


class Recorder(Node):
    """A node that keeps all that it is told about its call."""

    __slots__ = ("value", "fun", "args", "kwargs", "parent_argnums", "parents")

    def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
        self.value, self.fun, self.args = value, fun, args
        self.kwargs, self.parent_argnums, self.parents = kwargs, parent_argnums, parents

    def initialize_root(self, name="root"):
        self.value = name
        self.parents = ()


def record(fun, x):
    """Return the nodes of ``fun(x)`` in the order they were made, without the root."""
    _, end = trace(Recorder.new_root(), fun, x)
    return list(toposort(end))[-2::-1]


# --------------------------------------------------------------------------------------------------------- control flow


def branch_and_loop(x, seen):
    seen.append(x)
    y = np.sin(x)
    seen.append(y)
    if x > 0:
        for _ in range(2):
            y = y * x
            seen.append(y)
    else:
        y = np.exp(y)
        seen.append(y)
    return y


def test_boxes_along_the_branch_that_was_taken():
    seen = []
    assert grad(branch_and_loop)(2.0, seen) == pytest.approx(1.972602361114, abs=1e-12)
    assert [type(box) for box in seen] == [ArrayBox] * 4
    assert len({box._trace for box in seen}) == 1
    assert [type(box._node) for box in seen] == [VJPNode] * 4
    values = [2.0, 0.9092974268, 1.8185948537, 3.6371897073]
    assert [box._value for box in seen] == pytest.approx(values, abs=1e-10)


def test_the_other_branch_gives_the_other_derivative():
    seen = []
    expected = onp.cos(-1.0) * onp.exp(onp.sin(-1.0))
    assert grad(branch_and_loop)(-1.0, seen) == pytest.approx(expected)
    assert len(seen) == 3


def test_neither_the_comparison_nor_the_branch_not_taken_makes_a_node():
    _, end = trace(VJPNode.new_root(), lambda x: branch_and_loop(x, []), 2.0)
    assert len(list(toposort(end))) == 4
    register_notrace(Recorder, np.greater)
    names = [node.fun.__name__ for node in record(lambda x: branch_and_loop(x, []), 2.0)]
    assert names == ["sin", "multiply", "multiply"]


@pytest.mark.parametrize("compare", ["__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"])
@pytest.mark.parametrize("other", [1.0, 2.0, 3, onp.float64(2.0)])
def test_comparisons_give_plain_booleans(compare, other):
    results = []

    def f(x):
        results.append(getattr(x, compare)(other))
        return x

    grad(f)(2.0)
    assert isinstance(results[0], (bool, onp.bool_))
    assert bool(results[0]) is bool(getattr(2.0, compare)(float(other)))


def test_a_while_loop_on_a_traced_value_runs_as_python_does():
    def newton_sqrt(a):
        x = a
        while abs(x * x - a) > 1e-12:
            x = 0.5 * (x + a / x)
        return x

    assert grad(newton_sqrt)(2.0) == pytest.approx(0.5 / onp.sqrt(2.0))


# ------------------------------------------------------------------------------------------------- trace, boxes, levels


def test_trace_returns_the_plain_value_and_the_end_node():
    root = VJPNode.new_root()
    value, node = trace(root, lambda x: x * x, 3.0)
    assert not isbox(value)
    assert value == 9.0
    assert type(node) is VJPNode
    assert node is not root


def test_trace_of_the_identity_ends_at_the_root():
    root = VJPNode.new_root()
    assert trace(root, lambda x: x, 3.0) == (3.0, root)


def test_new_box_chooses_the_class_by_the_type_of_the_value():
    node = VJPNode.new_root()
    box = new_box(onp.ones(2), 4, node)
    assert type(box) is ArrayBox
    assert (box._trace, box._node) == (4, node)
    assert type(new_box(1.0, 0, node)) is ArrayBox
    assert type(new_box([1.0], 0, node)) is traced.SequenceBox
    assert type(new_box((1.0,), 0, node)) is traced.SequenceBox
    assert type(new_box({"a": 1.0}, 0, node)) is traced.DictBox
    assert type(new_box(box, 5, node)) is ArrayBox
    assert new_box(box, 5, node)._value is box


REGISTERED = [
    1.0,
    1j,
    onp.float64(1),
    onp.float32(1),
    onp.float16(1),
    onp.longdouble(1),
    onp.complex64(1),
    onp.complex128(1),
    onp.clongdouble(1),
    onp.ones(3),
    onp.ones(3, onp.float32),
]


@pytest.mark.parametrize("value", REGISTERED, ids=lambda v: type(v).__name__)
def test_every_inexact_numpy_value_can_be_boxed(value):
    box = new_box(value, 0, VJPNode.new_root())
    assert type(box) is ArrayBox
    assert box._value is value


@pytest.mark.parametrize(
    "value",
    [1, True, None, "a", {1.0}, onp.int64(1), onp.bool_(True), object()],
    ids=lambda value: type(value).__name__,
)
def test_other_types_cannot_be_differentiated(value):
    with pytest.raises(TypeError, match="Can't differentiate w.r.t. type"):
        new_box(value, 0, VJPNode.new_root())
    with pytest.raises(TypeError, match="Can't differentiate w.r.t. type"):
        grad(lambda x: x)(value)
    assert trace_stack.top == -1


def test_isbox_and_getval():
    node = VJPNode.new_root()
    inner = new_box(2.0, 0, node)
    outer = new_box(inner, 1, node)
    assert isbox(inner)
    assert isbox(outer)
    assert not isbox(2.0)
    assert not isbox(onp.ones(2))
    assert not isbox([inner])
    assert getval(outer) == 2.0
    assert type(getval(outer)) is float
    assert getval("text") == "text"


def test_find_top_boxed_args_keeps_only_the_highest_level():
    node, other = VJPNode.new_root(), JVPNode.new_root(1.0)
    low, high = new_box(1.0, 0, node), new_box(2.0, 3, other)
    boxes, level, node_type, *_ = find_top_boxed_args((low, 5.0, high, "text", high))
    assert [(argnum, box) for argnum, box in boxes] == [(2, high), (4, high)]
    assert level == 3
    assert node_type is JVPNode


def test_find_top_boxed_args_without_a_box():
    boxes, level, node_type, *_ = find_top_boxed_args((1.0, onp.ones(2)))
    assert list(boxes) == []
    assert level == -1
    assert node_type is None


def test_a_new_trace_has_a_level_above_all_before_it():
    assert trace_stack.top == -1
    with trace_stack.new_trace() as outer:
        assert trace_stack.top == outer >= 0
        with trace_stack.new_trace() as inner:
            assert trace_stack.top == inner > outer
        assert trace_stack.top == outer
        with trace_stack.new_trace() as again:
            assert trace_stack.top == again > inner
    assert trace_stack.top == -1


def test_a_container_of_a_box_can_be_opened_in_a_trace_of_its_own():
    """A pattern by which libraries find out whether a function depends on its input."""
    with trace_stack.new_trace() as level:
        args = new_box((1.0, onp.ones(2)), level, VJPNode.new_root())
        elements = list(args)
    assert [type(element) for element in elements] == [ArrayBox, ArrayBox]
    assert [element._trace for element in elements] == [level, level]


# --------------------------------------------------------------------------------------- what is traced and what is not


def test_a_primitive_without_a_box_is_the_plain_function():
    assert type(np.sin(1.0)) is onp.float64
    assert np.sin(1.0) == onp.sin(1.0)
    assert type(np.add([1, 2], 3)) is onp.ndarray


def test_notrace_primitive_sees_plain_values_and_returns_one():
    @notrace_primitive
    def kind(x, *, suffix=""):
        return type(x).__name__ + suffix

    assert grad(lambda x: x * len(kind(x, suffix="!")))(2.0) == 6.0
    assert kind(new_box(new_box(1.0, 0, VJPNode.new_root()), 1, VJPNode.new_root())) == "float"
    assert kind.__name__ == "kind"


def test_register_notrace_is_for_one_node_type():
    @primitive
    def step(x):
        return np.floor(x)

    defjvp(step, lambda g, ans, x: 10.0 * g)
    register_notrace(VJPNode, step)
    assert grad(lambda x: x * step(x))(2.5) == 2.0
    assert make_jvp(lambda x: x * step(x))(2.5)(1.0)[1] == 2.0 + 25.0


def test_register_notrace_reaches_a_built_in_after_its_first_use():
    code = """
import fastgrad.numpy as np
from fastgrad import grad
from fastgrad.extend import VJPNode, register_notrace
f = lambda x: x * np.tan(x)
assert grad(f)(0.0) == 0.0 and abs(grad(f)(1.0) - (np.tan(1.0) + 1 / np.cos(1.0) ** 2)) < 1e-12
register_notrace(VJPNode, np.tan)
assert grad(f)(1.0) == np.tan(1.0)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_user_node_sees_every_primitive_call():
    nodes = record(lambda x: np.sum(np.sin(x) * x, axis=0), onp.ones(2))
    assert [node.fun.__name__ for node in nodes] == ["sin", "multiply", "sum"]
    assert all(type(node) is Recorder for node in nodes)
    sin, multiply, total = nodes
    root = sin.parents[0]
    assert root.value == "root"
    assert sin.fun is np.sin
    assert [tuple(node.parent_argnums) for node in nodes] == [(0,), (0, 1), (0,)]
    assert multiply.parents == (sin, root)
    assert total.kwargs == {"axis": 0}
    assert sin.kwargs == {}
    assert not any(isbox(arg) for node in nodes for arg in node.args)
    assert onp.array_equal(multiply.args[0], onp.sin(onp.ones(2)))
    assert total.value == pytest.approx(2 * onp.sin(1.0))


def test_operators_and_methods_reach_a_user_node_too():
    def f(x):
        y = (2.0 - x) / x
        return (-y)[0] + x.sum() ** 2.0

    names = [node.fun.__name__.strip("_") for node in record(f, onp.array([1.0, 2.0]))]
    assert set(names) - {"divide", "true_divide"} == {"subtract", "negative", "getitem", "sum", "power", "add"}
    assert len(names) == 7


def test_a_user_node_receives_the_arguments_of_new_root():
    assert Recorder.new_root("start").value == "start"


def test_a_user_node_records_a_call_that_has_no_rule():
    @primitive
    def opaque(x):
        return 2.0 * x

    (node,) = record(opaque, 1.0)
    assert node.fun is opaque
    assert node.value == 2.0


def test_a_user_trace_under_and_over_a_derivative():
    """Each level records in nodes of its own kind."""
    inner_calls = record(lambda x: grad(lambda y: y * y * x)(3.0), 2.0)
    assert inner_calls
    assert all(type(node) is Recorder for node in inner_calls)
    recorded = []

    def f(x):
        value, end = trace(Recorder.new_root(), lambda y: y * x, 5.0)
        recorded.append(end)
        return value

    assert grad(f)(2.0) == 5.0
    assert type(recorded[0]) is Recorder


def test_toposort_yields_outputs_before_inputs():
    def f(x):
        a = np.sin(x)
        b = a * x
        return a + b * b

    root = VJPNode.new_root()
    _, end = trace(root, f, 0.5)
    order = list(toposort(end))
    assert order[0] is end
    assert order[-1] is root
    assert len(order) == len(set(map(id, order))) == 5
    place = {id(node): i for i, node in enumerate(order)}
    assert all(place[id(parent)] > place[id(node)] for node in order for parent in node.parents)


def test_toposort_of_any_graph_by_a_parents_function():
    parents = {"d": ["b", "c", "b"], "c": ["a"], "b": ["a"], "a": []}
    order = list(toposort("d", parents.__getitem__))
    assert order[0] == "d"
    assert order[-1] == "a"
    assert sorted(order) == ["a", "b", "c", "d"]


# ------------------------------------------------------------------------------------------ output independent of input


@pytest.mark.parametrize(
    "x",
    [
        2.0,
        2.0 + 1.0j,
        onp.float64(2.0),
        onp.float32(2.0),
        onp.array(2.0),
        onp.ones((2, 3)),
        onp.ones(2, onp.float32),
        onp.ones(2, complex),
        [1.0, onp.ones(2)],
        (1.0, (2.0j,)),
        {"a": 1.0, "b": [onp.ones(2)]},
    ],
    ids=repr,
)
def test_an_independent_output_warns_and_gives_a_zero_of_the_inputs_kind(x):
    with pytest.warns(UserWarning, match=INDEPENDENT):
        g = grad(lambda v: 3.0)(x)
    assert vspace(g) == vspace(x)
    assert leaves(g)
    assert all(onp.all(leaf == 0) for leaf in leaves(g))


def leaves(tree):
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        return [leaf for branch in tree for leaf in leaves(branch)]
    return [tree]


def test_an_independent_output_in_forward_mode():
    with pytest.warns(UserWarning, match=INDEPENDENT):
        value, tangent = make_jvp(lambda x: onp.ones(2))(3.0)(1.0)
    assert value.tolist() == [1.0, 1.0]
    assert tangent.tolist() == [0.0, 0.0]


def test_an_output_of_an_outer_level_is_independent_of_the_inner_input():
    with pytest.warns(UserWarning, match=INDEPENDENT):
        assert grad(lambda x: x + grad(lambda y: x * x)(1.0))(3.0) == 1.0


def test_trace_of_an_independent_output_has_no_node():
    with pytest.warns(UserWarning, match=INDEPENDENT):
        assert trace(VJPNode.new_root(), lambda x: 5.0, 1.0) == (5.0, None)


def test_a_dependent_output_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert grad(lambda x: x * 0.0)(1.0) == 0.0


# -------------------------------------------------------------------------------------------- a traced value by keyword


@primitive
def scaled(x, factor=1.0):
    return x * factor


defvjp(scaled, lambda ans, x, factor=1.0: lambda g: g * factor, lambda ans, x, factor=1.0: lambda g: g * x)

A = onp.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("name", "argument", "call", "x", "expected"),
    [
        ("scaled", "factor", lambda x: scaled(3.0, factor=x), 2.0, 3.0),
        ("scaled", "factor", lambda x: x * scaled(3.0, factor=x), 2.0, 12.0),
        ("scaled", "x", lambda x: scaled(x=x), 2.0, 1.0),
        ("sum", "a", lambda x: np.sum(a=x), A, onp.ones(3)),
        ("dot", "b", lambda x: np.dot(A, b=x), A, A),
        ("tensordot", "b", lambda x: np.tensordot(A, b=x, axes=1), A, A),
        ("outer", "b", lambda x: np.sum(np.outer(A, b=x)), A, onp.full(3, 6.0)),
        ("kron", "b", lambda x: np.sum(np.kron(A, b=x)), A, onp.full(3, 6.0)),
        ("clip", "a_min", lambda x: np.clip(2.0, a_min=x, a_max=5.0), 3.0, 1.0),
        ("append", "values", lambda x: np.sum(np.append(A, values=x) * np.arange(4)), 1.0, 3.0),
        ("full", "fill_value", lambda x: np.sum(np.full(3, fill_value=x)), 2.0, 3.0),
        ("average", "weights", lambda x: np.average(A, weights=x), onp.ones(3), onp.array([-1.0, 0.0, 1.0]) / 3),
        ("linspace", "stop", lambda x: np.sum(np.linspace(0.0, stop=x, num=3)), 1.0, 1.5),
    ],
    ids=lambda v: v if isinstance(v, str) else None,
)
@pytest.mark.filterwarnings("error:Output seems independent")
def test_a_traced_keyword_is_differentiated_or_refused(name, argument, call, x, expected):
    try:
        g = grad(call)(x)
    except (TypeError, NotImplementedError) as error:
        assert name in str(error)
        assert argument in str(error)
    else:
        onp.testing.assert_allclose(g, expected)


# -------------------------------------------------------------------------------------------------------- missing rules


@pytest.mark.parametrize(
    ("mode", "operator"),
    [("VJP", grad), ("VJP", make_vjp), ("JVP", lambda f: lambda x: make_jvp(f)(x)(1.0))],
)
def test_a_missing_rule_names_the_function_and_the_mode(mode, operator):
    @primitive
    def ruleless(x):
        return 2.0 * x

    with pytest.raises(NotImplementedError, match=rf"{mode} of ruleless"):
        operator(ruleless)(1.0)
    assert ruleless(2.0) == 4.0
    assert trace_stack.top == -1


@pytest.mark.parametrize("argnum", [1, (0, 1), (1, 2), (0, 1, 2)])
def test_a_missing_rule_for_one_argument_is_named(argnum):
    @primitive
    def partly(x, y, z):
        return x * y * z

    defvjp(partly, lambda ans, x, y, z: lambda g: g * y * z)
    defjvp(partly, lambda g, ans, x, y, z: g * y * z)
    assert grad(partly)(1.0, 2.0, 3.0) == 6.0
    with pytest.raises(NotImplementedError, match="VJP of partly"):
        grad(partly, argnum)(1.0, 2.0, 3.0)
    tangent = 1.0 if isinstance(argnum, int) else (1.0,) * len(argnum)
    with pytest.raises(NotImplementedError, match="JVP of partly"):
        make_jvp(partly, argnum)(1.0, 2.0, 3.0)(tangent)
