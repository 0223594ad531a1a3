"""Convolution in any number of dimensions beyond the table."""

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import grad
from fastgrad.scipy import signal


def test_convolution_is_numpys():
    a, b = onp.array([1.0, 2.0, -1.0, 0.5]), onp.array([0.5, 1.0, 3.0])
    for mode in ("full", "same", "valid"):
        onp.testing.assert_allclose(signal.convolve(a, b, mode=mode), onp.convolve(a, b, mode))
    onp.testing.assert_allclose(signal.convolve(b, a, mode="valid"), onp.convolve(b, a, "valid"))
    assert signal.convolve(onp.arange(3), onp.arange(2)).dtype == onp.arange(3).dtype


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_both_ways_to_convolve_agree(mode):
    rng = onp.random.default_rng(0)
    A, B = rng.standard_normal((4, 6, 2, 7)), rng.standard_normal((3, 2, 4, 2))
    axes, _ = signal.parse_axes(A.shape, B.shape, ([3, 1], [2, 0]), ([2], [1]), mode)
    gathered = signal._gather(A, B, axes["A"], axes["B"], mode)
    assert gathered.shape[:2] == (4, 2)
    onp.testing.assert_allclose(signal._scatter(A, B, axes["A"], axes["B"], mode), gathered)
    onp.testing.assert_allclose(signal.convolve(A, B, ([3, 1], [2, 0]), ([2], [1]), mode), gathered)


def test_convolution_names_what_it_cannot_do():
    with pytest.raises(ValueError, match="at least as large"):
        signal.convolve(onp.ones((4, 2)), onp.ones((2, 3)), mode="valid")
    with pytest.raises(ValueError, match="mode must be"):
        signal.convolve(onp.ones(3), onp.ones(2), mode="circular")


def test_axes_of_a_convolution():
    axes, shapes = signal.parse_axes((4, 2, 3), (3, 3, 2), ([0], [1]), ([1], [2]), "full")
    assert axes["A"] == {"conv": (0,), "dot": (1,), "ignore": (2,)}
    assert axes["out"] == {"ignore_A": (0,), "ignore_B": (1,), "conv": (2,)}
    assert shapes["out"] == {"ignore_A": (3,), "ignore_B": (3,), "conv": (6,)}
    x = onp.arange(6.0).reshape(2, 3)
    onp.testing.assert_array_equal(x[signal.flipped_idxs(2, [1])], x[:, ::-1])
    pulled = signal.grad_convolve(0, None, x[0], x[1])(onp.ones(5))
    onp.testing.assert_allclose(pulled, grad(lambda a: np.sum(signal.convolve(a, x[1])))(x[0]))
