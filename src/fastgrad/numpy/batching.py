"""What batch rules are made of: calls of a primitive on many rows at once, which stand along a first axis.

The rows are cotangents or tangents of one call, as a Jacobian needs them. A batch rule is a function
``rule(rows, ans, argnums, *args, **kwargs)`` that returns the answers for all ``rows`` rows. The arguments at
``argnums`` are batches, with an axis of length ``rows`` in front of the axes of a row, or containers of batches; the
others are the same for all rows. ``ans`` is the answer to one row. A rule that does not support a call returns
NotImplemented; the primitive is then called once per row, as one without a batch rule is.

Ufuncs need no batch rule. Only functions that are linear in a cotangent or tangent are called on batches, so that
sorting, for example, has none. The rules stand beside the VJPs and JVPs in `fastgrad.numpy.rules`.
"""

import math
import operator

from fastgrad._engine.core import ArrayVSpace, ComplexArrayVSpace, unbox_all
from fastgrad.builtins import ContainerVSpace, _make_dict, make_sequence
from fastgrad.numpy import numpy_wrapper as anp


def first_argument(rule):
    """Return the batch rule of a function that is called on a batch in its first argument alone.

    Parameters
    ----------
    rule : callable
        ``rule(x, *args, **kwargs)`` returns the answers for a batch ``x``; it may return NotImplemented.

    Returns
    -------
    callable
        The batch rule; it returns NotImplemented if another argument is a batch.
    """

    def batch_rule(_rows, _ans, argnums, *args, **kwargs):
        return rule(*args, **kwargs) if argnums == (0,) else NotImplemented

    return batch_rule


def broadcasting(fun):
    """Return the batch rule of a primitive ``fun`` that broadcasts its arguments."""

    def batch_rule(_rows, ans, argnums, *args, **kwargs):
        rank = anp.ndim(ans)
        return fun(*[with_rank(x, rank) if i in argnums else x for i, x in enumerate(args)], **kwargs)

    return batch_rule


def batch_axis(axis):
    """Return the axis, or tuple of axes, of a batch that corresponds to one of a row; a negative axis is the same."""
    if isinstance(axis, tuple | list | range):
        return tuple(batch_axis(i) for i in axis)
    axis = operator.index(axis)
    return axis if axis < 0 else axis + 1


def batch_axes(x, axis):
    """Return `batch_axis` of ``axis``, or all axes of the rows of ``x`` if it is None."""
    return tuple(range(1, anp.ndim(x))) if axis is None else batch_axis(axis)


def flatten_rows(x):
    """Return a batch with each row flattened."""
    shape = anp.shape(x)
    return anp.reshape(x, (shape[0], math.prod(shape[1:])))


def with_rank(x, rank):
    """Return a batch with axes of length 1 in front of those of its rows, so that the rows have ``rank`` axes."""
    missing = rank + 1 - anp.ndim(x)
    return x[(slice(None),) + (None,) * missing] if missing > 0 else x


def repeat_rows(x, rows):
    """Return a batch of ``rows`` rows that are all ``x``, an array or a container of arrays."""
    container_type = type(unbox_all(x))
    if issubclass(container_type, dict):
        keys = tuple(x)
        return _make_dict(keys, make_sequence(list, *[repeat_rows(x[key], rows) for key in keys]))
    if issubclass(container_type, list | tuple):
        return make_sequence(container_type, *[repeat_rows(x[i], rows) for i in range(len(x))])
    return anp.broadcast_to(x, (rows, *anp.shape(x)))


def all_batches(args, argnums, rows, first=0):
    """Return ``args`` with those repeated that are the same for all rows.

    Parameters
    ----------
    args : sequence
        Arguments of a call from the position ``first`` on.
    argnums : tuple of int
        The positions in the call of the arguments that are batches.
    rows : int
        The number of rows.
    first : int
        The position in the call of ``args[0]``.
    """
    return [x if i in argnums else repeat_rows(x, rows) for i, x in enumerate(args, first)]


def batch_space(space, rows):
    """Return the space of batches of ``rows`` elements of a space of arrays or containers; None for any other space."""
    batches = type(space).__new__(type(space))
    if type(space) in (ArrayVSpace, ComplexArrayVSpace):
        batches.shape, batches.dtype = (rows, *space.shape), space.dtype
        return batches
    if not isinstance(space, ContainerVSpace):
        return None
    batches.shape = space._map(lambda item: batch_space(item, rows), space.shape)
    return None if None in [item for _, item in space._items(batches.shape)] else batches
