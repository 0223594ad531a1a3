"""Decompositions of matrices: eigenvalues and eigenvectors, singular values and vectors, Cholesky and QR.

The JVPs are those of Giles (2008), "An extended collection of matrix derivative results", and for QR that of Walter and
Lehmann (2018), "Algorithmic differentiation of linear algebra functions with application in optimum experimental
design"; the VJPs are their transposes. A VJP computes with conjugated cotangents, which pair with tangents by
Re tr(X^H V), and conjugates its result.

A matrix does not determine the phases of its eigenvectors and singular vectors, nor a basis of a complement; the
derivatives are right for functions that do not depend on these. Nor does it determine vectors that belong to equal
values: a term that would be divided by the difference of two equal values is taken as zero, which is right wherever
the term is zero over zero.
"""

import numpy as onp

from fastgrad._rules.direct import def_direct
from fastgrad.builtins import make_sequence
from fastgrad.numpy import linalg
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import dtype_of, is_complex, like
from fastgrad.numpy.numpy_vspaces import linalg_results
from fastgrad.tracer import getval

# -------------------------------------------------------------------------------------------------------- common ground


def transpose(x):
    """Return the transposes of matrices, stacked or not."""
    return x.T if x.ndim == 2 else anp.swapaxes(x, -1, -2)


def conj(x):
    """Return the conjugate of a complex array, a real one as it is."""
    return anp.conj(x) if is_complex(x) else x


def adjoint(x):
    """Return the conjugate transposes of matrices, stacked or not."""
    return conj(transpose(x))


def diagonal(x):
    """Return the main diagonals of matrices, stacked or not."""
    return anp.diagonal(x, 0, -2, -1)


def on_diagonal(x):
    """Return diagonal matrices of vectors, stacked or not."""
    return anp.make_diagonal(x, 0, -2, -1)


def is_constant_zero(g):
    """Return whether a cotangent is zero and not traced, so that terms with it can be left out."""
    return type(g) is onp.ndarray and not g.any()


def _rounding(values, size):
    """Return for each matrix a generous bound on the difference that rounding makes between values that are equal."""
    largest = onp.max(abs(values), axis=-1, initial=0)[..., None, None]
    return largest * (8 * size * onp.finfo(values.dtype).eps)


def _inverse(x, bound):
    """Return 1 / x, zero where abs(x) does not exceed a bound."""
    is_zero = abs(getval(x)) <= bound
    return anp.where(is_zero, 0, 1 / anp.where(is_zero, 1, x)) if is_zero.any() else 1 / x


def _inverse_gaps(values):
    """Return the matrix of 1 / (values[j] - values[i]) at i, j, zero where the two are equal."""
    bound = _rounding(getval(values), anp.shape(values)[-1])
    return _inverse(values[..., None, :] - values[..., :, None], bound)


# --------------------------------------------------------------------------------------- matrices given by one triangle


def from_triangle(x, lower=True):
    """Return the Hermitian matrix that a function completes from one triangle."""
    strict = anp.tril(x, -1) if lower else anp.triu(x, 1)
    return strict + adjoint(strict) + anp.real(x) * onp.eye(anp.shape(x)[-1], dtype=bool)


def to_triangle(x, lower=True):
    """Return the cotangent of the matrix that `from_triangle` took: its transpose."""
    both = x + adjoint(x)
    both = anp.tril(both, -1) if lower else anp.triu(both, 1)
    return both + anp.real(x) * onp.eye(anp.shape(x)[-1], dtype=bool)


# ------------------------------------------------------------------------------------------------------------ eig, eigh
# With K = V^-1 dA V, dw is the diagonal of K, and dV = V X with X[i, j] = K[i, j] / (w[j] - w[i]) off the diagonal. The
# eigenvectors of a general matrix have length 1: the diagonal of X is minus the real part of that of V^H V X.


def _eig_vjp(g, ans, a):
    w, v = ans[0], ans[1]
    gw, gv = g[0], g[1]
    vt = transpose(v)
    inner = on_diagonal(gw)
    if not is_constant_zero(gv):
        along = vt @ gv
        kept = anp.real(diagonal(along))
        inner = inner + _inverse_gaps(w) * (along - (vt @ conj(v)) * kept[..., None, :])
    return like(linalg.solve(vt, inner @ vt), a)


def _eig_jvp(g, ans, _a):
    w, v = ans[0], ans[1]
    k = linalg.solve(v, g @ v)
    dv = v @ (_inverse_gaps(w) * k)
    length = anp.real(anp.sum(conj(v) * dv, axis=-2, keepdims=True))
    return make_sequence(linalg_results["EigResult"], like(diagonal(k), w), like(dv - v * length, v))


def_direct(linalg.eig, vjps=(_eig_vjp,), jvps=(_eig_jvp,))


def _vectors_of(w, a):
    """Return eigenvectors in the order of the eigenvalues ``w``, which LAPACK may order otherwise here."""
    computed, v = linalg.eig(a)
    computed, w = getval(computed), getval(w)
    if onp.allclose(computed, w, rtol=1e-3, atol=0):
        return v
    order = onp.empty(w.shape, int)
    for index in onp.ndindex(w.shape[:-1]):
        distance = abs(w[index][:, None] - computed[index])
        for i in range(len(distance)):
            order[index][i] = j = onp.argmin(distance[i])
            distance[:, j] = onp.inf
    return anp.take_along_axis(v, order[..., None, :], -1)


def _eigvals_vjp(g, ans, a):
    vt = transpose(_vectors_of(ans, a))
    return like(linalg.solve(vt, g[..., :, None] * vt), a)


def _eigvals_jvp(g, ans, a):
    v = _vectors_of(ans, a)
    return like(diagonal(linalg.solve(v, g @ v)), ans)


def_direct(linalg.eigvals, vjps=(_eigvals_vjp,), jvps=(_eigvals_jvp,))


def _is_lower(UPLO):
    return UPLO in "Ll"


def _eigh_vjp(g, ans, a, UPLO="L"):
    w, v = ans[0], ans[1]
    gw, gv = g[0], conj(g[1])
    vh = adjoint(v)
    full = (v * gw[..., None, :]) @ vh
    if not is_constant_zero(gv):
        full = full + v @ (_inverse_gaps(w) * (vh @ gv)) @ vh
    return like(conj(to_triangle(full, _is_lower(UPLO))), a)


def _eigh_jvp(g, ans, _a, UPLO="L"):
    w, v = ans[0], ans[1]
    k = adjoint(v) @ from_triangle(g, _is_lower(UPLO)) @ v
    return make_sequence(linalg_results["EighResult"], like(diagonal(k), w), like(v @ (_inverse_gaps(w) * k), v))


def_direct(linalg.eigh, vjps=(_eigh_vjp,), jvps=(_eigh_jvp,))


def _eigvalsh_vjp(g, _ans, a, UPLO="L"):
    v = linalg.eigh(a, UPLO)[1]
    full = (v * g[..., None, :]) @ adjoint(v)
    return like(conj(to_triangle(full, _is_lower(UPLO))), a)


def _eigvalsh_jvp(g, ans, a, UPLO="L"):
    v = linalg.eigh(a, UPLO)[1]
    return like(anp.sum(conj(v) * (from_triangle(g, _is_lower(UPLO)) @ v), axis=-2), ans)


def_direct(linalg.eigvalsh, vjps=(_eigvalsh_vjp,), jvps=(_eigvalsh_jvp,))


# ------------------------------------------------------------------------------------------------------------------ svd
# K = U^H dA V = P S + dS - S Q, where dU = U P and dV = V Q within their spans, P and Q anti-Hermitian. So
#     P + Q = (K + K^H)[i, j] / (s[j] - s[i])    and    P - Q = (K - K^H)[i, j] / (s[i] + s[j]).
# Equal singular values leave P + Q undetermined, but not P - Q, since U V^H has a derivative there. An undetermined
# phase is shared between U and V. Outside of their spans, dU is (1 - U U^H) dA V / S and dV is (1 - V V^H) dA^H U / S.
# The vectors that `full_matrices` adds stay orthogonal to the others, and do not rotate among themselves.


class _Thin:
    """The first k = min(m, n) singular vectors of matrices, and functions of the singular values that the rules need.

    Parameters
    ----------
    u : array_like
        Shape (..., m, k) or (..., m, m).
    s : array_like
        Shape (..., k).
    vh : array_like
        Shape (..., k, n) or (..., n, n).

    Attributes
    ----------
    u, s, v, uh, vh
        The first k left singular vectors, the singular values, the first k right singular vectors, and the adjoints.
    u_rest, v_rest
        The singular vectors that `full_matrices` adds; None if there are none.
    is_tall, is_wide : bool
        Whether m, or n, is larger than k.
    """

    def __init__(self, u, s, vh):
        m, n, k = anp.shape(u)[-2], anp.shape(vh)[-1], anp.shape(s)[-1]
        self.u, self.vh = u[..., :k], vh[..., :k, :]
        self.s, self.v, self.uh = s, adjoint(self.vh), adjoint(self.u)
        self.u_rest = u[..., k:] if anp.shape(u)[-1] > k else None
        self.v_rest = adjoint(vh[..., k:, :]) if anp.shape(vh)[-2] > k else None
        self.is_tall, self.is_wide = m > k, n > k
        self._bound = _rounding(getval(s), max(m, n))

    def gaps(self):
        """Return 1 / (s[j] - s[i])."""
        return _inverse_gaps(self.s)

    def sums(self):
        """Return 1 / (s[i] + s[j])."""
        return _inverse(self.s[..., None, :] + self.s[..., :, None], self._bound)

    def inverse(self):
        """Return 1 / s, as a row that scales columns."""
        return _inverse(self.s[..., None, :], self._bound)


def _outside(x, q):
    """Return the columns of x without their projections on the span of the orthonormal columns of q."""
    return x - q @ (adjoint(q) @ x)


def _with_rest(dx, x, rest):
    """Return the tangents ``dx`` of x with those of the vectors that complete x to a basis."""
    return dx if rest is None else anp.concatenate([dx, -x @ (adjoint(dx) @ rest)], -1)


def _without_rest(g, x, rest):
    """Return the cotangent of x from that of a completed basis: the transpose of `_with_rest`."""
    if rest is None:
        return g
    k = anp.shape(x)[-1]
    return g[..., :k] - rest @ (adjoint(g[..., k:]) @ x)


def _svd_tangents(g, thin):
    """Return the tangents of U, s and V."""
    image = g @ thin.v
    k = thin.uh @ image
    kh = adjoint(k)
    both, difference = thin.gaps() * (k + kh), thin.sums() * (k - kh)
    du, dv = thin.u @ ((both + difference) * 0.5), thin.v @ ((both - difference) * 0.5)
    if thin.is_tall:
        du = du + _outside(image, thin.u) * thin.inverse()
    if thin.is_wide:
        dv = dv + _outside(adjoint(thin.uh @ g), thin.v) * thin.inverse()
    return _with_rest(du, thin.u, thin.u_rest), anp.real(diagonal(k)), _with_rest(dv, thin.v, thin.v_rest)


def _svd_cotangent(gu, gs, gv, thin):
    """Return the conjugated cotangent of A, from the conjugated cotangents of U, s and V."""
    full = (thin.u * gs[..., None, :]) @ thin.vh
    if is_constant_zero(gu) and is_constant_zero(gv):
        return full
    gu, gv = _without_rest(gu, thin.u, thin.u_rest), _without_rest(gv, thin.v, thin.v_rest)
    zu, zv = thin.uh @ gu, adjoint(thin.v) @ gv
    both, difference = thin.gaps() * (zu + zv), thin.sums() * (zu - zv)
    inner = (both + adjoint(both) + difference - adjoint(difference)) * 0.5
    full = full + thin.u @ inner @ thin.vh
    if thin.is_tall:
        full = full + (_outside(gu, thin.u) * thin.inverse()) @ thin.vh
    if thin.is_wide:
        full = full + thin.u @ adjoint(_outside(gv, thin.v) * thin.inverse())
    return full


def _svd_vjp(g, ans, a, full_matrices=True, compute_uv=True, hermitian=False):
    if compute_uv:
        full = _svd_cotangent(conj(g[0]), g[1], transpose(g[2]), _Thin(ans[0], ans[1], ans[2]))
    else:
        u, s, vh = linalg.svd(a, False, True, hermitian)
        full = (u * g[..., None, :]) @ vh
    return like(conj(to_triangle(full) if hermitian else full), a)


def _svd_jvp(g, ans, a, full_matrices=True, compute_uv=True, hermitian=False):
    if hermitian:
        g = from_triangle(g)
    if compute_uv:
        du, ds, dv = _svd_tangents(g, _Thin(ans[0], ans[1], ans[2]))
        return make_sequence(linalg_results["SVDResult"], like(du, ans[0]), like(ds, ans[1]), like(adjoint(dv), ans[2]))
    u, s, vh = linalg.svd(a, False, True, hermitian)
    return like(anp.sum(conj(u) * (g @ adjoint(vh)), axis=-2), ans)


def_direct(linalg.svd, vjps=(_svd_vjp,), jvps=(_svd_jvp,))


def _svdvals_vjp(g, ans, a):
    return _svd_vjp(g, ans, a, compute_uv=False)


def _svdvals_jvp(g, ans, a):
    return _svd_jvp(g, ans, a, compute_uv=False)


if hasattr(onp.linalg, "svdvals"):
    def_direct(linalg.svdvals, vjps=(_svdvals_vjp,), jvps=(_svdvals_jvp,))


# ------------------------------------------------------------------------------------------------------------- Cholesky
# L^-1 dA L^-H = L^-1 dL + its adjoint, and L^-1 dL is lower triangular with a real diagonal: so it is the lower
# triangle with half of the diagonal. NumPy reads one triangle, but requires the argument to be Hermitian: cotangents
# are Hermitian, and of a tangent the Hermitian part is used.


def _half_lower(x):
    """Return the lower triangle of matrices with half of the diagonal."""
    n = anp.shape(x)[-1]
    return anp.tril(x) * (1 - 0.5 * onp.eye(n)).astype(dtype_of(x).char.lower())


def _cholesky_vjp(g, ans, _a, *, upper=False):
    low, g = (adjoint(ans), transpose(g)) if upper else (ans, conj(g))
    lh = adjoint(low)
    inner = _half_lower(lh @ g)
    full = linalg.solve(lh, adjoint(linalg.solve(lh, adjoint(inner))))
    return like(conj((full + adjoint(full)) * 0.5), ans)


def _cholesky_jvp(g, ans, _a, *, upper=False):
    low = adjoint(ans) if upper else ans
    g = (g + adjoint(g)) * 0.5
    inner = linalg.solve(low, adjoint(linalg.solve(low, g)))
    tangent = low @ _half_lower(inner)
    return like(adjoint(tangent) if upper else tangent, ans)


def_direct(linalg.cholesky, vjps=(_cholesky_vjp,), jvps=(_cholesky_jvp,))


# ------------------------------------------------------------------------------------------------------------------- QR
# Walter and Lehmann: Q^H dA R^-1 = Q^H dQ + dR R^-1, an anti-Hermitian matrix and an upper triangular one with a real
# diagonal, as R has. The factors of a wide matrix are those of its left part; the rest of R is Q^H times its right
# part. The columns that mode "complete" adds to Q are treated as those that a full SVD adds.


def _upper_part(b):
    """Return dR R^-1 from Q^H dA R^-1."""
    return anp.triu(b, 1) + adjoint(anp.tril(b, -1)) + anp.real(b) * onp.eye(anp.shape(b)[-1], dtype=bool)


def _upper_part_transposed(x):
    """Return the cotangent of the matrix that `_upper_part` took: its transpose."""
    upper = anp.triu(x, 1)
    return upper + adjoint(upper) + anp.real(x) * onp.eye(anp.shape(x)[-1], dtype=bool)


def _over(x, r):
    """Return x R^-1."""
    return transpose(linalg.solve(transpose(r), transpose(x)))


def _over_adjoint(x, r):
    """Return x R^-H."""
    return transpose(linalg.solve(conj(r), transpose(x)))


def _factors(ans, a, mode):
    """Return Q, the columns that mode "complete" adds or None, and R; raise NotImplementedError for other modes."""
    if mode not in ("reduced", "complete", "r"):
        raise NotImplementedError(
            f"qr of a traced value has no derivative with mode={mode!r}; use 'reduced', 'complete' or 'r'"
        )
    q, r = linalg.qr(a) if mode == "r" else (ans[0], ans[1])
    k = min(anp.shape(a)[-2:])
    rest = q[..., k:] if anp.shape(q)[-1] > k else None
    return q[..., :k], rest, r[..., :k, :]


def _qr_vjp(g, ans, a, mode="reduced"):
    q, rest, r = _factors(ans, a, mode)
    k = anp.shape(q)[-1]
    square, left_of_gr = r[..., :k], conj(g if mode == "r" else g[1])[..., :k, :]
    gq = 0 * q if mode == "r" else _without_rest(conj(g[0]), q, rest)
    is_wide = anp.shape(a)[-1] > k
    if is_wide:
        gw, left_of_gr = left_of_gr[..., k:], left_of_gr[..., :k]
        gq = gq + a[..., k:] @ adjoint(gw)
    inner = _upper_part_transposed(left_of_gr @ adjoint(square) - adjoint(q) @ gq)
    full = _over_adjoint(gq + q @ inner, square)
    return like(conj(anp.concatenate([full, q @ gw], -1) if is_wide else full), a)


def _qr_jvp(g, ans, a, mode="reduced"):
    q, rest, r = _factors(ans, a, mode)
    k = anp.shape(q)[-1]
    square, left = r[..., :k], g[..., :k]
    dr = _upper_part(_over(adjoint(q) @ left, square)) @ square
    dq = _over(left - q @ dr, square)
    if anp.shape(a)[-1] > k:
        dr = anp.concatenate([dr, adjoint(dq) @ a[..., k:] + adjoint(q) @ g[..., k:]], -1)
    if mode == "r":
        return like(dr, ans)
    if rest is not None:
        below = (*anp.shape(dr)[:-2], anp.shape(rest)[-1], anp.shape(dr)[-1])
        dq, dr = _with_rest(dq, q, rest), anp.concatenate([dr, onp.zeros(below, dtype_of(dr))], -2)
    return make_sequence(linalg_results["QRResult"], like(dq, ans[0]), like(dr, ans[1]))


def_direct(linalg.qr, vjps=(_qr_vjp,), jvps=(_qr_jvp,))
