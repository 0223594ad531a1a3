"""Sorting and partitioning beyond the table."""

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import make_jvp, make_vjp
from fastgrad.test_util import check_grads

pytestmark = [
    pytest.mark.filterwarnings("error"),
    pytest.mark.filterwarnings("ignore:Output seems independent of input"),
]


def draw(*shape):
    return onp.random.randn(*shape)


@pytest.mark.parametrize("axis", [None, 0, 1, -1, -2, onp.int64(0)])
def test_sort_and_partition_along_any_axis(axis):
    x = onp.random.permutation(24).reshape(2, 3, 4) / 3.0
    check_grads(lambda x: np.sort(x, axis=axis))(x)
    check_grads(lambda x: np.partition(x, 1, axis=axis))(x)


@pytest.mark.parametrize("kth", [0, 40, -1, (3, 90)])
def test_partition_puts_each_cotangent_where_its_element_came_from(kth):
    x = onp.random.permutation(101).astype(float)
    g = onp.arange(101.0)
    vjp, ans = make_vjp(lambda x: np.partition(x, kth))(x)
    assert dict(zip(x, vjp(g), strict=True)) == dict(zip(ans, g, strict=True))


@pytest.mark.parametrize("kind", ["quicksort", "mergesort", "heapsort", "stable"])
def test_kinds_of_sort(kind):
    x = onp.array([[3.0, 1.0, 2.0], [1.0, 3.0, 2.0]])
    vjp, _ = make_vjp(lambda x: np.sort(x, kind=kind))(x)
    assert onp.array_equal(vjp(onp.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])), [[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]])


def test_sort_of_complex_numbers_and_of_ties():
    check_grads(np.sort)(onp.array([1 + 2j, 2 - 1j, -3j, 0.5]))
    x = onp.array([1.0, 0.0, 1.0, 0.0])
    g, v = onp.arange(4.0), draw(4)
    tangent = make_jvp(np.sort)(x)(v)[1]
    assert onp.isclose(onp.dot(make_vjp(np.sort)(x)[0](g), v), onp.dot(g, tangent))
