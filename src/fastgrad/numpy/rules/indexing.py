"""Indexing: the cotangent of ``x[index]`` is zero but at ``index``, and is added there in place."""

import math

import numpy as onp

from fastgrad._engine.core import connect_indexing, is_basic, meets_once
from fastgrad._rules.direct import def_direct
from fastgrad.core import SparseObject
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.tracer import primitive


@primitive
def untake(x, idx, vs):
    """Give the cotangent in ``vs`` that is ``x`` at ``idx``, summed where places repeat, and zero elsewhere.

    Parameters
    ----------
    x : array_like
        Of the shape that indexing by ``idx`` gives.
    idx : object
        Any index NumPy takes.
    vs : VSpace
        The space of the indexed array.

    Returns
    -------
    SparseObject
        Adds itself to an array of ``vs`` in place.
    """

    def mut_add(array):
        if array.dtype.kind in "biu":  # of an array of integers; its cotangent need not be one
            array = array.astype(onp.result_type(array, x))
        if is_basic(idx) or meets_once(idx, array.shape):
            array[idx] += x
        else:
            onp.add.at(array, idx, x)
        return array

    return SparseObject(vs, mut_add)


def_direct(anp.getitem, vjps=(lambda g, _ans, vs_array, index: untake(g, index, vs_array),), jvps=("same",))
connect_indexing(anp.getitem)
def_direct(untake, vjps=(lambda g, _ans, _x, idx, _vs: g[idx],), jvps=("same",))


def _take_index(shape, indices, axis, mode):
    """Give the index that does what ``numpy.take`` does."""
    n = math.prod(shape) if axis is None else shape[axis]
    indices = onp.asarray(indices)
    if mode == "wrap":
        indices = indices % n
    elif mode == "clip":
        indices = onp.clip(indices, 0, n - 1)
    if axis is None:
        return onp.unravel_index(onp.where(indices < 0, indices + n, indices), shape)
    return (slice(None),) * (axis % len(shape)) + (indices,)


def _take_vjp(g, _ans, vs_a, indices, axis=None, out=None, mode="raise"):
    return untake(g, _take_index(vs_a.shape, indices, axis, mode), vs_a)


def _compress_vjp(g, _ans, condition, vs_a, axis=None):
    return untake(g, _take_index(vs_a.shape, onp.flatnonzero(condition), axis, "raise"), vs_a)


def_direct(anp.take, vjps=(_take_vjp,), jvps=("same",))
def_direct(anp.compress, vjps=(None, _compress_vjp), jvps=(None, "same"))
def_direct(anp.extract, vjps=(None, _compress_vjp), jvps=(None, "same"))
