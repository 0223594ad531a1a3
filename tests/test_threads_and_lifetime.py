"""What is freed when."""

import gc
import weakref

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import grad, jacobian, make_vjp
from fastgrad.core import VJPNode, backward_pass
from fastgrad.extend import defvjp, primitive
from fastgrad.tracer import new_box


def box_in_a_list_that_holds_itself(array):
    holder = [new_box(array, 0, VJPNode.new_root())]
    holder.append(holder)


def box_of_a_list_that_holds_the_box(array):
    cycle = [array]
    cycle.append(new_box(cycle, 0, VJPNode.new_root()))


def rule_that_keeps_the_box_whose_node_keeps_the_rule(array):
    keep = []

    @primitive
    def f(x):
        return x * 2.0

    defvjp(f, lambda ans, x: lambda g: g * len(keep))
    keep.extend([f(new_box(array, 0, VJPNode.new_root())), array])


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
        rule_that_keeps_the_box_whose_node_keeps_the_rule,
        user_node_that_holds_a_box_of_itself,
        pullback_in_a_list_that_holds_itself,
        exception_in_the_traced_function,
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


def test_an_array_is_freed_without_the_collector():
    def scenario():
        array = onp.ones(3)
        grad(lambda x: np.sum(np.exp(x) * array))(onp.ones(3))
        return weakref.ref(array)

    gc.collect()
    gc.disable()
    try:
        assert scenario()() is None
    finally:
        gc.enable()


def test_a_function_made_into_a_primitive_in_a_loop_is_freed():
    """Neither the registry of rules nor a cache may keep a primitive nobody holds."""

    def use_once(k):
        class Rule:
            def __call__(self, ans, x):
                return lambda g: k * g

        def body(x):
            return k * x

        f, rule = primitive(body), Rule()
        defvjp(f, rule)
        assert grad(f)(1.0) == k
        return weakref.ref(body), weakref.ref(rule)

    references = [reference for k in range(20) for reference in use_once(float(k))]
    gc.collect()
    assert [reference() for reference in references] == [None] * 40


def test_operators_made_in_a_loop_are_freed():
    def use_once():
        def f(x):
            return x * x

        derivative = grad(f)
        assert derivative(3.0) == 6.0
        assert jacobian(f)(3.0) == 6.0
        return weakref.ref(f), weakref.ref(derivative)

    references = [reference for _ in range(5) for reference in use_once()]
    gc.collect()
    assert [reference() for reference in references] == [None] * 10


def test_boxes_and_nodes_that_are_reused_carry_nothing_over():
    """Freed boxes and nodes may come back from a free list."""
    for value in (1.0, onp.ones(2), 1j, 2.0):
        for level in range(5):
            box = new_box(value, level, VJPNode.new_root())
            out = box * 2.0
            assert (box._value is value, box._trace, out._trace) == (True, level, level)
            assert tuple(box._node.parents) == ()
            assert out._node.parents[0] is box._node
            onp.testing.assert_array_equal(backward_pass(onp.ones_like(value), out._node), 2.0 * onp.ones_like(value))
            del box, out
