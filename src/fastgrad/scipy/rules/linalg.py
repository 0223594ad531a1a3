"""Rules of scipy.linalg: solvers, matrix functions, block_diag.

For X = A^-1 B, dX = A^-1 (dB - dA X), and the cotangents of B and A are A^-T G and -(A^-T G) X^T (Giles 2008, An
extended collection of matrix derivative results, section 2.2.3). Cotangents pair with tangents by Re sum(g * v), so
that transposes are without conjugation. The rules of banded and triangular solvers, matrix equations and block_diag
come from differentiating their defining equations in the same way.
"""

import numpy as onp

from fastgrad._rules.arguments import tangents_or_zeros
from fastgrad._rules.direct import def_direct, def_whole, refuse_keywords
from fastgrad.core import vspace
from fastgrad.differential_operators import make_jvp, make_vjp
from fastgrad.numpy import linalg as npla
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import as_array, broadcast, dtype_of, fit, is_complex
from fastgrad.scipy.wrapping import linalg as la
from fastgrad.tracer import getval


def _t(a):
    """Return the array with its last two axes transposed."""
    return anp.swapaxes(as_array(a), -1, -2)


def _fit(cotangent, x):
    return fit(cotangent, vspace(getval(x)))


# ------------------------------------------------------------------------------------------------- systems of equations


def _outer(left, right, is_vector):
    """Return ``left @ right.T`` for matrices, or the outer product of vectors."""
    if is_vector:
        return left[..., :, None] * right[..., None, :]
    return anp.matmul(left, _t(right))


def _times(matrix, x, is_vector):
    """Return ``matrix @ x`` for a matrix x, or for a vector on its last axis."""
    return anp.matmul(matrix, x[..., None])[..., 0] if is_vector else anp.matmul(matrix, x)


def _solved(solve, right, is_vector):
    """Return ``solve(right)``; a stack of vectors becomes a stack of columns, so that SciPy takes it for vectors."""
    if is_vector and anp.ndim(right) > 1:
        return solve(right[..., None])[..., 0]
    return solve(right)


_TRANS = {0: 0, 1: 1, 2: 2, "N": 0, "T": 1, "C": 2}


def _triangle(a, lower, unit_diagonal):
    """Return the part of a matrix that a triangular solve reads, with zeros elsewhere."""
    offset = 1 if unit_diagonal else 0
    return anp.tril(a, -offset) if lower else anp.triu(a, offset)


def _triangular_transposed(a, g, b, trans, lower, unit_diagonal):
    """Return the solution y of op(a)^T y = g."""
    if trans == 2:
        return anp.conj(_triangular(a, anp.conj(g), b, 0, lower, unit_diagonal))
    return _triangular(a, g, b, 1 - trans, lower, unit_diagonal)


def _triangular(a, right, b, *options):
    return _solved(lambda right: la.solve_triangular(a, right, *options), right, anp.ndim(b) == 1)


def _triangular_b_vjp(g, _ans, a, b, trans=0, lower=False, unit_diagonal=False, *_args, **_kwargs):
    return _fit(_triangular_transposed(a, g, b, _TRANS[trans], lower, unit_diagonal), b)


def _triangular_a_vjp(g, ans, a, b, trans=0, lower=False, unit_diagonal=False, *_args, **_kwargs):
    trans, is_vector = _TRANS[trans], anp.ndim(b) == 1
    pulled = _triangular_transposed(a, g, b, trans, lower, unit_diagonal)
    cotangent = -_outer(pulled, ans, is_vector) if trans == 0 else -_outer(ans, pulled, is_vector)
    return _fit(_triangle(anp.conj(cotangent) if trans == 2 else cotangent, lower, unit_diagonal), a)


def _triangular_b_jvp(g, _ans, a, _b, trans=0, lower=False, unit_diagonal=False, *_args, **_kwargs):
    return la.solve_triangular(a, g, trans, lower, unit_diagonal)


def _triangular_a_jvp(g, ans, a, b, trans=0, lower=False, unit_diagonal=False, *_args, **_kwargs):
    change = _triangle(as_array(g), lower, unit_diagonal)
    if _TRANS[trans]:
        change = anp.conj(_t(change)) if _TRANS[trans] == 2 else _t(change)
    return _triangular(a, -_times(change, ans, anp.ndim(b) == 1), b, trans, lower, unit_diagonal)


def grad_solve_triangular(ans, a, b, trans=0, lower=False, unit_diagonal=False, **kwargs):
    """Return the pullback of solve_triangular with respect to the matrix.

    Parameters
    ----------
    ans : array_like
        The solution.
    a, b, trans, lower, unit_diagonal, **kwargs
        The arguments, as for `scipy.linalg.solve_triangular`.

    Returns
    -------
    callable
        Takes the cotangent of the solution to that of the matrix.
    """
    return lambda g: _triangular_a_vjp(g, ans, a, b, trans, lower, unit_diagonal)


def_direct(
    la.solve_triangular,
    vjps=(_triangular_a_vjp, _triangular_b_vjp),
    jvps=(_triangular_a_jvp, _triangular_b_jvp),
)


def _check_solve(assume_a):
    if assume_a not in (None, "gen", "general"):
        raise NotImplementedError(
            f"scipy.linalg.solve of a traced value has no derivative with assume_a={assume_a!r}, which reads a part of "
            "the matrix; leave 'assume_a' out"
        )


def _general(a, right, b, transposed):
    """Return the solution x of a x = right, or of a^T x = right, for right-hand sides like b."""
    matrix = _t(a) if transposed else a
    return _solved(lambda right: la.solve(matrix, right), right, anp.ndim(b) == 1)


def _solve_b_vjp(g, _ans, a, b, _l=None, _oa=None, _ob=None, _c=None, assume_a=None, transposed=False, **_kwargs):
    _check_solve(assume_a)
    return _fit(_general(a, g, b, not transposed), b)


def _solve_a_vjp(g, ans, a, b, _l=None, _oa=None, _ob=None, _c=None, assume_a=None, transposed=False, **_kwargs):
    _check_solve(assume_a)
    pulled, is_vector = _general(a, g, b, not transposed), anp.ndim(b) == 1
    return _fit(-_outer(ans, pulled, is_vector) if transposed else -_outer(pulled, ans, is_vector), a)


def _solve_b_jvp(g, _ans, a, b, _l=None, _oa=None, _ob=None, _c=None, assume_a=None, transposed=False, **_kwargs):
    _check_solve(assume_a)
    return _general(a, g, b, transposed)


def _solve_a_jvp(g, ans, a, b, _l=None, _oa=None, _ob=None, _c=None, assume_a=None, transposed=False, **_kwargs):
    _check_solve(assume_a)
    change = _t(g) if transposed else as_array(g)
    return _general(a, -_times(change, ans, anp.ndim(b) == 1), b, transposed)


def_direct(la.solve, vjps=(_solve_a_vjp, _solve_b_vjp), jvps=(_solve_a_jvp, _solve_b_jvp))


def _check_inverse(options):
    refuse_keywords("scipy.linalg.inv", **options)


def _inverse_vjp(g, ans, a, _oa=None, _c=None, check_finite=True, overwrite_a=False, **options):
    _check_inverse(options)
    return _fit(-anp.matmul(_t(ans), anp.matmul(g, _t(ans))), a)


def _inverse_jvp(g, ans, _a, _oa=None, _c=None, check_finite=True, overwrite_a=False, **options):
    _check_inverse(options)
    return -anp.matmul(ans, anp.matmul(g, ans))


def_direct(la.inv, vjps=(_inverse_vjp,), jvps=(_inverse_jvp,))


def _follow(fun, composed):
    """Set the rules of a function of a matrix to those of ``composed``, the same function made of NumPy's."""
    def_direct(
        fun,
        vjps=(lambda g, _ans, a, *args, **kwargs: make_vjp(composed)(a, *args, **kwargs)[0](g),),
        jvps=(lambda g, ans, a, *args, **kwargs: broadcast(make_jvp(composed)(a, *args, **kwargs)(g)[1], ans),),
    )


def _cholesky(a, lower=False, *_args, **_kwargs):
    factor = npla.cholesky(a)
    return factor if lower else anp.conj(_t(factor))


_follow(la.det, lambda a, *_args, **_kwargs: npla.det(a))
_follow(la.cholesky, _cholesky)
_follow(la.norm, lambda a, ord=None, axis=None, keepdims=False, check_finite=True: npla.norm(a, ord, axis, keepdims))


# ------------------------------------------------------------------------------------------------------ banded matrices
# Row r of the diagonals ab holds, in column j, the entry (j + r - u, j) of the matrix.


def _row_indices(l_and_u, n):
    """Return the matrix row of each entry of ab, 0 if it lies outside the matrix, and which entries lie inside."""
    lower, upper = l_and_u
    rows = onp.arange(n) + onp.arange(lower + upper + 1)[:, None] - upper
    inside = (rows >= 0) & (rows < n)
    return onp.where(inside, rows, 0), inside


def _transposed_bands(l_and_u, ab):
    """Return the diagonals of the transposed matrix, ``u`` of them below the main one and ``l`` above it."""
    lower, upper = l_and_u
    columns, inside = _row_indices((upper, lower), ab.shape[-1])
    rows = onp.arange(lower + upper, -1, -1)[:, None]
    return anp.where(inside, ab[..., rows, columns], 0)


def _banded(l_and_u, ab, right, b):
    return _solved(lambda right: la.solve_banded(l_and_u, ab, right), right, anp.ndim(b) == 1)


def _banded_pulled(g, l_and_u, ab, b):
    return _banded(l_and_u[::-1], _transposed_bands(l_and_u, as_array(ab)), g, b)


def _banded_ab_vjp(g, ans, l_and_u, ab, b, *_args, **_kwargs):
    rows, inside = _row_indices(l_and_u, anp.shape(ab)[-1])
    pulled = _banded_pulled(g, l_and_u, ab, b)
    if anp.ndim(b) == 1:
        products = pulled[..., rows] * ans[..., None, :]
    else:
        products = anp.sum(pulled[..., rows, :] * ans[..., None, :, :], axis=-1)
    return _fit(anp.where(inside, -products, 0), ab)


def _banded_ab_jvp(g, ans, l_and_u, ab, b, *_args, **_kwargs):
    # The rows of the matrix are the columns of its transpose, which the transposed diagonals hold.
    columns, _ = _row_indices(tuple(l_and_u)[::-1], anp.shape(ab)[-1])
    change = _transposed_bands(l_and_u, as_array(g))
    if anp.ndim(b) == 1:
        product = anp.sum(change * ans[..., columns], axis=-2)
    else:
        product = anp.sum(change[..., None] * ans[..., columns, :], axis=-3)
    return _banded(l_and_u, ab, -product, b)


def _banded_b_vjp(g, _ans, l_and_u, ab, b, *_args, **_kwargs):
    return _fit(_banded_pulled(g, l_and_u, ab, b), b)


def grad_solve_banded(argnum, ans, l_and_u, a, b):
    """Return the pullback of solve_banded.

    Parameters
    ----------
    argnum : {1, 2}
        1 for the diagonals, 2 for the right-hand side.
    ans : array_like
        The solution.
    l_and_u, a, b
        The arguments, as for `scipy.linalg.solve_banded`.

    Returns
    -------
    callable
        Takes the cotangent of the solution to that of the argument.
    """
    rule = (None, _banded_ab_vjp, _banded_b_vjp)[argnum]
    return lambda g: rule(g, ans, l_and_u, a, b)


def_direct(
    la.solve_banded,
    vjps=(None, _banded_ab_vjp, _banded_b_vjp),
    jvps=(None, _banded_ab_jvp, lambda g, _ans, l_and_u, ab, _b, *_args, **_kwargs: la.solve_banded(l_and_u, ab, g)),
)


# ----------------------------------------------------------------------------------------------------- matrix equations


def _sylvester(a, b, q):
    """Return the solution x of a x + x b = q; SciPy does not solve it for real a and b with a complex q."""
    if is_complex(q) and not (is_complex(a) or is_complex(b)):
        a, b = a + 0j, b + 0j
    return la.solve_sylvester(a, b, q)


def _sylvester_vjp(argnums, g, ans, args, kwargs):
    a, b, _ = args
    pulled = _sylvester(_t(a), _t(b), g)
    cotangents = {
        0: lambda: -anp.matmul(pulled, _t(ans)),
        1: lambda: -anp.matmul(_t(ans), pulled),
        2: lambda: pulled,
    }
    return [_fit(cotangents[i](), args[i]) for i in argnums]


def _sylvester_jvp(argnums, gs, ans, args, kwargs):
    a, b, _ = args
    changes = {0: lambda v: -anp.matmul(v, ans), 1: lambda v: -anp.matmul(ans, v), 2: lambda v: v}
    return _sylvester(a, b, sum(changes[i](v) for i, v in zip(argnums, gs, strict=True)))


def_whole(la.solve_sylvester, _sylvester_vjp, _sylvester_jvp)


def _lyapunov(a, q):
    return la.solve_sylvester(a, anp.conj(_t(a)), q)


def_direct(
    la.solve_continuous_lyapunov,
    vjps=(
        lambda g, _ans, a, q: make_vjp(_lyapunov, 0)(a, q)[0](g),
        lambda g, _ans, a, q: _fit(la.solve_sylvester(_t(a), anp.conj(a), g), q),
    ),
    jvps=(
        lambda g, _ans, a, q: make_jvp(_lyapunov, 0)(a, q)(g)[1],
        lambda g, _ans, a, _q: _lyapunov(a, g),
    ),
)


# ----------------------------------------------------------------------------------------------------- matrix functions


def _derivative(fun, a, v):
    """Return the derivative of a matrix function along v, a block of f([[a, v], [0, a]]) (Higham 2008, theorem 3.6)."""
    single = dtype_of(a).char in "fF"
    a, v = [anp._astype(x, {"f": "d", "F": "D"}.get(dtype_of(x).char, dtype_of(x))) for x in (a, v)]
    n = a.shape[-1]
    upper = anp.concatenate([a, v + 0 * a], -1)
    block = anp.concatenate([upper, anp.concatenate([0 * a, a], -1)], -2)
    derivative = fun(block)[..., :n, n:]
    return anp._astype(derivative, "F" if is_complex(derivative) else "f") if single else derivative


def _define_matrix_function(fun):
    # The derivative of a polynomial along v is a sum of terms a^i v a^j. Transposing that map of v replaces a by a^T.
    def vjp(g, _ans, A, *args, **kwargs):
        _refuse_options(fun, args, kwargs)
        return _fit(_derivative(fun, _t(A), g), A)

    def jvp(g, _ans, A, *args, **kwargs):
        _refuse_options(fun, args, kwargs)
        return _derivative(fun, A, g)

    def_direct(fun, vjps=(vjp,), jvps=(jvp,))


def _refuse_options(fun, args, kwargs):
    names = [*kwargs, *["disp"] * bool(args)]
    if names:
        refuse_keywords(f"scipy.linalg.{fun.__name__}", **{names[0]: True})


for _name in ("expm", "logm", "cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm"):
    _define_matrix_function(getattr(la, _name))


# For the square root S of A, differentiating S S = A gives the Sylvester equation S dS + dS S = dA.
def _root_vjp(g, ans, A, *args, **kwargs):
    _refuse_options(la.sqrtm, args, kwargs)
    root = _t(ans)
    return _fit(la.solve_sylvester(root, root, g), A)


def _root_jvp(g, ans, _A, *args, **kwargs):
    _refuse_options(la.sqrtm, args, kwargs)
    return broadcast(la.solve_sylvester(ans, ans, g), ans)


def_direct(la.sqrtm, vjps=(_root_vjp,), jvps=(_root_jvp,))


# ----------------------------------------------------------------------------------------------------------- block_diag


def _sizes(x):
    """Return the numbers of rows and columns of a block; a vector is a row, and a number is a matrix of one entry."""
    shape = anp.shape(x)
    return shape[-2:] if len(shape) > 1 else (1, *shape) if shape else (1, 1)


def _block_diag_vjp(argnums, g, _ans, args, kwargs):
    sizes = [_sizes(x) for x in args]
    cotangents = []
    for i in argnums:
        row, column = (sum(size[axis] for size in sizes[:i]) for axis in (0, 1))
        block = g[..., row : row + sizes[i][0], column : column + sizes[i][1]]
        shape = anp.shape(args[i])
        cotangents.append(_fit(anp.reshape(block, shape) if len(shape) < 2 else block, args[i]))
    return cotangents


def_whole(
    la.block_diag,
    _block_diag_vjp,
    lambda argnums, gs, ans, args, kwargs: la.block_diag(*tangents_or_zeros(argnums, gs, args, as_arrays=True)),
)
