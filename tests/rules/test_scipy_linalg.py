"""`scipy.linalg` beyond the table."""

import numpy as onp
import pytest
import scipy.linalg
import scipy.special
import scipy.stats

import fastgrad.numpy as np
from fastgrad import grad, make_jvp, make_vjp
from fastgrad.scipy import linalg

MATRIX = onp.array([[2.0, 0.3, -0.2], [0.1, 1.5, 0.4], [0.3, -0.1, 1.8]])


def test_entries_that_a_triangular_solve_does_not_read_get_nothing():
    for lower in (False, True):
        for unit in (False, True):
            gradient = grad(lambda a, o=(0, lower, unit): np.sum(linalg.solve_triangular(a, onp.ones(3), *o)))(MATRIX)
            unread = onp.triu(onp.ones((3, 3)), 0 if unit else 1).astype(bool)
            assert onp.all(gradient[unread if lower else unread.T] == 0)


def test_triangular_solve_checks_its_trans():
    with pytest.raises((ValueError, KeyError)):
        grad(lambda a: np.sum(linalg.solve_triangular(a, onp.ones(3), "X")))(MATRIX)


VECTOR, BANDS = onp.array([0.5, -1.0, 2.0]), onp.array([[0.0, 0.2, 0.1], [2.0, 3.0, 4.0], [0.3, 0.1, 0.0]])
STACKED = {
    "expm": linalg.expm,
    "inv": linalg.inv,
    "det": linalg.det,
    "sqrtm": linalg.sqrtm,
    "block_diag": lambda a: linalg.block_diag(a, MATRIX),
    "solve": lambda a: linalg.solve(a, MATRIX),
    "solve for a vector": lambda a: linalg.solve(a, VECTOR),
    "triangular": lambda a: linalg.solve_triangular(a, MATRIX, 1),
    "triangular for a vector": lambda a: linalg.solve_triangular(a, VECTOR),
    "triangular in its right side": lambda b: linalg.solve_triangular(MATRIX, b),
    "sylvester": lambda a: linalg.solve_sylvester(a, MATRIX, MATRIX),
    "banded": lambda a: linalg.solve_banded((1, 1), np.multiply(a, BANDS) + BANDS, MATRIX),
    "banded for a vector": lambda a: linalg.solve_banded((1, 1), np.multiply(a, BANDS) + BANDS, VECTOR),
}


@pytest.mark.parametrize("name", STACKED)
def test_stacks_of_matrices(name):
    fun = STACKED[name]
    stack = onp.stack([MATRIX, MATRIX.T])
    try:
        values = fun(stack)
    except ValueError:
        pytest.skip("this SciPy takes one matrix at a time")
    if onp.shape(values)[1:] != onp.shape(fun(stack[0])):
        pytest.skip("this SciPy takes one matrix at a time")
    together, _ = make_vjp(fun)(stack)
    pulled = together(onp.cos(values))
    onp.testing.assert_allclose(pulled, [make_vjp(fun)(a)[0](onp.cos(v)) for a, v in zip(stack, values, strict=True)])
    tangents = onp.sin(onp.arange(18.0)).reshape(2, 3, 3)
    pushed = make_jvp(fun)(stack)(tangents)[1]
    assert onp.sum(pushed * onp.cos(values)) == pytest.approx(onp.sum(pulled * tangents))


def test_options_without_a_derivative_are_refused():
    with pytest.raises(NotImplementedError, match="'assume_a'"):
        grad(lambda a: np.sum(linalg.solve(a, onp.ones(3), assume_a="sym")))(MATRIX)


def test_det_of_a_singular_matrix():
    singular = onp.array([[1.0, 2.0], [2.0, 4.0]])
    onp.testing.assert_allclose(grad(linalg.det)(singular), [[4.0, -2.0], [-2.0, 1.0]])


def test_square_root_of_a_real_matrix_with_a_complex_root():
    a = onp.array([[-1.0, 0.3], [0.2, 2.0]])
    assert onp.iscomplexobj(linalg.sqrtm(a))
    gradient = grad(lambda a: np.sum(np.imag(linalg.sqrtm(a))))(a)
    h = 1e-6
    moved = [onp.imag(scipy.linalg.sqrtm(a + s * h * onp.eye(2))).sum() for s in (1, -1)]
    assert not onp.iscomplexobj(gradient)
    assert onp.trace(gradient) == pytest.approx((moved[0] - moved[1]) / (2 * h), rel=1e-6)


def test_pullbacks_by_autograds_names():
    b = onp.array([1.0, 2.0, 3.0])
    x = linalg.solve_triangular(MATRIX, b)
    pulled = linalg.grad_solve_triangular(x, MATRIX, b)(onp.ones(3))
    onp.testing.assert_allclose(pulled, grad(lambda a: np.sum(linalg.solve_triangular(a, b)))(MATRIX))
    bands = onp.array([[0.0, 0.2, 0.1], [2.0, 3.0, 4.0]])
    x = linalg.solve_banded((0, 1), bands, b)
    for i, value in ((1, bands), (2, b)):
        expected = make_vjp(linalg.solve_banded, i)((0, 1), bands, b)[0](onp.ones(3))
        onp.testing.assert_allclose(linalg.grad_solve_banded(i, x, (0, 1), bands, b)(onp.ones(3)), expected)
        assert expected.shape == value.shape
