"""Cumulative sums and products beyond the table: zeros, numbers and empty arrays."""

import math

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import jacobian, make_jvp, make_vjp
from fastgrad.test_util import check_grads

pytestmark = [
    pytest.mark.filterwarnings("error"),
    pytest.mark.filterwarnings("ignore:Output seems independent of input"),
]


def draw(*shape):
    return onp.random.randn(*shape)


def pulled(f, x):
    """Return the cotangent of x for a seed of ones."""
    vjp, ans = make_vjp(f)(x)
    return vjp(onp.ones_like(ans))


def like(x):
    return onp.shape(x), onp.result_type(x)


# ------------------------------------------------------------------------------------------------------------- products

ZEROS = onp.array([[[1.0, 0.0, 2.0], [3.0, -1.0, 0.0]], [[0.0, 0.0, 2.0], [0.5, 2.0, 1.5]]])


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_cumprod_of_an_array_with_zeros(axis):
    check_grads(lambda x: np.cumprod(x, axis=axis))(ZEROS)
    check_grads(lambda x: np.cumprod(x, axis=axis))(ZEROS + 1j * ZEROS[::-1])


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8])
def test_cumprod_after_a_zero(n):
    x = onp.arange(float(n))
    expected = [
        [math.prod(x[j] for j in range(k + 1) if j != i) if i <= k else 0.0 for i in range(n)] for k in range(n)
    ]
    assert onp.allclose(jacobian(np.cumprod)(x), expected, rtol=1e-12)
    pushed = onp.stack([make_jvp(np.cumprod)(x)(e)[1] for e in onp.eye(n)], 1)
    assert onp.allclose(pushed, expected, rtol=1e-12)


# -------------------------------------------------------------------------------------------------------- accumulations


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("axis", [None, 0, -1, -2, onp.int64(1)])
def test_accumulations(name, axis):
    check_grads(lambda x: getattr(np, name)(x, axis=axis))(draw(2, 3, 2))


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_accumulation_of_a_number_gives_a_vector(name):
    assert pulled(lambda x: getattr(np, name)(x), 3.0) == 1.0
    assert onp.array_equal(make_jvp(lambda x: getattr(np, name)(x))(3.0)(2.0)[1], [2.0])
