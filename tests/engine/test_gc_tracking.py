"""Cycles through values and nodes are collected."""

import gc
import sys
import weakref

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import checkpoint, grad, jacobian, make_jvp, make_vjp
from fastgrad.builtins import list as traced_list
from fastgrad.builtins import tuple as traced_tuple
from fastgrad.core import VJPNode
from fastgrad.extend import defvjp, primitive
from fastgrad.tracer import new_box, trace

X = onp.linspace(0.1, 1.9, 7)


class Thing:
    """Something that can be weakly referenced."""


def gathered(build):
    """Return whether the object that ``build`` makes and drops is freed, at the latest by the garbage collector."""
    reference = build()
    gc.collect()
    return reference() is None


def test_a_cycle_through_a_rule_and_its_answer_is_gathered():
    def build():
        thing = Thing()

        @primitive
        def twice(x):
            return x * 2.0

        defvjp(twice, lambda ans, x: lambda g: (g * 2.0, thing)[0])

        def fun(x):
            thing.kept = np.sin(twice(x))
            return thing.kept

        make_vjp(fun)(1.5)
        return weakref.ref(thing)

    assert gathered(build)


def test_a_cycle_through_a_kept_box_and_its_pullback_is_gathered():
    def build():
        thing = Thing()

        def fun(x):
            thing.kept = np.exp(np.sin(x))
            return thing.kept

        thing.vjp, _ = make_vjp(fun)(X)
        return weakref.ref(thing)

    assert gathered(build)


def test_a_cycle_through_a_slice_is_gathered():
    def build():
        class Place:
            def __index__(self):
                return 2

        place = Place()

        def fun(x):
            place.kept = x[slice(0, place)]
            return np.sum(place.kept)

        make_vjp(fun)(X)
        return weakref.ref(place)

    assert gathered(build)


def test_a_cycle_through_a_node_that_was_changed_before_use_is_gathered():
    def build():
        thing = Thing()

        def fun(x):
            y = x * 2
            node, pull = y._node, y._node.vjp
            node.vjp = lambda g: (pull(g), thing)[0]
            thing.kept = z = np.sin(y * 3)
            return z

        make_vjp(fun)(1.5)
        return weakref.ref(thing)

    assert gathered(build)


def test_nothing_is_left_behind():
    constant = onp.arange(7.0)

    def fun(x):
        y = np.tanh(np.sin(x) * constant) + x[0] * np.max(x) + np.dot(x, constant) + np.mean(np.maximum(x, 0.5))
        return np.sum(np.array([y[0], y[1] ** 2, 3.0])) + np.sum(np.reshape(y, (7, 1)))

    def work():
        grad(fun)(constant)
        grad(lambda x: np.sum(x["a"] * x["b"][0]))({"a": constant, "b": (constant, 1.0)})
        with onp.errstate(all="ignore"):
            grad(lambda x: np.sum(np.log(0 * x)))(constant)
        with onp.errstate(all="raise"), pytest.raises(FloatingPointError):
            grad(lambda x: np.sum(-np.sqrt(0 * np.positive(x))))(constant)
        with pytest.raises(IndexError):
            grad(lambda x: x[99])(constant)

    def held():
        gc.collect()
        return [sys.getrefcount(x) for x in (constant, np.sin, np.multiply.vjp_rules, onp.dtype("f8"))], len(
            gc.get_objects()
        )

    work()
    before = held()
    for _ in range(30):
        work()
    after = held()
    assert after[0] == before[0] and abs(after[1] - before[1]) < 10


def test_long_chains_of_all_kinds():
    n = 20000

    def sines(x):
        for _ in range(n):
            x = np.sin(x)
        return np.sum(x)

    def swapped(x):
        for _ in range(n):
            x = traced_list([x[1] * 1.0, x[0]])
        return x[0]

    limit = sys.getrecursionlimit()
    first = grad(sines)(0.5)
    assert onp.isfinite(grad(grad(sines))(0.5)) and onp.isfinite(make_jvp(grad(sines))(0.5)(1.0)[1])
    assert grad(swapped)([1.0, 2.0]) == [1.0, 0.0]
    try:
        sys.setrecursionlimit(200)
        assert grad(sines)(0.5) == first
    finally:
        sys.setrecursionlimit(limit)


V = onp.linspace(0.1, 1.0, 3)


def box_in_a_list_that_holds_itself(array):
    holder = [new_box(array, 0, VJPNode.new_root())]
    holder.append(holder)


def box_of_a_list_that_holds_the_box(array):
    cycle = [array]
    cycle.append(new_box(cycle, 0, VJPNode.new_root()))


def box_whose_value_was_set(array):
    thing = Thing()
    thing.array, thing.box = array, new_box(1.0, 0, VJPNode.new_root())
    thing.box._value = thing


def box_whose_node_was_set(array):
    class Holding(VJPNode):
        pass

    node, box = Holding.new_root(), new_box(1.0, 0, VJPNode.new_root())
    node.held, box._node = [array, box], node


def rule_that_keeps_the_box_whose_node_keeps_the_rule(array):
    keep = []

    @primitive
    def f(x):
        return x * 2.0

    defvjp(f, lambda ans, x: lambda g: g * len(keep))
    keep.extend([f(new_box(array, 0, VJPNode.new_root())), array])


def rule_that_keeps_the_pullback_of_a_graph_with_it(array):
    keep = [array]

    @primitive
    def f(x):
        return x * 2.0

    defvjp(f, lambda ans, x: lambda g: g * 2.0 if keep else g)
    keep.append(make_vjp(lambda x: f(np.sin(x)))(1.0)[0])
    keep[-1](1.0)  # from now on the pullback holds all nodes, in order


def model_that_keeps_what_its_checkpoint_gave(array):
    model = Thing()
    model.array = array
    model.layer = checkpoint(lambda x: np.sin(x) * model.array)

    def loss(x):
        model.last = model.layer(x)
        return np.sum(model.last)

    grad(loss)(V)
    jacobian(model.layer)(V)


def model_that_keeps_all_it_sees(array):
    model = Thing()

    def loss(p):
        model.seen = [p, p["w"], p["b"][0], p["w"][0:2], np.sin(p["w"]), np.concatenate([p["w"], p["w"]])]
        model.seen.append(traced_tuple((p["w"], model.seen[-1])))
        return np.sum(p["w"] * model.seen[4]) + p["b"][0]

    model.array, model.loss = array, loss
    grad(loss)({"w": V, "b": [2.0]})
    make_jvp(loss)({"w": V, "b": [2.0]})({"w": V, "b": [1.0]})
    model.jacobian = jacobian(lambda x: np.sin(loss({"w": x, "b": [x[0]]})) * x)
    model.jacobian(onp.linspace(0.1, 1.0, 8))


def pullback_set_before_more_was_made_of_the_node(array):
    kept = [array]

    def f(x):
        y = np.sin(x)
        pull = y._node.vjp
        y._node.vjp = lambda g: pull(g) if kept else None
        kept.append(y * 2.0)
        return kept[-1]

    kept.append(trace(VJPNode.new_root(), f, 1.0))


def user_node_that_holds_a_box_of_itself(array):
    class Holding(VJPNode):
        __slots__ = ("held",)

    node = Holding.new_root()
    node.held = [array, new_box(1.0, 0, node), node]


def pullback_in_a_list_that_holds_itself(array):
    vjps = [make_vjp(lambda x: np.sum(x * array))(onp.ones(3))[0]]
    vjps.append(vjps)


def exception_in_the_traced_function(array):
    def f(x):
        np.sum(x * array)
        raise ValueError

    with pytest.raises(ValueError):
        grad(f)(onp.ones(3))


def exception_kept_by_the_frame_it_came_from(array):
    def f(x):
        y = np.sum(x * array)
        try:
            raise ValueError
        except ValueError as error:
            kept = error
        return y if kept else x

    grad(f)(onp.ones(3))


def exception_in_a_rule(array):
    @primitive
    def f(x):
        return 1.0 * x

    def maker(ans, x):
        raise ValueError

    defvjp(f, maker)
    with pytest.raises(ValueError):
        grad(lambda x: f(np.sum(x * array)))(onp.ones(3))


@pytest.mark.parametrize(
    "scenario",
    [
        box_in_a_list_that_holds_itself,
        box_of_a_list_that_holds_the_box,
        box_whose_value_was_set,
        box_whose_node_was_set,
        rule_that_keeps_the_box_whose_node_keeps_the_rule,
        rule_that_keeps_the_pullback_of_a_graph_with_it,
        model_that_keeps_what_its_checkpoint_gave,
        model_that_keeps_all_it_sees,
        pullback_set_before_more_was_made_of_the_node,
        user_node_that_holds_a_box_of_itself,
        pullback_in_a_list_that_holds_itself,
        exception_in_the_traced_function,
        exception_kept_by_the_frame_it_came_from,
        exception_in_a_rule,
    ],
)
def test_an_array_is_collected_after(scenario):
    array = onp.ones(3)
    alive = weakref.ref(array)
    scenario(array)
    del array
    gc.collect()
    assert alive() is None


def test_a_pullback_in_use_keeps_its_nodes_from_the_collector():
    """The collector must not free nodes that a pullback in use still refers to."""

    @primitive
    def double(x):
        return x * 2.0

    def pull(g):
        gc.collect()
        return g * 2.0

    defvjp(double, lambda ans, x: pull)
    vjp, _ = make_vjp(lambda x: double(np.sin(double(x) * x)))(0.5)
    wanted = 2.0 * onp.cos(0.5) * 2.0
    for _ in range(3):
        onp.testing.assert_allclose(vjp(1.0), wanted)
        gc.collect()
