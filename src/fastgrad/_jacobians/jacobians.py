"""Computation of Jacobians: rows by pullbacks, columns by pushforwards, in batches or one by one."""

import math

import numpy as onp

import fastgrad.numpy as anp
from fastgrad._engine.core import ArrayVSpace, BatchTooLarge, ComplexArrayVSpace, unbox_all
from fastgrad._jacobians.batches import stacked, through
from fastgrad.builtins import ContainerVSpace
from fastgrad.core import make_jvp
from fastgrad.tracer import isbox

# The smallest batch that is used: an operation on a batch costs about as much as on this many single rows. For indexing
# the factor is five times as large, so that a graph of scalars taken out of an array needs more rows.
MIN_ROWS = 6
# Number of elements of a batch that the cache holds, and the number of rows that a batch has even if it is larger.
ELEMENTS_IN_CACHE, ROWS_OF_LARGE_BATCH = 2**14, 32
# The largest number of elements that an intermediate value may have in all rows together: 32 MB of doubles.
MAX_ELEMENTS = 2**22


def _is_array_space(space):
    return type(space) in (ArrayVSpace, ComplexArrayVSpace)


def _basis(space, start, stop):
    """Return vectors of the standard basis of a space, or the real ones of a complex space, as rows of an array."""
    return onp.eye(stop - start, math.prod(space.shape), start, space.dtype).reshape(stop - start, *space.shape)


def _one_by_one(space):
    """Return an iterable of all vectors of that basis; those of a large space are created one at a time."""
    n = math.prod(space.shape)
    return _basis(space, 0, n) if n < MIN_ROWS else (_basis(space, i, i + 1)[0] for i in range(n))


def _in_batches(rows_of, n, size):
    """Return ``n`` rows, computed as many at a time as fit in the cache.

    Parameters
    ----------
    rows_of : callable
        ``rows_of(start, stop)`` returns the rows with these indices.
    n : int
        The number of rows.
    size : int
        A lower bound of the number of elements that the largest intermediate value has for each row.

    Returns
    -------
    array_like or None
        The rows on the first axis; None if they cannot be computed in batches of at least `MIN_ROWS`.
    """
    parts, start, step = [], 0, max(ELEMENTS_IN_CACHE // max(size, 1), ROWS_OF_LARGE_BATCH)
    while start < n:
        try:
            parts.append(rows_of(start, min(start + step, n)))
            start += step
        except BatchTooLarge as error:
            step = min(step // 2, MAX_ELEMENTS // error.size)
            if step < MIN_ROWS:
                return None
        except Exception:
            # An error of the function or of a rule is raised again when the caller goes row by row.
            return None
    return parts[0] if len(parts) == 1 else anp.concatenate(parts)


# ---------------------------------------------------------------------------------------------------------------- rows


def by_rows(vjp, space, x_space):
    """Compute a Jacobian by pulling basis vectors back.

    Parameters
    ----------
    vjp : callable
        The pullback, from `make_vjp`.
    space, x_space : VSpace
        The vector spaces of the function's value and of its argument.

    Returns
    -------
    array_like, shape ``space.shape + x_space.shape``
        The Jacobian.

    Raises
    ------
    TypeError
        If one of the spaces is of lists, tuples or dicts.
    """
    # The pullback to a real argument is Re(g J), so that a complex row takes two pullbacks, of g and of i g.
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
    if n >= MIN_ROWS and n >= MIN_ROWS * (1 + 4 * vjp.index_share):
        rows = _in_batches(lambda start, stop: _pulled(vjp, space, start, stop, both), n, max(n, x_space.size))
    if rows is None:
        rows = _stacked([_row(vjp, vector, both) for vector in _one_by_one(space)])
    return _writable(anp.reshape(rows, space.shape + x_space.shape))


def _stacked(rows):
    return rows[0] if len(rows) == 1 and isbox(rows[0]) else stacked(rows)


def _writable(jacobian):
    """Return the Jacobian in writable memory: a batch may be a view that repeats elements."""
    return jacobian.copy() if type(jacobian) is onp.ndarray and not jacobian.flags.writeable else jacobian


def _row(vjp, vector, both):
    return vjp(vector) - 1j * vjp(1j * vector) if both else vjp(vector)


def _pulled(vjp, space, start, stop, both):
    """Return the rows with these indices, computed in one batch."""
    seeds = _basis(space, start, stop)
    if not both:
        return through(vjp, seeds, MAX_ELEMENTS)
    rows = through(vjp, onp.concatenate([seeds, 1j * seeds]), MAX_ELEMENTS)
    return rows[: stop - start] - 1j * rows[stop - start :]


# ------------------------------------------------------------------------------------------------------------- columns


def is_tall(space, x_space):
    """Return whether a Jacobian is better computed by columns: whether it has at least twice as many rows.

    With fewer rows the gain does not make up for the second call of the function.
    """
    if not (_is_array_space(space) and _is_array_space(x_space)) or x_space.dtype.kind not in "fc":
        return False
    n, n_x = math.prod(space.shape), math.prod(x_space.shape)
    return n >= MIN_ROWS and 0 < 2 * n_x <= n


def by_columns(fun, x, x_space):
    """Compute a Jacobian by pushing basis vectors forward, with one call of ``fun`` for each batch or each column.

    Parameters
    ----------
    fun : callable
        A function of one argument.
    x : array_like
        The argument.
    x_space : VSpace
        Its vector space.

    Returns
    -------
    array_like, shape ``fun(x).shape + x.shape``
        The Jacobian.

    Raises
    ------
    TypeError
        If the argument or the value is a list, tuple or dict.
    """
    if not _is_array_space(x_space):
        raise TypeError(f"jacfwd differentiates with respect to arrays and numbers, not {type(unbox_all(x)).__name__}")
    push, n = make_jvp(fun, x), math.prod(x_space.shape)
    if not n:
        return onp.zeros(anp.shape(push(x_space.zeros())[0]) + x_space.shape, x_space.dtype)
    columns = _in_batches(lambda start, stop: _pushed(push, x_space, start, stop, MAX_ELEMENTS), n, n)
    if columns is None:
        columns = stacked([_column(push, vector) for vector in _one_by_one(x_space)])
    return _from_columns(columns, x, x_space)


def by_columns_at_once(fun, x, x_space, n):
    """Return a Jacobian of ``n`` rows, computed by one call of ``fun`` for all columns, or None if that fails.

    The batch may be larger than others: the many rows that the caller would compute instead take long.
    """
    n_x = math.prod(x_space.shape)
    try:
        columns = _pushed(make_jvp(fun, x), x_space, 0, n_x, max(4 * MAX_ELEMENTS, 2 * n * n_x))
    except Exception:
        # There is no JVP, the batch is too large, or there is an error that reverse mode may not have.
        return None
    return _from_columns(columns, x, x_space)


def _column(push, vector):
    """Return the derivative along a basis vector; along a complex one du/dx - i du/dy, as by a pullback, u = Re f."""
    if not onp.iscomplexobj(vector):
        return push(vector)[1]
    return anp.real(push(vector)[1]) - 1j * anp.real(push(1j * vector)[1])


def _pushed(push, x_space, start, stop, limit):
    """Return the columns with these indices, computed in one batch."""
    seeds = _basis(x_space, start, stop)
    if not x_space.iscomplex:
        return anp.expand_dims(push(seeds[0])[1], 0) if len(seeds) == 1 else through(lambda g: push(g)[1], seeds, limit)
    columns = anp.real(through(lambda g: push(g)[1], onp.concatenate([seeds, 1j * seeds]), limit))
    return columns[: stop - start] - 1j * columns[stop - start :]


def _from_columns(columns, x, x_space):
    """Return the Jacobian with the axis of the columns last, in the shape and dtype of the argument."""
    if isinstance(unbox_all(columns), list | tuple):
        raise TypeError("jacfwd applies to functions that return an array; concatenate what a list or tuple holds")
    jacobian = anp.reshape(anp.moveaxis(columns, 0, -1), anp.shape(columns)[1:] + x_space.shape)
    dtype = onp.result_type(x_space.dtype, onp.complex64) if anp.iscomplexobj(jacobian) else x_space.dtype
    if type(unbox_all(x)) in (float, complex) or x_space.dtype.kind not in "fc" or jacobian.dtype == dtype:
        return _writable(jacobian)
    return anp._astype(jacobian, dtype)


__all__ = ["by_columns", "by_columns_at_once", "by_rows", "is_tall"]
