"""Inverses, solutions of equations, determinants, powers and products of matrices, alone or in stacks.

The formulas are those of Giles (2008), "An extended collection of matrix derivative results"; the derivative of the
pseudo-inverse is that of Golub and Pereyra (1973), "The differentiation of pseudo-inverses and nonlinear least squares
problems whose variables separate". Cotangents pair with tangents without conjugation, so that the VJP of a holomorphic
function is the transpose of its JVP.
"""

import math

import numpy as onp

from fastgrad._rules.arguments import subvals
from fastgrad._rules.direct import def_direct, def_whole
from fastgrad.builtins import make_sequence
from fastgrad.core import JVPNode, VJPNode, vspace
from fastgrad.numpy import linalg
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import as_array, dtype_of, fit, fit_dtype, is_complex, like, unbroadcast
from fastgrad.numpy.numpy_vspaces import linalg_results
from fastgrad.numpy.rules.decompositions import (
    adjoint,
    conj,
    from_triangle,
    to_triangle,
    transpose,
)
from fastgrad.tracer import getval, register_notrace

_ARRAY_API = hasattr(onp.linalg, "matrix_transpose")  # NumPy 2


# ----------------------------------------------------------------------------------------------------------- inv, solve


def _inv_vjp(g, ans, vs_a):
    inverse = transpose(ans)
    return fit_dtype(-(inverse @ g @ inverse), vs_a)


def _inv_jvp(g, ans, _a):
    return -(ans @ g @ ans)


def_direct(linalg.inv, vjps=(_inv_vjp,), jvps=(_inv_jvp,))


def _is_vector(a_ndim, b_ndim):
    """Return whether solve reads ``b`` as a vector: since NumPy 2 only if it has one axis."""
    return b_ndim == (1 if _ARRAY_API else a_ndim - 1)


def _solve_transposed(g, a, is_vector):
    if is_vector and a.ndim > 2:
        return linalg.solve(transpose(a), g[..., None])[..., 0]
    return linalg.solve(transpose(a), g)


def _solve_vjp(argnums, g, ans, args, kwargs):
    a, vs_b = as_array(args[0]), vspace(as_array(args[1]))
    is_vector = _is_vector(a.ndim, vs_b.ndim)
    solution = _solve_transposed(g, a, is_vector)
    if argnums == (1,):
        return [fit(solution, vs_b)]
    product = solution[..., :, None] * ans[..., None, :] if is_vector else solution @ transpose(ans)
    cotangents = [fit(-product, vspace(a)), fit(solution, vs_b) if len(argnums) == 2 else None]
    return cotangents[: len(argnums)]


def _solve_jvp_a(g, ans, a, vs_b):
    if _is_vector(a.ndim, vs_b.ndim):
        return like(-linalg.solve(a, (g @ ans[..., None]))[..., 0], ans)
    return like(-linalg.solve(a, g @ ans), ans)


def _solve_batch(_rows, _ans, argnums, a, b):
    if argnums != (1,) or anp.ndim(a) != 2 or anp.ndim(b) > 3:
        return NotImplemented
    # All right sides stand side by side, so that the matrix is factored once.
    columns = anp.moveaxis(b, 1, 0)
    shape = anp.shape(columns)
    solved = linalg.solve(a, anp.reshape(columns, (shape[0], math.prod(shape[1:]))))
    return anp.moveaxis(anp.reshape(solved, shape), 0, 1)


def_whole(linalg.solve, vjp=_solve_vjp, batch=_solve_batch)
def_direct(linalg.solve, jvps=(_solve_jvp_a, "same"))


# ----------------------------------------------------------------------------------------------------------------- pinv
# Golub and Pereyra (1973), for matrices of constant rank: dP = -P dA P + P P^H dA^H (1 - A P) + (1 - P A) dA^H P^H P.
# The cutoff `rcond` (or `rtol`) has derivative zero: as long as it does not change the rank, nothing depends on it.


def _pinv_parts(p, a, hermitian):
    """Return the matrix that is inverted, and the products P P^H and P^H P of the formula."""
    a = from_triangle(a) if hermitian else a
    ph = adjoint(p)
    return a, p @ ph, ph @ p


def _pinv_vjp(g, ans, a, rcond=None, hermitian=False, **rtol):
    p, gh = ans, transpose(g)
    full, pph, php = _pinv_parts(p, a, hermitian)
    ph = adjoint(p)
    product = gh @ pph
    cotangent = product - full @ (p @ product) - ph @ adjoint(gh) @ ph
    product = php @ gh
    cotangent = cotangent + product - (product @ p) @ full
    return like(conj(to_triangle(cotangent) if hermitian else cotangent), a)


def _pinv_jvp(g, ans, a, rcond=None, hermitian=False, **rtol):
    p = ans
    full, pph, php = _pinv_parts(p, a, hermitian)
    g = from_triangle(g) if hermitian else g
    gh = adjoint(g)
    left, right = pph @ gh, gh @ php
    return like(left - (left @ full) @ p + right - p @ (full @ right) - p @ g @ p, ans)


def_direct(linalg.pinv, vjps=(_pinv_vjp, None), jvps=(_pinv_jvp, None))


# --------------------------------------------------------------------------------------------------------- determinants
# The derivative of det is the matrix of cofactors, det(A) A^-T of a regular matrix.


def _regular_inverse(det, a):
    """Return the inverses of matrices if det(A) A^-1 is accurate for all of them, else None."""
    if not (onp.isfinite(det).all() and onp.all(det)):
        return None
    try:
        inverse = onp.linalg.inv(a)
    except onp.linalg.LinAlgError:
        return None
    size = abs(a).sum(-1).max(-1, initial=0) * abs(inverse).sum(-1).max(-1, initial=0)
    return inverse if onp.all(size * onp.sqrt(onp.finfo(a.dtype).eps) < 1) else None


def _svd_cofactors(a):
    """Return the cofactors of concrete matrices from their singular values, which is right for any rank."""
    u, s, vh = onp.linalg.svd(a)
    one = onp.ones_like(s[..., :1])
    before = onp.cumprod(onp.concatenate([one, s[..., :-1]], -1), -1)
    after = onp.cumprod(onp.concatenate([one, s[..., :0:-1]], -1), -1)[..., ::-1]
    scale = onp.linalg.det(u) * onp.linalg.det(vh)
    return (u * (scale[..., None] * before * after)[..., None, :].conj()).conj() @ vh.conj()


def _minor_cofactors(a):
    """Return the cofactors as determinants of the minors, which have derivatives of every order.

    This takes memory for n**4 numbers. It is used only for higher derivatives at a singular matrix.
    """
    n = anp.shape(a)[-1]
    if n == 1:
        return anp.ones_like(a)
    others = onp.array([[j for j in range(n) if j != i] for i in range(n)])
    minors = a[..., others[:, None, :, None], others[None, :, None, :]]
    sign = 1 - 2 * ((onp.arange(n)[:, None] + onp.arange(n)) % 2)
    return linalg.det(minors) * sign.astype(dtype_of(a).char.lower())


def _cofactors(det, a):
    """Return the matrices of cofactors of ``a``, whose determinants are given."""
    concrete = getval(a)
    inverse = _regular_inverse(onp.asarray(getval(det)), concrete)
    if inverse is not None:
        inverse = inverse if a is concrete else linalg.inv(a)
        return det[..., None, None] * transpose(inverse) if a.ndim > 2 else det * inverse.T
    return _svd_cofactors(concrete) if a is concrete else _minor_cofactors(a)


def _det_vjp(g, ans, a):
    return like((g[..., None, None] if a.ndim > 2 else g) * _cofactors(ans, a), a)


def _det_jvp(g, ans, a):
    return like(anp.sum(_cofactors(ans, a) * g, axis=(-2, -1)), ans)


def_direct(linalg.det, vjps=(_det_vjp,), jvps=(_det_jvp,))


# With t = tr(A^-1 dA): d log |det A| = Re t, and the sign, a number on the unit circle, moves by i sign Im t.


def _slogdet_vjp(g, ans, a):
    weight = g[1]
    if is_complex(a):
        weight = weight + 1j * anp.imag(g[0] * ans[0])
    inverse = transpose(linalg.inv(a))
    return like((weight[..., None, None] if a.ndim > 2 else weight) * inverse, a)


def _slogdet_jvp(g, ans, a):
    trace = anp.sum(transpose(linalg.inv(a)) * g, axis=(-2, -1))
    sign = 1j * ans[0] * anp.imag(trace) if is_complex(a) else 0 * ans[0]
    return make_sequence(linalg_results["SlogdetResult"], like(sign, ans[0]), like(anp.real(trace), ans[1]))


def_direct(linalg.slogdet, vjps=(_slogdet_vjp,), jvps=(_slogdet_jvp,))


# -------------------------------------------------------------------------------------------------- powers and products
# A function of the block matrix [[A, E], [0, A]] has its derivative along E in the upper right block.


def _power_along(a, e, n):
    """Return the derivative of the n-th power of a along e."""
    size = anp.shape(a)[-1]
    rows = anp.concatenate([a, e], -1), anp.concatenate([anp.zeros_like(a), a], -1)
    return linalg.matrix_power(anp.concatenate(rows, -2), n)[..., :size, size:]


def _matrix_power_vjp(g, _ans, a, n):
    return like(_power_along(transpose(a), g, n), a)


def _matrix_power_jvp(g, ans, a, n):
    return like(_power_along(a, g, n), ans)


def_direct(linalg.matrix_power, vjps=(_matrix_power_vjp,), jvps=(_matrix_power_jvp,))


def _multi_dot_vjp(argnums, g, _ans, args, kwargs):
    spaces, arrays = [vspace(args[i]) for i in argnums], [as_array(x) for x in args]
    # A vector at the beginning is a row, one at the end a column.
    if arrays[0].ndim == 1:
        arrays[0] = arrays[0][None, :]
    if arrays[-1].ndim == 1:
        arrays[-1] = arrays[-1][:, None]
    g = anp.reshape(g, (anp.shape(arrays[0])[0], anp.shape(arrays[-1])[1]))
    transposed = [x.T for x in arrays]
    cotangents = [linalg.multi_dot([*transposed[:k][::-1], g, *transposed[k + 1 :][::-1]]) for k in argnums]
    return [fit_dtype(anp.reshape(c, s.shape), s) for c, s in zip(cotangents, spaces, strict=True)]


def _multi_dot_jvp(argnums, gs, ans, args, kwargs):
    terms = [linalg.multi_dot(subvals(args, [(k, g)])) for k, g in zip(argnums, gs, strict=True)]
    return like(sum(terms[1:], terms[0]), ans)


def_whole(linalg.multi_dot_args, vjp=_multi_dot_vjp, jvp=_multi_dot_jvp)


def _vecdot_vjp(g, space, other, axis):
    """Return the cotangent of one vector, of ``space``; ``axis`` counts in each array by itself, as in numpy.vecdot."""
    cotangent = g[..., None] * conj(anp.moveaxis(as_array(other), axis, -1))
    axis = axis % space.ndim
    moved = tuple(n for i, n in enumerate(space.shape) if i != axis) + (space.shape[axis],)
    return fit_dtype(anp.moveaxis(unbroadcast(cotangent, (moved, len(moved), None, True)), -1, axis), space)


def _vecdot_vjp_x1(g, _ans, vs_x1, x2, *, axis=-1):
    return _vecdot_vjp(conj(g), vs_x1, x2, axis)


def _vecdot_vjp_x2(g, _ans, x1, vs_x2, *, axis=-1):
    return _vecdot_vjp(g, vs_x2, x1, axis)


if _ARRAY_API:
    def_direct(linalg.vecdot, vjps=(_vecdot_vjp_x1, _vecdot_vjp_x2), jvps=("same", "same"))


# ---------------------------------------------------------------------------------------------------------------- lstsq
# The solution is P b with the pseudo-inverse P. The residuals b - A x are orthogonal to the columns of A, so that a
# change of x does not change their squares to first order.


def _lstsq_read(ans, a, b, rcond):
    """Return the pseudo-inverse, and the solution, the right side and the residuals as matrices."""
    cutoff = linalg._lstsq_cutoff(getval(ans[2]), max(anp.shape(a)), getval(rcond))
    x, b = _columns(ans[0]), _columns(b)
    return linalg.pinv(a, cutoff), x, b, b - a @ x


def _columns(x):
    x = as_array(x)
    return x if x.ndim == 2 else x[:, None]


def _lstsq_vjp_a(g, ans, a, b, rcond=None):
    p, x, b, left = _lstsq_read(ans, a, b, rcond)
    u, _, vh = linalg.svd(a, False)
    cotangent = _pinv_vjp(_columns(g[0]) @ b.T, p, a) + conj((u * g[2]) @ vh)
    if anp.size(ans[1]):
        cotangent = cotangent - 2 * (conj(left) * g[1]) @ x.T
    return like(cotangent, a)


def _lstsq_vjp_b(g, ans, a, b, rcond=None):
    a = as_array(a)
    p, _, _, left = _lstsq_read(ans, a, b, rcond)
    cotangent = p.T @ _columns(g[0])
    if anp.size(ans[1]):
        cotangent = cotangent + 2 * (conj(left) * g[1])
    return like(anp.reshape(cotangent, anp.shape(b)), b)


def _lstsq_tangent(ans, dx, d_left, left, ds):
    squares = 2 * anp.sum(anp.real(conj(left) * d_left), axis=0) if anp.size(ans[1]) else ans[1]
    dx = like(anp.reshape(dx, anp.shape(ans[0])), ans[0])
    return make_sequence(tuple, dx, like(squares, ans[1]), like(ds, ans[2]))


def _lstsq_jvp_a(g, ans, a, b, rcond=None):
    p, x, b, left = _lstsq_read(ans, a, b, rcond)
    u, _, vh = linalg.svd(a, False)
    ds = anp.real(anp.sum(conj(u) * (g @ adjoint(vh)), axis=0))
    return _lstsq_tangent(ans, _pinv_jvp(g, p, a) @ b, -(g @ x), left, ds)


def _lstsq_jvp_b(g, ans, a, b, rcond=None):
    a = as_array(a)
    p, _, _, left = _lstsq_read(ans, a, b, rcond)
    g = _columns(g)
    return _lstsq_tangent(ans, p @ g, g, left, vspace(ans[2]).zeros())


def_direct(
    linalg.lstsq_parts,
    vjps=(_lstsq_vjp_a, _lstsq_vjp_b, None),
    jvps=(_lstsq_jvp_a, _lstsq_jvp_b, None),
)

for _mode in (VJPNode, JVPNode):
    register_notrace(_mode, linalg.matrix_rank)
