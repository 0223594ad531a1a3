"""The functions of `fastgrad.numpy` that take lists of arrays, and a few that NumPy has not.

A traced array inside a list is no argument that a primitive sees, so what builds or joins arrays is written here in
terms of primitives that take the arrays one by one: `array_from_args` and `concatenate_args`.
"""

import numpy as _np

from fastgrad._engine.core import array_of as _array_of
from fastgrad._engine.core import connect, contains_box
from fastgrad._engine.core import scalars_in as _scalars_in
from fastgrad._engine.core import traced_items as _traced_items
from fastgrad._engine.core import traced_sequence as _traced_sequence
from fastgrad.numpy._namespace.wrapping import primitives as p
from fastgrad.tracer import isbox, notrace_primitive, primitive


@primitive
def getitem(array, index):
    """Give ``array[index]``."""
    return array[index]


# ------------------------------------------------------------------------------------------------------ building arrays


@primitive
def array_from_args(array_args, array_kwargs, *args):
    """Give the array of the list of ``args``, made with the further arguments of ``numpy.array``."""
    return _np.array(args, *array_args, **array_kwargs)


@primitive
def _array_from_scalar_or_array(array_args, array_kwargs, scarray):
    return _np.array(scarray, *array_args, **array_kwargs)


@primitive
def array_from_scalars(shape, *args):
    """Give the array of this shape with these numbers in it."""
    return _array_of(shape, args)


def array(A, *args, **kwargs):
    """Create an array as ``numpy.array`` does; traced values may stand anywhere in nested lists and tuples.

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
    """Make an array of a traced list or tuple, or one with traced values in it; give anything else back as it is."""
    return array(x) if _traced_sequence(x) else x


connect(traced_array=traced_array)


def wrap_if_boxes_inside(raw_array, slow_op_name=None):
    """Make a traced array of an object array with boxes in it; give any other array back as it is."""
    if raw_array.dtype is not _np.dtype("O"):
        return raw_array
    return _np.reshape(array_from_args((), {}, *raw_array.ravel()), raw_array.shape)


# ------------------------------------------------------------------------------------------------------- joining arrays


def _is_plain(sequence):
    """Say whether a list or tuple has no traced value in it, so that NumPy itself can join its items."""
    return type(sequence) in (list, tuple) and not contains_box(sequence)


@primitive
def concatenate_args(axis, *args):
    """Concatenate ``args`` along ``axis``."""
    return _np.concatenate(args, axis)


def concatenate(arr_list, axis=0, **kwargs):
    """Join arrays along an axis they have, as ``numpy.concatenate`` does.

    Parameters
    ----------
    arr_list : sequence of array_like
        The arrays, or one array, whose first axis is then the sequence.
    axis : int or None
        The axis; None flattens the arrays first.
    **kwargs
        ``dtype`` and ``casting`` as for ``numpy.concatenate``.
    """
    if _is_plain(arr_list):
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
    """Stack ``args`` along a new axis."""
    if axis == 0 and all(type(a) is _np.ndarray for a in args):
        return _np.concatenate([a[None] for a in args])
    return _np.stack(args, axis)


def stack(arrays, axis=0, **kwargs):
    """Join arrays of one shape along a new axis, as ``numpy.stack`` does."""
    if _is_plain(arrays):
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
    """Stack arrays as rows, as ``numpy.vstack`` does."""
    if _is_plain(tup):
        return _np.vstack(tup, **kwargs)
    return concatenate([p.atleast_2d(a) for a in _traced_items(tup)], 0, **kwargs)


def hstack(tup, **kwargs):
    """Stack arrays side by side, as ``numpy.hstack`` does."""
    if _is_plain(tup):
        return _np.hstack(tup, **kwargs)
    arrays = [p.atleast_1d(a) for a in _traced_items(tup)]
    return concatenate(arrays, 0 if arrays and p.ndim(arrays[0]) == 1 else 1, **kwargs)


def dstack(tup):
    """Stack arrays along the third axis, as ``numpy.dstack`` does."""
    if _is_plain(tup):
        return _np.dstack(tup)
    return concatenate([p.atleast_3d(a) for a in _traced_items(tup)], 2)


def column_stack(tup):
    """Stack arrays as columns, as ``numpy.column_stack`` does."""
    if _is_plain(tup):
        return _np.column_stack(tup)
    arrays = (p.atleast_1d(a) for a in _traced_items(tup))
    return concatenate([p.reshape(a, (-1, 1)) if p.ndim(a) < 2 else a for a in arrays], 1)


def row_stack(tup):
    """Stack arrays as rows: `vstack`."""
    return vstack(tup)


def append(arr, values, axis=None):
    """Join ``values`` to the end of ``arr``, as ``numpy.append`` does."""
    if _is_plain((arr, values)):
        return _np.append(arr, values, axis)
    if axis is None:
        return concatenate([p.ravel(arr), p.ravel(traced_array(values))])
    return concatenate([arr, values], axis)


def block(arrays):
    """Assemble an array from nested lists of blocks, as ``numpy.block`` does."""
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
    if type(nested) is not list:
        missing = rank - p.ndim(nested)
        return p.reshape(nested, (1,) * missing + p.shape(nested))
    return concatenate([_join(item, axis + 1, rank) for item in nested], axis)


# ----------------------------------------------------------------------------------- functions made of other primitives


_original_where = primitive(_np.where)
_original_where.__module__, _original_where.__qualname__ = __name__, "_original_where"


def where(condition, *args, **kwargs):
    """Choose between two arrays, as ``numpy.where`` does; with the condition alone, say where it holds.

    Parameters
    ----------
    condition : array_like of bool
        Where to take from the first array.
    x, y : array_like, optional
        The two arrays, which broadcast with the condition.

    Returns
    -------
    ndarray or tuple of ndarray
        A number or list where neither the condition nor ``x`` and ``y`` are arrays, NumPy scalars or traced.
    """
    if not (args or kwargs):
        return p.nonzero(condition)
    if len(args) == 2 and not kwargs and type(condition) is _np.ndarray:
        return _original_where(condition, *_traced_items(args))
    x, y = _branches(*args, **kwargs)
    chosen = _original_where(condition, traced_array(x), traced_array(y))
    arrays = any(isbox(v) or isinstance(v, _np.ndarray | _np.generic) for v in (condition, x, y))
    return chosen if arrays or isbox(chosen) else chosen.tolist()


def _branches(x=None, y=None):
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    return x, y


def select(condlist, choicelist, default=0):
    """Choose elements by the first condition that holds, as ``numpy.select`` does."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    chosen = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        chosen = _original_where(condition, traced_array(choice), traced_array(chosen))
    return chosen


def _as_columns(arrays):
    """Join along the last axis, vectors as columns: what ``numpy.c_`` does."""
    return concatenate([p.reshape(a, (-1, 1)) if p.ndim(a) < 2 else a for a in arrays], -1)


class _Concatenator:
    """Traced values in ``numpy.r_[...]`` and ``numpy.c_[...]``; all else is left to NumPy."""

    def __init__(self, plain, join):
        self._plain = plain
        self._join = join

    def __getitem__(self, key):
        items = key if type(key) is tuple else (key,)
        if not any(isbox(item) or (type(item) is list and contains_box(item)) for item in items):
            return self._plain[key]
        if any(type(item) is str for item in items):
            raise NotImplementedError("r_ and c_ of traced values take no axis string; use concatenate")
        return self._join([self._plain[item] if type(item) is slice else p.atleast_1d(item) for item in items])


r_ = _Concatenator(_np.r_, concatenate)
c_ = _Concatenator(_np.c_, _as_columns)


@primitive
def make_diagonal(D, offset=0, axis1=0, axis2=1):
    """Put the last axis of ``D`` on the diagonal of two new axes: the transpose of ``numpy.diagonal``.

    Parameters
    ----------
    D : array_like
        Shape (..., n).
    offset : int
        The diagonal: 0 main, positive above, negative below.
    axis1, axis2 : int
        Where the new axes stand in the result.

    Returns
    -------
    ndarray
        With two axes of length n + abs(offset), zero off that diagonal.
    """
    D = _np.asarray(D)
    n = D.shape[-1]
    rows, columns = _np.arange(n) + max(-offset, 0), _np.arange(n) + max(offset, 0)
    result = _np.zeros((*D.shape[:-1], n + abs(offset), n + abs(offset)), D.dtype)
    result[..., rows, columns] = D
    return _np.moveaxis(result, (-2, -1), (axis1, axis2))


@primitive
def _astype(A, dtype, order="K", casting="unsafe", subok=True, copy=True):
    cast = _np.asarray(A).astype(dtype, order, casting, subok, copy)
    return cast if isinstance(A, _np.ndarray) else cast[()]


def astype(x, dtype, /, **kwargs):
    """Cast an array to a dtype, as ``numpy.astype`` does."""
    return _astype(x, dtype, **kwargs)


@notrace_primitive
def metadata(A):
    """Give shape, number of axes, dtype and whether it is complex, of a value boxed or not."""
    array = _np.asarray(A)
    return array.shape, array.ndim, array.dtype, _np.iscomplexobj(array)


# ----------------------------------------------------------------------------------------------- functions of functions
# What the user's function returns may be traced, be it by its arguments or by what it closes over. NumPy would put that
# into an object array, which no trace knows.


class vectorize(_np.vectorize):
    """Make a function of arrays from a function of numbers, as ``numpy.vectorize`` does; traced values stay traced."""

    def __call__(self, *args, **kwargs):
        result = super().__call__(*args, **kwargs)
        if isinstance(result, tuple):
            return tuple(_traced_result(item) for item in result)
        return _traced_result(result)


def _traced_result(result):
    return wrap_if_boxes_inside(result) if isinstance(result, _np.ndarray) else result


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """Apply a function to vectors along an axis, as ``numpy.apply_along_axis`` does."""
    if not (isbox(arr) or _traced_sequence(arr)):
        return _traced_result(_np.apply_along_axis(func1d, axis, arr, *args, **kwargs))
    moved = p.moveaxis(traced_array(arr), axis, -1)
    shape = p.shape(moved)[:-1]
    axis = axis % (len(shape) + 1)
    results = stack([func1d(moved[index], *args, **kwargs) for index in _np.ndindex(shape)])
    added = p.ndim(results) - 1
    results = p.reshape(results, (*shape, *p.shape(results)[1:]))
    return p.moveaxis(results, range(len(shape), len(shape) + added), range(axis, axis + added))


def fromfunction(function, shape, **kwargs):
    """Make an array of a function of its coordinates, as ``numpy.fromfunction`` does."""
    return _traced_result(_np.fromfunction(function, shape, **kwargs))


__all__ = [
    "append",
    "apply_along_axis",
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
    "fromfunction",
    "getitem",
    "hstack",
    "make_diagonal",
    "metadata",
    "r_",
    "row_stack",
    "select",
    "stack",
    "stack_args",
    "vectorize",
    "vstack",
    "where",
    "wrap_if_boxes_inside",
    # Libraries use these in spite of their names.
    "_array_from_scalar_or_array",
    "_astype",
    "_original_where",
]
