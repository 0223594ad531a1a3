"""The functions of `fastgrad.numpy` that are written in terms of primitives, or that NumPy does not have.

They choose between arrays, read facts about a value, put vectors on diagonals, or call a function of the user's.
"""

import numpy as _np

from fastgrad._engine.core import traced_items as _traced_items
from fastgrad._engine.core import traced_sequence as _traced_sequence
from fastgrad.numpy._namespace.arrays import stack, traced_array, wrap_if_boxes_inside
from fastgrad.numpy._namespace.wrapping import primitives as p
from fastgrad.numpy._namespace.wrapping import publish
from fastgrad.tracer import isbox, notrace_primitive, primitive

# ----------------------------------------------------------------------------------------------- choices between arrays

_original_where = primitive(_np.where)
_original_where.__qualname__ = "_original_where"


def where(condition, *args, **kwargs):
    """Return elements of one of two arrays, as ``numpy.where`` does; with one argument, the indices where it holds.

    Parameters
    ----------
    condition : array_like of bool
        Where to take elements from ``x``.
    x, y : array_like, optional
        The two arrays, which broadcast with the condition; given together or not at all.

    Returns
    -------
    ndarray or tuple of ndarray
        The chosen elements, of the common dtype of ``x`` and ``y``; a number or list if neither the condition nor ``x``
        and ``y`` are arrays, NumPy scalars or traced. With one argument, a tuple of index arrays.

    Raises
    ------
    ValueError
        If only one of ``x`` and ``y`` is given.
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
    """Return elements of the first choice whose condition holds, as ``numpy.select`` does.

    Parameters
    ----------
    condlist : sequence of array_like of bool
    choicelist : sequence of array_like
        As many as there are conditions, with which they broadcast.
    default : array_like
        The elements where no condition holds.

    Raises
    ------
    ValueError
        If the lists have different lengths or are empty.
    """
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    chosen = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        chosen = _original_where(condition, traced_array(choice), traced_array(chosen))
    return chosen


# ----------------------------------------------------------------------------------- functions that NumPy does not have


@primitive
def make_diagonal(D, offset=0, axis1=0, axis2=1):
    """Return zeros with the last axis of ``D`` on the diagonal of two new axes: the transpose of ``numpy.diagonal``.

    Parameters
    ----------
    D : array_like
        Shape (..., n).
    offset : int
        The diagonal: 0 is the main one, a positive number is above it, a negative one below.
    axis1, axis2 : int
        The positions of the new axes in the result.

    Returns
    -------
    ndarray
        Of the dtype of ``D``; the new axes have length n + abs(offset).
    """
    D = _np.asarray(D)
    n = D.shape[-1]
    rows, columns = _np.arange(n) + max(-offset, 0), _np.arange(n) + max(offset, 0)
    result = _np.zeros((*D.shape[:-1], n + abs(offset), n + abs(offset)), D.dtype)
    result[..., rows, columns] = D
    return _np.moveaxis(result, (-2, -1), (axis1, axis2))


@notrace_primitive
def metadata(A):
    """Return shape, number of axes, dtype and whether it is complex, of a value that may be traced."""
    array = _np.asarray(A)
    return array.shape, array.ndim, array.dtype, _np.iscomplexobj(array)


# ----------------------------------------------------------------------------------------------- functions of functions
# What the user's function returns may be traced, by its arguments or by what it closes over. NumPy would put it into an
# array of objects, which no trace records.


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
    """Return the results of a function for all vectors along an axis, as ``numpy.apply_along_axis`` does.

    Parameters
    ----------
    func1d : callable
        ``func1d(vector, *args, **kwargs)`` returns a number or an array, of the same shape for each vector.
    axis : int
        The axis along which the vectors lie.
    arr : array_like
    *args, **kwargs
        Further arguments of ``func1d``.

    Returns
    -------
    ndarray
        Of the shape of ``arr`` with the axes of a result in the place of ``axis``.
    """
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
    """Return the array of a function of its coordinates, as ``numpy.fromfunction`` does.

    Parameters
    ----------
    function : callable
        Called once with an array of coordinates for each axis.
    shape : tuple of int
        The shape of the arrays of coordinates.
    **kwargs
        As for ``numpy.fromfunction``; others go to ``function``.
    """
    return _traced_result(_np.fromfunction(function, shape, **kwargs))


__all__ = [
    "apply_along_axis",
    "fromfunction",
    "make_diagonal",
    "metadata",
    "select",
    "vectorize",
    "where",
    # Libraries use it in spite of its name.
    "_original_where",
]
publish(globals(), __all__)
