"""``numpy.linalg`` where samples of regular matrices do not reach: singular matrices, equal values, results by name."""

import inspect

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import grad, hessian, jacobian, make_jvp, make_vjp
from fastgrad.test_util import check_grads
from fastgrad.tracer import isbox

BOTH = ["fwd", "rev"]


def draw(*shape, dtype="d"):
    entries = onp.random.standard_normal(shape)
    return entries + 1j * onp.random.standard_normal(shape) if dtype == "D" else entries


def orthogonal(n, dtype="d"):
    return onp.linalg.qr(draw(n, n, dtype=dtype))[0]


def close(found, wanted, tol=1e-9):
    onp.testing.assert_allclose(found, wanted, rtol=tol, atol=tol)


# ------------------------------------------------------------------------------------------------------ results by name

NAMED = {
    "eig": (np.linalg.eig, ("eigenvalues", "eigenvectors")),
    "eigh": (np.linalg.eigh, ("eigenvalues", "eigenvectors")),
    "svd": (np.linalg.svd, ("U", "S", "Vh")),
    "qr": (np.linalg.qr, ("Q", "R")),
    "slogdet": (np.linalg.slogdet, ("sign", "logabsdet")),
}
over_named = pytest.mark.parametrize("fun, fields", NAMED.values(), ids=NAMED)


@over_named
def test_a_traced_result_is_numpys_named_tuple(fun, fields):
    a = 3 * onp.eye(3) + draw(3, 3)
    plain = fun(a)
    value, tangent = make_jvp(fun)(a)(draw(3, 3))
    for result in (make_vjp(fun)(a)[1], value, tangent):
        assert type(result) is type(plain)
    assert type(plain)._fields == fields


@over_named
def test_fields_of_a_traced_result_go_by_name_place_and_unpacking(fun, fields):
    a = 3 * onp.eye(3) + draw(3, 3)
    for i, field in enumerate(fields):

        def by_name(x, field=field):
            return np.sum(np.abs(getattr(fun(x), field)) ** 3)

        def by_place(x, i=i):
            parts = [*fun(x)]
            assert all(map(isbox, parts)) and len(fun(x)) == len(parts)
            return np.sum(np.abs(parts[i]) ** 3)

        close(grad(by_name)(a), grad(by_place)(a))
        v = draw(3, 3)
        close(make_jvp(by_name)(a)(v)[1], onp.sum(grad(by_place)(a) * v))


def test_the_cotangent_of_a_result_is_the_sum_of_those_of_its_parts():
    a = draw(4, 3)
    parts = [draw(4, 3), draw(3), draw(3, 3)]
    result = onp.linalg.svd(a, full_matrices=False)
    whole = make_vjp(np.linalg.svd)(a, full_matrices=False)[0](type(result)(*parts))
    alone = [make_vjp(lambda x, i=i: np.linalg.svd(x, full_matrices=False)[i])(a)[0](g) for i, g in enumerate(parts)]
    close(whole, sum(alone))


def test_a_result_may_be_differentiated_again():
    a = draw(3, 3)
    a = a @ a.T + onp.eye(3)

    def log_det(x):
        return np.sum(np.log(np.linalg.eigh((x + x.T) / 2).eigenvalues))

    close(hessian(log_det)(a), hessian(lambda x: np.linalg.slogdet((x + x.T) / 2).logabsdet)(a))


# ---------------------------------------------------------------------------------------------------- singular matrices


@pytest.mark.parametrize("dtype", ["d", "D"])
@pytest.mark.parametrize("rank", [0, 1, 2])
def test_every_derivative_of_the_determinant_of_a_singular_matrix(rank, dtype):
    a = draw(3, rank, dtype=dtype) @ draw(rank, 3, dtype=dtype)
    v = draw(3, 3, dtype=dtype)
    # Along a line det is a cubic polynomial, which its values at four points fix.
    points = onp.arange(4.0)
    coefficients = onp.linalg.solve(onp.vander(points, 4, increasing=True), [onp.linalg.det(a + t * v) for t in points])

    def along(t):
        return np.linalg.det(a + t * v)

    for wanted in (coefficients * [1, 1, 2, 6])[1:]:

        def by_reverse(t, f=along):
            re, im = [make_vjp(lambda s, part=part: part(f(s)))(t)[0](1.0) for part in (np.real, np.imag)]
            return re + 1j * im if dtype == "D" else re

        def by_forward(t, f=along):
            return make_jvp(f)(t)(1.0)[1]

        close(by_forward(0.0), wanted, 1e-8)
        close(by_reverse(0.0), wanted, 1e-8)
        along = by_forward
    check_grads(np.linalg.det, modes=BOTH, order=2)(a.real)


def test_the_cofactors_of_matrices_whose_determinant_underflows():
    a = onp.diag([1e-200, 3e-200])
    onp.testing.assert_allclose(grad(np.linalg.det)(a), onp.diag([3e-200, 1e-200]), rtol=1e-12)


def test_the_determinant_of_a_nearly_singular_matrix():
    u, v = orthogonal(3), orthogonal(3)
    a = (u * [1.0, 0.5, 1e-15]) @ v
    cofactors = onp.linalg.det(u) * onp.linalg.det(v) * (u * [5e-16, 1e-15, 0.5]) @ v
    close(grad(np.linalg.det)(a), cofactors, 1e-12)


def test_pinv_at_constant_rank():
    b, c = draw(4, 2), draw(2, 3)

    def of_factors(b):
        return np.linalg.pinv(b @ c)

    check_grads(of_factors, modes=BOTH, order=2)(b)


def test_lstsq_of_low_rank_and_its_rank():
    b, c, y = draw(5, 2), draw(2, 3), draw(5)

    def solution(b, y):
        x, squares, rank, s = np.linalg.lstsq(b @ c, y)
        assert squares.shape == (0,) and isbox(rank) is False
        assert type(rank) is type(onp.linalg.lstsq(c, y[:2])[2]) and rank == 2
        return x

    check_grads(solution, modes=BOTH, order=2)(b, y)
    for ours, numpys in zip(np.linalg.lstsq(b, y), onp.linalg.lstsq(b, y), strict=True):
        assert type(ours) is type(numpys)
        onp.testing.assert_array_equal(ours, numpys)


# ---------------------------------------------------------------------------------------------------------- conventions


def test_the_cotangent_of_cholesky_is_symmetric_that_of_eigh_is_of_the_triangle_read():
    a = draw(3, 3)
    a = a @ a.T + onp.eye(3)
    cotangent = make_vjp(np.linalg.cholesky)(a)[0](draw(3, 3))
    close(cotangent, cotangent.T)
    assert not onp.triu(grad(lambda x: np.sum(np.linalg.eigh(x)[0] ** 3))(a), 1).any()
    assert not onp.tril(grad(lambda x: np.sum(np.linalg.eigh(x, "U")[0] ** 3))(a), -1).any()


def test_solve_takes_b_for_a_vector_as_numpy_does():
    a = 3 * onp.eye(3) + draw(2, 3, 3)
    # NumPy 2 takes a b with as many axes as a stack of vectors for a matrix.
    for b in (draw(3), draw(3, 3), draw(2, 3, 1)):
        try:
            answer = onp.linalg.solve(a, b)
        except ValueError:
            continue
        assert make_vjp(np.linalg.solve, 1)(a, b)[0](onp.ones_like(answer)).shape == b.shape
        check_grads(np.linalg.solve, modes=BOTH, order=2)(a, b)


def test_traced_values_in_lists_and_keywords():
    def of_list(x):
        return np.linalg.det([[x, 1.0], [2.0, x * x]])

    close(grad(of_list)(3.0), 27.0)
    a, b = 2 * onp.eye(2) + draw(2, 2), draw(2)
    close(grad(lambda y: np.sum(np.linalg.solve(a, b=y)))(b), onp.linalg.solve(a.T, onp.ones(2)))
    close(grad(lambda x: np.sum(np.linalg.multi_dot([x, a, [x[0], x[1]]])))(b), (a + a.T) @ b)
    close(jacobian(lambda x: np.linalg.lstsq([[x, 0.0], [0.0, 2.0]], b)[0])(4.0), [-b[0] / 16, 0])


def test_powers_of_no_and_one_factor():
    a = draw(3, 3)
    assert not make_vjp(np.linalg.matrix_power)(a, 0)[0](draw(3, 3)).any()
    close(make_vjp(np.linalg.matrix_power)(a, 1)[0](onp.eye(3)), onp.eye(3))


def test_what_has_no_derivative_says_so():
    a = draw(3, 3)
    with pytest.raises(NotImplementedError, match="qr .*mode='raw'.* use 'reduced'"):
        make_vjp(lambda x: np.linalg.qr(x, "raw")[0])(a)[0](a)
    with pytest.raises(NotImplementedError, match="multi_dot .*'out'"):
        grad(lambda x: np.sum(np.linalg.multi_dot([x, x], out=onp.empty((3, 3)))))(a)
    with pytest.raises(NotImplementedError, match="cond"):
        grad(np.linalg.cond)(a)


def test_the_rank_is_a_constant():
    a = draw(3, 3)
    close(grad(lambda x: np.linalg.matrix_rank(x) * np.sum(x))(a), onp.full((3, 3), 3.0))


WRITTEN_HERE = ["cross", "diagonal", "lstsq", "multi_dot", "outer", "tensorinv", "tensorsolve", "trace"]


@pytest.mark.parametrize("name", [name for name in WRITTEN_HERE if hasattr(onp.linalg, name)])
def test_functions_made_of_others_take_numpys_arguments(name):
    ours, numpys = [
        [(p.name, p.kind) for p in inspect.signature(getattr(module.linalg, name)).parameters.values()]
        for module in (np, onp)
    ]
    assert ours == numpys


BAD_CALLS = [
    ("outer", (onp.ones((2, 2)), onp.ones(2)), ValueError),
    ("cross", (onp.ones(2), onp.ones(2)), ValueError),
    ("tensorinv", (onp.ones((2, 2)), 0), ValueError),
    ("tensorinv", (onp.ones((2, 3)),), onp.linalg.LinAlgError),
    ("tensorsolve", (onp.ones((2, 3)), onp.ones(2)), onp.linalg.LinAlgError),
    ("multi_dot", ([onp.ones((2, 2))],), ValueError),
]


@pytest.mark.parametrize("name, args, error", [c for c in BAD_CALLS if hasattr(onp.linalg, c[0])])
def test_functions_made_of_others_refuse_what_numpy_refuses(name, args, error):
    for module in (np, onp):
        with pytest.raises(error):
            getattr(module.linalg, name)(*args)
