"""Functions that rearrange or repeat elements: reshapes, transpositions, flips, repetitions, diagonals and triangles.

All are linear, so the tangent passes through the function itself. The transpose of a permutation of elements is its
inverse; that of a repetition is a sum.
"""

import math
import operator

import numpy as onp

from fastgrad._rules.arguments import tangents_or_zeros
from fastgrad._rules.direct import def_direct, def_whole
from fastgrad.builtins import list as alist
from fastgrad.builtins import tuple as atuple
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.batching import batch_axes, batch_axis, first_argument, flatten_rows, with_rank
from fastgrad.numpy.broadcasting import fit
from fastgrad.numpy.composing import NUMPY_VERSION, def_composed_name
from fastgrad.numpy.rules.indexing import untake
from fastgrad.tracer import primitive

# ---------------------------------------------------------------------------------------------------------------- shape


def _read_order(position, vs_x, args, kwargs):
    """Return the memory order, "C" or "F", in which a function read its first argument.

    Parameters
    ----------
    position : int
        The position of the function's parameter ``order``.
    vs_x : ArrayVSpace
        The space of the first argument.
    args : tuple
        The arguments behind the first.
    kwargs : dict
    """
    order = kwargs.get("order", args[position - 1] if len(args) >= position else "C")
    if order == "A":
        order = "F" if vs_x.layout == "F" else "C"
    elif order == "K":
        order = vs_x.layout
    if order == "K":
        raise NotImplementedError(
            "the derivative of ravel with order='K' needs an array that is contiguous; give order='C' or 'F'"
        )
    return order or "C"


def _def_ordered(fun, position, batch):
    # The order is that of the argument, which a tangent or cotangent need not share.
    def vjp(g, _ans, vs_x, *args, **kwargs):
        return anp.reshape(g, vs_x.shape, order=_read_order(position, vs_x, args, kwargs))

    def jvp(g, ans, vs_x, *args, **kwargs):
        return anp.reshape(g, anp.shape(ans), order=_read_order(position, vs_x, args, kwargs))

    def_direct(fun, vjps=(vjp,), jvps=(jvp,), compiled=("reshape",), batch=batch)


def _reshape_batch(rows, ans, argnums, x, shape=None, order="C", **kwargs):
    if order != "C" or kwargs or argnums != (0,):
        return NotImplemented
    return anp.reshape(x, (rows, *anp.shape(ans)))


def _ravel_batch(rows, ans, argnums, x, order="C"):
    return _reshape_batch(rows, ans, argnums, x, None, order)


def _like_answer_batch(rows, ans, argnums, x, *args, **_kwargs):
    """Reshape the rows as the answer to one; for functions that only add or remove axes of length 1."""
    return _reshape_batch(rows, ans, argnums, x, None)


def _same_elements_vjp(g, _ans, vs_x, *args, **kwargs):
    return anp.reshape(g, vs_x.shape)


def _broadcast_to_vjp(g, _ans, vs_x, *args, **kwargs):
    return fit(g, vs_x)


def _broadcast_to_batch(rows, ans, _argnums, x, *args, **kwargs):
    shape = anp.shape(ans)
    return anp.broadcast_to(with_rank(x, len(shape)), (rows, *shape))


_def_ordered(anp.reshape, 2, _reshape_batch)
_def_ordered(anp.ravel, 1, _ravel_batch)
for _fun in (anp.expand_dims, anp.squeeze):
    def_direct(_fun, vjps=(_same_elements_vjp,), jvps=("same",), compiled=("reshape",), batch=_like_answer_batch)
def_direct(anp.broadcast_to, vjps=(_broadcast_to_vjp,), jvps=("same",), batch=_broadcast_to_batch)


def _atleast_vjp(argnums, g, _ans, vs_args, kwargs):
    if len(vs_args) == 1:
        return [anp.reshape(g, vs_args[0].shape)]
    return [anp.reshape(g[i], vs_args[i].shape) for i in argnums]


def _atleast_jvp(fun):
    def jvp(argnums, gs, ans, args, kwargs):
        return fun(*tangents_or_zeros(argnums, gs, args, as_arrays=True))

    return jvp


for _fun in (anp.atleast_1d, anp.atleast_2d, anp.atleast_3d):
    def_whole(_fun, _atleast_vjp, _atleast_jvp(_fun), batch=_like_answer_batch)

# -------------------------------------------------------------------------------------------------------- permuted axes


def _transpose_vjp(g, _ans, _x, axes=None):
    if axes is None:
        return anp.transpose(g)
    n = len(axes)
    return anp.transpose(g, tuple(onp.argsort([axis % n for axis in axes])))


def _transpose_batch(x, axes=None):
    n = anp.ndim(x) - 1
    axes = range(n)[::-1] if axes is None else [operator.index(axis) % n for axis in axes]
    return anp.transpose(x, (0, *[axis + 1 for axis in axes]))


def _swapaxes_vjp(g, _ans, _x, axis1, axis2):
    return anp.swapaxes(g, axis1, axis2)


def _swapaxes_batch(x, axis1, axis2):
    return anp.swapaxes(x, batch_axis(axis1), batch_axis(axis2))


def _moveaxis_vjp(g, _ans, _x, source, destination):
    return anp.moveaxis(g, destination, source)


def _moveaxis_batch(x, source, destination):
    return anp.moveaxis(x, batch_axis(source), batch_axis(destination))


def _rollaxis_vjp(g, _ans, vs_x, axis, start=0):
    n = vs_x.ndim
    axis, start = axis % n, start + n if start < 0 else start
    return anp.moveaxis(g, start - 1 if axis < start else start, axis)


def _matrix_transpose_vjp(g, _ans, _x):
    return anp.matrix_transpose(g)


def_direct(anp.transpose, vjps=(_transpose_vjp,), jvps=("same",), batch=first_argument(_transpose_batch))
def_direct(anp.swapaxes, vjps=(_swapaxes_vjp,), jvps=("same",), batch=first_argument(_swapaxes_batch))
def_direct(anp.moveaxis, vjps=(_moveaxis_vjp,), jvps=("same",), batch=first_argument(_moveaxis_batch))
def_direct(anp.rollaxis, vjps=(_rollaxis_vjp,), jvps=("same",))
if hasattr(anp, "matrix_transpose"):
    def_direct(
        anp.matrix_transpose,
        vjps=(_matrix_transpose_vjp,),
        jvps=("same",),
        batch=first_argument(anp.matrix_transpose),
    )

# ---------------------------------------------------------------------------------------------------- permuted elements


def _flip_vjp(g, _ans, _m, axis=None):
    return anp.flip(g, axis)


def _flip_batch(x, axis=None):
    return anp.flip(x, batch_axes(x, axis))


def _fliplr_vjp(g, _ans, _m):
    return anp.fliplr(g)


def _flipud_vjp(g, _ans, _m):
    return anp.flipud(g)


def _rot90_vjp(g, _ans, _m, k=1, axes=(0, 1)):
    return anp.rot90(g, -k if k % 1 == 0 else 1, axes)  # NumPy rotates by 270 degrees if k is not an integer


def _rot90_batch(x, k=1, axes=(0, 1)):
    return anp.rot90(x, k, batch_axis(axes))


def _roll_vjp(g, _ans, _a, shift, axis=None):
    return anp.roll(g, -shift if onp.isscalar(shift) else tuple(-onp.asarray(shift)), axis)


def _roll_batch(x, shift, axis=None):
    return NotImplemented if axis is None else anp.roll(x, shift, batch_axis(axis))


def_direct(anp.flip, vjps=(_flip_vjp,), jvps=("same",), batch=first_argument(_flip_batch))
def_direct(anp.fliplr, vjps=(_fliplr_vjp,), jvps=("same",))
def_direct(anp.flipud, vjps=(_flipud_vjp,), jvps=("same",))
def_direct(anp.rot90, vjps=(_rot90_vjp,), jvps=("same",), batch=first_argument(_rot90_batch))
def_direct(anp.roll, vjps=(_roll_vjp,), jvps=("same",), batch=first_argument(_roll_batch))

# ---------------------------------------------------------------------------------------------------- repeated elements


def _repeat_vjp(g, _ans, vs_a, repeats, axis=None):
    shape = vs_a.shape if axis is not None else (math.prod(vs_a.shape),)
    axis = 0 if axis is None else axis % len(shape)
    repeats = onp.asarray(repeats)
    if repeats.size == 1:
        split = (*shape[: axis + 1], int(repeats.reshape(())), *shape[axis + 1 :])
        return anp.reshape(anp.sum(anp.reshape(g, split), axis=axis + 1), vs_a.shape)
    index = onp.repeat(onp.arange(shape[axis]), repeats)
    if len(shape) != vs_a.ndim:
        return untake(g, onp.unravel_index(index, vs_a.shape), vs_a)
    return untake(g, (slice(None),) * axis + (index,), vs_a)


def _repeat_batch(x, repeats, axis=None):
    return anp.repeat(flatten_rows(x), repeats, 1) if axis is None else anp.repeat(x, repeats, batch_axis(axis))


def _tile_vjp(g, _ans, vs_A, reps):
    reps = (reps,) if onp.isscalar(reps) else tuple(reps)
    rank = max(len(reps), vs_A.ndim)
    reps = (1,) * (rank - len(reps)) + reps
    shape = (1,) * (rank - vs_A.ndim) + vs_A.shape
    split = [n for pair in zip(reps, shape, strict=True) for n in pair]
    return anp.reshape(anp.sum(anp.reshape(g, split), axis=tuple(range(0, 2 * rank, 2))), vs_A.shape)


def _tile_batch(x, reps):
    reps = (reps,) if onp.isscalar(reps) else tuple(reps)
    rank = max(len(reps), anp.ndim(x) - 1)
    return anp.tile(with_rank(x, rank), (1, *(1,) * (rank - len(reps)), *reps))


def_direct(anp.repeat, vjps=(_repeat_vjp,), jvps=("same",), batch=first_argument(_repeat_batch))
def_direct(anp.tile, vjps=(_tile_vjp,), jvps=("same",), batch=first_argument(_tile_batch))

# NumPy 1 returns lists where NumPy 2 returns tuples.
_several = alist if NUMPY_VERSION < (2, 0) else atuple


def _broadcast_arrays(*args, _subok=False):
    shape = onp.broadcast_shapes(*map(anp.shape, args))
    return _several([anp.broadcast_to(x, shape) for x in args])


def _meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    axes = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        axes[:2] = 1, 0
    grids = [anp.reshape(x, [-1 if i == axis else 1 for i in range(len(xi))]) for axis, x in zip(axes, xi, strict=True)]
    if not sparse:
        shape = onp.broadcast_shapes(*map(anp.shape, grids))
        grids = [anp.broadcast_to(grid, shape) for grid in grids]
    return _several(grids)


def_composed_name("broadcast_arrays", _broadcast_arrays)
def_composed_name("meshgrid", _meshgrid)

# ------------------------------------------------------------------------------------------------------------ diagonals


@primitive
def undiagonal(d, shape, offset=0, axis1=0, axis2=1):
    """Return zeros of a shape with the last axis of ``d`` on a diagonal: the transpose of ``numpy.diagonal``.

    Parameters
    ----------
    d : array_like
        Shape (..., n); the axes in front are those of the result without ``axis1`` and ``axis2``.
    shape : tuple of int
        The shape of the result.
    offset : int
        The diagonal: 0 is the main one, a positive number is above it, a negative one below.
    axis1, axis2 : int
        The axes of the result that the diagonal runs along.
    """
    result = onp.zeros(shape, onp.asarray(d).dtype)
    # The moved array is a view, so that writing to it writes to the result.
    moved = onp.moveaxis(result, (axis1, axis2), (-2, -1))
    n = onp.arange(onp.shape(d)[-1])
    moved[..., n + max(-offset, 0), n + max(offset, 0)] = d
    return result


def _diagonal_vjp(g, _ans, vs_a, offset=0, axis1=0, axis2=1):
    return undiagonal(g, vs_a.shape, offset, axis1, axis2)


def _diagonal_batch(x, offset=0, axis1=0, axis2=1):
    return anp.diagonal(x, offset, batch_axis(axis1), batch_axis(axis2))


def _undiagonal_vjp(g, _ans, _d, _shape, offset=0, axis1=0, axis2=1):
    return anp.diagonal(g, offset, axis1, axis2)


def _undiagonal_batch(x, shape, offset=0, axis1=0, axis2=1):
    return undiagonal(x, (anp.shape(x)[0], *shape), offset, batch_axis(axis1), batch_axis(axis2))


def _make_diagonal_vjp(g, _ans, _D, offset=0, axis1=0, axis2=1):
    return anp.diagonal(g, offset, axis1, axis2)


def _make_diagonal_batch(x, offset=0, axis1=0, axis2=1):
    return anp.make_diagonal(x, offset, batch_axis(axis1), batch_axis(axis2))


def _trace_vjp(g, _ans, vs_a, offset=0, axis1=0, axis2=1, dtype=None):
    rows, columns = vs_a.shape[axis1], vs_a.shape[axis2]
    n = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    repeated = anp.broadcast_to(anp.expand_dims(g, -1), (*anp.shape(g), n))
    return fit(undiagonal(repeated, vs_a.shape, offset, axis1, axis2), vs_a)


def _trace_batch(x, offset=0, axis1=0, axis2=1, dtype=None):
    return anp.trace(x, offset, batch_axis(axis1), batch_axis(axis2), dtype)


def _diag_vjp(g, _ans, vs_v, k=0):
    return anp.diag(g, k) if vs_v.ndim == 1 else undiagonal(g, vs_v.shape, k)


def _diag_batch(x, k=0):
    return anp.make_diagonal(x, k, 1, 2) if anp.ndim(x) == 2 else anp.diagonal(x, k, 1, 2)


def_direct(anp.diagonal, vjps=(_diagonal_vjp,), jvps=("same",), batch=first_argument(_diagonal_batch))
def_direct(undiagonal, vjps=(_undiagonal_vjp,), jvps=("same",), batch=first_argument(_undiagonal_batch))
def_direct(anp.make_diagonal, vjps=(_make_diagonal_vjp,), jvps=("same",), batch=first_argument(_make_diagonal_batch))
def_direct(anp.trace, vjps=(_trace_vjp,), jvps=("same",), batch=first_argument(_trace_batch))
def_direct(anp.diag, vjps=(_diag_vjp,), jvps=("same",), batch=first_argument(_diag_batch))


def _diagflat(v, k=0):
    return anp.diag(anp.ravel(v), k)


def_composed_name("diagflat", _diagflat)

# ------------------------------------------------------------------------------------------------------------ triangles


def _def_triangle(fun):
    def vjp(g, _ans, vs_m, k=0):
        return fit(fun(g, k), vs_m)

    def batch(x, k=0):
        # A row that is a vector makes a matrix.
        return fun(x, k) if anp.ndim(x) > 2 else NotImplemented

    def_direct(fun, vjps=(vjp,), jvps=("same",), batch=first_argument(batch))


_def_triangle(anp.tril)
_def_triangle(anp.triu)
