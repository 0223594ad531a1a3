"""Reductions and accumulations along axes.

A reduction to one number per slice is given by the partial derivatives of that number, an array of the input's shape;
the cotangent is multiplied by it, the tangent is multiplied by it and summed. Sums and means need no such array.
"""

import functools
import inspect
import math

import numpy as onp

from fastgrad._engine.core import extreme_vjp, sum_axis_vjp
from fastgrad._rules.direct import def_direct
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import dtype_of, is_complex, keep_reduced, kept_shape, like, normalize_axes
from fastgrad.tracer import getval, primitive

# What NumPy passes for a keyword that was not given.
_NOT_GIVEN = onp._NoValue

_AXIS = {"axis", "keepdims"}

# -------------------------------------------------------------------------------------------------------- common ground


def _refuse(name, **keywords):
    """Raise if a keyword that the rules know nothing of was given."""
    for keyword, value in keywords.items():
        if value is not None and value is not _NOT_GIVEN:
            hint = "use the returned array" if keyword == "out" else "leave it out"
            raise NotImplementedError(f"{name} of a traced value has no derivative with {keyword!r} given; {hint}")


def _mask(where, shape):
    """Give the keyword ``where`` as an array of this shape, None if it was not given."""
    if where is _NOT_GIVEN or where is True:
        return None
    return onp.broadcast_to(getval(where), shape)


def _count(shape, axis, mask):
    """Give how many elements each result of a reduction is made of; an array, with axes kept, if there is a mask."""
    if mask is not None:
        return onp.sum(mask, axis=axis, keepdims=True)
    return math.prod(shape) // max(math.prod(kept_shape(shape, axis)), 1)


@primitive
def repeat_reduced(g, space, axis=None):
    """Repeat a cotangent over the axes that were summed: the transpose of ``numpy.sum``, in an array of its own.

    Parameters
    ----------
    g : array_like
        Of the shape that the sum has, with or without the reduced axes.
    space : ArrayVSpace
        The space of the summed array.
    axis : int, tuple of int or None
        The axes that were summed.
    """
    result = onp.empty(space.shape, space.dtype if space.dtype.kind in "fc" else onp.asarray(g).dtype)
    result[...] = g if axis is None else onp.asarray(g).reshape(kept_shape(space.shape, axis))
    return result


def _repeat_reduced_vjp(h, _ans, vs_g, _space, axis=None):
    return like(anp.reshape(anp.sum(h, axis=axis), vs_g.shape), vs_g)


def_direct(repeat_reduced, vjps=(_repeat_reduced_vjp,), jvps=("same",))


def _spread(g, space, axis, mask=None):
    """Pull the cotangent of a sum back."""
    if mask is not None:
        return like(anp.where(mask, keep_reduced(g, space.shape, axis), 0), space)
    plain = sum_axis_vjp(g, space, axis)
    if plain is not None:
        return plain
    if not space.shape:
        return like(g, space)
    if type(g) is not onp.float64 and not space.iscomplex and is_complex(g):
        g = anp.real(g)
    return repeat_reduced(g, space, axis)


def _def_partials(fun, partials, compiled=None):
    """Give both modes of a reduction.

    Parameters
    ----------
    fun : Primitive
        Takes an array and ``axis`` first.
    partials : callable
        ``partials(ans, a, *args, **kwargs)``, the derivatives of each result with respect to what it is made of, in the
        shape of ``a``; ``ans`` is given with the reduced axes kept. The keyword ``out`` never reaches it.
    compiled : str, optional
        "extreme" if `extreme_vjp` does on plain values what the rule does.
    """

    @functools.cache  # not at import: signatures are slow to read
    def out_at():
        return list(inspect.signature(fun.fun).parameters).index("out") - 1

    def axis_of(args, kwargs):
        _refuse(fun.__name__, out=args[out_at()] if len(args) > out_at() else kwargs.get("out"))
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
    """Make the partial derivatives of a reduction that skips nan of those of the reduction with ``where``."""

    def skipping(ans, a, *args, where=_NOT_GIVEN, **kwargs):
        mask = ~onp.isnan(getval(a))
        if where is not _NOT_GIVEN:
            mask = mask & getval(where)
        return partials(ans, a, *args, where=mask, **kwargs)

    return skipping


# ------------------------------------------------------------------------------------------------------- sums and means


def _sum_vjp(g, _ans, vs_a, axis=None, dtype=None, out=None, keepdims=False, initial=_NOT_GIVEN, where=_NOT_GIVEN):
    if out is None and where is _NOT_GIVEN:
        return _spread(g, vs_a, axis)
    _refuse("sum", out=out)
    return _spread(g, vs_a, axis, _mask(where, vs_a.shape))


def _sum_jvp(g, _ans, _a, axis=None, dtype=None, out=None, keepdims=False, initial=_NOT_GIVEN, where=_NOT_GIVEN):
    _refuse("sum", out=out)
    if where is _NOT_GIVEN:
        return anp.sum(g, axis=axis, dtype=dtype, keepdims=keepdims)
    return anp.sum(g, axis=axis, dtype=dtype, keepdims=keepdims, where=where)


def _mean_vjp(g, _ans, vs_a, axis=None, dtype=None, out=None, keepdims=False, where=_NOT_GIVEN):
    _refuse("mean", out=out)
    mask = _mask(where, vs_a.shape)
    n = _count(vs_a.shape, axis, mask)
    if mask is None:
        return _spread(g / n if n > 1 else g, vs_a, axis)
    return _spread(keep_reduced(g, vs_a.shape, axis) / onp.maximum(n, 1), vs_a, axis, mask)


def _mean_jvp(g, _ans, _a, axis=None, dtype=None, out=None, keepdims=False, **where):
    _refuse("mean", out=out)
    return anp.mean(g, axis=axis, dtype=dtype, keepdims=keepdims, **where)


def _nansum_partials(ans, a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=_NOT_GIVEN):
    return _mask(where, anp.shape(a))


def _nanmean_partials(ans, a, axis=None, dtype=None, out=None, keepdims=False, where=_NOT_GIVEN):
    mask = _mask(where, anp.shape(a))
    return mask / onp.maximum(_count(mask.shape, axis, mask), 1)


def_direct(anp.sum, vjps=(_sum_vjp,), jvps=(_sum_jvp,), compiled=("sum",))
def_direct(anp.mean, vjps=(_mean_vjp,), jvps=(_mean_jvp,), compiled=("mean",))
_def_partials(anp.nansum, _skipping_nan(_nansum_partials))
_def_partials(anp.nanmean, _skipping_nan(_nanmean_partials))


def _full_weights(a, weights, axis):
    """Bring the weights of an average to a shape that broadcasts to the array's, as ``numpy.average`` does."""
    shape = anp.shape(a)
    if axis is None or anp.shape(weights) == shape:
        return weights
    axes = normalize_axes(axis, len(shape))
    weights = anp.transpose(weights, tuple(onp.argsort(axes)))
    return anp.reshape(weights, tuple(n if i in axes else 1 for i, n in enumerate(shape)))


def _weighted(a, weights, axis, returned):
    """Give the weights in full and, with axes kept, their sums."""
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
    _refuse("average", returned=returned or None)
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


def _is_regular(ans):
    """Say whether products are all so far from zero and infinity that each may be divided by its factors."""
    size = abs(getval(ans))
    if type(size) is float or type(size) is onp.float64:
        return _TINY["d"] <= size < math.inf
    return bool(onp.all((size >= _TINY.get(size.dtype.char, 1e-300)) & (size < math.inf)))


def _others(x):
    """Multiply, for each element of the last axis, all the others: by a tree, so that zeros do no harm.

    Pairs are multiplied level by level; from the top down, each half of a pair gets the product of all outside the
    pair times the other half.
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
    """Multiply, for each element, all the others of its slice over any axes."""
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
    if _is_regular(ans):
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
    """Give the share of ``x`` in ``z``, the larger or smaller of ``x`` and ``y``: 1 where ``x`` is it, 1/2 in a tie."""
    return (x == z) / (1.0 + (x == y))


def _shares(ans, a, axis, mask):
    """Share each extreme equally among the elements that are equal to it."""
    a, ans = onp.asarray(getval(a)), getval(ans)
    hit = a == ans if mask is None else (a == ans) & mask
    n = onp.count_nonzero(hit) if axis is None else onp.sum(hit, axis=axis, keepdims=True)
    if onp.all(n == 1):
        return hit
    if not onp.all(n):
        # The extreme is nan, which equals nothing, or the keyword `initial`.
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
    """Give the mean with axes kept, and the conjugate of the distance to it: for complex z it pairs with dz."""
    if mask is None:
        mean = _mean(a, axis)
        distance = a - mean
    else:
        mean = anp.mean(a, axis=axis, keepdims=True, where=mask)
        distance = anp.where(mask, a - mean, 0)
    return mean, anp.conj(distance) if is_complex(distance) else distance


def _freedom(shape, axis, mask, ddof):
    """Give the degrees of freedom, nan where there are none."""
    left = _count(shape, axis, mask) - ddof
    if mask is None:
        return left if left > 0 else math.nan
    return onp.where(left > 0, left, onp.nan)


def _centred(name, a, axis, ddof, where=_NOT_GIVEN, mean=_NOT_GIVEN, correction=_NOT_GIVEN):
    """Give the mask, the mean, the distance to it and the degrees of freedom of a variance."""
    _refuse(name, mean=mean)
    shape = anp.shape(a)
    mask = _mask(where, shape)
    freedom = _freedom(shape, axis, mask, ddof if correction is _NOT_GIVEN else correction)
    return mask, *_deviation(a, axis, mask), freedom


def _var_partials(ans, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **options):
    _, _, distance, freedom = _centred("var", a, axis, ddof, **options)
    return distance * (2 / freedom)


def _all_equal(a, axis, mask):
    """Say of which slices all elements are equal."""
    parts = (a.real, a.imag) if onp.iscomplexobj(a) else (a,)
    if mask is None:
        return onp.all([onp.max(x, axis, keepdims=True) == onp.min(x, axis, keepdims=True) for x in parts], axis=0)
    options = {"keepdims": True, "where": mask}
    highest = [onp.max(x, axis, initial=-onp.inf, **options) for x in parts]
    lowest = [onp.min(x, axis, initial=onp.inf, **options) for x in parts]
    return onp.all([h <= low for h, low in zip(highest, lowest, strict=True)], axis=0)


# A bound, with room, of what the rounding of a mean of equal numbers adds to their spread.
_ROUNDING = {char: 64 * float(onp.finfo(char).eps) for char in "efdgFDG"}


def _without_spread(ans, mean, a, axis, mask):
    """Say which slices have equal elements, None if no slice has: rounding of the mean may hide it from ``ans``."""
    ans, mean, a = getval(ans), getval(mean), onp.asarray(getval(a))
    doubtful = ans <= _ROUNDING.get(a.dtype.char, _ROUNDING["d"]) * abs(mean)
    if not onp.any(doubtful):
        return None
    equal = _all_equal(a, axis, mask) | (onp.asarray(ans) == 0)
    return equal if onp.any(equal) else None


def _std_partials(ans, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **options):
    mask, middle, distance, freedom = _centred("std", a, axis, ddof, **options)
    flat = _without_spread(ans, middle, a, axis, mask)
    if flat is None:
        return distance / (ans * freedom)
    # A cone has no derivative at its apex; zero is a subgradient there.
    return anp.where(flat, 0, distance / (anp.where(flat, 1, ans) * freedom))


_def_partials(anp.var, _var_partials)
_def_partials(anp.std, _std_partials)
_def_partials(anp.nanvar, _skipping_nan(_var_partials))
_def_partials(anp.nanstd, _skipping_nan(_std_partials))

# -------------------------------------------------------------------------------------------------------- accumulations


def _line(x, shape, axis):
    """Give an array as an accumulation sees it, flat if there is no axis, and the axis."""
    if axis is None or not shape:
        return anp.reshape(x, (-1,)), 0
    return x, axis


def _reversed_cumsum(g, axis):
    return anp.flip(anp.cumsum(anp.flip(g, axis), axis=axis), axis)


def _cumsum_vjp(g, _ans, vs_a, axis=None, dtype=None, out=None):
    _refuse("cumsum", out=out)
    line = 0 if axis is None or not vs_a.shape else axis
    return like(anp.reshape(_reversed_cumsum(g, line), vs_a.shape), vs_a)


def _cumsum_jvp(g, _ans, _a, axis=None, dtype=None, out=None):
    _refuse("cumsum", out=out)
    return anp.cumsum(g, axis=axis, dtype=dtype)


def _delayed(x, steps, fill):
    """Move the last axis by some steps, filling in at the front."""
    n = anp.shape(x)[-1]
    front = onp.full((*anp.shape(x)[:-1], min(steps, n)), fill, dtype_of(x))
    return anp.concatenate([front, x[..., : max(n - steps, 0)]], -1)


def _recur(a, b):
    """Solve ``s[k] = a[k] * s[k - 1] + b[k]``, ``s[-1] = 0``, along the last axis: Hillis and Steele's scan (1986)."""
    steps, n = 1, anp.shape(b)[-1]
    while steps < n:
        b = b + a * _delayed(b, steps, 0)
        a = a * _delayed(a, steps, 0)
        steps *= 2
    return b


def _cumprod_vjp(g, ans, a, axis=None, dtype=None, out=None):
    _refuse("cumprod", out=out)
    shape = anp.shape(a)
    x, line = _line(a, shape, axis)
    if _is_regular(ans):
        result = _reversed_cumsum(g * ans, line) / x
    else:
        x, y, g = anp.swapaxes(x, line, -1), anp.swapaxes(ans, line, -1), anp.swapaxes(g, line, -1)
        # Backwards, s[k] = g[k] + x[k + 1] * s[k + 1] is what reaches the k-th product.
        sums = _recur(_delayed(x[..., ::-1], 1, 0), g[..., ::-1])[..., ::-1]
        result = anp.swapaxes(sums * _delayed(y, 1, 1), line, -1)
    return like(anp.reshape(result, shape), a)


def _cumprod_jvp(g, ans, a, axis=None, dtype=None, out=None):
    _refuse("cumprod", out=out)
    shape = anp.shape(a)
    x, line = _line(a, shape, axis)
    v, _ = _line(g, shape, axis)
    if _is_regular(ans):
        return like(ans * anp.cumsum(v / x, axis=line), ans)
    x, y, v = anp.swapaxes(x, line, -1), anp.swapaxes(ans, line, -1), anp.swapaxes(v, line, -1)
    return like(anp.swapaxes(_recur(x, v * _delayed(y, 1, 1)), line, -1), ans)


def_direct(anp.cumsum, vjps=(_cumsum_vjp,), jvps=(_cumsum_jvp,))
def_direct(anp.cumprod, vjps=(_cumprod_vjp,), jvps=(_cumprod_jvp,))
