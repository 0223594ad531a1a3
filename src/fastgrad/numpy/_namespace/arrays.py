"""The functions of `fastgrad.numpy` that build, index and join arrays.

A primitive sees only its arguments, not a traced array inside a list. So the functions that take lists are written here
in terms of primitives that take the items one by one: `array_from_args`, `concatenate_args` and `stack_args`.
"""

import numpy as _np

from fastgrad._engine.core import array_of as _array_of
from fastgrad._engine.core import connect, contains_box
from fastgrad._engine.core import scalars_in as _scalars_in
from fastgrad._engine.core import traced_items as _traced_items
from fastgrad._engine.core import traced_sequence as _traced_sequence
from fastgrad.numpy._namespace.wrapping import primitives as p
from fastgrad.numpy._namespace.wrapping import publish
from fastgrad.tracer import isbox, primitive


@primitive
def getitem(array, index):
    """Return ``array[index]``."""
    return array[index]


# ------------------------------------------------------------------------------------------------------ building arrays


@primitive
def array_from_args(array_args, array_kwargs, *args):
    """Return ``numpy.array(args, *array_args, **array_kwargs)``."""
    return _np.array(args, *array_args, **array_kwargs)


@primitive
def _array_from_scalar_or_array(array_args, array_kwargs, scarray):
    return _np.array(scarray, *array_args, **array_kwargs)


@primitive
def array_from_scalars(shape, *args):
    """Return the array of a shape with these numbers as its elements."""
    return _array_of(shape, args)


def array(A, *args, **kwargs):
    """Return an array as ``numpy.array`` does; traced values may stand anywhere in nested lists and tuples.

    Parameters
    ----------
    A : array_like
        The data.
    *args, **kwargs
        As for ``numpy.array``.
    """
    if type(A) in (list, tuple):
        if not contains_box(A):
            return _np.array(A, *args, **kwargs)
        found = None if args or kwargs else _scalars_in(A)
        if found is not None:
            return array_from_scalars(found[0], *found[1])
    if _traced_sequence(A):
        return array_from_args(args, kwargs, *_traced_items(A))
    if isbox(A):
        return _array_from_scalar_or_array(args, kwargs, A)
    return _np.array(A, *args, **kwargs)


def traced_array(x):
    """Return the traced array of a traced list or tuple, or of one with traced values; anything else as it is."""
    return array(x) if _traced_sequence(x) else x


connect(traced_array=traced_array)


def wrap_if_boxes_inside(raw_array, slow_op_name=None):
    """Return the traced array of an array of objects with traced values in it; any other array as it is."""
    if raw_array.dtype is not _np.dtype("O"):
        return raw_array
    return _np.reshape(array_from_args((), {}, *raw_array.ravel()), raw_array.shape)


@primitive
def _astype(A, dtype, order="K", casting="unsafe", subok=True, copy=True):
    cast = _np.asarray(A).astype(dtype, order, casting, subok, copy)
    return cast if isinstance(A, _np.ndarray) else cast[()]


def astype(x, dtype, /, **kwargs):
    """Return an array cast to a dtype, as ``numpy.astype`` does."""
    return _astype(x, dtype, **kwargs)


# ------------------------------------------------------------------------------------------------------- joining arrays


def _is_concrete(sequence):
    """Return whether a list or tuple contains no traced value, so that NumPy itself can join its items."""
    return type(sequence) in (list, tuple) and not contains_box(sequence)


@primitive
def concatenate_args(axis, *args):
    """Return ``args`` concatenated along ``axis``."""
    return _np.concatenate(args, axis)


def concatenate(arr_list, axis=0, **kwargs):
    """Return arrays joined along an axis they have, as ``numpy.concatenate`` does.

    Parameters
    ----------
    arr_list : sequence of array_like
        The arrays, or one array, whose first axis is then the sequence.
    axis : int or None
        The axis; None flattens the arrays first.
    **kwargs
        ``dtype`` and ``casting`` as for ``numpy.concatenate``.

    Raises
    ------
    NotImplementedError
        If another keyword, such as ``out``, is given with traced values.
    """
    if _is_concrete(arr_list):
        return _np.concatenate(arr_list, axis, **kwargs)
    arrays = _traced_items(arr_list)
    if axis is None:
        arrays, axis = [p.ravel(a) for a in arrays], 0
    dtype = kwargs.pop("dtype", None)
    if kwargs.keys() - {"casting"}:
        raise NotImplementedError(f"concatenate of traced values does not take the keyword {next(iter(kwargs))!r}")
    joined = concatenate_args(axis, *arrays)
    return joined if dtype is None else _astype(joined, dtype, **kwargs)


concat = concatenate


@primitive
def stack_args(axis, *args):
    """Return ``args`` stacked along a new axis."""
    if axis == 0 and all(type(a) is _np.ndarray for a in args):
        return _np.concatenate([a[None] for a in args])
    return _np.stack(args, axis)


def stack(arrays, axis=0, **kwargs):
    """Return arrays of one shape joined along a new axis, as ``numpy.stack`` does.

    Parameters
    ----------
    arrays : sequence of array_like
    axis : int
        The position of the new axis in the result.
    **kwargs
        ``dtype`` and ``casting`` as for ``numpy.stack``.

    Raises
    ------
    ValueError
        If there is no array, or if the arrays have different shapes.
    """
    if _is_concrete(arrays):
        return _np.stack(arrays, axis, **kwargs)
    arrays = _traced_items(arrays)
    if not arrays:
        raise ValueError("need at least one array to stack")
    if kwargs:
        return concatenate([p.expand_dims(a, axis) for a in arrays], axis, **kwargs)
    shape = p.shape(arrays[0])
    if any(p.shape(a) != shape for a in arrays):
        raise ValueError("all input arrays must have the same shape")
    return stack_args(axis, *arrays)


def vstack(tup, **kwargs):
    """Return arrays stacked as rows, as ``numpy.vstack`` does."""
    if _is_concrete(tup):
        return _np.vstack(tup, **kwargs)
    return concatenate([p.atleast_2d(a) for a in _traced_items(tup)], 0, **kwargs)


def hstack(tup, **kwargs):
    """Return arrays stacked side by side, as ``numpy.hstack`` does."""
    if _is_concrete(tup):
        return _np.hstack(tup, **kwargs)
    arrays = [p.atleast_1d(a) for a in _traced_items(tup)]
    return concatenate(arrays, 0 if arrays and p.ndim(arrays[0]) == 1 else 1, **kwargs)


def dstack(tup):
    """Return arrays stacked along the third axis, as ``numpy.dstack`` does."""
    if _is_concrete(tup):
        return _np.dstack(tup)
    return concatenate([p.atleast_3d(a) for a in _traced_items(tup)], 2)


def column_stack(tup):
    """Return arrays stacked as columns, as ``numpy.column_stack`` does."""
    if _is_concrete(tup):
        return _np.column_stack(tup)
    arrays = (p.atleast_1d(a) for a in _traced_items(tup))
    return concatenate([p.reshape(a, (-1, 1)) if p.ndim(a) < 2 else a for a in arrays], 1)


def row_stack(tup):
    """Return arrays stacked as rows: `vstack`."""
    return vstack(tup)


def append(arr, values, axis=None):
    """Return ``values`` joined to the end of ``arr``, as ``numpy.append`` does; both are flattened if axis is None."""
    if _is_concrete((arr, values)):
        return _np.append(arr, values, axis)
    if axis is None:
        return concatenate([p.ravel(arr), p.ravel(traced_array(values))])
    return concatenate([arr, values], axis)


def block(arrays):
    """Return an array assembled from nested lists of blocks, as ``numpy.block`` does.

    Parameters
    ----------
    arrays : nested list of array_like
        The innermost lists are joined along the last axis, those around them along the one before, and so on.

    Raises
    ------
    ValueError
        If a list is empty.
    """
    depth, level = 0, arrays
    while type(level) is list:
        if not level:
            raise ValueError("a list of blocks is empty")
        depth, level = depth + 1, level[0]
    blocks = list(_leaves(arrays))
    rank = max([depth, *(p.ndim(b) for b in blocks)])
    return _join(arrays, rank - depth, rank)


def _leaves(nested):
    if type(nested) is not list:
        yield nested
        return
    for item in nested:
        yield from _leaves(item)


def _join(nested, axis, rank):
    """Return nested lists of blocks joined along ``axis`` and those behind it, as one array with ``rank`` axes."""
    if type(nested) is not list:
        missing = rank - p.ndim(nested)
        return p.reshape(nested, (1,) * missing + p.shape(nested))
    return concatenate([_join(item, axis + 1, rank) for item in nested], axis)


def _as_columns(arrays):
    """Return arrays joined along the last axis, with vectors as columns: what ``numpy.c_`` does."""
    return concatenate([p.reshape(a, (-1, 1)) if p.ndim(a) < 2 else a for a in arrays], -1)


class _Concatenator:
    """``numpy.r_`` or ``numpy.c_``, which also takes traced values.

    Parameters
    ----------
    original : object
        NumPy's own, which is used for all other values.
    join : callable
        Joins a list of arrays.
    """

    def __init__(self, original, join):
        self._original = original
        self._join = join

    def __getitem__(self, key):
        items = key if type(key) is tuple else (key,)
        if not any(isbox(item) or (type(item) is list and contains_box(item)) for item in items):
            return self._original[key]
        if any(type(item) is str for item in items):
            raise NotImplementedError("r_ and c_ of traced values take no axis string; use concatenate")
        return self._join([self._original[item] if type(item) is slice else p.atleast_1d(item) for item in items])


r_ = _Concatenator(_np.r_, concatenate)
c_ = _Concatenator(_np.c_, _as_columns)

__all__ = [
    "append",
    "array",
    "array_from_args",
    "array_from_scalars",
    "astype",
    "block",
    "c_",
    "column_stack",
    "concat",
    "concatenate",
    "concatenate_args",
    "dstack",
    "getitem",
    "hstack",
    "r_",
    "row_stack",
    "stack",
    "stack_args",
    "vstack",
    "wrap_if_boxes_inside",
    # Libraries use these in spite of their names.
    "_array_from_scalar_or_array",
    "_astype",
]
publish(globals(), __all__)
