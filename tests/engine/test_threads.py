"""Several threads at once: independent derivatives, traces inside traces, passes through one graph."""

import subprocess
import sys
import textwrap
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import elementwise_grad, grad, hessian, make_jvp, make_vjp
from fastgrad._rules.direct import ByExponent, def_elementwise
from fastgrad.core import VJPNode, backward_pass, primitive_jvps, primitive_vjps
from fastgrad.extend import defjvp, defvjp, primitive
from fastgrad.tracer import getval, new_box, trace_stack

THREADS = 8
LARGE = 20_000  # elements: NumPy and the engine's own loops release the GIL for arrays this large


@pytest.fixture(autouse=True)
def switch_threads_often():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
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


def in_a_worker(fun, *args):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(fun, *args).result(timeout=30)


@primitive
def twice_slowly(x):
    """Return twice x; function and rules let other threads run before they return."""
    time.sleep(0)
    return 2.0 * x


def _pull_slowly(ans, x):
    def pullback(g):
        time.sleep(0)
        return 2.0 * g

    return pullback


def _push_slowly(g, ans, x):
    time.sleep(0)
    return 2.0 * g


defvjp(twice_slowly, _pull_slowly)
defjvp(twice_slowly, _push_slowly)

# ---------------------------------------------------------------------------------------------- independent derivatives


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


RAMP = onp.linspace(0.1, 1.0, LARGE)


def large_loop(x):
    for _ in range(4):
        x = np.tanh(x) * x + np.exp(-x * x) / (1.0 + x**2)
    return x


LARGE_OPERATIONS = {
    "reverse": grad(lambda x: np.sum(large_loop(x))),
    "forward": lambda x: make_jvp(large_loop)(x)(onp.ones(LARGE))[1],
    "reverse over reverse": grad(lambda x: np.sum(grad(lambda y: np.sum(large_loop(x) * y**3))(x))),
    "forward over reverse": lambda x: make_jvp(elementwise_grad(large_loop))(x)(x)[1],
    "slices and indices": grad(lambda x: np.sum(x[1:] * x[:-1] ** 2) + x[0] * x[7] + np.sum(x[[3, 3, 5]])),
    "containers": lambda x: grad(lambda p: np.sum(p["a"] * large_loop(p["b"][0])))({"a": x, "b": [x, 2.0]})["b"][0],
    "broadcasting": grad(lambda x: np.sum(np.reshape(x, (-1, 100)) * np.mean(np.reshape(x, (-1, 100)), axis=0))),
    "float32": lambda x: grad(lambda y: np.sum(large_loop(y)))(x.astype(onp.float32)),
    "complex": lambda x: grad(lambda y: np.real(np.sum(np.exp(1j * y) * y)))(x + 0.5j),
}


@pytest.mark.parametrize("name", LARGE_OPERATIONS)
def test_threads_agree_with_the_serial_result_on_arrays_that_let_others_run(name):
    inputs = [RAMP * (1.0 + 0.1 * k) for k in range(2 * THREADS)]
    serial = [LARGE_OPERATIONS[name](x) for x in inputs]
    for got, expected in zip(in_threads(LARGE_OPERATIONS[name], inputs), serial, strict=True):
        onp.testing.assert_array_equal(got, expected)


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


# ------------------------------------------------------------------------------- traces inside traces, in other threads


def forward(f):
    return lambda x: make_jvp(f)(x)(1.0)[1]


MODES = {"reverse": grad, "forward": forward}


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
    assert grad(lambda x: x * in_a_worker(forward(lambda y: x + y), 1.0))(1.0) == 1.0
    assert forward(lambda x: x * in_a_worker(grad(lambda y: x + y), 1.0))(1.0) == 1.0


@pytest.mark.parametrize("outer", MODES)
@pytest.mark.parametrize("middle", MODES)
@pytest.mark.parametrize("inner", MODES)
def test_three_traces_in_three_threads_many_times_at_once(outer, middle, inner):
    """d/dx of d/dy of x * (d/dz of x y z^3 at z = y), which is 18 x y^2."""
    ys = [0.5, 1.0, 1.5, 2.0]

    def innermost(x, y):
        return x * in_a_worker(MODES[inner](lambda z: x * y * twice_slowly(z) * z * z / 2.0), y)

    def f(x):
        with ThreadPoolExecutor(len(ys)) as pool:
            return sum(pool.map(MODES[middle](lambda y: innermost(x, y)), ys))

    xs = [1.0 + k for k in range(2 * THREADS)]
    expected = [18.0 * x * sum(y * y for y in ys) for x in xs]
    assert in_threads(MODES[outer](f), xs) == pytest.approx(expected, rel=1e-12)


def test_workers_that_close_over_large_arrays_of_an_outer_trace():
    def f(x):
        with ThreadPoolExecutor(4) as pool:
            parts = pool.map(grad(lambda y: np.sum(x * twice_slowly(y) * y)), [RAMP * k for k in range(1, 5)])
            return sum(np.sum(x * part) for part in parts)

    for scale, derivative in zip(range(1, 9), in_threads(grad(f), [RAMP * k for k in range(1, 9)]), strict=True):
        onp.testing.assert_allclose(derivative, 8.0 * RAMP * scale * RAMP * (1 + 2 + 3 + 4), rtol=1e-12)


def test_a_worker_that_outlived_its_outer_trace_may_not_use_values_of_it():
    may_start = threading.Event()

    def late(x):
        assert may_start.wait(timeout=30)
        return grad(lambda y: x * y * y)(2.0)

    with ThreadPoolExecutor(1) as pool:
        for derivative in MODES.values():
            may_start.clear()
            results = []
            derivative(lambda x, results=results: (results.append(pool.submit(late, x)), x * x)[1])(3.0)
            may_start.set()
            with pytest.raises(TypeError, match="kept from a trace that is over"):
                results[0].result(timeout=30)


# ---------------------------------------------------------------------------------------------- one graph, many threads


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


def tangled(x):
    """Return a value whose graph has many paths from its end to its root."""
    values = [x]
    for k in range(12):
        values.append(twice_slowly(values[-1]) * 0.25 + values[k // 2] * values[-1] * 0.5)
    return sum(values)


@pytest.mark.parametrize("size", [3, LARGE])
def test_a_pullback_whose_first_calls_are_all_at_once(size):
    """All threads number the nodes, and their passes take turns."""
    x = RAMP[:size]
    seeds = [onp.cos(x * k) for k in range(THREADS)]
    vjp, _ = make_vjp(tangled)(x)
    serial = [vjp(seed) for seed in seeds]
    for _ in range(20 if size < LARGE else 3):
        vjp, _ = make_vjp(tangled)(x)
        for got, expected in zip(in_threads(vjp, seeds), serial, strict=True):
            onp.testing.assert_array_equal(got, expected)


def test_threads_that_walk_parts_of_one_graph():
    """Each pass numbers the nodes it discovers, while the passes of other threads do the same."""
    box = new_box(0.4, 0, VJPNode.new_root())
    chain = [box]
    for k in range(200):
        chain.append(np.sin(chain[-1]) + chain[k // 2] * 0.1 if k % 10 else twice_slowly(chain[-1]) * 0.5)
    ends = [chain[-1 - 3 * k]._node for k in range(8 * THREADS)]
    serial = [backward_pass(1.0, end) for end in ends]
    for _ in range(5):
        assert in_threads(lambda end: backward_pass(1.0, end), ends) == serial


def test_a_gradient_spares_the_nodes_that_another_thread_walks():
    """A gradient releases and overwrites what its nodes keep, unless another thread holds one of their values."""
    reached, may_go_on = threading.Event(), threading.Event()

    @primitive
    def meeting(x):
        return 1.0 * x

    def pull(ans, x):
        def pullback(g):
            reached.set()
            assert may_go_on.wait(timeout=30)
            return 1.0 * g

        return pullback

    defvjp(meeting, pull)
    kept = []

    def f(x):
        square = np.sin(x) * np.sin(x)
        kept.append(square)
        return np.sum(meeting(np.exp(square)) ** 2)

    for size in (5, LARGE):
        x = RAMP[:size]
        reached.clear()
        may_go_on.clear()
        kept.clear()
        with ThreadPoolExecutor(1) as pool:
            result = pool.submit(grad(f), x)
            assert reached.wait(timeout=30)
            end = kept[0]._node
            before = backward_pass(onp.ones(size), end)
            may_go_on.set()
            for _ in range(30):
                onp.testing.assert_array_equal(backward_pass(onp.ones(size), end), before)
            expected = 2.0 * onp.exp(onp.sin(x) ** 2) ** 2 * onp.sin(2 * x)
            onp.testing.assert_allclose(result.result(timeout=30), expected, rtol=1e-12)
        onp.testing.assert_allclose(before, onp.sin(2 * x), rtol=1e-12)
        onp.testing.assert_allclose(kept[0]._value, onp.sin(x) ** 2, rtol=1e-12)


@pytest.mark.parametrize("size", [10, LARGE])
def test_an_array_that_can_be_got_hold_of_by_a_weak_reference_is_not_overwritten(size):
    """Another thread may hold such a reference in a cache."""
    watched, seen = [], []

    @primitive
    def look(x):
        return 1.0 * x

    def pull(ans, x):
        def pullback(g):
            seen.extend(reference() is None or (reference() == value).all() for reference, value in watched)
            return g

        return pullback

    defvjp(look, pull)

    def f(x):
        y = np.exp(look(x))
        watched.append((weakref.ref(getval(y)), getval(y).copy()))
        return np.sum(y * y * 3.0)

    gradient = grad(f)(RAMP[:size])
    assert seen == [True]
    reference, value = watched[0]
    assert reference() is not gradient
    onp.testing.assert_allclose(gradient, 6.0 * value * value, rtol=1e-12)


def test_items_of_one_traced_container_taken_by_many_threads():
    def f(p):
        with ThreadPoolExecutor(THREADS) as pool:
            return sum(pool.map(lambda k: p["w"][k % 3] * p["b"] * twice_slowly(p["w"][1]), range(24)))

    for k in range(20):
        x = 1.0 + k
        got = grad(f)({"w": [x, 2.0, 3.0], "b": 0.5})
        # 8 * (x + 2 + 3) * b * 2 * 2, and the same once more by w[1]
        assert got["w"] == pytest.approx([16.0, 16.0 + 8.0 * (x + 5.0), 16.0])
        assert got["b"] == pytest.approx(32.0 * (x + 5.0))


# ----------------------------------------------------------------------------------------------- what all threads share


def test_rules_registered_while_others_differentiate():
    def make_and_use(k):
        f = primitive(lambda x: k * x)
        defvjp(f, lambda ans, x: lambda g: k * g)
        return grad(lambda x: f(x) * f(x))(1.0)

    ks = [float(k) for k in range(20 * THREADS)]
    assert in_threads(make_and_use, ks) == [2 * k * k for k in ks]


def test_registries_read_while_others_register():
    made = []

    def read_or_register(k):
        if k % THREADS:
            for _ in range(50):
                f = primitive(lambda x: k * x)
                defvjp(f, lambda ans, x: lambda g: k * g)
                defjvp(f, lambda g, ans, x: k * g)
                made.append(f)
            return f in primitive_vjps and grad(f)(1.0) == k
        return all(len(list(primitive_vjps)) > 100 and len(list(primitive_jvps)) > 100 for _ in range(20))

    assert all(in_threads(read_or_register, list(range(10 * THREADS))))
    assert set(made) <= set(primitive_vjps)


def test_a_rule_first_used_by_many_threads_at_once():
    """The fused derivative is recorded at the first use, in a trace of its own."""
    for _ in range(10):
        power = primitive(lambda x, y: x**y)
        by_exponent = ByExponent(
            lambda ans, x, y: y * x ** (y - 1.0),
            {2.0: lambda ans, x, y: 2.0 * x, None: lambda ans, x, y: y * ans / x},
        )
        def_elementwise(power, by_exponent, lambda ans, x, y: np.log(x) * ans)
        xs = [RAMP * (1.0 + k) for k in range(THREADS)]
        derivatives = in_threads(grad(lambda x, power=power: np.sum(power(x, 2.0) + power(x, 3.0))), xs)
        for x, derivative in zip(xs, derivatives, strict=True):
            onp.testing.assert_allclose(derivative, 2.0 * x + 3.0 * x**2, rtol=1e-12)


def test_random_first_used_by_many_threads_at_once():
    """The names of `numpy.random` are filled in when the first of them is used."""
    program = """
        import sys, threading
        sys.setswitchinterval(1e-6)
        import fastgrad.numpy as np
        barrier, drawn = threading.Barrier(8), []

        def draw():
            barrier.wait()
            drawn.append(np.random.standard_normal)

        threads = [threading.Thread(target=draw) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert len(drawn) == 8 and len(set(drawn)) == 1, drawn
    """
    for _ in range(3):
        subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=60)


def test_values_and_nodes_are_freed_by_threads_that_did_not_make_them():
    boxes = [new_box(1.0, 0, VJPNode.new_root()) for _ in range(THREADS)]
    chains = in_threads(lambda box: [box := box * 1.0 for _ in range(1000)], boxes)
    assert all(backward_pass(1.0, chain[-1]._node) == 1.0 for chain in chains)

    def drop(k):
        chains[k] = None
        return grad(loop)(0.3)

    assert set(in_threads(drop, list(range(THREADS)))) == {grad(loop)(0.3)}


X = onp.linspace(0.1, 1.9, 7)

# ------------------------------------------------------------------------------------------------------------ lifetimes


def test_threads_with_functions_and_pullbacks_of_their_own_and_shared_ones():
    def make(k):
        def fun(x):
            y = np.sin(x) * X + np.exp(-x) * k
            for i in range(5):
                y = np.tanh(y * 0.9) + x[i] * np.sin(y) ** 2 + np.max(y) * np.dot(np.tanh(y), X) / 1e3
            return np.mean(y) + np.sum(np.maximum(y, 0.3))

        return fun

    big = onp.linspace(0, 1, 20000)
    long = lambda x: np.sum(np.tanh(-np.sin(x) * np.exp(x)))  # noqa: E731
    wanted, shared, of_long = [grad(make(k))(X) for k in range(8)], make_vjp(make(3))(X)[0], grad(long)(big)
    wrong = []

    def work(k):
        for _ in range(20):
            if not onp.array_equal(grad(make(k))(X), wanted[k]) or not onp.array_equal(shared(1.0), wanted[3]):
                wrong.append(k)
        if not onp.array_equal(grad(long)(big), of_long):
            wrong.append(k)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong
