"""Fitting cotangents and tangents to shapes and dtypes, as rules of functions that broadcast or reduce need.

The transpose of broadcasting is a sum over the axes that it added or stretched; that of a sum is broadcasting.
"""

import math
import operator

import numpy as onp

from fastgrad._engine.core import ArrayVSpace, VSpace, connect, dtype_of, is_complex, vspace
from fastgrad.numpy import numpy_wrapper as anp


def fit(g, space):
    """Return a cotangent fitted to a vector space: summed over what was broadcast, real if the space is, of its dtype.

    Parameters
    ----------
    g : array_like
        The cotangent of an array that a value of ``space`` was broadcast to; it may be traced.
    space : VSpace
        The space of that value. If it is not one of arrays, ``g`` is returned as it is.

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
    """Return a cotangent in the dtype of a vector space, without its imaginary part if the space is real."""
    have = dtype_of(g)
    if have == space.dtype:
        return g
    if have.kind == "c" and not space.iscomplex:
        g = anp.real(g)
    return anp._astype(g, space.dtype) if space.dtype.kind in "fc" and dtype_of(g) != space.dtype else g


def like(g, x):
    """Return a cotangent or tangent in the dtype of an array or space of arrays; that of a container as it is."""
    if getattr(g, "dtype", None) is getattr(x, "dtype", 0):
        return g
    space = x if isinstance(x, VSpace) else vspace(x)
    return fit_dtype(g, space) if isinstance(space, ArrayVSpace) else g


def as_array(x):
    """Return the array of a number, list or tuple; an array or box as it is."""
    return x if hasattr(x, "ndim") else onp.asarray(x)


def broadcast(x, target):
    """Return a tangent broadcast to the shape of ``target``, and in its dtype if that is the wider one.

    Parameters
    ----------
    x : array_like
        Of a shape that broadcasts to that of ``target``; it may be traced.
    target : array_like
        The value that the tangent belongs to.
    """
    if anp.shape(x) != anp.shape(target):
        x = anp.broadcast_to(x, anp.shape(target))
    have, dtype = dtype_of(x), dtype_of(target)
    # Not narrowed, since a tangent may have more precision than the value.
    return anp._astype(x, dtype) if have != dtype and onp.promote_types(have, dtype) == dtype else x


def unbroadcast(x, target_meta, broadcast_idx=0):
    """Return a cotangent summed over the axes that broadcasting added or stretched.

    Parameters
    ----------
    x : array_like
        The cotangent of the broadcast value.
    target_meta : tuple
        What ``fastgrad.numpy.metadata`` returns for the value that was broadcast: shape, number of axes, dtype, and
        whether it is complex.
    broadcast_idx : int
        Where axes were added: 0 in front of the value's own axes, -1 behind them.

    Returns
    -------
    array_like
        Of the shape of the value; real if the value is.
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
    """Return a pullback of a function that broadcasts, from one of the same function without broadcasting.

    Parameters
    ----------
    target : array_like
        The argument that the pullback is for.
    f : callable
        Maps the cotangent of the answer to that of the argument, still in the answer's shape.

    Returns
    -------
    callable
        Returns ``f`` of the cotangent, summed over the axes that broadcasting added or stretched, and real if
        ``target`` is.

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
    """Return ``x`` as a real or complex value, as ``target`` is."""
    if is_complex(x) and not is_complex(target):
        return anp.real(x)
    return x + 0j if is_complex(target) and not is_complex(x) else x


def replace_zero(x, val):
    """Return ``x`` with ``val`` in place of its zeros."""
    return anp.where(x, x, val)


def normalize_axes(axis, ndim):
    """Return axes as a tuple of non-negative ints; all axes if ``axis`` is None."""
    if axis is None:
        return tuple(range(ndim))
    return tuple(operator.index(i) % ndim for i in (axis if isinstance(axis, tuple | list) else (axis,)))


def kept_shape(shape, axis):
    """Return the shape of a reduction that keeps the reduced axes with length 1."""
    if axis is None:
        return (1,) * len(shape)
    if not shape:
        return ()
    axes = (axis % len(shape),) if type(axis) is int else normalize_axes(axis, len(shape))
    return tuple([1 if i in axes else n for i, n in enumerate(shape)])


def keep_reduced(g, shape, axis):
    """Return ``g`` with the axes that a reduction of an array of this shape dropped, so that it broadcasts to it."""
    if axis is None:
        return g
    kept = kept_shape(shape, axis)
    return g if anp.shape(g) == kept else anp.reshape(g, kept)


def repeat_to_match_shape(g, shape, dtype, axis, keepdims):
    """Return a reduced array broadcast over the reduced axes, and the number of elements that were reduced to one.

    A helper at autograd's path, with autograd's parameters.

    Parameters
    ----------
    g : array_like
        The reduced array, with or without the reduced axes.
    shape : tuple of int
        The shape of the array that was reduced.
    dtype, keepdims
        Not used.
    axis : int, tuple of int or None
        The reduced axes.
    """
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
