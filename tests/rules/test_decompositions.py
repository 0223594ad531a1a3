"""Decompositions beyond the table: phases, signs and equal values."""

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import grad, make_jvp, make_vjp


def draw(*shape, dtype="d"):
    entries = onp.random.standard_normal(shape)
    return entries + 1j * onp.random.standard_normal(shape) if dtype == "D" else entries


def orthogonal(n, dtype="d"):
    return onp.linalg.qr(draw(n, n, dtype=dtype))[0]


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def by_difference(fun, x, v, step=1e-5):
    return (fun(x + step * v) - fun(x - step * v)) / (2 * step)


def close(found, wanted, tol=1e-9):
    onp.testing.assert_allclose(found, wanted, rtol=tol, atol=tol)


# ---------------------------------------------------------------------------------------------------- what is not fixed


@pytest.mark.parametrize("name, dtype", [("eig", "d"), ("eig", "D"), ("eigh", "d"), ("eigh", "D"), ("svd", "d")])
def test_phases_and_signs_are_held_as_autograd_holds_them(name, dtype):
    autograd = pytest.importorskip("autograd", reason="the comparison needs autograd itself")
    theirs = pytest.importorskip("autograd.numpy.linalg")
    a = draw(3, 3, dtype=dtype)
    options = {"full_matrices": False} if name == "svd" else {}
    for i, part in enumerate(getattr(onp.linalg, name)(a, **options)):
        g = draw(*part.shape, dtype=part.dtype.char)
        ours, expected = [
            make(lambda x, module=module, i=i: getattr(module, name)(x, **options)[i])(a)[0](g)
            for make, module in ((make_vjp, np.linalg), (autograd.make_vjp, theirs))
        ]
        close(ours, expected)


@pytest.mark.parametrize("dtype", ["d", "D"])
def test_tangents_of_singular_vectors_keep_them_orthonormal(dtype):
    a, v = draw(5, 3, dtype=dtype), draw(5, 3, dtype=dtype)
    (u, s, vh), (du, ds, dvh) = make_jvp(np.linalg.svd)(a)(v)
    for x, dx in ((u, du), (adjoint(vh), adjoint(dvh))):
        turn = adjoint(x) @ dx
        close(turn, -adjoint(turn))
    close((du[:, :3] * s) @ vh + (u[:, :3] * ds) @ vh + (u[:, :3] * s) @ dvh, v)


# --------------------------------------------------------------------------------------------------------- equal values


@pytest.mark.parametrize("dtype", ["d", "D"])
@pytest.mark.parametrize("values", [(1.0, 1.0, 2.0), (1.0, 1.0, 1.0), (0.0, 0.0, 3.0)])
def test_the_trace_of_a_function_of_a_matrix_with_equal_eigenvalues(values, dtype):
    q = orthogonal(3, dtype)
    a = (q * onp.array(values)) @ adjoint(q)
    slopes = (q * onp.exp(values)) @ adjoint(q)

    def by_values(x):
        return np.sum(np.exp(np.linalg.eigvalsh((x + adjoint(x)) / 2)))

    def by_matrix(x):
        w, v = np.linalg.eigh((x + adjoint(x)) / 2)
        return np.real(np.trace((v * np.exp(w)) @ adjoint(v)))

    tangent = draw(3, 3, dtype=dtype)
    for fun in (by_values, by_matrix):
        close(grad(fun)(a), onp.conj(slopes))
        close(make_jvp(fun)(a)(tangent)[1], onp.sum(onp.conj(slopes) * tangent).real)


def test_the_sum_of_the_eigenvalues_of_an_identity_matrix():
    for fun in (np.linalg.eigvals, np.linalg.eigvalsh, lambda x: np.linalg.eig(x)[0], lambda x: np.linalg.eigh(x)[0]):
        # Since NumPy 2.5 eig and eigvals are always complex.
        close(grad(lambda x, fun=fun: np.real(np.sum(fun(x))))(onp.eye(3)), onp.eye(3))


@pytest.mark.parametrize("dtype", ["d", "D"])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
def test_the_unitary_factor_of_a_matrix_with_equal_singular_values(shape, dtype):
    k = min(shape)
    a = 2 * orthogonal(shape[0], dtype)[:, :k] @ orthogonal(shape[1], dtype)[:k]

    def unitary(x):
        u, _, vh = np.linalg.svd(x, full_matrices=False)
        return u @ vh

    v, g = draw(*shape, dtype=dtype), draw(*shape, dtype=dtype)
    wanted = by_difference(unitary, a, v)
    close(make_jvp(unitary)(a)(v)[1], wanted, 1e-7)
    close(onp.sum(make_vjp(unitary)(a)[0](g) * v).real, onp.sum(g * wanted).real, 1e-7)


@pytest.mark.parametrize("dtype", ["d", "D"])
def test_smooth_functions_of_a_matrix_of_low_rank(dtype):
    a = draw(4, 1, dtype=dtype) @ draw(1, 3, dtype=dtype)

    def squares(x):
        return np.sum(np.linalg.svd(x, full_matrices=False)[1] ** 2)

    def rebuilt(x):
        u, s, vh = np.linalg.svd(x, full_matrices=False)
        return np.sum(np.abs((u * s) @ vh) ** 2)

    close(grad(squares)(a), 2 * onp.conj(a))
    assert onp.all(onp.isfinite(grad(rebuilt)(a)))


def test_eigenvalues_keep_their_order_where_lapack_changes_it():
    n = 150
    rng = onp.random.default_rng(0)
    for _ in range(10):
        a = rng.standard_normal((n, n))
        w, found = onp.linalg.eigvals(a), onp.linalg.eig(a)[0]
        if abs(w - found).max() > 1e-6:
            break
    else:
        pytest.skip("this LAPACK keeps the order of the matrices tried")
    weights, v = rng.standard_normal(n), rng.standard_normal((n, n))

    def weighted(x):
        return np.sum(weights * np.real(np.linalg.eigvals(x)))

    _, vectors = onp.linalg.eig(a)
    left = onp.linalg.inv(vectors)
    slopes = onp.einsum("ki,ij,jk->k", left, v, vectors)
    order = [int(onp.argmin(abs(found - value))) for value in w]
    wanted = onp.sum(weights * slopes[order].real)
    close(onp.sum(grad(weighted)(a) * v), wanted, 1e-6)
    close(make_jvp(weighted)(a)(v)[1], wanted, 1e-6)
