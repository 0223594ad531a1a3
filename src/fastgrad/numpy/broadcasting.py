"""Fitting cotangents and tangents to the shapes and dtypes of broadcasting: the transpose of broadcasting is a sum."""

import math
import operator

import numpy as onp

from fastgrad._engine.core import ArrayVSpace, VSpace, connect, dtype_of, is_complex, vspace
from fastgrad.numpy import numpy_wrapper as anp


def fit(g, space):
    """Bring a cotangent to a vector space: its shape by summing what was broadcast, real where it is real, its dtype.

    Parameters
    ----------
    g : array_like
        Cotangent of an array that a value of ``space`` was broadcast to. May be traced.
    space : ArrayVSpace
        The space of that value.

    Returns
    -------
    array_like
        Of shape ``space.shape`` and dtype ``space.dtype``.
    """
    if not isinstance(space, ArrayVSpace):
        return g
    shape, have = space.shape, g.shape if type(g) is onp.ndarray else anp.shape(g)
    if have != shape:
        leading = len(have) - len(shape)
        axes = [i + leading for i, n in enumerate(shape) if n == 1 and have[i + leading] != 1]
        axes = None if not shape else (*range(leading), *axes)
        total = onp.add.reduce(g, axis=axes) if type(g) is onp.ndarray else anp.sum(g, axis=axes)
        g = anp.reshape(total, shape) if shape else total
    return fit_dtype(g, space)


def fit_dtype(g, space):
    """Bring a cotangent to the dtype of a vector space, dropping an imaginary part that has no place there."""
    have = dtype_of(g)
    if have == space.dtype:
        return g
    if have.kind == "c" and not space.iscomplex:
        g = anp.real(g)
    return anp._astype(g, space.dtype) if space.dtype.kind in "fc" and dtype_of(g) != space.dtype else g


def like(g, x):
    """Give a cotangent or tangent the dtype of an array or of a space of arrays; leave those of containers alone."""
    if getattr(g, "dtype", None) is getattr(x, "dtype", 0):
        return g
    space = x if isinstance(x, VSpace) else vspace(x)
    return fit_dtype(g, space) if isinstance(space, ArrayVSpace) else g


def as_array(x):
    """Make an array of a number, list or tuple; leave arrays and boxes as they are."""
    return x if hasattr(x, "ndim") else onp.asarray(x)


def broadcast(x, target):
    """Bring a tangent to the shape and dtype of ``target``.

    Parameters
    ----------
    x : array_like
        Of a shape that broadcasts to that of ``target``. May be traced.
    target : array_like
        The value that the tangent belongs to.
    """
    if anp.shape(x) != anp.shape(target):
        x = anp.broadcast_to(x, anp.shape(target))
    have, dtype = dtype_of(x), dtype_of(target)
    # Never narrowed: a tangent may be given in more precision than the value has.
    return anp._astype(x, dtype) if have != dtype and onp.promote_types(have, dtype) == dtype else x


def unbroadcast(x, target_meta, broadcast_idx=0):
    """Sum a cotangent over the axes that broadcasting added or stretched.

    Parameters
    ----------
    x : array_like
        Cotangent of the broadcast value.
    target_meta : tuple
        What ``fastgrad.numpy.metadata`` says of the value that was broadcast: shape, number of axes, dtype, and
        whether it is complex.
    broadcast_idx : int
        Where axes were added: 0 in front, -1 behind the value's own axes.
    """
    shape, ndim, _, iscomplex = target_meta
    added = anp.ndim(x) - ndim
    if added > 0:
        start = 0 if broadcast_idx == 0 else anp.ndim(x) + broadcast_idx - added + 1
        x = anp.sum(x, axis=tuple(range(start, start + added)))
    stretched = tuple(i for i, n in enumerate(shape) if n == 1 and anp.shape(x)[i] != 1)
    if stretched:
        x = anp.sum(x, axis=stretched, keepdims=True)
    return anp.real(x) if is_complex(x) and not iscomplex else x


def unbroadcast_f(target, f):
    """Make a pullback of a function that broadcasts from one of the same function without broadcasting.

    Parameters
    ----------
    target : array_like
        The argument that the pullback is for.
    f : callable
        Takes the cotangent of the answer to that of the argument, still of the answer's shape.

    Returns
    -------
    callable
        Sums ``f`` of the cotangent over the axes that broadcasting added or stretched, and makes it real if ``target``
        is.

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad import grad
    >>> from fastgrad.extend import defvjp, primitive
    >>> from fastgrad.numpy.numpy_vjps import unbroadcast_f
    >>> @primitive
    ... def scaled(x, y):
    ...     return x * y
    >>> defvjp(scaled, lambda ans, x, y: unbroadcast_f(x, lambda g: g * y), None)
    >>> grad(lambda x: np.sum(scaled(x, np.ones(3))))(2.0)
    np.float64(3.0)
    """
    meta = anp.metadata(target)
    return lambda g: unbroadcast(f(g), meta)


def match_complex(target, x):
    """Make ``x`` real or complex as ``target`` is."""
    if is_complex(x) and not is_complex(target):
        return anp.real(x)
    return x + 0j if is_complex(target) and not is_complex(x) else x


def replace_zero(x, val):
    """Put ``val`` where ``x`` is zero."""
    return anp.where(x, x, val)


def normalize_axes(axis, ndim):
    """Give axes as a tuple of non-negative ints; all of them for None."""
    if axis is None:
        return tuple(range(ndim))
    return tuple(operator.index(i) % ndim for i in (axis if isinstance(axis, tuple | list) else (axis,)))


def kept_shape(shape, axis):
    """Give the shape of a reduction that keeps the reduced axes with length 1."""
    if axis is None:
        return (1,) * len(shape)
    if not shape:
        return ()
    axes = (axis % len(shape),) if type(axis) is int else normalize_axes(axis, len(shape))
    return tuple([1 if i in axes else n for i, n in enumerate(shape)])


def keep_reduced(g, shape, axis):
    """Put back the axes that a reduction of an array of this shape dropped, so that ``g`` broadcasts to it."""
    if axis is None:
        return g
    kept = kept_shape(shape, axis)
    return g if anp.shape(g) == kept else anp.reshape(g, kept)


def repeat_to_match_shape(g, shape, dtype, axis, keepdims):
    """Broadcast a reduced array over the reduced axes, and say how many elements each of its elements stands for."""
    if shape == ():
        return g, 1
    n = math.prod(shape) // max(math.prod(kept_shape(shape, axis)), 1)
    return anp.broadcast_to(keep_reduced(g, shape, axis), shape), n


connect(unbroadcast=fit, broadcast=broadcast)

__all__ = [
    "as_array",
    "broadcast",
    "dtype_of",
    "fit",
    "fit_dtype",
    "is_complex",
    "keep_reduced",
    "kept_shape",
    "like",
    "match_complex",
    "normalize_axes",
    "repeat_to_match_shape",
    "replace_zero",
    "unbroadcast",
    "unbroadcast_f",
]
