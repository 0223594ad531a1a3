"""The names that NumPy dropped and libraries still import from autograd.numpy."""

import builtins

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import grad
from fastgrad.numpy._namespace import expired
from fastgrad.test_util import check_grads


@pytest.fixture(autouse=True)
def in_autograds_place():
    expired.offer(True)
    yield
    expired.offer(False)


ALL = [*expired.RENAMED, *expired.PYTHONS, *expired.REWRITTEN]
X = onp.array([[3.0, 1.0, 0.5], [2.0, 5.0, -1.5]])


def old(name):
    """Return the object that a name stands for, whether or not NumPy still has it."""
    if name in vars(np):
        return getattr(np, name)
    with pytest.warns(DeprecationWarning, match=f"'{name}'") as warned:
        value = getattr(np, name)
    assert [warning.filename for warning in warned] == [__file__]
    return value


@pytest.mark.parametrize("name", ALL)
def test_the_name_is_there(name):
    value = old(name)
    if name not in vars(np):
        assert name not in np.__all__
    if name in expired.RENAMED and name not in vars(np):
        assert value is getattr(np, expired.RENAMED[name])
    elif name in expired.PYTHONS:
        assert value is getattr(builtins, name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Inf", onp.inf), ("infty", onp.inf), ("PINF", onp.inf), ("NINF", -onp.inf), ("PZERO", 0.0), ("NZERO", -0.0)],
)
def test_numbers(name, expected):
    value = old(name)
    assert (value, onp.signbit(value)) == (expected, onp.signbit(expected))


def test_types_and_nan():
    assert (old("float_"), old("complex_"), old("singlecomplex")) == (onp.float64, onp.complex128, onp.complex64)
    assert onp.isnan(old("NaN"))


@pytest.mark.parametrize(
    ("name", "call", "expected"),
    [
        ("trapz", lambda f, x: f(x, dx=0.5), [0.5 * (3.0 / 2 + 1.0 + 0.5 / 2), 0.5 * (2.0 / 2 + 5.0 - 1.5 / 2)]),
        ("product", lambda f, x: f(x, axis=0), [6.0, 5.0, -0.75]),
        ("cumproduct", lambda f, x: f(x, axis=1), [[3.0, 3.0, 1.5], [2.0, 10.0, -15.0]]),
        ("row_stack", lambda f, x: f([x, x[0]]), [[3.0, 1.0, 0.5], [2.0, 5.0, -1.5], [3.0, 1.0, 0.5]]),
        ("msort", lambda f, x: f(x), [[2.0, 1.0, -1.5], [3.0, 5.0, 0.5]]),
        ("asfarray", lambda f, x: f(x), X),
        ("asscalar", lambda f, x: f(x[:1, 1:2]), 1.0),
    ],
)
def test_functions_are_differentiable(name, call, expected):
    fun = old(name)
    onp.testing.assert_array_equal(call(fun, X), expected)
    check_grads(lambda x: call(fun, x))(X)


def test_constant_functions():
    in1d, alltrue, sometrue, round_ = old("in1d"), old("alltrue"), old("sometrue"), old("round_")
    assert in1d(X, [1.0, 5.0]).tolist() == [False, True, False, False, True, False]
    assert in1d(X, [1.0, 5.0], invert=True).tolist() == [True, False, True, True, False, True]
    assert grad(lambda x: np.sum(np.where(in1d(x, [1.0, 5.0]), np.ravel(x), 0.0)))(X).tolist() == [[0, 1, 0], [0, 1, 0]]
    assert (alltrue(X > 0), sometrue(X > 0)) == (False, True)
    assert round_(1.26, 1) == 1.3


def test_asfarray_casts():
    asfarray = old("asfarray")
    assert asfarray([1, 2]).dtype == asfarray(onp.float32([1.0])).dtype == asfarray([1], dtype=int).dtype == float
    assert asfarray([1], dtype="float32").dtype == "float32"
    assert grad(lambda x: np.sum(asfarray(x) * 2.0))(onp.float32([1.0, 2.0])).tolist() == [2.0, 2.0]


def test_other_names_are_as_unknown_as_ever():
    with pytest.raises(AttributeError, match="module 'fastgrad.numpy' has no attribute 'nothing'"):
        _ = np.nothing
    with pytest.raises(ImportError):
        from fastgrad.numpy import nothing  # noqa: F401
