"""Items and slices: indices of all kinds, twice, and roots that serve two traces."""

import numpy as onp
import pytest

import fastgrad.core as core
import fastgrad.numpy as np
from fastgrad import grad
from fastgrad.tracer import trace


def same_numbers(found, wanted):
    found, wanted = onp.asarray(found), onp.asarray(wanted)
    assert found.dtype == wanted.dtype
    onp.testing.assert_array_equal(found, wanted)
    if found.dtype.kind == "f":
        held = ~onp.isnan(found)
        assert onp.array_equal(onp.signbit(found) & held, onp.signbit(wanted) & held)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint64", "intp"])
def test_small_integer_types_index_long_axes(dtype):
    index = onp.array([0, 5], dtype)
    found = grad(lambda x: np.sum(x[index] ** 2))(onp.arange(300.0))
    assert found[5] == 10.0 and onp.count_nonzero(found) == 1


@pytest.mark.parametrize("first, second", [(5, 3), (3, 5)])
def test_a_root_may_serve_two_traces(first, second):
    root = core.VJPNode.new_root()
    for n in (first, second):
        _, end = trace(root, lambda x, n=n: x[n - 1] * 2.0 + x[0], onp.arange(float(n)))
        found = core.backward_pass(1.0, end)
        assert onp.array_equal(found, [1.0] + [0.0] * (n - 2) + [2.0])


@pytest.mark.parametrize(
    "index",
    [
        [],
        [0, 0],
        [-1, 2],
        True,
        (0, onp.array([1, 1])),
        (Ellipsis, onp.array([1, -2])),
        (slice(None), onp.array([True, False, True])),
        ([0, 1], [1, 1]),
        onp.array([[0, 1], [1, 0]]),
        onp.array(1),
        onp.eye(3) > 0,
        (None, 1),
        (slice(None, None, -1), 0),
        ((0, 0), True),
        ((1, 1), onp.array([False, True, False])),
        (onp.array([False, True, False]), (0, 0)),
        ((1, 1), [0, 0]),
        ((0, 0),),
    ],
    ids=repr,
)
def test_indices_of_all_kinds_twice(index):
    x = onp.arange(9.0).reshape(3, 3) + 1
    wanted = onp.zeros((3, 3))
    onp.add.at(wanted, index, 2 * x[index])
    same_numbers(grad(lambda x: np.sum(x[index] ** 2))(x), wanted)
    same_numbers(grad(lambda x: np.sum(x[index] ** 2) + np.sum(x[index] ** 2))(x), 2 * wanted)
