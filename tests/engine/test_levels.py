"""Levels of traces: given once, and given back whatever happens."""

import asyncio
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import grad, make_jvp
from fastgrad.core import VJPNode, backward_pass
from fastgrad.extend import defjvp, defvjp, primitive
from fastgrad.tracer import Node, new_box, trace, trace_stack

THREADS = 8


def in_threads(fun, inputs):
    """Map ``fun`` over ``inputs`` with all threads started at one moment."""
    barrier = threading.Barrier(THREADS)

    def work(chunk):
        barrier.wait(timeout=30)
        return [fun(x) for x in chunk]

    with ThreadPoolExecutor(THREADS) as pool:
        chunks = list(pool.map(work, [inputs[i::THREADS] for i in range(THREADS)]))
    return [chunks[k % THREADS][k // THREADS] for k in range(len(inputs))]


@pytest.fixture
def switch_threads_often():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)
    assert trace_stack.top == -1


def loop(x):
    for _ in range(20):
        x = np.sin(x) * x + 0.5
    return x


# --------------------------------------------------------------------------------------------------------------- levels


@pytest.mark.usefixtures("switch_threads_often")
def test_no_level_is_given_twice():
    def take(k):
        levels = []
        for _ in range(3000):
            with trace_stack.new_trace() as outer, trace_stack.new_trace() as inner:
                levels += [outer, inner]
        assert levels == sorted(levels)
        return levels

    levels = sum(in_threads(take, list(range(THREADS))), [])
    assert len(set(levels)) == len(levels) == THREADS * 6000


@pytest.mark.usefixtures("switch_threads_often")
def test_traces_opened_and_closed_in_any_order():
    order = onp.random.RandomState(0)
    traces = []
    for _ in range(2000):
        if traces and (len(traces) == 200 or order.rand() < 0.5):
            traces.pop(order.randint(len(traces)))[0].__exit__(None, None, None)
        else:
            context = trace_stack.new_trace()
            level = context.__enter__()
            assert all(level > other for _, other in traces)
            traces.append((context, level))
        assert trace_stack.top == max((level for _, level in traces), default=-1)
    for context, _ in traces:
        context.__exit__(None, None, None)


@pytest.mark.usefixtures("switch_threads_often")
def test_tasks_that_take_turns_inside_their_traces():
    async def differentiate(x):
        with trace_stack.new_trace() as level:
            start = new_box(x, level, VJPNode.new_root())
            end = start
            for _ in range(20):
                end = np.sin(end) * end + 0.5
                await asyncio.sleep(0)
                assert grad(lambda y: y * start)(2.0)._trace == level
        return backward_pass(1.0, end._node)

    async def all_at_once(xs):
        return await asyncio.gather(*map(differentiate, xs))

    xs = [0.1 * k for k in range(20)]
    assert asyncio.run(all_at_once(xs)) == [grad(loop)(x) for x in xs]


class Recorder(Node):
    """A node that keeps all that it is told about its call."""

    __slots__ = ("value", "fun", "args", "kwargs", "parent_argnums", "parents")

    def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
        self.value, self.fun, self.args = value, fun, args
        self.kwargs, self.parent_argnums, self.parents = kwargs, parent_argnums, parents

    def initialize_root(self, name="root"):
        self.value = name
        self.parents = ()


# ----------------------------------------------------------------------------------------------------------- exceptions


class Boom(Exception):
    pass


def raising_primitive(where, error):
    """Return a primitive that raises in its body, its VJP maker, its pullback or its JVP."""

    def fail_if(place):
        if place == where:
            raise error

    @primitive
    def f(x):
        fail_if("body")
        return 2.0 * x

    def maker(ans, x):
        fail_if("maker")

        def pullback(g):
            fail_if("pullback")
            return 2.0 * g

        return pullback

    def pushforward(g, ans, x):
        fail_if("jvp")
        return 2.0 * g

    defvjp(f, maker)
    defjvp(f, pushforward)
    return f


def check_clean():
    assert trace_stack.top == -1
    seen = []
    assert grad(lambda x: (seen.append(x._trace == trace_stack.top), x * x)[1])(3.0) == 6.0
    assert seen == [True]
    assert grad(grad(lambda x: x**3))(2.0) == 12.0


@pytest.mark.parametrize("error", [Boom, KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize(
    ("where", "operator"),
    [
        ("body", grad),
        ("maker", grad),
        ("pullback", grad),
        ("body", lambda f: lambda x: make_jvp(f)(x)(1.0)),
        ("jvp", lambda f: lambda x: make_jvp(f)(x)(1.0)),
        ("body", lambda f: grad(grad(f))),
        ("pullback", lambda f: grad(grad(f))),
        ("maker", lambda f: lambda x: make_jvp(grad(f))(x)(1.0)),
    ],
)
def test_an_exception_in_a_primitive_or_its_rules_leaves_no_level_behind(where, operator, error):
    f = raising_primitive(where, error)
    with pytest.raises(error):
        operator(lambda x: f(np.sin(x)) * x)(1.0)
    check_clean()


@pytest.mark.parametrize("error", [Boom, KeyboardInterrupt])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_an_exception_in_the_traced_function_leaves_no_level_behind(error, depth):
    def f(x):
        np.sin(x)
        raise error

    for _ in range(depth):
        f = grad(f)
    with pytest.raises(error):
        f(1.0)
    check_clean()


def test_an_exception_caught_in_an_outer_trace_restores_the_outer_level():
    def inner(y):
        raise Boom

    def f(x):
        with pytest.raises(Boom):
            grad(inner)(1.0)
        assert trace_stack.top == x._trace
        return grad(lambda y: x * y * y)(2.0)

    assert grad(f)(3.0) == 4.0
    check_clean()


def test_an_exception_in_a_users_node_leaves_no_level_behind():
    class Failing(Recorder):
        def __init__(self, *args):
            raise Boom

    with pytest.raises(Boom):
        trace(Failing.new_root(), np.sin, 1.0)
    check_clean()


def test_an_exception_in_a_with_block_leaves_no_level_behind():
    with pytest.raises(Boom), trace_stack.new_trace():
        raise Boom
    check_clean()
