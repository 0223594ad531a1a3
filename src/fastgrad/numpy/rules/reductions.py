"""Reductions along axes: sums, means, products, extremes and variances, also those that skip nan.

Most are defined by the partial derivatives of each result with respect to the elements it is made of, an array of the
input's shape: the VJP multiplies the cotangent by it, the JVP multiplies the tangent by it and sums. Sums and means
need no such array. The partial derivatives follow from the definitions; that of a product is the product of the other
elements, that of an extreme is shared equally among the elements that attain it.
"""

import functools
import inspect
import math

import numpy as onp

from fastgrad._engine.core import extreme_vjp, sum_axis_vjp
from fastgrad._rules.direct import def_direct, refuse_keywords
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.batching import batch_axes, batch_space, first_argument
from fastgrad.numpy.broadcasting import is_complex, keep_reduced, kept_shape, like, normalize_axes
from fastgrad.tracer import getval, primitive

# NumPy's default of keywords for which None is a value.
_NOT_GIVEN = onp._NoValue

_AXIS = {"axis", "keepdims"}

# -------------------------------------------------------------------------------------------------------- common ground


def _mask(where, shape):
    """Return the keyword ``where`` broadcast to a shape; None if it was not given."""
    if where is _NOT_GIVEN or where is True:
        return None
    return onp.broadcast_to(getval(where), shape)


def _count(shape, axis, mask):
    """Return how many elements each result of a reduction is made of: an array with axes kept if there is a mask."""
    if mask is not None:
        return onp.sum(mask, axis=axis, keepdims=True)
    return math.prod(shape) // max(math.prod(kept_shape(shape, axis)), 1)


@primitive
def repeat_reduced(g, space, axis=None):
    """Return a cotangent repeated over the axes that were summed: the transpose of ``numpy.sum``.

    Parameters
    ----------
    g : array_like
        Of the shape that the sum has, with or without the reduced axes.
    space : ArrayVSpace
        The space of the summed array.
    axis : int, tuple of int or None
        The axes that were summed.

    Returns
    -------
    ndarray
        A new array of shape ``space.shape``, which may be changed in place; of its dtype if that is inexact.
    """
    result = onp.empty(space.shape, space.dtype if space.dtype.kind in "fc" else onp.asarray(g).dtype)
    result[...] = g if axis is None else onp.asarray(g).reshape(kept_shape(space.shape, axis))
    return result


def _repeat_reduced_vjp(h, _ans, vs_g, _space, axis=None):
    return like(anp.reshape(anp.sum(h, axis=axis), vs_g.shape), vs_g)


def _repeat_reduced_batch(g, space, axis=None):
    batches = batch_space(space, anp.shape(g)[0])
    # `g` may have the reduced axes or not: with the axes given, both are reshaped alike.
    axes = tuple(range(len(space.shape))) if axis is None else normalize_axes(axis, len(space.shape))
    return repeat_reduced(g, batches, tuple(i + 1 for i in axes))


def_direct(repeat_reduced, vjps=(_repeat_reduced_vjp,), jvps=("same",), batch=first_argument(_repeat_reduced_batch))


def _sum_transposed(g, space, axis, mask=None):
    """Return the cotangent of what was summed, an array of ``space``, from that of the sum."""
    if mask is not None:
        return like(anp.where(mask, keep_reduced(g, space.shape, axis), 0), space)
    concrete = sum_axis_vjp(g, space, axis)
    if concrete is not None:
        return concrete
    if not space.shape:
        return like(g, space)
    if type(g) is not onp.float64 and not space.iscomplex and is_complex(g):
        g = anp.real(g)
    return repeat_reduced(g, space, axis)


def _def_partials(fun, partials, compiled=None):
    """Set the VJP and JVP of a reduction by its partial derivatives.

    Parameters
    ----------
    fun : Primitive
        A reduction whose first two parameters are an array and ``axis``.
    partials : callable
        ``partials(ans, a, *args, **kwargs)`` returns the derivative of each result with respect to the elements it is
        made of, in the shape of ``a``. The reduced axes of ``ans`` are kept; the keyword ``out`` is refused before.
    compiled : str, optional
        "extreme" if `extreme_vjp` computes on concrete values what the VJP does.
    """

    @functools.cache  # not at import: signatures are slow to read
    def out_at():
        return list(inspect.signature(fun.fun).parameters).index("out") - 1

    def axis_of(args, kwargs):
        refuse_keywords(fun.__name__, out=args[out_at()] if len(args) > out_at() else kwargs.get("out"))
        return args[0] if args else kwargs.get("axis")

    def vjp(g, ans, a, *args, **kwargs):
        shape, axis = anp.shape(a), axis_of(args, kwargs)
        if compiled and len(args) < 2 and kwargs.keys() <= _AXIS:
            cotangent = extreme_vjp(g, ans, a, axis)
            if cotangent is not None:
                return cotangent
        weights = partials(keep_reduced(ans, shape, axis), a, *args, **kwargs)
        return like(keep_reduced(g, shape, axis) * weights, a)

    def jvp(g, ans, a, *args, **kwargs):
        axis = axis_of(args, kwargs)
        tangent = anp.sum(g * partials(keep_reduced(ans, anp.shape(a), axis), a, *args, **kwargs), axis=axis)
        if anp.shape(tangent) != anp.shape(ans):
            tangent = anp.reshape(tangent, anp.shape(ans))
        return like(tangent, ans)

    def_direct(fun, vjps=(vjp,), jvps=(jvp,), compiled=(compiled,))


def _skipping_nan(partials):
    """Return the partial derivatives of a reduction that skips nan, from those of the one that takes ``where``."""

    def skipping(ans, a, *args, where=_NOT_GIVEN, **kwargs):
        mask = ~onp.isnan(getval(a))
        if where is not _NOT_GIVEN:
            mask = mask & getval(where)
        return partials(ans, a, *args, where=mask, **kwargs)

    return skipping


# ------------------------------------------------------------------------------------------------------- sums and means


def _sum_vjp(g, _ans, vs_a, axis=None, dtype=None, out=None, keepdims=False, initial=_NOT_GIVEN, where=_NOT_GIVEN):
    if out is None and where is _NOT_GIVEN:
        return _sum_transposed(g, vs_a, axis)
    refuse_keywords("sum", out=out)
    return _sum_transposed(g, vs_a, axis, _mask(where, vs_a.shape))


def _sum_jvp(g, _ans, _a, axis=None, dtype=None, out=None, keepdims=False, initial=_NOT_GIVEN, where=_NOT_GIVEN):
    refuse_keywords("sum", out=out)
    if where is _NOT_GIVEN:
        return anp.sum(g, axis=axis, dtype=dtype, keepdims=keepdims)
    return anp.sum(g, axis=axis, dtype=dtype, keepdims=keepdims, where=where)


def _mean_vjp(g, _ans, vs_a, axis=None, dtype=None, out=None, keepdims=False, where=_NOT_GIVEN):
    refuse_keywords("mean", out=out)
    mask = _mask(where, vs_a.shape)
    n = _count(vs_a.shape, axis, mask)
    if mask is None:
        return _sum_transposed(g / n if n > 1 else g, vs_a, axis)
    return _sum_transposed(keep_reduced(g, vs_a.shape, axis) / onp.maximum(n, 1), vs_a, axis, mask)


def _mean_jvp(g, _ans, _a, axis=None, dtype=None, out=None, keepdims=False, **where):
    refuse_keywords("mean", out=out)
    return anp.mean(g, axis=axis, dtype=dtype, keepdims=keepdims, **where)


def _sum_batch(x, axis=None, *args, **kwargs):
    return anp.sum(x, batch_axes(x, axis), *args, **kwargs)


def _mean_batch(x, axis=None, *args, **kwargs):
    return anp.mean(x, batch_axes(x, axis), *args, **kwargs)


def _nansum_partials(ans, a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=_NOT_GIVEN):
    return _mask(where, anp.shape(a))


def _nanmean_partials(ans, a, axis=None, dtype=None, out=None, keepdims=False, where=_NOT_GIVEN):
    mask = _mask(where, anp.shape(a))
    return mask / onp.maximum(_count(mask.shape, axis, mask), 1)


def_direct(anp.sum, vjps=(_sum_vjp,), jvps=(_sum_jvp,), compiled=("sum",), batch=first_argument(_sum_batch))
def_direct(anp.mean, vjps=(_mean_vjp,), jvps=(_mean_jvp,), compiled=("mean",), batch=first_argument(_mean_batch))
_def_partials(anp.nansum, _skipping_nan(_nansum_partials))
_def_partials(anp.nanmean, _skipping_nan(_nanmean_partials))


def _full_weights(a, weights, axis):
    """Return the weights of an average in a shape that broadcasts to the array's, as ``numpy.average`` does."""
    shape = anp.shape(a)
    if axis is None or anp.shape(weights) == shape:
        return weights
    axes = normalize_axes(axis, len(shape))
    weights = anp.transpose(weights, tuple(onp.argsort(axes)))
    return anp.reshape(weights, tuple(n if i in axes else 1 for i, n in enumerate(shape)))


def _weighted(a, weights, axis, returned):
    """Return the weights in the shape of the array, and their sums with axes kept."""
    if returned:
        raise NotImplementedError("average of a traced value has no derivative with 'returned' given; sum the weights")
    full = anp.broadcast_to(_full_weights(a, weights, axis), anp.shape(a))
    return full, anp.sum(full, axis=axis, keepdims=True)


def _average_vjp_a(g, _ans, a, axis=None, weights=None, returned=False, keepdims=False):
    if weights is None:
        weights = onp.ones(anp.shape(a))
    full, total = _weighted(a, weights, axis, returned)
    return like(keep_reduced(g, anp.shape(a), axis) / total * full, a)


def _average_vjp_weights(g, ans, a, axis=None, weights=None, returned=False, keepdims=False):
    shape = anp.shape(a)
    _, total = _weighted(a, weights, axis, returned)
    full = keep_reduced(g, shape, axis) / total * (a - keep_reduced(ans, shape, axis))
    if anp.shape(weights) == shape:
        return like(full, weights)
    axes = normalize_axes(axis, len(shape))
    summed = anp.sum(full, axis=tuple(i for i in range(len(shape)) if i not in axes))
    return like(anp.transpose(summed, tuple(onp.argsort(onp.argsort(axes)))), weights)


def _average_jvp_a(g, ans, a, axis=None, weights=None, returned=False, keepdims=False):
    refuse_keywords("average", returned=returned or None)
    return like(anp.average(g, axis=axis, weights=weights, keepdims=keepdims), ans)


def _average_jvp_weights(g, ans, a, axis=None, weights=None, returned=False, keepdims=False):
    _, total = _weighted(a, weights, axis, returned)
    full = _full_weights(a, g, axis) * (a - keep_reduced(ans, anp.shape(a), axis)) / total
    return like(anp.reshape(anp.sum(full, axis=axis), anp.shape(ans)), ans)


def_direct(
    anp.average,
    vjps=(_average_vjp_a, None, _average_vjp_weights),
    jvps=(_average_jvp_a, None, _average_jvp_weights),
)

# ------------------------------------------------------------------------------------------------------------- products

_TINY = {char: float(onp.finfo(char).tiny) for char in "efdFD"}


def is_regular(ans):
    """Return whether products are all so far from zero and infinity that each may be divided by its factors."""
    size = abs(getval(ans))
    if type(size) is float or type(size) is onp.float64:
        return _TINY["d"] <= size < math.inf
    return bool(onp.all((size >= _TINY.get(size.dtype.char, 1e-300)) & (size < math.inf)))


def _others(x):
    """Return, for each element of the last axis, the product of all others, without a division, which a zero forbids.

    Elements are multiplied in pairs, level by level of a binary tree. From the top down, each half of a pair then gets
    the product of all elements outside the pair times the other half.
    """
    n = anp.shape(x)[-1]
    if n < 2:
        return anp.ones_like(x)
    lead = anp.shape(x)[:-1]
    if n % 2:
        x = anp.concatenate([x, onp.ones((*lead, 1))], -1)
    pairs = anp.reshape(x, (*lead, (n + 1) // 2, 2))
    outside = _others(pairs[..., 0] * pairs[..., 1])
    both = anp.expand_dims(outside, -1) * pairs[..., ::-1]
    return anp.reshape(both, (*lead, n + n % 2))[..., :n]


def _others_over(a, axis):
    """Return, for each element, the product of all others of its slice over any axes."""
    shape = anp.shape(a)
    axes = normalize_axes(axis, len(shape)) if shape else ()
    rest = tuple(i for i in range(len(shape)) if i not in axes)
    order = (*rest, *axes)
    flat = (*[shape[i] for i in rest], math.prod(shape[i] for i in axes))
    others = _others(anp.reshape(anp.transpose(a, order), flat))
    others = anp.reshape(others, tuple(shape[i] for i in order))
    return anp.transpose(others, tuple(onp.argsort(order).tolist()))


def _prod_partials(ans, a, axis=None, dtype=None, out=None, keepdims=False, initial=_NOT_GIVEN, where=_NOT_GIVEN):
    mask = _mask(where, anp.shape(a))
    if mask is not None:
        a = anp.where(mask, a, 1)
    if is_regular(ans):
        partials = ans / a
    else:
        partials = _others_over(a, axis)
        if initial is not _NOT_GIVEN:
            partials = partials * initial
    return partials if mask is None else anp.where(mask, partials, 0)


_def_partials(anp.prod, _prod_partials)
_def_partials(anp.nanprod, _skipping_nan(_prod_partials))

# ------------------------------------------------------------------------------------------------------------- extremes


def balanced_eq(x, z, y):
    """Return 1 where ``x`` equals ``z``, the larger or smaller of ``x`` and ``y``, 1/2 in a tie, and 0 elsewhere."""
    return (x == z) / (1.0 + (x == y))


def _shares(ans, a, axis, mask):
    """Return the partial derivatives of extremes, shared equally among the elements that are equal to them."""
    a, ans = onp.asarray(getval(a)), getval(ans)
    hit = a == ans if mask is None else (a == ans) & mask
    n = onp.count_nonzero(hit) if axis is None else onp.sum(hit, axis=axis, keepdims=True)
    if onp.all(n == 1):
        return hit
    if not onp.all(n):
        # No element equals the extreme: it is nan, or the keyword `initial`.
        nan = onp.isnan(a) & onp.isnan(ans)
        hit = hit | (nan if mask is None else nan & mask)
        n = onp.maximum(onp.sum(hit, axis=axis, keepdims=True), 1)
    return hit / n


def _extreme_partials(ans, a, axis=None, out=None, keepdims=False, initial=_NOT_GIVEN, where=_NOT_GIVEN):
    return _shares(ans, a, axis, _mask(where, anp.shape(a)))


def _ptp_partials(ans, a, axis=None, out=None, keepdims=False):
    x = onp.asarray(getval(a))
    highest, lowest = onp.max(x, axis=axis, keepdims=True), onp.min(x, axis=axis, keepdims=True)
    return _shares(highest, x, axis, None) * 1.0 - _shares(lowest, x, axis, None)


for _name in ("max", "min", "amax", "amin"):
    _def_partials(getattr(anp, _name), _extreme_partials, compiled="extreme")
for _name in ("nanmax", "nanmin"):
    _def_partials(getattr(anp, _name), _skipping_nan(_extreme_partials))
_def_partials(anp.ptp, _ptp_partials)

# ------------------------------------------------------------------------------------------------------------ variances


def _mean(a, axis):
    n = max(_count(anp.shape(a), axis, None), 1)
    if type(a) is onp.ndarray:
        return onp.add.reduce(a, axis=axis, keepdims=axis is not None) / n
    return anp.sum(a, axis=axis, keepdims=axis is not None) / n


def _deviation(a, axis, mask):
    """Return the mean with axes kept, and the conjugate of the distance to it, which pairs with complex tangents."""
    if mask is None:
        mean = _mean(a, axis)
        distance = a - mean
    else:
        mean = anp.mean(a, axis=axis, keepdims=True, where=mask)
        distance = anp.where(mask, a - mean, 0)
    return mean, anp.conj(distance) if is_complex(distance) else distance


def _freedom(shape, axis, mask, ddof):
    """Return the degrees of freedom, nan where there are none."""
    left = _count(shape, axis, mask) - ddof
    if mask is None:
        return left if left > 0 else math.nan
    return onp.where(left > 0, left, onp.nan)


def _centred(name, a, axis, ddof, where=_NOT_GIVEN, mean=_NOT_GIVEN, correction=_NOT_GIVEN):
    """Return the mask, the mean, the distance to it and the degrees of freedom of a variance."""
    refuse_keywords(name, mean=mean)
    shape = anp.shape(a)
    mask = _mask(where, shape)
    freedom = _freedom(shape, axis, mask, ddof if correction is _NOT_GIVEN else correction)
    return mask, *_deviation(a, axis, mask), freedom


def _var_partials(ans, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **options):
    _, _, distance, freedom = _centred("var", a, axis, ddof, **options)
    return distance * (2 / freedom)


def _all_equal(a, axis, mask):
    """Return for each slice whether all its elements are equal."""
    parts = (a.real, a.imag) if onp.iscomplexobj(a) else (a,)
    if mask is None:
        return onp.all([onp.max(x, axis, keepdims=True) == onp.min(x, axis, keepdims=True) for x in parts], axis=0)
    options = {"keepdims": True, "where": mask}
    highest = [onp.max(x, axis, initial=-onp.inf, **options) for x in parts]
    lowest = [onp.min(x, axis, initial=onp.inf, **options) for x in parts]
    return onp.all([h <= low for h, low in zip(highest, lowest, strict=True)], axis=0)


# A generous bound on the relative standard deviation that rounding of the mean gives equal numbers.
_ROUNDING = {char: 64 * float(onp.finfo(char).eps) for char in "efdgFDG"}


def _is_constant(ans, mean, a, axis, mask):
    """Return for each slice whether its elements are all equal; None if that is so of no slice.

    The standard deviation ``ans`` does not tell: rounding of the mean may make it positive.
    """
    ans, mean, a = getval(ans), getval(mean), onp.asarray(getval(a))
    doubtful = ans <= _ROUNDING.get(a.dtype.char, _ROUNDING["d"]) * abs(mean)
    if not onp.any(doubtful):
        return None
    equal = _all_equal(a, axis, mask) | (onp.asarray(ans) == 0)
    return equal if onp.any(equal) else None


def _std_partials(ans, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **options):
    mask, mean, distance, freedom = _centred("std", a, axis, ddof, **options)
    constant = _is_constant(ans, mean, a, axis, mask)
    if constant is None:
        return distance / (ans * freedom)
    # The standard deviation has no derivative at zero; zero is a subgradient there.
    return anp.where(constant, 0, distance / (anp.where(constant, 1, ans) * freedom))


_def_partials(anp.var, _var_partials)
_def_partials(anp.std, _std_partials)
_def_partials(anp.nanvar, _skipping_nan(_var_partials))
_def_partials(anp.nanstd, _skipping_nan(_std_partials))
