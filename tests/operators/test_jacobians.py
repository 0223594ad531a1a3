"""Jacobians and Hessians computed in batches are those computed row by row."""

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import (
    grad,
    hessian,
    jacfwd,
    jacobian,
    jacrev,
    make_jvp,
)
from fastgrad._jacobians import jacobians as _jacobians
from fastgrad.extend import defjvp, defvjp, primitive

pytestmark = pytest.mark.filterwarnings("ignore:Output seems independent of input")

# ------------------------------------------------------------------------------------------------------ the three names


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
    result[0, 0] = 1  # the result is an array of its own


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


# --------------------------------------------------------------------------------------------------------------- memory

X = onp.linspace(0.1, 1.9, 7)

# ------------------------------------------------------------------------------------------------------ random programs


def test_a_jacobian_uses_one_graph_for_all_rows():
    matrix = onp.arange(9.0).reshape(3, 3)
    found = jacobian(lambda x: -np.sin(np.dot(matrix, -np.exp(-x))))(X[:3])
    inner = matrix @ -onp.exp(-X[:3])
    onp.testing.assert_allclose(found, -onp.cos(inner)[:, None] * matrix * onp.exp(-X[:3]))
