"""The backward pass: nodes, shapes of graphs, and memory."""

import gc
import os
import subprocess
import sys
import weakref

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import elementwise_grad, grad, jacobian, make_vjp, value_and_grad
from fastgrad.core import VJPNode, backward_pass
from fastgrad.extend import defvjp, primitive
from fastgrad.tracer import getval, new_box, trace
from fastgrad.util import toposort

pytestmark = pytest.mark.slow

# ------------------------------------------------------------------------------------------------------- the call chain


def test_grad_of_a_function_runs_nothing():
    calls = []
    derivative = grad(lambda x: (calls.append(x), x * x)[1])
    assert calls == []
    assert derivative(3.0) == 6.0
    assert len(calls) == 1


def test_the_node_of_a_product():
    root = VJPNode.new_root()
    value, node = trace(root, lambda x: x * x, 3.0)
    assert value == 9.0
    assert len(node.parents) == 2
    assert all(parent is root for parent in node.parents)
    assert tuple(node.vjp(1.0)) == (3.0, 3.0)
    assert tuple(root.parents) == ()
    assert tuple(root.vjp(1.0)) == ()


def test_make_vjp_returns_the_pullback_and_the_value():
    vjp, value = make_vjp(lambda x: x * x)(3.0)
    assert value == 9.0
    assert [vjp(seed) for seed in (1.0, 2.0, -0.5, 1.0)] == [6.0, 12.0, -3.0, 6.0]


def test_a_parent_stands_once_per_traced_argument():
    roots = []

    def f(x):
        roots.append(x._node)
        return np.where(True, x, 2.0) + np.power(x, 2.0)

    _, end = trace(VJPNode.new_root(), f, 3.0)
    where, power = end.parents
    assert [parent is roots[0] for parent in (*where.parents, *power.parents)] == [True, True]


# ----------------------------------------------------------------------------------------------------- shapes of graphs


def test_one_graph_walked_with_many_seeds():
    f = lambda x: np.array([x[0] * x[1], x[1] ** 2.0, np.sin(x[0])])  # noqa: E731
    x = onp.array([0.5, 2.0])
    vjp, value = make_vjp(f)(x)
    expected = onp.array([[2.0, 0.5], [0.0, 4.0], [onp.cos(0.5), 0.0]])
    for _ in range(2):
        onp.testing.assert_allclose([vjp(row) for row in onp.eye(3)], expected)
    onp.testing.assert_allclose(jacobian(f)(x), expected)
    assert value.shape == (3,)


def test_the_same_end_node_walked_by_backward_pass_again():
    root = VJPNode.new_root()
    _, end = trace(root, lambda x: np.exp(x) * x, 1.0)
    results = [backward_pass(seed, end) for seed in (1.0, 3.0, 1.0)]
    assert results == pytest.approx([2 * onp.e, 6 * onp.e, 2 * onp.e])


def test_two_outputs_that_share_a_graph():
    root = VJPNode.new_root()
    x = new_box(2.0, 0, root)
    shared = x * x
    first, second = shared * x, shared + x
    assert backward_pass(1.0, first._node) == 12.0
    assert backward_pass(1.0, second._node) == 5.0
    assert backward_pass(1.0, first._node) == 12.0


def test_a_walk_started_in_the_middle_of_another():
    """A pullback may itself start a pass through the graph of its node."""
    root = VJPNode.new_root()
    x = new_box(2.0, 0, root)
    cube = x * x * x

    @primitive
    def identity(v):
        return v

    inner = []

    def maker(ans, v):
        def pullback(g):
            inner.append(backward_pass(1.0, cube._node))
            return g

        return pullback

    defvjp(identity, maker)
    out = identity(cube) * x + cube
    assert backward_pass(1.0, out._node) == pytest.approx(4 * 8.0 + 12.0)
    assert inner == [12.0]


@pytest.mark.parametrize("depth", [1, 2, 10, 60])
def test_diamonds_are_walked_once_per_node(depth):
    """A pass that followed paths instead of nodes would take 2**depth steps."""

    def f(x):
        for _ in range(depth):
            x = (x + x) / 2.0
        return x

    assert grad(f)(1.0) == 1.0
    assert grad(lambda x: np.sum(f(x)))(onp.ones(3)).tolist() == [1.0, 1.0, 1.0]
    _, end = trace(VJPNode.new_root(), f, 1.0)
    assert len(list(toposort(end))) == 2 * depth + 1


def test_a_wide_graph():
    def f(x):
        return sum(np.sin(x * float(k)) for k in range(500))

    expected = sum(k * onp.cos(0.1 * k) for k in range(500))
    assert grad(f)(0.1) == pytest.approx(expected)


def test_one_parent_in_many_places_of_one_call():
    @primitive
    def product(*factors):
        return float(onp.prod(factors))

    def maker(position):
        return lambda ans, *factors: lambda g: g * ans / factors[position]

    defvjp(product, *(maker(i) for i in range(5)))
    assert grad(lambda x: product(x, x, 2.0, x, x))(3.0) == pytest.approx(8.0 * 27.0)


@pytest.mark.parametrize(
    ("shape", "other"), [((), (3,)), ((), (2, 3)), ((3,), (2, 3)), ((2, 1), (2, 3)), ((1, 3), (2, 1)), ((1,), (4,))]
)
@pytest.mark.parametrize("op", [np.add, np.subtract, np.multiply, np.divide, np.maximum, np.arctan2])
def test_a_broadcast_argument_gets_a_cotangent_of_its_own_shape(op, shape, other):
    rng = onp.random.default_rng(0)
    x, y = rng.uniform(1.0, 2.0, shape), rng.uniform(3.0, 4.0, other)
    for f in (lambda v: op(v, y), lambda v: op(y, v)):
        g = elementwise_grad(f)(x)
        assert onp.shape(g) == shape
        steps = [onp.zeros(shape) for _ in range(onp.size(x))]
        for index, step in zip(onp.ndindex(*shape), steps, strict=True):
            step[index] = 1e-6
        numeric = [(onp.sum(f(x + step)) - onp.sum(f(x - step))) / 2e-6 for step in steps]
        onp.testing.assert_allclose(onp.ravel(g), numeric, rtol=1e-6, atol=1e-8)


def test_a_python_scalar_against_an_array():
    g = grad(lambda x: np.sum(x * onp.ones((2, 3)) + x))(2.0)
    assert onp.shape(g) == ()
    assert g == 12.0


def test_dtypes_of_cotangents_follow_the_input():
    assert grad(lambda x: np.sum(x * x))(onp.ones(2, onp.float32)).dtype == onp.float32
    assert elementwise_grad(lambda x: np.real(x * x))(onp.ones(2, complex)).dtype == complex
    assert elementwise_grad(lambda x: np.real(x * 1j * onp.ones(2)))(onp.ones(2)).dtype == float


def test_complex_cotangents_follow_the_real_inner_product():
    """For real f of z = x + iy the gradient is df/dx - i df/dy."""
    z = 1.0 + 2.0j
    assert grad(lambda z: np.real(z * np.conj(z)))(z) == pytest.approx(2.0 - 4.0j)
    assert grad(lambda z: np.imag(z * z))(z) == pytest.approx(4.0 + 2.0j * -1.0)
    assert grad(lambda z: np.abs(z))(z) == pytest.approx((1.0 - 2.0j) / onp.sqrt(5.0))


# ----------------------------------------------------------------------------------------- boxes and nodes made by hand


def test_a_root_box_outside_any_trace():
    x = new_box(onp.array([1.0, 2.0]), 0, VJPNode.new_root())
    y = np.sum(x**2.0) + x[0]
    assert y._value == 6.0
    assert backward_pass(1.0, y._node).tolist() == [3.0, 4.0]


def test_a_boxed_seed_outside_any_trace():
    """The pullback is linear in the seed: its derivative by the seed is the gradient itself."""
    y = (lambda x: x * x * x)(new_box(3.0, 0, VJPNode.new_root()))
    seed = new_box(2.0, 0, VJPNode.new_root())
    cotangent = backward_pass(seed, y._node)
    assert cotangent._value == 54.0
    assert backward_pass(1.0, cotangent._node) == 27.0


def test_boxed_array_seeds_one_output_at_a_time():
    x = new_box(onp.array([1.0, 2.0, 3.0]), 0, VJPNode.new_root())
    outputs = [x[0] * x[1], np.sum(x * x)]
    rows = []
    for out in outputs:
        seed = new_box(onp.ones(()), 0, VJPNode.new_root())
        rows.append(backward_pass(seed, out._node)._value)
    assert [row.tolist() for row in rows] == [[2.0, 1.0, 0.0], [2.0, 4.0, 6.0]]


def test_a_subclass_of_vjpnode_in_python():
    made = []

    class Named(VJPNode):
        def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
            super().__init__(value, fun, args, kwargs, parent_argnums, parents)
            made.append((fun.__name__, type(self)))

    value, end = trace(Named.new_root(), lambda x: np.sin(x) * x, 2.0)
    assert made == [("sin", Named), ("multiply", Named)]
    assert value == pytest.approx(2.0 * onp.sin(2.0))
    assert backward_pass(1.0, end) == pytest.approx(onp.sin(2.0) + 2.0 * onp.cos(2.0))


def test_a_vjpnode_built_by_hand():
    root = VJPNode.new_root()
    for sequence in (tuple, list, iter):
        node = VJPNode(12.0, np.multiply, sequence((3.0, 4.0)), {}, sequence((0, 1)), sequence((root, root)))
        assert tuple(node.vjp(1.0)) == (4.0, 3.0)
        assert backward_pass(2.0, node) == 14.0


# --------------------------------------------------------------------------------------------------------------- memory

CHAIN = """
import sys
from fastgrad import grad
from fastgrad.core import VJPNode, backward_pass
from fastgrad.tracer import new_box
def chain(x, n={n}):
    for _ in range(n):
        x = {step}
    return x
{setup}
{job}
print("survived")
"""
JOBS = {
    "freed unwalked": "y = chain(new_box({x}, 0, VJPNode.new_root())); del y",
    "freed after a walk": "y = chain(new_box({x}, 0, VJPNode.new_root())); backward_pass({x}, y._node); del y",
    "grad": "assert grad(chain)(1.0) == 1.0",
}


def run_chain(job, n, step="x + 1.0", x="1.0", setup=""):
    if os.environ.get("FASTGRAD_SANITIZE") == "refnanny":
        n //= 20  # refnanny counts references in Python, in every function that runs
    code = CHAIN.format(n=n, step=step, setup=setup, job=JOBS[job].format(x=x))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout == "survived\n"


@pytest.mark.parametrize("job", JOBS)
def test_a_chain_of_two_million_nodes_is_freed_without_recursion(job):
    run_chain(job, 2_000_000)


@pytest.mark.parametrize(
    ("step", "x", "setup"),
    [
        ("np.sin(x)", "onp.ones(2)", "import numpy as onp, fastgrad.numpy as np"),
        ("x[:]", "[1.0]", "import fastgrad.builtins"),
        (
            "f(x)",
            "1.0",
            "from fastgrad.extend import primitive, defvjp\n"
            "f = primitive(lambda x: x)\n"
            "defvjp(f, lambda ans, x: lambda g: g)",
        ),
    ],
    ids=["arrays", "containers", "user rules"],
)
@pytest.mark.parametrize("job", ["freed unwalked", "freed after a walk"])
def test_long_chains_of_every_kind_are_freed_without_recursion(job, step, x, setup):
    run_chain(job, 200_000, step, x, setup)


class Payload:
    """An object that a weak reference can refer to."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return np.sum(x * self.factor)


def watched_gradient(operator):
    """Compute one gradient and return weak references to all objects that took part in it."""
    f, x = Payload(onp.ones(100)), onp.ones(100)
    watched = [weakref.ref(f), weakref.ref(f.factor), weakref.ref(x)]

    def g(v):
        y = v * v
        watched.append(weakref.ref(getval(y)))
        return f(y)

    operator(g)(x)
    return watched


@pytest.mark.parametrize("operator", [grad, value_and_grad, lambda f: grad(lambda x: np.sum(grad(f)(x)))])
def test_nothing_is_kept_after_a_gradient(operator):
    watched = watched_gradient(operator)
    gc.collect()
    assert len(watched) == 4
    assert [ref() for ref in watched] == [None] * 4


def test_a_pullback_keeps_its_graph_and_no_longer():
    seen = []

    def f(x):
        y = np.exp(x)
        seen.append(weakref.ref(y._value))
        return np.sum(y)

    vjp, _ = make_vjp(f)(onp.zeros(3))
    gc.collect()
    assert seen[0]() is not None
    assert vjp(1.0).tolist() == [1.0, 1.0, 1.0]
    del vjp
    gc.collect()
    assert seen[0]() is None


def test_addition_keeps_no_array():
    seen = []

    def f(x):
        for _ in range(10):
            x = x + 1.0
            seen.append(weakref.ref(x._value))
        return x

    vjp, value = make_vjp(f)(onp.zeros(3))
    gc.collect()
    assert [ref() is None for ref in seen[:-1]] == [True] * 9
    assert value is seen[-1]()
    assert vjp(onp.ones(3)).tolist() == [1.0] * 3


WORKLOADS = {
    "scalar": (lambda x: np.sin(x) * x + x / 2.0 - x**2.0, 1.5),
    "array": (lambda x: np.sum(np.tanh(x) * x[::-1] + x[0]), onp.ones(5)),
    "nested": (lambda x: grad(lambda y: y * y * x)(x), 2.0),
    "containers": (lambda p: np.sum(p["w"] * p["b"][0]), {"w": onp.ones(3), "b": [2.0]}),
    "independent of the inner variable": (lambda x: x * make_vjp(lambda y: y * x)(1.0)[0](1.0), 2.0),
}


@pytest.mark.parametrize("name", WORKLOADS)
def test_repeated_gradients_use_no_more_memory(name):
    f, x = WORKLOADS[name]

    def blocks_after(calls):
        for _ in range(calls):
            grad(f)(x)
        gc.collect()
        return sys.getallocatedblocks()

    blocks_after(50)
    before = blocks_after(50)
    growth = min(blocks_after(100) - before for _ in range(3))
    assert growth < 50


def test_repeated_failures_use_no_more_memory():
    @primitive
    def fails(x):
        return x

    def maker(ans, x):
        def pullback(g):
            raise ValueError

        return pullback

    defvjp(fails, maker)

    def blocks_after(calls):
        for _ in range(calls):
            with pytest.raises(ValueError):
                grad(lambda x: fails(np.sin(x)) * x)(1.0)
        gc.collect()
        return sys.getallocatedblocks()

    blocks_after(20)
    before = blocks_after(20)
    growth = min(blocks_after(50) - before for _ in range(3))
    assert growth < 50
