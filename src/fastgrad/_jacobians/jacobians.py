"""Jacobians: their rows by pullbacks, their columns by pushforwards, in batches or one by one."""

import math

import numpy as onp

import fastgrad.numpy as anp
from fastgrad._engine.core import ArrayVSpace, BatchTooLarge, ComplexArrayVSpace, unbox_all
from fastgrad._jacobians.batches import stacked, through
from fastgrad.builtins import ContainerVSpace
from fastgrad.core import make_jvp
from fastgrad.tracer import isbox

# The fewest rows that are worth a batch: an operation on one costs as much as on so many rows one by one. An index
# costs five times as much, so that a graph of scalars taken out of an array needs more rows.
FEWEST = 6
# How many rows a batch has: as many as make arrays of so many elements, which stay in the cache, but not too few.
AIM, ENOUGH = 2**14, 32
# The most elements that a value on the way may have in all rows together: 32 MB of doubles.
LIMIT = 2**22


def _is_array_space(space):
    return type(space) in (ArrayVSpace, ComplexArrayVSpace)


def _basis(space, start, stop):
    """Give a part of the standard basis of a space, of a complex one the real vectors, as rows of an array."""
    return onp.eye(stop - start, math.prod(space.shape), start, space.dtype).reshape(stop - start, *space.shape)


def _one_by_one(space):
    """Give the vectors of that basis, of a large space without all others in memory."""
    n = math.prod(space.shape)
    return _basis(space, 0, n) if n < FEWEST else (_basis(space, i, i + 1)[0] for i in range(n))


def _in_batches(rows_of, n, size):
    """Give what ``rows_of(start, stop)`` gives for all of ``n`` rows, as many at a time as fit in the cache.

    Parameters
    ----------
    rows_of : callable
        Gives the rows from one place to another.
    n : int
        How many rows there are.
    size : int
        How many elements a row has, at least, on its way.

    Returns
    -------
    array_like or None
        None where it cannot be done, or not in batches worth the name.
    """
    parts, start, step = [], 0, max(AIM // max(size, 1), ENOUGH)
    while start < n:
        try:
            parts.append(rows_of(start, min(start + step, n)))
            start += step
        except BatchTooLarge as error:
            step = min(step // 2, LIMIT // error.size)
            if step < FEWEST:
                return None
        except Exception:
            # Whatever it is: if it is an error of the function's or of a rule's, going row by row will meet it too.
            return None
    return parts[0] if len(parts) == 1 else anp.concatenate(parts)


# ---------------------------------------------------------------------------------------------------------------- rows


def by_rows(vjp, space, x_space):
    """Give a Jacobian by pulling basis vectors back.

    Parameters
    ----------
    vjp : callable
        The pullback, as of `make_vjp`.
    space, x_space : VSpace
        The spaces of the function's value and of its argument.

    Returns
    -------
    array_like
        Of shape ``space.shape + x_space.shape``.
    """
    # A pullback to a real argument gives Re(g J): two make a complex row.
    both = space.iscomplex and not x_space.iscomplex
    if isinstance(space, ContainerVSpace) or isinstance(x_space, ContainerVSpace):
        raise TypeError("a Jacobian is that of a function from an array to an array; flatten lists, tuples and dicts")
    if not (_is_array_space(space) and _is_array_space(x_space)):
        vectors = (v for v in space.standard_basis() if not (space.iscomplex and v.imag.any()))
        return anp.reshape(anp.stack([_row(vjp, v, both) for v in vectors]), space.shape + x_space.shape)
    n = math.prod(space.shape)
    if not n:
        return onp.zeros(space.shape + x_space.shape, onp.result_type(x_space.dtype, space.dtype))
    rows = None
    if n >= FEWEST and n >= FEWEST * (1 + 4 * vjp.index_share):
        rows = _in_batches(lambda start, stop: _pulled(vjp, space, start, stop, both), n, max(n, x_space.size))
    if rows is None:
        rows = _stacked([_row(vjp, vector, both) for vector in _one_by_one(space)])
    return _own(anp.reshape(rows, space.shape + x_space.shape))


def _stacked(rows):
    return rows[0] if len(rows) == 1 and isbox(rows[0]) else stacked(rows)


def _own(jacobian):
    """Make an array that can be written to: a batch may be a view that repeats elements."""
    return jacobian.copy() if type(jacobian) is onp.ndarray and not jacobian.flags.writeable else jacobian


def _row(vjp, vector, both):
    return vjp(vector) - 1j * vjp(1j * vector) if both else vjp(vector)


def _pulled(vjp, space, start, stop, both):
    """Give some of the rows, in a batch."""
    seeds = _basis(space, start, stop)
    if not both:
        return through(vjp, seeds, LIMIT)
    rows = through(vjp, onp.concatenate([seeds, 1j * seeds]), LIMIT)
    return rows[: stop - start] - 1j * rows[stop - start :]


# ------------------------------------------------------------------------------------------------------------- columns


def is_tall(space, x_space):
    """Say whether a Jacobian is better made by columns: if it has at least twice as many rows.

    With less, that gains nothing over rows, and costs a second call of the function.
    """
    if not (_is_array_space(space) and _is_array_space(x_space)) or x_space.dtype.kind not in "fc":
        return False
    n, n_x = math.prod(space.shape), math.prod(x_space.shape)
    return n >= FEWEST and 0 < 2 * n_x <= n


def by_columns(fun, x, x_space):
    """Give a Jacobian by pushing basis vectors forward, calling ``fun`` once a batch or, at worst, once a column."""
    if not _is_array_space(x_space):
        raise TypeError(f"jacfwd differentiates with respect to arrays and numbers, not {type(unbox_all(x)).__name__}")
    push, n = make_jvp(fun, x), math.prod(x_space.shape)
    if not n:
        return onp.zeros(anp.shape(push(x_space.zeros())[0]) + x_space.shape, x_space.dtype)
    columns = _in_batches(lambda start, stop: _pushed(push, x_space, start, stop, LIMIT), n, n)
    if columns is None:
        columns = stacked([_column(push, vector) for vector in _one_by_one(x_space)])
    return _from_columns(columns, x, x_space)


def by_columns_at_once(fun, x, x_space, n):
    """Give a Jacobian of ``n`` rows by pushing all basis vectors forward in one call of ``fun``.

    None where that does not go. The rows one by one take long here, so that memory is not the first concern.
    """
    n_x = math.prod(x_space.shape)
    try:
        columns = _pushed(make_jvp(fun, x), x_space, 0, n_x, max(4 * LIMIT, 2 * n * n_x))
    except Exception:
        # No JVP, a batch too large, or an error that reverse mode may not have.
        return None
    return _from_columns(columns, x, x_space)


def _column(push, vector):
    """Give the derivative along a basis vector; of the real part, du/dx - i du/dy, if it is complex, as a pullback."""
    if not onp.iscomplexobj(vector):
        return push(vector)[1]
    return anp.real(push(vector)[1]) - 1j * anp.real(push(1j * vector)[1])


def _pushed(push, x_space, start, stop, limit):
    """Give some of the columns, in a batch."""
    seeds = _basis(x_space, start, stop)
    if not x_space.iscomplex:
        return anp.expand_dims(push(seeds[0])[1], 0) if len(seeds) == 1 else through(lambda g: push(g)[1], seeds, limit)
    columns = anp.real(through(lambda g: push(g)[1], onp.concatenate([seeds, 1j * seeds]), limit))
    return columns[: stop - start] - 1j * columns[stop - start :]


def _from_columns(columns, x, x_space):
    """Put the axis of the columns behind, in the shape of the argument; in the argument's dtype, as pullbacks do."""
    if isinstance(unbox_all(columns), list | tuple):
        raise TypeError("jacfwd applies to functions that return an array; concatenate what a list or tuple holds")
    jacobian = anp.reshape(anp.moveaxis(columns, 0, -1), anp.shape(columns)[1:] + x_space.shape)
    dtype = onp.result_type(x_space.dtype, onp.complex64) if anp.iscomplexobj(jacobian) else x_space.dtype
    if type(unbox_all(x)) in (float, complex) or x_space.dtype.kind not in "fc" or jacobian.dtype == dtype:
        return _own(jacobian)
    return anp._astype(jacobian, dtype)


__all__ = ["by_columns", "by_columns_at_once", "by_rows", "is_tall"]
