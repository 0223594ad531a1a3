"""When memory is freed: recycled boxes and nodes, values freed early, large graphs, no growth in loops."""

import functools
import gc
import sys
import weakref

import numpy as onp
import pytest

import fastgrad.differential_operators as operators
import fastgrad.numpy as np
from fastgrad import checkpoint, grad, hessian, jacobian, make_jvp, make_vjp
from fastgrad.core import VJPNode, backward_pass
from fastgrad.extend import defjvp, defvjp, primitive
from fastgrad.misc.fixed_points import fixed_point
from fastgrad.misc.flatten import flatten
from fastgrad.misc.optimizers import adam, rmsprop, sgd
from fastgrad.misc.tracers import const_graph
from fastgrad.numpy.numpy_boxes import ArrayBox
from fastgrad.tracer import new_box, trace, trace_stack

pytestmark = pytest.mark.slow

V = onp.linspace(0.1, 1.0, 3)


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


# ------------------------------------------------------------------------------------------------ without the collector


def test_an_array_is_freed_without_the_collector(no_collector):
    def scenario():
        array = onp.ones(3)
        grad(lambda x: np.sum(np.exp(x) * array))(onp.ones(3))
        return weakref.ref(array)

    assert scenario()() is None


def test_a_checkpoint_is_freed_without_the_collector(no_collector):
    def scenario():
        def f(x):
            return np.sin(x)

        grad(checkpoint(f))(1.0)
        return weakref.ref(f)

    assert scenario()() is None


@primitive
def cube(x):
    return x * x * x


defvjp(cube, lambda ans, x: lambda g: 3.0 * x * x * g)
defjvp(cube, lambda g, ans, x: 3.0 * x * x * g)


def square(x):
    return x * x


def step(x, i):
    return x * 0.5


ONES = onp.ones(2)
TREE = {"a": 1.0, "b": [ONES, (2.0,)]}

# Each makes the operator's function, calls it, and calls the function it returns, if any.
CALLS = {
    "checkpoint": lambda: grad(checkpoint(square))(2.0),
    "deriv": lambda: operators.deriv(square)(2.0),
    "elementwise_grad": lambda: operators.elementwise_grad(square)(ONES),
    "grad": lambda: grad(square)(2.0),
    "grad_and_aux": lambda: operators.grad_and_aux(lambda x: (x * x, [x]))(2.0),
    "grad_named": lambda: operators.grad_named(square, "x")(2.0),
    "hessian": lambda: hessian(square)(2.0),
    "hessian_tensor_product": lambda: operators.hessian_tensor_product(square)(2.0, 1.0),
    "hessian_vector_product": lambda: operators.hessian_vector_product(lambda x: x[0] * x[1])(ONES, ONES),
    "holomorphic_grad": lambda: operators.holomorphic_grad(square)(2.0 + 1j),
    "jacfwd": lambda: operators.jacfwd(square)(ONES),
    "jacobian": lambda: jacobian(square)(ONES),
    "jacrev": lambda: operators.jacrev(square)(ONES),
    "make_ggnvp": lambda: operators.make_ggnvp(square, square)(2.0)(1.0),
    "make_hvp": lambda: operators.make_hvp(square)(2.0)[0](1.0),
    "make_jvp": lambda: make_jvp(square)(2.0)(1.0),
    "make_jvp_reversemode": lambda: operators.make_jvp_reversemode(square)(2.0)(1.0),
    "make_vjp": lambda: make_vjp(square)(2.0)[0](1.0),
    "multigrad_dict": lambda: operators.multigrad_dict(square)(2.0),
    "tensor_jacobian_product": lambda: operators.tensor_jacobian_product(square)(2.0, 1.0),
    "value_and_grad": lambda: operators.value_and_grad(square)(2.0),
    "vector_jacobian_product": lambda: operators.vector_jacobian_product(square)(2.0, 1.0),
    # Other calls that make nodes.
    "an array": lambda: grad(lambda x: np.sum(np.array([x[0], x[1] * 2.0])[1:]))(ONES),
    "containers": lambda: grad(lambda p: p["a"] * p["b"][1][0] + p["b"][0][0])(TREE),
    "nested": lambda: grad(lambda x: x * grad(lambda y: x * y * y)(2.0))(3.0),
    "user's rules": lambda: grad(cube)(2.0),
    "user's rules forward": lambda: make_jvp(cube)(2.0)(1.0),
    "a replayed graph": lambda: const_graph(square)(2.0),
}

# Calls that are made fewer times because they are slow.
SLOW_CALLS = {
    "a batch": lambda: jacobian(square)(onp.ones(8)),
    "a batch forward": lambda: operators.jacfwd(square)(onp.ones(8)),
    "a batch of hessians": lambda: hessian(lambda x: np.sum(x * x))(onp.ones(8)),
    "rows of a user's rules": lambda: jacobian(cube)(onp.ones(8)),
    "a fixed point": lambda: grad(
        lambda a: fixed_point(lambda a: lambda x: 0.5 * (x + a / x), a, 1.5, lambda x, y: abs(x - y), 1e-3)
    )(2.0),
    "flatten": lambda: flatten(TREE)[1](flatten(TREE)[0]),
    "adam": lambda: adam(step, 1.0, num_iters=2),
    "rmsprop": lambda: rmsprop(step, 1.0, num_iters=2),
    "sgd": lambda: sgd(step, TREE["b"][0], num_iters=2),
    "linear algebra": lambda: grad(lambda x: np.linalg.det(x) + np.sum(np.linalg.solve(x, x)))(onp.eye(2)),
}


def test_every_operator_is_among_the_calls():
    assert set(operators.__all__) <= set(CALLS)


def blocks():
    """Return the number of memory blocks in use, without CPython's free lists; cycles stay uncollected."""
    gc.freeze()
    gc.collect()  # empties CPython's free lists
    n = sys.getallocatedblocks()
    gc.unfreeze()
    return n


@pytest.mark.parametrize("name", [*CALLS, *SLOW_CALLS])
def test_nothing_that_a_call_makes_outlives_it(name, no_collector):
    call, n = (CALLS[name], 10_000) if name in CALLS else (SLOW_CALLS[name], 300)
    growth = []
    while len(growth) < 3 and (not growth or growth[-1] >= 50):  # a cache stops growing, a leak does not
        for _ in range(50):
            call()
        before = blocks()
        for _ in range(n):
            call()
        growth.append(blocks() - before)
    assert growth[-1] < 50, growth


# ------------------------------------------------------------------------------------------------------- made in a loop


def test_a_function_made_into_a_primitive_in_a_loop_is_freed():
    """Neither the registry of rules nor a cache may keep a primitive that nothing else refers to."""

    def use_once(k):
        class Rule:
            def __call__(self, ans, x):
                return lambda g: k * g

        def body(x):
            return k * x

        f, rule = primitive(body), Rule()
        defvjp(f, rule)
        defjvp(f, "same")
        assert grad(f)(1.0) == k
        assert make_jvp(f)(1.0)(1.0) == (k, k)
        return weakref.ref(body), weakref.ref(rule)

    references = [reference for k in range(20) for reference in use_once(float(k))]
    gc.collect()
    assert [reference() for reference in references] == [None] * 40


def test_a_primitive_made_of_a_ufunc_of_the_users_is_freed():
    def use_once(k):
        scale = onp.frompyfunc(lambda x: k * x, 1, 1)
        f = primitive(scale)
        defvjp(f, lambda ans, x: lambda g: k * g)
        assert grad(lambda x: scale(x))(1.0) == k  # the operator reaches the primitive by the ufunc
        return weakref.ref(f)

    references = [use_once(float(k)) for k in range(20)]
    gc.collect()
    assert [reference() for reference in references] == [None] * 20
    assert grad(lambda x: onp.sin(x))(0.0) == 1.0


def test_a_users_primitive_of_a_ufunc_serves_it_where_fastgrads_has_no_rule():
    f = primitive(onp.nextafter)
    defvjp(f, lambda ans, x, y: lambda g: 7.0 * g)
    assert grad(lambda x: onp.nextafter(x, 2.0))(1.0) == 7.0
    sine = primitive(onp.sin)
    defvjp(sine, lambda ans, x: lambda g: 7.0 * g)
    assert grad(lambda x: onp.sin(x))(0.0) == 1.0
    assert grad(sine)(0.0) == 7.0


def test_operators_made_in_a_loop_are_freed():
    def use_once():
        def f(x):
            return x * x

        derivative, remembered = grad(f), checkpoint(f)
        assert derivative(3.0) == 6.0
        assert jacobian(f)(3.0) == 6.0
        assert hessian(remembered)(3.0) == 2.0
        return weakref.ref(f), weakref.ref(derivative), weakref.ref(remembered)

    references = [reference for _ in range(5) for reference in use_once()]
    gc.collect()
    assert [reference() for reference in references] == [None] * 15


def test_primitives_and_nodes_of_users_made_in_a_loop_leave_no_blocks():
    def use_once(k):
        class Counting(VJPNode):
            pass

        f = primitive(lambda x: k * x)
        defvjp(f, lambda ans, x: lambda g: k * g)
        defjvp(f, lambda g, ans, x: k * g)
        assert grad(f)(1.0) == make_jvp(f)(1.0)(1.0)[1] == k
        value, node = trace(Counting.new_root(), lambda x: f(x) * 2.0, 1.0)
        assert backward_pass(1.0, node) == value == 2.0 * k

    def blocks_after(n):
        for k in range(n):
            use_once(float(k))
        gc.collect()
        return blocks()

    before = blocks_after(50)
    assert blocks_after(500) - before < 100


# ----------------------------------------------------------------------------------------------------------- early ends


def value_of(box):
    return weakref.ref(box._value)


def test_what_no_rule_needs_dies_in_the_forward_pass(no_collector):
    alive = []

    def f(x):
        kept = x * 2.0  # the rule of its square needs it
        y = kept + 1.0
        references = [value_of(kept), value_of(y)]
        y = y - 3.0
        references.append(value_of(y))
        y = np.reshape(y, (3, 1))
        references.append(value_of(y))
        y = np.sum(y * 1.0) + np.sum(kept**2)
        del kept
        alive.extend(reference() is not None for reference in references)
        return y

    grad(f)(V)
    assert alive == [True, False, False, False]


def test_forward_mode_keeps_no_values(no_collector):
    alive = []

    def f(x):
        y = np.exp(x)
        reference = value_of(y)
        y = np.sum(y * 2.0)
        alive.append(reference() is not None)
        return y

    make_jvp(f)(V)(V)
    assert alive == [False]


def spy(seen):
    """Return a primitive whose pullback records which of the references seen so far are alive."""

    @primitive
    def look(x):
        return x * 1.0

    def maker(ans, x):
        def pull(g):
            seen.append(("alive", [reference() is not None for kind, reference in seen if kind == "value"]))
            seen.append(("value", weakref.ref(g)))
            return g * 1.0

        return pull

    defvjp(look, maker)
    return look


def test_values_and_cotangents_die_as_the_pass_goes_back(no_collector):
    seen = []
    look = spy(seen)

    def f(x):
        y = look(look(x))
        squared = y * y
        seen.append(("value", value_of(y)))  # the product's rule needs it
        z = np.exp(squared)
        seen.append(("value", value_of(z)))  # exp's rule needs it
        return np.sum(z)

    grad(f)(V)
    notes = [what for kind, what in seen if kind == "alive"]
    # The kept values are freed at the first look; the cotangent of the first look is freed at the second.
    assert notes == [[False, False], [False, False, False]]


def test_a_vjp_keeps_what_it_needs_until_it_is_dropped(no_collector):
    references = []

    def f(x):
        y = x * 2.0
        references.append(value_of(y))
        return np.sum(y * y)

    vjp, _ = make_vjp(f)(V)
    onp.testing.assert_allclose(vjp(1.0), 8.0 * V)
    assert references[0]() is not None
    del vjp
    assert references[0]() is None


def test_a_checkpoint_keeps_its_arguments_alone(no_collector):
    references, passes = [], []

    def inner(x):
        y = np.exp(x)
        references.append(value_of(y) if isinstance(y, ArrayBox) else weakref.ref(y))
        return np.sum(y * y)

    def f(x):
        y = checkpoint(inner)(x)
        passes.append(references[-1]() is not None)
        return y

    onp.testing.assert_allclose(grad(f)(V), 2.0 * onp.exp(2.0 * V))
    assert passes == [False]
    assert [reference() for reference in references] == [None, None]


# ------------------------------------------------------------------------------------------------------------- recycled


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


def test_nothing_done_to_a_box_or_node_is_found_in_the_next():
    class MyBox(ArrayBox):
        pass

    class MyNode(VJPNode):
        pass

    def use(kind, node_kind):
        box = kind(V, 7, node_kind.new_root())
        box._trace, box._value = 9, [box]
        if kind is MyBox:
            box.note = "mine"
        out = new_box(2.0, 3, node_kind.new_root()) * 3.0
        node = out._node
        references.append(weakref.ref(node))
        node.vjp = lambda g: (100.0 * g,)
        node.parents = (node.parents[0], node.parents[0])
        used = make_vjp(lambda x: x * x)(3.0)[0]
        assert used(1.0) == 6.0
        assert grad(lambda x: np.exp(x) * x)(0.0) == 1.0  # this releases its nodes

    references = []
    for kind, node_kind in [(ArrayBox, VJPNode), (MyBox, MyNode)] * 300:
        use(kind, node_kind)
        gc.collect(0)
        boxes = [new_box(2.0, 1, VJPNode.new_root()) for _ in range(3)]
        for box in boxes:
            assert (type(box), box._value, box._trace, type(box._node)) == (ArrayBox, 2.0, 1, VJPNode)
            assert not hasattr(box, "note")
            assert weakref.getweakrefcount(box._node) == 0
            product = box * 3.0
            assert product._node.parents == (box._node,)
            assert backward_pass(1.0, product._node) == 3.0
    gc.collect()
    assert {reference() for reference in references} == {None}


def test_boxes_of_containers_that_are_reused_hold_no_items():
    for k in range(600):
        p = {"a": float(k), "b": [2.0 * k]}
        g = grad(lambda p: p["a"] * p["b"][0])(p)
        assert g == {"a": 2.0 * k, "b": [float(k)]}


# ------------------------------------------------------------------------------------------------------- large and deep


def test_a_graph_of_a_million_nodes():
    def chain(x):
        for _ in range(500_000):
            x = x * 1.000001 + 1e-9
        return x

    onp.testing.assert_allclose(grad(chain)(1.0), 1.000001**500_000, rtol=1e-9)


def test_a_node_with_a_hundred_thousand_children_and_one_with_as_many_parents():
    n = 100_000
    assert grad(lambda x: sum([x * k for k in range(n)]))(1.0) == n * (n - 1) / 2
    onp.testing.assert_array_equal(
        grad(lambda x: np.sum(np.array([x[0] * k for k in range(n)])))(V)[0], n * (n - 1) / 2
    )


def test_twelve_gradients_of_a_gradient():
    f, x = np.exp, 0.3
    for _ in range(12):
        f = grad(f)
        onp.testing.assert_allclose(f(x), onp.exp(x), rtol=1e-14)

    f = lambda x: x**14  # noqa: E731
    for k in range(10):
        f = grad(f) if k % 2 else operators.deriv(f)
    onp.testing.assert_allclose(f(1.1), 14 * 13 * 12 * 11 * 10 * 9 * 8 * 7 * 6 * 5 * 1.1**4, rtol=1e-12)


@pytest.fixture
def high_recursion_limit():
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


def nested(depth):
    return functools.reduce(lambda inner, _: [inner], range(depth), 2.0)


def inmost(x, depth):
    return functools.reduce(lambda outer, _: outer[0], range(depth), x)


# CPython 3.12 limits the recursion of C functions, whatever limit is set.
DEPTH = 100 if sys.version_info[:2] == (3, 12) else 1000


def test_deeply_nested_lists(high_recursion_limit):
    g = grad(lambda p: inmost(p, DEPTH) ** 2)(nested(DEPTH))
    assert inmost(g, DEPTH) == 4.0
    value = make_vjp(lambda x: functools.reduce(lambda inner, _: [inner], range(DEPTH), x * 3.0))(1.0)
    assert inmost(value[1], DEPTH) == 3.0
    assert value[0](nested(DEPTH)) == 6.0


DEEP = nested(100_000)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * np.argmax(x, DEEP),
        lambda x: np.sum(np.sin(DEEP) * x),
        lambda x: np.sum(np.array([x, DEEP])),
        lambda x: x if isinstance(x, DEEP) else x,
        lambda x: np.sum(inmost(grad(lambda p: p[0])(DEEP), 1)),
        lambda x: [x, DEEP],
    ],
)
def test_lists_nested_too_deep_are_an_error(f):
    with pytest.raises((RecursionError, TypeError, ValueError)):
        make_vjp(f)(1.0)[0](1.0)
    assert trace_stack.top == -1
    assert grad(square)(3.0) == 6.0


def test_a_traced_function_without_end_is_an_error():
    def f(x):
        return grad(f)(x) * x

    with pytest.raises(RecursionError):
        f(1.0)
    assert trace_stack.top == -1
    assert grad(square)(3.0) == 6.0
