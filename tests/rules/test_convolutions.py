"""Convolutions beyond the table: every combination of lengths."""

import itertools

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import jacobian
from fastgrad.test_util import check_grads


def draw(*shape):
    return onp.random.randn(*shape)


@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("mode", ["full", "same", "valid", 0, 1, 2])
def test_every_combination_of_lengths(name, mode):
    fun, numpys = getattr(np, name), getattr(onp, name)
    for n, m in itertools.product(range(1, 6), repeat=2):
        a, v = draw(n), draw(m)
        by_basis = onp.stack([numpys(row, v, mode) for row in onp.eye(n)], -1)
        assert onp.allclose(jacobian(fun, 0)(a, v, mode), by_basis)
        by_basis = onp.stack([numpys(a, row, mode) for row in onp.eye(m)], -1)
        assert onp.allclose(jacobian(fun, 1)(a, v, mode), by_basis)


def test_autocorrelation():
    check_grads(lambda x: np.correlate(x, x, "full"))(draw(4) + 1j * draw(4))
    check_grads(lambda x: np.convolve(x, x))(draw(4))
