"""Norms of vectors and matrices, by their partial derivatives.

The derivatives follow from the definitions; that of a norm of singular values is U diag(w) V^H, where w are the
derivatives by the singular values (Watson 1992, "Characterization of the subdifferential of some matrix norms"). Where
a norm has no derivative, a subgradient is used: zero at zero, and equal shares in a tie.
"""

import math

import numpy as onp

from fastgrad._rules.direct import def_direct
from fastgrad.numpy import linalg
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import is_complex, keep_reduced, like, normalize_axes
from fastgrad.numpy.rules.decompositions import conj
from fastgrad.tracer import getval

_FROBENIUS = (None, "fro", "f")


def _over(x, norm):
    """Return x / norm, zero where the norm is zero."""
    if type(norm) is onp.float64:
        return x / norm if norm else x * 0.0
    zero = getval(norm) == 0
    return anp.where(zero, 0, x / anp.where(zero, 1, norm)) if onp.any(zero) else x / norm


def _sign(x):
    """Return the partial derivatives of abs(x)."""
    return _over(anp.conj(x), anp.abs(_without_zeros(x))) if is_complex(x) else anp.sign(x)


def _without_zeros(x):
    zero = getval(x) == 0
    return anp.where(zero, 1, x) if onp.any(zero) else x


def _shares(values, axes, largest):
    """Return equal shares, which sum to 1, for the elements that are the largest or smallest of concrete values."""
    hit = values == (onp.max if largest else onp.min)(values, axis=axes, keepdims=True)
    return (hit / onp.maximum(hit.sum(axis=axes, keepdims=True), 1)).astype(values.dtype)


def _vector_partials(norm, x, ord, axes):
    """Return the partial derivatives of vector norms, which are given with axes kept."""
    if ord == 0:
        return anp.zeros_like(x)
    if abs(ord) == math.inf:
        return _shares(abs(onp.asarray(getval(x))), axes, ord > 0) * _sign(x)
    if ord == 1:
        return _sign(x)
    # The power of the ratio neither overflows nor underflows. Zeros are replaced, as their power may be infinite.
    power = _over(anp.abs(_without_zeros(x)), norm) ** (ord - 1)
    return anp.where(getval(x) == 0, 0, power * _sign(x))


def _matrix_partials(x, ord, axes):
    """Return the partial derivatives of matrix norms."""
    if ord in (1, -1, math.inf, -math.inf):
        summed, compared = axes if abs(ord) == 1 else axes[::-1]
        sums = abs(getval(x)).sum(axis=summed, keepdims=True)
        return _shares(sums, compared, ord > 0) * _sign(x)
    u, s, vh = linalg.svd(anp.moveaxis(x, axes, (-2, -1)), False)
    values = getval(s)
    if ord == "nuc":
        size = max(anp.shape(u)[-2], anp.shape(vh)[-1]) * onp.finfo(values.dtype).eps
        weights = values > size * onp.max(values, axis=-1, keepdims=True, initial=0)
    else:
        # The subgradient at zero is zero.
        weights = _shares(values, -1, ord > 0) * (onp.max(values, axis=-1, keepdims=True, initial=0) > 0)
    return anp.moveaxis(conj((u * weights[..., None, :]) @ vh), (-2, -1), axes)


def _norm_plan(x, ord=None, axis=None, keepdims=False):
    """Return the order, the axes, and whether the norm is one of matrices, from the arguments of ``norm``."""
    axes = normalize_axes(axis, anp.ndim(x))
    is_matrix = len(axes) == 2 and not (axis is None and ord is None)
    return ord, axes, is_matrix


def _vector_norm_plan(x, /, *, axis=None, keepdims=False, ord=2):
    return ord, normalize_axes(axis, anp.ndim(x)), False


def _matrix_norm_plan(x, /, *, keepdims=False, ord="fro"):
    ndim = anp.ndim(x)
    return ord, (ndim - 2, ndim - 1), True


def _def_norm(fun, plan):
    """Set the VJP and JVP of a norm whose arguments ``plan`` reads: see `_norm_plan`."""

    def read(x, args, kwargs):
        ord, axes, is_matrix = plan(x, *args, **kwargs)
        is_euclidean = ord in _FROBENIUS or (ord == 2 and not is_matrix)
        return ord, axes, is_matrix, is_euclidean

    def partials(norm, x, ord, axes, is_matrix):
        return _matrix_partials(x, ord, axes) if is_matrix else _vector_partials(norm, x, ord, axes)

    def vjp(g, ans, x, *args, **kwargs):
        ord, axes, is_matrix, is_euclidean = read(x, args, kwargs)
        shape = anp.shape(x)
        if is_euclidean:
            return like(keep_reduced(_over(g, ans), shape, axes) * conj(x), x)
        return like(keep_reduced(g, shape, axes) * partials(keep_reduced(ans, shape, axes), x, ord, axes, is_matrix), x)

    def jvp(g, ans, x, *args, **kwargs):
        ord, axes, is_matrix, is_euclidean = read(x, args, kwargs)
        kept = keep_reduced(ans, anp.shape(x), axes)
        by = conj(x) if is_euclidean else partials(kept, x, ord, axes, is_matrix)
        tangent = anp.reshape(anp.sum(anp.real(by * g), axis=axes), anp.shape(ans))
        return like(_over(tangent, ans) if is_euclidean else tangent, ans)

    def_direct(fun, vjps=(vjp,), jvps=(jvp,))


_def_norm(linalg.norm, _norm_plan)
if hasattr(onp.linalg, "vector_norm"):
    _def_norm(linalg.vector_norm, _vector_norm_plan)
    _def_norm(linalg.matrix_norm, _matrix_norm_plan)
