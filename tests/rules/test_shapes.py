"""Functions that move entries beyond the table: each entry's cotangent comes back to it."""

import numpy as onp

import fastgrad.numpy as np
from fastgrad import grad
from fastgrad.test_util import check_grads


def draw(*shape):
    return onp.random.randn(*shape)


def test_elements_that_move_come_back():
    x = draw(2, 3)
    assert onp.array_equal(grad(lambda x: np.sum(np.delete(x, 1, axis=1)))(x), [[1.0, 0.0, 1.0]] * 2)
    assert onp.array_equal(grad(lambda v: np.sum(np.insert(x, 1, v, axis=1)))(0.5), 2.0)
    assert onp.array_equal(grad(lambda x: np.sum(np.resize(x, 8)))(x), [[2.0, 2.0, 1.0], [1.0, 1.0, 1.0]])
    places = onp.array([[0, 0, 1]])
    assert onp.array_equal(
        grad(lambda x: np.sum(np.take_along_axis(x, places, 0)))(x), [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    )


def test_coordinates_from_vectors():
    def f(x, y):
        a, b = np.meshgrid(x, y)
        return np.sum(a * b**2)

    x, y = draw(3), draw(2)
    check_grads(f, (0, 1))(x, y)
    assert onp.allclose(grad(f)(x, y), onp.full(3, onp.sum(y**2)))
