"""Batches of rows of a Jacobian: where single rows are needed instead, and how much memory a batch may take."""

import warnings

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import (
    checkpoint,
    dict,
    jacfwd,
    jacobian,
    jacrev,
    list,
    make_vjp,
    tuple,
)
from fastgrad._engine.core import NotBatchable
from fastgrad._jacobians import jacobians as _jacobians
from fastgrad.core import vspace
from fastgrad.extend import Box, VSpace, defjvp, defvjp, defvjp_argnums, primitive
from fastgrad.misc.fixed_points import fixed_point
from fastgrad.tracer import getval

pytestmark = pytest.mark.filterwarnings("ignore:Output seems independent of input")


@pytest.fixture
def always(monkeypatch):
    """Use batches for any number of rows."""
    monkeypatch.setattr(_jacobians, "MIN_ROWS", 1)


@pytest.fixture
def strict(monkeypatch, always):
    """Use batches for any number of rows, and raise the errors of a batch."""

    def in_batches(rows_of, n, size):
        return rows_of(0, n)

    monkeypatch.setattr(_jacobians, "_in_batches", in_batches)


def one_by_one(monkeypatch, operator, fun, x):
    """Return the result of an operator that uses no batches."""
    with monkeypatch.context() as context:
        context.setattr(_jacobians, "_in_batches", lambda rows_of, n, size: None)
        return operator(fun)(x)


def differences(fun, x, step=1e-6):
    """Return the Jacobian of a real function of a real array by central differences."""
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


def scaled(x, rule):
    """Return an identity as a user's primitive, with a pullback or a pushforward of the user's."""
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
    # A primitive without a batch rule that a rule calls on a batch is called row by row.
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


@pytest.mark.parametrize("operator", [jacobian, jacfwd, jacrev])
def test_several_batches(monkeypatch, operator):
    fun, x = (lambda x: np.tanh(np.dot(SQUARE, x)) * x[0]), RNG.standard_normal(9)
    expected = operator(fun)(x)
    monkeypatch.setattr(_jacobians, "ELEMENTS_IN_CACHE", 1)
    for enough in (1, 2, 4, 8):
        monkeypatch.setattr(_jacobians, "ROWS_OF_LARGE_BATCH", enough)
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
    monkeypatch.setattr(_jacobians, "MAX_ELEMENTS", 50 * 40 * 15)
    for operator in (jacrev, jacfwd):
        sizes.clear()
        onp.testing.assert_allclose(operator(fun)(x), expected)
        assert max(sizes[1:]) == 15 and sum(sizes[1:]) >= 40


def test_no_batch_where_a_single_row_is_too_large(monkeypatch):
    fun, x = (lambda x: np.sum(np.sin(x[:, None] * onp.arange(50.0)), 1)), RNG.standard_normal(20)
    expected = jacrev(fun)(x)
    monkeypatch.setattr(_jacobians, "MAX_ELEMENTS", 100)
    for operator in (jacrev, jacfwd, jacobian):
        onp.testing.assert_allclose(operator(fun)(x), expected)


def test_warnings_are_those_of_one_row():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = jacobian(lambda x: np.sqrt(x) * onp.ones(10))(onp.arange(1.0, 11.0))
    onp.testing.assert_allclose(result, onp.diag(0.5 / onp.sqrt(onp.arange(1.0, 11.0))))
