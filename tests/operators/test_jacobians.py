"""Jacobians and Hessians in batches: they are what the plain loop gives, whatever goes through them."""

import math
import warnings

import numpy as onp
import pytest
from checks import EXACT_TOL
from table import DIFFERENTIABLE, TWICE

import fastgrad.numpy as np
from fastgrad import (
    checkpoint,
    dict,
    grad,
    hessian,
    jacfwd,
    jacobian,
    jacrev,
    list,
    make_jvp,
    make_vjp,
    tuple,
)
from fastgrad._engine.core import NotBatchable
from fastgrad._jacobians import jacobians as _jacobians
from fastgrad.core import make_jvp as push_along
from fastgrad.core import make_vjp as pull_along
from fastgrad.core import vspace
from fastgrad.extend import Box, VSpace, defjvp, defvjp, defvjp_argnums, primitive
from fastgrad.misc.fixed_points import fixed_point
from fastgrad.tracer import getval

pytestmark = pytest.mark.filterwarnings("ignore:Output seems independent of input")

# --------------------------------------------------------------------------------------------------- the table of rules

# Calls that no batch goes through, with the reason.
ROW_BY_ROW = {
    "indexing-28": "arrays of indices that stand apart, whose places repeat",
    "indexing-29": "arrays of indices that stand apart, whose places repeat",
    "pad modes": "a staged rule that gives sparse cotangents",
}


def rows_one_by_one(vjp, space, x_space):
    both = space.iscomplex and not x_space.iscomplex
    rows = [_jacobians._row(vjp, vector, both) for vector in _jacobians._basis(space, 0, math.prod(space.shape))]
    return onp.array(rows)


def columns_one_by_one(push, x_space):
    basis = _jacobians._basis(x_space, 0, math.prod(x_space.shape))
    return onp.array([_jacobians._column(push, vector) for vector in basis])


def assert_same(batch, loop, precision, what):
    assert batch.shape == loop.shape and batch.dtype == loop.dtype, f"{what}: {batch.shape} {batch.dtype}"
    tol = EXACT_TOL[precision]
    tol *= 10 if precision in "fF" else 1
    assert onp.max(abs(batch - loop), initial=0) <= tol * (1 + onp.max(abs(loop), initial=0)), what


def check_batches(case, fun, x):
    """Rows and columns of a Jacobian are those of the plain loop."""
    vjp, ans = pull_along(fun, x)
    space, x_space = vspace(ans), vspace(x)
    n, n_x = math.prod(space.shape), math.prod(x_space.shape)
    both = space.iscomplex and not x_space.iscomplex
    if n:
        loop = rows_one_by_one(vjp, space, x_space)
        try:
            batch = _jacobians._pulled(vjp, space, 0, n, both)
        except NotBatchable:
            assert any(case.id.startswith(name) for name in ROW_BY_ROW), "it does not go in a batch"
        else:
            assert_same(batch, loop, case.precision, "rows")
    if n_x:
        push = push_along(fun, x)
        ways = _jacobians._pushed(push, x_space, 0, n_x, 10**9), columns_one_by_one(push, x_space)
        batch, loop = (_jacobians._from_columns(columns, x, x_space) for columns in ways)
        assert_same(batch, loop, case.precision, "columns")


def functions_of_one(case):
    """Give, for each variable of a case, the function of it alone, to an array, and its value."""
    for i, x in enumerate(case.variables):

        def fun(value, i=i):
            given = [*case.variables[:i], value, *case.variables[i + 1 :]]
            outputs = case.outputs(case.call(np)(*given))
            return outputs[0] if len(outputs) == 1 else np.concatenate([np.ravel(output) for output in outputs])

        yield fun, x


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=str)
def test_jacobian_of_every_primitive(case):
    for fun, x in functions_of_one(case):
        check_batches(case, fun, x)


@pytest.mark.parametrize("case", TWICE, ids=str)
def test_jacobian_of_every_pullback(case):
    parts = [onp.ravel(g) for g in case.cotangents]
    g = case.cotangents[0] if len(parts) == 1 else onp.concatenate(parts)
    for fun, x in functions_of_one(case):
        check_batches(case, lambda value, fun=fun: pull_along(fun, value)[0](g), x)


@pytest.mark.parametrize("case", TWICE[::4], ids=str)
def test_batches_are_traced(case):
    # The rows are boxes of an outer trace: batch rules are made of primitives too.
    def norm(fun, x, batch):
        vjp, ans = pull_along(fun, x)
        space, x_space = vspace(ans), vspace(x)
        both = space.iscomplex and not x_space.iscomplex
        n = math.prod(space.shape)
        if batch:
            rows = _jacobians._pulled(vjp, space, 0, n, both)
        else:
            rows = _jacobians.stacked([_jacobians._row(vjp, g, both) for g in _jacobians._basis(space, 0, n)])
        return np.sum(np.real(rows * np.cos(onp.arange(float(np.size(rows))).reshape(np.shape(rows)))))

    for fun, x in functions_of_one(case):
        if not 0 < onp.size(fun(x)) * onp.size(x) <= 100 or any(case.id.startswith(name) for name in ROW_BY_ROW):
            continue
        batch, loop = (pull_along(lambda x, fun=fun, way=way: norm(fun, x, way), x)[0](1.0) for way in (True, False))
        onp.testing.assert_allclose(batch, loop, rtol=1e-9, atol=1e-9 * (1 + onp.max(abs(loop))))
        batch, loop = (push_along(lambda x, fun=fun, way=way: norm(fun, x, way), x)(x)[1] for way in (True, False))
        onp.testing.assert_allclose(batch, loop, rtol=1e-9, atol=1e-9 * (1 + abs(loop)))


# ------------------------------------------------------------------------------------------------------ the three names


@pytest.fixture
def always(monkeypatch):
    """Make batches of whatever number of rows."""
    monkeypatch.setattr(_jacobians, "FEWEST", 1)


@pytest.fixture
def strict(monkeypatch, always):
    """The same, and let no error of a batch pass in silence."""

    def in_batches(rows_of, n, size):
        return rows_of(0, n)

    monkeypatch.setattr(_jacobians, "_in_batches", in_batches)


def one_by_one(monkeypatch, operator, fun, x):
    """Give what an operator gives without batches."""
    with monkeypatch.context() as context:
        context.setattr(_jacobians, "_in_batches", lambda rows_of, n, size: None)
        return operator(fun)(x)


def differences(fun, x, step=1e-6):
    """The Jacobian of a real function of a real array by central differences."""
    x = onp.asarray(x, float)
    columns = []
    for index in onp.ndindex(x.shape):
        moved = onp.zeros(x.shape)
        moved[index] = step
        columns.append((fun(x + moved) - fun(x - moved)) / (2 * step))
    columns = onp.moveaxis(onp.array(columns), 0, -1)
    return columns.reshape(columns.shape[:-1] + x.shape)


RNG = onp.random.default_rng(5)
TALL, WIDE, SQUARE = (RNG.standard_normal(shape) for shape in ((30, 4), (4, 30), (9, 9)))


def layer(weights):
    return lambda x: np.tanh(np.dot(weights, x)) * x[0]


@pytest.mark.parametrize("operator", [jacobian, jacfwd, jacrev])
@pytest.mark.parametrize("weights", [TALL, WIDE, SQUARE], ids=["tall", "wide", "square"])
def test_jacobian_against_differences(operator, weights):
    x = RNG.standard_normal(weights.shape[1])
    result = operator(layer(weights))(x)
    assert result.shape == weights.shape
    onp.testing.assert_allclose(result, differences(layer(weights), x), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("operator", [jacobian, jacfwd, jacrev])
def test_axes_of_value_then_of_argument(operator):
    def fun(x):
        return np.einsum("ij,kj->ik", x, x * x)[:, :2] * np.ones((3, 1, 1))

    x = RNG.standard_normal((4, 2))
    result = operator(fun)(x)
    assert result.shape == (3, 4, 2, 4, 2)
    onp.testing.assert_allclose(result, differences(fun, x), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("operator", [jacobian, jacfwd, jacrev])
def test_argnum(operator):
    result = operator(lambda a, x: a * np.sin(x), 1)(2.0, onp.arange(10.0))
    onp.testing.assert_allclose(result, 2 * onp.diag(onp.cos(onp.arange(10.0))))


@pytest.mark.parametrize("dtype", "fdFD")
@pytest.mark.parametrize("operator", [jacobian, jacfwd, jacrev])
@pytest.mark.parametrize("to", ["same", "real", "complex", "double"])
def test_dtypes_are_those_of_the_loop(monkeypatch, dtype, operator, to):
    ends = {
        "same": lambda y: y,
        "real": lambda y: np.real(y) + np.imag(y),
        "complex": lambda y: y * onp.complex64(1 + 2j),
        "double": lambda y: y * onp.arange(20.0),
    }
    x = RNG.standard_normal(9).astype(dtype) + (1j if dtype in "FD" else 0)
    x = x.astype(dtype)
    weights = RNG.standard_normal((20, 9)).astype(dtype)
    fun = lambda x: ends[to](np.conj(np.dot(weights, x)) * np.sin(x[0]))  # noqa: E731
    loop = one_by_one(monkeypatch, jacrev, fun, x)
    result = operator(fun)(x)
    assert result.shape == loop.shape and result.dtype == loop.dtype
    onp.testing.assert_allclose(result, loop, rtol=2e-5 if dtype in "fF" else 1e-12, atol=1e-5)


@pytest.mark.parametrize("operator", [jacobian, jacfwd, jacrev])
@pytest.mark.parametrize("x", [0.5, onp.float64(0.5), onp.array(0.5), onp.float32(0.5), 0.5 + 1j], ids=repr)
def test_a_number_as_argument(always, operator, x):
    scale = onp.arange(12.0).reshape(3, 4)
    result = operator(lambda x: np.sin(x) * scale)(x)
    assert result.shape == (3, 4)
    onp.testing.assert_allclose(result, onp.cos(x) * scale, rtol=1e-6)


@pytest.mark.parametrize("operator", [jacobian, jacfwd, jacrev])
def test_a_number_as_value(always, operator):
    x = onp.arange(10.0)
    onp.testing.assert_allclose(operator(lambda x: np.sum(x * x))(x), 2 * x)
    onp.testing.assert_allclose(operator(lambda x: x[3] * x[4])(x), [0, 0, 0, 4, 3, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("operator", [jacobian, jacfwd, jacrev])
def test_nothing_in_and_nothing_out(operator):
    assert operator(lambda x: np.sin(x))(onp.zeros((0, 2))).shape == (0, 2, 0, 2)
    assert operator(lambda x: np.sin(x)[:0])(onp.ones(12)).shape == (0, 12)
    assert operator(lambda x: np.sum(x) * onp.ones(12))(onp.zeros(0)).shape == (12, 0)


@pytest.mark.parametrize("operator", [jacobian, jacfwd, jacrev])
def test_the_value_does_not_depend_on_the_argument(operator):
    result = operator(lambda x: onp.ones(10))(onp.ones(3))
    assert not result.any() and result.shape == (10, 3)
    result[0, 0] = 1  # it is an array of its own


@pytest.mark.parametrize("operator", [jacobian, jacfwd, jacrev])
def test_what_comes_out_can_be_written_to(operator):
    for fun in (lambda x: x, lambda x: np.broadcast_to(x, (20, 10)), lambda x: np.mean(x) * onp.ones(20)):
        result = operator(fun)(onp.arange(10.0))
        result += 1
        onp.testing.assert_allclose(operator(fun)(onp.arange(10.0)), result - 1)


def test_an_argument_of_integers(monkeypatch):
    x = onp.arange(10)
    onp.testing.assert_allclose(jacfwd(lambda x: x * 0.5)(x), 0.5 * onp.eye(10))
    onp.testing.assert_allclose(jacobian(lambda x: x * 0.5)(x), 0.5 * onp.eye(10))


@pytest.mark.parametrize("operator", [jacobian, jacfwd, jacrev])
def test_lists_have_no_jacobian(operator):
    with pytest.raises(TypeError, match="array"):
        operator(lambda x: [x, x])(onp.ones(9))
    with pytest.raises(TypeError, match="array"):
        operator(lambda x: x[0] * x[1])([onp.ones(9), onp.ones(9)])


# ------------------------------------------------------------------------------------------------- the choice of a mode


def test_forward_mode_for_few_inputs():
    calls = []

    @primitive
    def both(x):
        return onp.sin(x)

    defvjp(both, lambda ans, x: lambda g: calls.append("VJP") or g * np.cos(x))
    defjvp(both, lambda g, ans, x: calls.append("JVP") or g * np.cos(x))
    jacobian(lambda x: both(np.dot(TALL, x)))(onp.ones(4))
    assert set(calls) == {"JVP"}
    calls.clear()
    jacobian(lambda x: both(np.dot(WIDE, x)))(onp.ones(30))
    assert set(calls) == {"VJP"}


def test_reverse_mode_where_there_is_no_jvp():
    @primitive
    def one_way(x):
        return onp.sin(x)

    defvjp(one_way, lambda ans, x: lambda g: g * np.cos(x))
    fun, x = (lambda x: one_way(np.dot(TALL, x))), onp.ones(4)
    onp.testing.assert_allclose(jacobian(fun)(x), onp.cos(TALL @ x)[:, None] * TALL)
    with pytest.raises(NotImplementedError, match="one_way"):
        jacfwd(fun)(x)


def test_a_function_that_raises_says_so():
    def fun(x):
        raise KeyError("a mistake of the user's")

    for operator in (jacobian, jacfwd, jacrev, hessian):
        with pytest.raises(KeyError, match="a mistake of the user's"):
            operator(fun)(onp.ones(10))


def test_how_often_the_function_is_called():
    calls = []

    def fun(weights):
        return lambda x: calls.append(0) or np.tanh(np.dot(weights, x))

    for operator, weights, n in ((jacobian, TALL, 2), (jacobian, WIDE, 1), (jacrev, TALL, 1), (jacfwd, TALL, 1)):
        calls.clear()
        operator(fun(weights))(onp.ones(weights.shape[1]))
        assert len(calls) == n
    calls.clear()
    hessian(lambda x: np.sum(fun(TALL)(x)))(onp.ones(4))
    assert len(calls) == 1


def test_a_random_function_has_one_jacobian():
    rng = onp.random.default_rng(0)

    def fun(x):
        return np.sum(x) * rng.standard_normal() * onp.ones(40)

    for n in (5, 30):
        result = jacobian(fun)(onp.ones(n))
        assert (result == result[0, 0]).all()


# ------------------------------------------------------------------------------------------------------------- hessians


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@pytest.mark.parametrize("n", [2, 5, 30])
def test_hessian_against_differences(n):
    x = RNG.standard_normal(n)
    result = hessian(rosenbrock)(x)
    onp.testing.assert_allclose(result, differences(grad(rosenbrock), x), rtol=1e-5, atol=1e-4)
    onp.testing.assert_allclose(result, result.T, rtol=1e-12)


def test_hessian_shapes():
    x = RNG.standard_normal((3, 4))
    assert hessian(lambda x: np.sum(np.sin(x) ** 2))(x).shape == (3, 4, 3, 4)
    assert hessian(lambda x: np.sin(x[:2]) * x[2])(x).shape == (2, 4, 3, 4, 3, 4)
    assert hessian(lambda x: np.sin(x) * x)(0.5).shape == ()
    onp.testing.assert_allclose(hessian(np.sin)(0.5), -onp.sin(0.5))


def test_hessian_of_a_vector_valued_function():
    fun, x = (lambda x: np.sin(np.dot(SQUARE, x)) * x[0]), RNG.standard_normal(9)
    onp.testing.assert_allclose(hessian(fun)(x), differences(jacobian(fun), x), rtol=1e-6, atol=1e-6)


def test_hessian_of_a_determinant(strict):
    def fun(x):
        a = np.dot(x, x.T) + 3 * onp.eye(3)
        return np.linalg.slogdet(a)[1] + np.sum(np.linalg.eigh(a)[0] ** 2) + np.sum(np.linalg.svd(a)[1] ** 3)

    x = RNG.standard_normal((3, 3))
    onp.testing.assert_allclose(hessian(fun)(x), differences(grad(fun), x), rtol=1e-5, atol=1e-5)


# -------------------------------------------------------------------------------------------------------------- nesting


def test_jacobian_of_a_jacobian_in_every_mixture():
    fun, x = (lambda x: np.tanh(np.dot(SQUARE, x)) * x), RNG.standard_normal(9)
    expected = differences(jacobian(fun), x)
    for outer in (jacfwd, jacrev, jacobian):
        for inner in (jacfwd, jacrev, jacobian):
            onp.testing.assert_allclose(outer(inner(fun))(x), expected, rtol=1e-6, atol=1e-6)


def test_three_deep():
    fun, x = (lambda x: np.sum(np.sin(x * x[0]))), RNG.standard_normal(8)
    expected = differences(hessian(fun), x)
    onp.testing.assert_allclose(jacobian(hessian(fun))(x), expected, rtol=1e-5, atol=1e-6)
    onp.testing.assert_allclose(jacfwd(hessian(fun))(x), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("operator", [jacobian, jacfwd, jacrev])
@pytest.mark.parametrize("weights", [TALL, WIDE, SQUARE], ids=["tall", "wide", "square"])
def test_derivatives_of_a_function_of_a_jacobian(operator, weights):
    x = RNG.standard_normal(weights.shape[1])
    norm = lambda x: np.sum(np.sin(operator(layer(weights))(x)))  # noqa: E731
    slope = differences(norm, x)
    onp.testing.assert_allclose(grad(norm)(x), slope, rtol=1e-5, atol=1e-6)
    v = RNG.standard_normal(x.shape)
    onp.testing.assert_allclose(make_jvp(norm)(x)(v)[1], slope @ v, rtol=1e-5, atol=1e-6)
    moved = make_jvp(operator(layer(weights)))(x)(v)[1]
    onp.testing.assert_allclose(moved, differences(operator(layer(weights)), x) @ v, rtol=1e-5, atol=1e-6)


def test_a_jacobian_that_closes_over_an_outer_variable():
    x = RNG.standard_normal(9)

    def fun(scale):
        return np.sum(jacobian(lambda x: np.tanh(np.dot(SQUARE, x) * scale))(x) ** 2)

    onp.testing.assert_allclose(grad(fun)(0.7), differences(fun, 0.7), rtol=1e-6)
    onp.testing.assert_allclose(hessian(fun)(0.7), differences(grad(fun), 0.7), rtol=1e-6)


def test_hessian_inside_a_gradient():
    fun, x = (lambda x: np.sum(hessian(rosenbrock)(x) ** 2)), 0.1 * RNG.standard_normal(9)
    onp.testing.assert_allclose(grad(fun)(x), differences(fun, x), rtol=1e-6, atol=1e-3)


# -------------------------------------------------------------------------------------------- what must see single rows


def scaled(x, rule):
    """A primitive of the user's, the identity, with a pullback or a pushforward of the user's."""
    fun = primitive(lambda x: 1.0 * x)
    defvjp(fun, lambda ans, x: rule)
    defjvp(fun, lambda g, ans, x: rule(g))
    return fun(x)


RULES = {
    "decides": lambda g: g * 2 if g[0] > 0 else g,
    "clips": lambda g: np.clip(g, -0.5, 0.5),
    "asks for the plain value": lambda g: g * float(onp.sum(getval(g))),
    "normalises": lambda g: g / np.max(np.abs(g)),
    "counts": lambda g: g * np.count_nonzero(g),
    "sorts": lambda g: np.sort(g),
    "plain numpy": lambda g: onp.array([float(v) for v in getval(g)]) * 2,
}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("operator", [jacfwd, jacrev])
def test_rules_of_users_see_rows(monkeypatch, strict, operator, rule):
    fun = lambda x: scaled(np.dot(SQUARE, x), rule) * x[0]  # noqa: E731
    x = RNG.standard_normal(9)
    loop = one_by_one(monkeypatch, operator, fun, x)
    onp.testing.assert_allclose(operator(fun)(x), loop, rtol=1e-12, atol=1e-12)


def test_rules_of_users_in_every_form(monkeypatch, strict):
    @primitive
    def product(x, y):
        return x * y

    def maker(argnums, ans, args, kwargs):
        def pull(g):
            seen.append(g)
            return [g * args[1 - i] if np.sum(g) >= 0 else 0 * g for i in argnums]

        return pull

    seen = []
    defvjp_argnums(product, maker)
    fun, x = (lambda x: product(np.sin(x), np.dot(SQUARE, x))), RNG.standard_normal(9)
    result = jacrev(fun)(x)
    assert all(type(g) is onp.ndarray for g in seen) and len(seen) == 9
    onp.testing.assert_allclose(result, one_by_one(monkeypatch, jacrev, fun, x))


def test_batches_in_batches_reach_a_rule_of_the_users_row_by_row(monkeypatch):
    fun = lambda x: scaled(np.sin(np.dot(SQUARE, x)), lambda g: g * (2 if np.sum(g) > 0 else 3))  # noqa: E731
    x = RNG.standard_normal(9)
    loop = one_by_one(monkeypatch, lambda f: jacrev(jacrev(f)), fun, x)
    onp.testing.assert_allclose(jacrev(jacrev(fun))(x), loop, rtol=1e-12)
    onp.testing.assert_allclose(jacfwd(jacrev(fun))(x), loop, rtol=1e-12)


def test_a_replaced_vjp_of_a_node_sees_rows(monkeypatch):
    def fun(x):
        y = np.sin(x)
        y._node.vjp = lambda g: (g * 3 if g.sum() > 0 else g,)
        return np.dot(SQUARE, y)

    x = RNG.standard_normal(9)
    onp.testing.assert_allclose(jacrev(fun)(x), one_by_one(monkeypatch, jacrev, fun, x))


def test_fixed_points_iterate_for_each_row(monkeypatch):
    def fun(a):
        step = lambda a: lambda x: np.cos(x) * a * 0.5  # noqa: E731
        return fixed_point(step, a, onp.zeros(9), lambda x, y: np.max(np.abs(x - y)), 1e-12)

    a = RNG.uniform(0.2, 0.9, 9)
    for operator in (jacfwd, jacrev):
        result = operator(fun)(a)
        onp.testing.assert_allclose(result, differences(fun, a), rtol=1e-6, atol=1e-8)


def test_checkpoint(strict):
    calls = []
    block = checkpoint(lambda x: calls.append(0) or np.tanh(np.dot(SQUARE, x)))
    x = RNG.standard_normal(9)
    expected = jacrev(lambda x: np.tanh(np.dot(SQUARE, x)) * x[0])(x)
    for operator in (jacfwd, jacrev):
        calls.clear()
        onp.testing.assert_allclose(operator(lambda x: block(x) * x[0])(x), expected)
        assert len(calls) == 2


@pytest.mark.parametrize("operator", [jacfwd, jacrev])
def test_containers_go_in_batches(strict, operator):
    def fun(x):
        pair = tuple((np.sin(x), x * x[0]))
        state = dict({"a": pair[0] * pair[1], "b": list([pair[0], x[1]])})
        return state["a"] * state["b"][1] + np.sum(state["b"][0])

    x = RNG.standard_normal(9)
    onp.testing.assert_allclose(operator(fun)(x), differences(fun, x), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("operator", [jacfwd, jacrev])
def test_a_type_of_the_users_goes_row_by_row(operator):
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    class PairBox(Box):
        pass

    class PairSpace(VSpace):
        def __init__(self, value):
            self.n = len(value.a)

        def zeros(self):
            return Pair(onp.zeros(self.n), onp.zeros(self.n))

        def _add(self, x, y):
            return Pair(x.a + y.a, x.b + y.b)

    PairBox.register(Pair)
    PairSpace.register(Pair)
    make, first = primitive(lambda x: Pair(x, 2 * x)), primitive(lambda pair: pair.a * pair.b)
    defvjp(make, lambda ans, x: lambda g: g.a + 2 * g.b)
    defvjp(first, lambda ans, pair: lambda g: Pair(g * getval(pair).b, g * getval(pair).a))
    defjvp(make, lambda g, ans, x: Pair(g, 2 * g))
    defjvp(first, lambda g, ans, pair: g.a * pair.b + pair.a * g.b)
    x = RNG.standard_normal(9)
    result = operator(lambda x: first(make(np.sin(x))))(x)
    onp.testing.assert_allclose(result, onp.diag(4 * onp.sin(x) * onp.cos(x)), atol=1e-12)


def test_an_instrumented_pass_sees_rows(monkeypatch):
    from fastgrad import core

    seen = []

    def add(previous, g):
        seen.append(g)
        return core_add(previous, g)

    core_add = core.add_outgrads
    x = RNG.standard_normal(9)
    expected = jacrev(lambda x: np.dot(SQUARE, np.sin(x)) * x)(x)
    monkeypatch.setattr(core, "add_outgrads", add)
    onp.testing.assert_allclose(jacrev(lambda x: np.dot(SQUARE, np.sin(x)) * x)(x), expected)
    assert seen and all(type(g) is onp.ndarray for g in seen)


def test_a_primitive_of_the_users_without_a_batch_rule(strict):
    # Called in a rule, on a batch: row by row.
    double = primitive(lambda x: onp.array([2 * v for v in x]))
    defvjp(double, lambda ans, x: lambda g: 2 * g)
    vjp, _ = make_vjp(lambda x: np.sin(x))(onp.arange(9.0))
    result = _jacobians.through(lambda g: double(vjp(g)), onp.eye(9), 10**9)
    onp.testing.assert_allclose(result, 2 * onp.diag(onp.cos(onp.arange(9.0))))


@pytest.mark.parametrize(
    "ask",
    [bool, float, getval, np.argmax, np.any, np.nonzero, np.isfinite, lambda g: g[0] > 0, lambda g: g == 0],
)
def test_a_batch_answers_for_no_single_row(ask):
    def linear(g):
        ask(g[0] if ask in (bool, float) else g)
        return g

    with pytest.raises((NotBatchable, TypeError)):
        _jacobians.through(linear, onp.eye(4), 10**9)


def test_a_batch_tells_what_holds_for_all_rows():
    def linear(g):
        assert np.shape(g) == g.shape == (4,) and np.ndim(g) == g.ndim == 1 and g.size == len(g) == 4
        assert g.dtype is np.result_type(g) is onp.dtype(float) and not np.iscomplexobj(g) and vspace(g).shape == (4,)
        return 3 * g

    onp.testing.assert_allclose(_jacobians.through(linear, onp.eye(4), 10**9), 3 * onp.eye(4))


# --------------------------------------------------------------------------------------------------------------- memory


@pytest.mark.parametrize("operator", [jacobian, jacfwd, jacrev])
def test_several_batches(monkeypatch, operator):
    fun, x = (lambda x: np.tanh(np.dot(SQUARE, x)) * x[0]), RNG.standard_normal(9)
    expected = operator(fun)(x)
    monkeypatch.setattr(_jacobians, "AIM", 1)
    for enough in (1, 2, 4, 8):
        monkeypatch.setattr(_jacobians, "ENOUGH", enough)
        onp.testing.assert_allclose(operator(fun)(x), expected, rtol=1e-12)


def test_smaller_batches_where_a_value_is_large(monkeypatch):
    sizes = []
    through = _jacobians.through

    def counted(linear, seeds, limit):
        sizes.append(len(seeds))
        return through(linear, seeds, limit)

    monkeypatch.setattr(_jacobians, "through", counted)
    fun, x = (lambda x: np.sum(np.sin(x[:, None] * onp.arange(50.0)), 1)), RNG.standard_normal(40)
    expected = jacrev(fun)(x)
    assert sizes == [40]
    monkeypatch.setattr(_jacobians, "LIMIT", 50 * 40 * 15)
    for operator in (jacrev, jacfwd):
        sizes.clear()
        onp.testing.assert_allclose(operator(fun)(x), expected)
        assert max(sizes[1:]) == 15 and sum(sizes[1:]) >= 40


def test_no_batch_where_a_single_row_is_too_large(monkeypatch):
    fun, x = (lambda x: np.sum(np.sin(x[:, None] * onp.arange(50.0)), 1)), RNG.standard_normal(20)
    expected = jacrev(fun)(x)
    monkeypatch.setattr(_jacobians, "LIMIT", 100)
    for operator in (jacrev, jacfwd, jacobian):
        onp.testing.assert_allclose(operator(fun)(x), expected)


def test_warnings_are_those_of_one_row():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = jacobian(lambda x: np.sqrt(x) * onp.ones(10))(onp.arange(1.0, 11.0))
    onp.testing.assert_allclose(result, onp.diag(0.5 / onp.sqrt(onp.arange(1.0, 11.0))))
