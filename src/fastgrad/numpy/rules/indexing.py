"""Indexing, take, compress, insert, delete and choose: rules of functions that select elements.

The cotangent of ``x[index]`` is zero except at ``index``: the transpose of a selection puts elements back where they
were taken from, and sums them where one was taken more than once.
"""

import math
import operator

import numpy as onp

from fastgrad._engine.core import connect_indexing, is_basic, meets_once
from fastgrad._rules.direct import def_direct
from fastgrad.core import SparseObject, vspace
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.batching import batch_axis, batch_space, first_argument, flatten_rows
from fastgrad.numpy.broadcasting import as_array, dtype_of, fit_dtype
from fastgrad.numpy.composing import def_composed_name
from fastgrad.tracer import primitive

# ------------------------------------------------------------------------------------------------------------- x[index]


@primitive
def untake(x, idx, vs):
    """Return the cotangent in ``vs`` that is ``x`` at ``idx`` and zero elsewhere: the transpose of indexing.

    Parameters
    ----------
    x : array_like
        Of the shape that indexing by ``idx`` gives. Entries at the same position are summed.
    idx : object
        Any index that NumPy supports.
    vs : VSpace
        The space of the indexed array.

    Returns
    -------
    SparseObject
        It adds itself to an array of ``vs`` in place.
    """

    def mut_add(array):
        if array.dtype.kind in "biu":  # the array was one of integers, but its cotangent may be inexact
            array = array.astype(onp.result_type(array, x))
        if is_basic(idx) or meets_once(idx, array.shape):
            array[idx] += x
        else:
            onp.add.at(array, idx, x)
        return array

    return SparseObject(vs, mut_add)


def _is_array_index(item):
    return not (item is None or item is Ellipsis or isinstance(item, slice))


def _batch_index(index):
    """Return the index that selects from each row of a batch what ``index`` selects from one; None if unsupported.

    Arrays of indices that a slice separates are unsupported: NumPy puts their axes in front of that of the rows.
    """
    items = index if type(index) is tuple else (index,)
    arrays = [i for i, item in enumerate(items) if _is_array_index(item)]
    if any(not isinstance(items[i], int | onp.integer | onp.ndarray | list) for i in arrays):
        return None
    only_ints = all(isinstance(items[i], int | onp.integer) and not isinstance(items[i], bool) for i in arrays)
    if only_ints or not arrays or arrays[-1] - arrays[0] == len(arrays) - 1:
        return (slice(None), *items)
    return None


def _getitem_vjp(g, _ans, vs_array, index):
    return untake(g, index, vs_array)


def _getitem_batch(x, index):
    index = (slice(None), index) if type(index) in (slice, int) else _batch_index(index)
    return NotImplemented if index is None else x[index]


def _untake_vjp(g, _ans, _x, idx, _vs):
    return g[idx]


def _untake_batch(x, index, space):
    batches = batch_space(space, anp.shape(x)[0])
    index = (slice(None), index) if type(index) in (slice, int) else _batch_index(index)
    return NotImplemented if batches is None or index is None else untake(x, index, batches)


def_direct(anp.getitem, vjps=(_getitem_vjp,), jvps=("same",), batch=first_argument(_getitem_batch))
connect_indexing(anp.getitem)
def_direct(untake, vjps=(_untake_vjp,), jvps=("same",), batch=first_argument(_untake_batch))

# ------------------------------------------------------------------------------------------- take, compress and extract


def _take_index(shape, indices, axis, mode):
    """Return the index that selects what ``numpy.take`` takes from an array of this shape."""
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


def _take_batch(x, indices, axis=None, out=None, mode="raise"):
    x, axis = (flatten_rows(x), 1) if axis is None else (x, batch_axis(axis))
    return anp.take(x, indices, axis, out, mode)


def _compress_vjp(g, _ans, condition, vs_a, axis=None):
    return untake(g, _take_index(vs_a.shape, onp.flatnonzero(condition), axis, "raise"), vs_a)


def_direct(anp.take, vjps=(_take_vjp,), jvps=("same",), batch=first_argument(_take_batch))
def_direct(anp.compress, vjps=(None, _compress_vjp), jvps=(None, "same"))
def_direct(anp.extract, vjps=(None, _compress_vjp), jvps=(None, "same"))

# --------------------------------------------------------------------------------------------------------- compositions


def _take_along_axis(arr, indices, axis=-1):
    indices = onp.asarray(indices)
    if axis is None:
        return anp.ravel(arr)[indices]
    axis = operator.index(axis) % anp.ndim(arr)
    shape = anp.shape(arr)
    index = [onp.arange(n).reshape((n,) + (1,) * (len(shape) - i - 1)) for i, n in enumerate(shape)]
    index[axis] = indices
    return arr[tuple(index)]


def _delete(arr, obj, axis=None):
    if axis is None:
        arr, axis = anp.ravel(arr), 0
    kept = onp.delete(onp.arange(anp.shape(arr)[axis]), obj)
    return anp.take(arr, kept, axis)


def _insert(arr, obj, values, axis=None):
    shape, values = anp.shape(arr), as_array(values)
    size, more = math.prod(shape), math.prod(anp.shape(values))
    # NumPy inserts the positions that the values have behind the array's own elements.
    positions = onp.insert(
        onp.arange(size).reshape(shape), obj, onp.arange(size, size + more).reshape(anp.shape(values)), axis
    )
    # The values take the dtype of the array, as in NumPy.
    values = fit_dtype(anp.ravel(values), vspace(arr))
    return anp.concatenate([anp.ravel(arr), values])[positions]


def _resize(a, new_shape):
    new_shape = (new_shape,) if onp.ndim(new_shape) == 0 else tuple(new_shape)
    size, n = math.prod(new_shape), math.prod(anp.shape(a))
    if n == 0:
        return anp.reshape(onp.zeros(size, dtype_of(a)) + anp.sum(a), new_shape)
    return anp.reshape(anp.ravel(a)[onp.arange(size) % n], new_shape)


def _choose(a, choices, _out=None, mode="raise"):
    a, shape = onp.asarray(a), anp.shape(choices)
    n, rank = shape[0], max(onp.ndim(a), len(shape) - 1)
    a = a % n if mode == "wrap" else onp.clip(a, 0, n - 1)
    full = onp.broadcast_shapes(a.shape, shape[1:])
    choices = anp.reshape(choices, (n, *(1,) * (rank - len(shape) + 1), *shape[1:]))
    choices = anp.broadcast_to(choices, (n, *full))
    return choices[(onp.broadcast_to(a, full), *onp.indices(full, sparse=True))]


def_composed_name("take_along_axis", _take_along_axis)
def_composed_name("delete", _delete)
def_composed_name("insert", _insert)
def_composed_name("resize", _resize)
def_composed_name("choose", _choose)
