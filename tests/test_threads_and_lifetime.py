"""Several threads at once, and what is freed when."""

import gc
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import elementwise_grad, grad, hessian, jacobian, make_jvp, make_vjp
from fastgrad.core import VJPNode, backward_pass
from fastgrad.extend import defvjp, primitive
from fastgrad.tracer import new_box, trace_stack

THREADS = 8


@pytest.fixture(autouse=True)
def switch_threads_often():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)
    assert trace_stack.top == -1


def in_threads(fun, inputs):
    """Map ``fun`` over ``inputs`` with all threads started at one moment."""
    barrier = threading.Barrier(THREADS)

    def work(chunk):
        barrier.wait(timeout=30)
        return [fun(x) for x in chunk]

    with ThreadPoolExecutor(THREADS) as pool:
        chunks = list(pool.map(work, [inputs[i::THREADS] for i in range(THREADS)]))
    return [chunks[k % THREADS][k // THREADS] for k in range(len(inputs))]


# ---- threads -----------------------------------------------------------------------------------------------------


def loop(x):
    for _ in range(20):
        x = np.sin(x) * x + 0.5
    return x


OPERATIONS = {
    "grad": grad(loop),
    "grad of grad": grad(grad(loop)),
    "forward over reverse": lambda x: make_jvp(grad(loop))(x)(1.0)[1],
    "hessian": lambda x: onp.sum(hessian(lambda v: np.sum(loop(v)))(x * onp.ones(2))),
    "elementwise": lambda x: onp.sum(elementwise_grad(loop)(x * onp.arange(5.0))),
    "containers": lambda x: grad(lambda p: loop(p["a"]) * p["b"][0])({"a": x, "b": [2.0]})["a"],
    "perturbation": lambda x: grad(lambda u: u * grad(lambda y: u * y * y)(3.0))(x),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_threads_agree_with_the_serial_result(name):
    inputs = [0.1 + 0.01 * k for k in range(8 * THREADS)]
    serial = [OPERATIONS[name](x) for x in inputs]
    assert in_threads(OPERATIONS[name], inputs) == serial


def test_exceptions_in_some_threads_do_not_disturb_the_others():
    def f(x):
        y = loop(x)
        if x > 0.5:
            raise ValueError
        return y

    def attempt(x):
        try:
            return grad(f)(x)
        except ValueError:
            return None

    inputs = [0.3, 0.7] * (4 * THREADS)
    expected = grad(loop)(0.3)
    results = in_threads(attempt, inputs)
    assert results == [expected, None] * (4 * THREADS)


def in_a_worker(fun, *args):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(fun, *args).result(timeout=30)


def test_an_inner_gradient_in_a_worker_thread_of_a_traced_function():
    """The worker's level must lie above the one it was started in."""
    assert grad(lambda x: x * in_a_worker(grad(lambda y: x + y), 1.0))(1.0) == 1.0
    assert grad(lambda x: x * in_a_worker(grad(lambda y: x * y * y), 3.0))(2.0) == 24.0
    assert grad(lambda x: in_a_worker(grad(lambda y: x * y * y), x))(3.0) == 12.0


def test_inner_gradients_in_many_workers_of_one_traced_function():
    def f(x):
        with ThreadPoolExecutor(4) as pool:
            parts = list(pool.map(grad(lambda y: x * x * y**3), [1.0, 2.0, 3.0, 4.0]))
        return sum(parts)

    assert grad(f)(2.0) == 2 * 2.0 * 3 * (1 + 4 + 9 + 16)


def test_a_worker_that_outlives_the_trace_it_was_started_in():
    """Levels are not taken back in the order they were given."""
    may_finish, started = threading.Event(), threading.Event()
    results = []

    def slow(y):
        started.set()
        assert may_finish.wait(timeout=30)
        return y * y

    worker = threading.Thread(target=lambda: results.append(grad(slow)(3.0)))

    def f(x):
        worker.start()
        assert started.wait(timeout=30)
        return x * grad(lambda y: x * y)(2.0)

    assert grad(f)(5.0) == 10.0
    assert grad(grad(lambda x: x**3))(2.0) == 12.0
    may_finish.set()
    worker.join(timeout=30)
    assert results == [6.0]


def test_forward_mode_in_a_worker_of_a_reverse_trace():
    forward = lambda f: lambda x: make_jvp(f)(x)(1.0)[1]  # noqa: E731
    assert grad(lambda x: x * in_a_worker(forward(lambda y: x + y), 1.0))(1.0) == 1.0
    assert forward(lambda x: x * in_a_worker(grad(lambda y: x + y), 1.0))(1.0) == 1.0


def test_one_pullback_used_by_many_threads():
    vjp, value = make_vjp(lambda x: loop(x) + x[::-1] * x)(onp.linspace(0.1, 1.0, 6))
    seeds = [onp.roll(onp.eye(6)[0], k) * (k + 1.0) for k in range(6)] * THREADS
    serial = [vjp(seed).tolist() for seed in seeds]
    assert [g.tolist() for g in in_threads(vjp, seeds)] == serial
    assert value.shape == (6,)


def test_one_pushforward_used_by_many_threads():
    push = make_jvp(loop)(0.4)
    seeds = [float(k) for k in range(2 * THREADS)]
    assert in_threads(lambda g: push(g)[1], seeds) == [push(g)[1] for g in seeds]


def test_rules_registered_while_others_differentiate():
    def make_and_use(k):
        f = primitive(lambda x: k * x)
        defvjp(f, lambda ans, x: lambda g: k * g)
        return grad(lambda x: f(x) * f(x))(1.0)

    ks = [float(k) for k in range(20 * THREADS)]
    assert in_threads(make_and_use, ks) == [2 * k * k for k in ks]


# ---- lifetime ----------------------------------------------------------------------------------------------------


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


def test_values_and_nodes_are_freed_by_threads_that_did_not_make_them():
    boxes = [new_box(1.0, 0, VJPNode.new_root()) for _ in range(THREADS)]
    chains = in_threads(lambda box: [box := box * 1.0 for _ in range(1000)], boxes)
    assert all(backward_pass(1.0, chain[-1]._node) == 1.0 for chain in chains)

    def drop(k):
        chains[k] = None
        return grad(loop)(0.3)

    assert set(in_threads(drop, list(range(THREADS)))) == {grad(loop)(0.3)}
