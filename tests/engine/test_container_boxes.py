"""Boxes of lists, tuples and dicts: reading, construction, and one node for each item."""

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import builtins as traced
from fastgrad import grad, make_jvp, make_vjp
from fastgrad.builtins import (
    DictBox,
    SequenceBox,
    container_take,
)
from fastgrad.core import VJPNode, primitive_vjps, vspace
from fastgrad.extend import defvjp
from fastgrad.tracer import Node, getval, isbox, new_box, trace

X = onp.array([1.0, 2.0])


def forward(f):
    return lambda x: make_jvp(f)(x)(1.0)[1]


def boxed(value):
    return new_box(value, 0, VJPNode.new_root())


def seen_in_trace(f, value):
    """Return what ``f`` sees of a traced ``value``."""
    out = []
    make_vjp(lambda x: (out.append(f(x)), x)[1])(value)
    return out[0]


# ---------------------------------------------------------------------------------------------------------- SequenceBox


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_traced_sequence_reads_like_a_sequence(kind):
    box = boxed(kind([1.0, 2.0, 3.0]))
    assert type(box) is SequenceBox
    assert len(box) == 3
    assert getval(box[0]) == 1.0
    assert getval(box[-1]) == 3.0
    assert getval(box[1:]) == kind([2.0, 3.0])
    assert getval(box[::-2]) == kind([3.0, 1.0])
    assert [getval(element) for element in box] == [1.0, 2.0, 3.0]
    assert all(isbox(element) for element in box)
    assert 2.0 in box
    assert 5.0 not in box
    assert box.index(3.0) == 2
    assert bool(box)
    with pytest.raises(IndexError):
        box[3]
    with pytest.raises(ValueError):
        box.index(7.0)


def test_an_empty_traced_sequence_is_false():
    assert not boxed([])


@pytest.mark.parametrize("kind", [list, tuple])
def test_traced_sequences_concatenate(kind):
    box = boxed(kind([1.0, 2.0]))
    assert getval(box + kind([3.0])) == kind([1.0, 2.0, 3.0])
    assert getval(kind([3.0, 4.0]) + box) == kind([3.0, 4.0, 1.0, 2.0])
    assert getval(box + box) == kind([1.0, 2.0, 1.0, 2.0])
    assert getval(box + kind([])) == kind([1.0, 2.0])


def test_gradients_through_concatenation():
    def f(p):
        longer = [10.0] + p + [p[0] * p[1], 5.0]
        return longer[1] * longer[3] + longer[2] * longer[0]

    assert grad(f)([2.0, 3.0]) == [12.0, 14.0]
    both = lambda p: (lambda q: q[0] * q[2] + q[1] * q[3])(p + p)  # noqa: E731
    assert grad(both)([2.0, 3.0]) == [4.0, 6.0]
    left = lambda x: (lambda q: q[0] * q[1] * q[2])([x] + boxed_pair(x))  # noqa: E731
    assert grad(left)(2.0) == 3 * 4.0


def boxed_pair(x):
    return traced.list([x, x])


def test_gradients_through_slices():
    f = lambda p: (lambda q: q[0] * q[1])(p[1:]) + (lambda q: q[0] * 10.0)(p[::-1]) + p[0:1][0]  # noqa: E731
    assert grad(f)([2.0, 3.0, 4.0]) == [1.0, 4.0, 13.0]
    assert grad(f)((2.0, 3.0, 4.0)) == (1.0, 4.0, 13.0)


# -------------------------------------------------------------------------------------------------------------- DictBox


def test_a_traced_dict_reads_like_a_dict():
    box = boxed({"a": 1.0, "b": 2.0})
    assert type(box) is DictBox
    assert len(box) == 2
    assert list(box) == ["a", "b"]
    assert list(box.keys()) == ["a", "b"]
    assert [getval(value) for value in box.values()] == [1.0, 2.0]
    assert [(key, getval(value)) for key, value in box.items()] == [("a", 1.0), ("b", 2.0)]
    assert all(isbox(value) for _, value in box.items())
    assert list(box.iterkeys()) == ["a", "b"]
    assert [getval(value) for value in box.itervalues()] == [1.0, 2.0]
    assert [key for key, _ in box.iteritems()] == ["a", "b"]
    assert "a" in box
    assert "z" not in box
    assert getval(box.get("a")) == 1.0
    assert box.get("z") is None
    assert box.get("z", 5.0) == 5.0
    assert bool(box)
    assert {**box}.keys() == {"a", "b"}
    with pytest.raises(KeyError):
        box["z"]


def test_gradients_through_every_way_of_reading_a_dict():
    def f(p):
        total = p.get("a") * 2.0 + p.get("missing", 1.0)
        total = total + sum(value**2 for value in p.values())
        return total + sum(value * {"a": 10.0, "b": 100.0}[key] for key, value in p.items())

    assert grad(f)({"a": 3.0, "b": 4.0}) == {"a": 2.0 + 6.0 + 10.0, "b": 8.0 + 100.0}


# -------------------------------------------------------------------------------------- construction from traced values


def test_constructors_make_boxes_only_of_traced_values():
    assert type(traced.list([1.0, 2.0])) is list
    assert type(traced.tuple((1.0,))) is tuple
    assert type(traced.dict(a=1.0)) is dict
    assert traced.dict() == {}
    assert traced.list([]) == []
    assert traced.list(x for x in (1.0, 2.0)) == [1.0, 2.0]
    made = seen_in_trace(
        lambda x: [traced.list([x, 1.0]), traced.tuple([x]), traced.dict(a=x), traced.dict([("a", x)])], 2.0
    )
    assert [type(box) for box in made] == [SequenceBox, SequenceBox, DictBox, DictBox]
    assert [getval(box) for box in made] == [[2.0, 1.0], (2.0,), {"a": 2.0}, {"a": 2.0}]


def test_gradients_through_construction():
    def f(x):
        table = traced.dict({"pair": traced.tuple((x, x * x)), "rest": traced.list([1.0, np.sin(x)])})
        return table["pair"][1] * table["rest"][1] + table["pair"][0]

    assert grad(f)(0.7) == pytest.approx(2 * 0.7 * onp.sin(0.7) + 0.49 * onp.cos(0.7) + 1.0)


@pytest.mark.parametrize("modes", ["grad grad", "forward", "forward grad", "grad forward", "forward forward"])
def test_higher_orders_through_construction(modes):
    """Return 2 x^3, computed through containers."""

    def f(x):
        pair = traced.tuple((x, traced.list([x * x, 2.0])))
        return pair[0] * pair[1][0] * pair[1][1]

    for mode in modes.split():
        f = grad(f) if mode == "grad" else forward(f)
    assert f(3.0) == pytest.approx({1: 54.0, 2: 36.0}[len(modes.split())])


NESTINGS = {
    "tuple": lambda x: traced.tuple((1.0, (x * x, 2.0)))[1][0],
    "list": lambda x: traced.list([x, [[x * x]]])[1][0][0],
    "dict": lambda x: traced.dict(a=x, b={"c": (x * x,)})["b"]["c"][0],
    "right": lambda x: (traced.list([x]) + [[1.0, x * x]])[1][1],
    "left": lambda x: ([{"a": x * x}] + traced.list([x]))[0]["a"],
    "deep": lambda x: traced.tuple(([traced.tuple((x, (x * x,)))],))[0][0][1][0],
}


@pytest.mark.parametrize("modes", ["grad", "forward", "grad grad", "forward grad", "grad forward", "forward forward"])
@pytest.mark.parametrize("nesting", NESTINGS)
def test_plain_containers_with_traced_values_inside_others(nesting, modes):
    """Return x^2, with x taken out of a plain container inside a traced one."""
    f = NESTINGS[nesting]
    for mode in modes.split():
        f = grad(f) if mode == "grad" else forward(f)
    assert f(3.0) == {1: 6.0, 2: 2.0}[len(modes.split())]


def test_outer_values_in_plain_containers_inside_others():
    """Return the first part of the gradient of x^2 y^2 at (3a, a), which is 6 a^3."""

    def part(a):
        return grad(lambda pair: (pair[0] * pair[1][0]) ** 2)(traced.tuple((a * 3.0, (a,))))[0]

    assert grad(part)(1.0) == forward(part)(1.0) == pytest.approx(18.0)


def test_constructors_leave_plain_containers_alone():
    inner = [1.0, (2.0,), {"a": 3.0}]
    assert traced.tuple((inner,))[0] is traced.list([inner])[0] is traced.dict(a=inner)["a"] is inner


def test_forward_mode_through_a_dict_and_through_concatenation():
    f = lambda x: (lambda d: d["a"] * d["b"])(traced.dict(a=x, b=x * x))  # noqa: E731
    assert make_jvp(f)(2.0)(1.0)[1] == 12.0
    g = lambda p: (lambda q: q[0] * q[1] * q[2])([2.0] + p + [3.0])  # noqa: E731
    assert make_jvp(g)([5.0, 7.0])([1.0, 0.0])[1] == 14.0


def test_isinstance_and_type_look_through_boxes():
    assert seen_in_trace(lambda x: traced.isinstance(x, float), 1.0)
    assert not seen_in_trace(lambda x: isinstance(x, float), 1.0)
    assert seen_in_trace(lambda x: traced.isinstance(x, traced.list), [1.0])
    assert seen_in_trace(lambda x: traced.isinstance(x, (traced.tuple, traced.dict)), {"a": 1.0})
    assert not seen_in_trace(lambda x: traced.isinstance(x, traced.tuple), [1.0])
    assert seen_in_trace(lambda x: traced.isinstance(x, onp.ndarray), X)
    assert seen_in_trace(traced.type, X) is onp.ndarray
    assert seen_in_trace(traced.type, 1.0) is float
    assert traced.isinstance([1], traced.list)
    assert isinstance((), traced.tuple)
    assert isinstance({}, traced.dict)
    assert not isinstance([], traced.tuple)
    assert issubclass(traced.list, list)


# ----------------------------------------------------------------------------------------------------- one node an item


def test_an_item_taken_twice_is_one_box_with_one_node():
    box = boxed({"w": [X, 2.0 * X], "b": 3.0})
    assert box["b"] is box["b"] is box.get("b") is dict(box.items())["b"]
    assert box["w"] is box.values()[0] is next(box.itervalues())
    first, second = box["w"]
    assert first is box["w"][0] is box["w"][-2] is box["w"][onp.int64(0)] is box["w"][False]
    assert second is box["w"][1]
    assert first._node.parents == (box["w"]._node,)
    (w, b), (again, _) = box.values(), box.values()
    assert w is again and b is box["b"]


def test_one_array_at_two_places_is_two_items():
    box = boxed([X, X])
    assert box[0] is not box[1]
    g = grad(lambda p: np.sum(p[0] * 2.0 + p[1] * 3.0))([X, X])
    assert [part.tolist() for part in g] == [[2.0, 2.0], [3.0, 3.0]]


def test_an_item_of_forward_mode_is_taken_once():
    seen = []
    make_jvp(lambda p: seen.extend([p["a"], p["a"]]) or p["a"] * p["a"])({"a": 3.0})({"a": 1.0})
    assert seen[0] is seen[1]


def test_an_item_is_one_box_at_every_level():
    seen = []

    def f(p):
        seen.append((p["a"], p["a"], p["a"]._value, p._value["a"]))
        return p["a"] ** 3 * p["b"]

    grad(lambda p: grad(f)(p)["a"])({"a": 2.0, "b": 5.0})
    outer, again, inner, same = seen[0]
    assert outer is again and isbox(inner) and inner is same


@pytest.mark.parametrize("key", [slice(0, 1), [0], None], ids=repr)
def test_keys_that_name_no_one_item_go_to_the_container(key):
    box = boxed([1.0, 2.0])
    if isinstance(key, slice):
        assert getval(box[key]) == [1.0] and box[key] is not box[key]
    else:
        with pytest.raises(TypeError, match="indices must be integers"):
            box[key]


def test_wrong_keys_are_refused_after_right_ones():
    box = boxed([1.0, 2.0])
    assert getval(box[1]) == 2.0
    with pytest.raises(TypeError, match="indices must be integers"):
        box[1.0]
    with pytest.raises(IndexError):
        box[2]
    with pytest.raises(KeyError):
        boxed({"a": 1.0})["b"]


def test_a_list_changed_in_the_function_gives_its_new_items():
    values = [2.0, 3.0]

    def f(p):
        before = p[0] * 10.0
        values[0] = 5.0
        return before + p[0] * p[1]

    assert make_vjp(f)(values)[1] == 35.0


def test_a_user_tracer_sees_every_access():
    calls = []

    class Counter(Node):
        def initialize_root(self):
            pass

        def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
            calls.append(fun.__name__)

    trace(Counter.new_root(), lambda p: p["a"] * p["a"], {"a": 2.0})
    assert calls == ["container_take", "container_take", "multiply"]


def test_rules_for_taking_an_item_may_be_replaced():
    old = primitive_vjps[container_take]
    try:
        defvjp(container_take, lambda ans, p, key: lambda g: traced.container_untake(7.0, key, vspace(p)))
        assert grad(lambda p: p["a"] * 2.0)({"a": 1.0, "b": 1.0}) == {"a": 7.0, "b": 0.0}
    finally:
        primitive_vjps[container_take] = old
    assert grad(lambda p: p["a"] * 2.0)({"a": 1.0, "b": 1.0}) == {"a": 2.0, "b": 0.0}
