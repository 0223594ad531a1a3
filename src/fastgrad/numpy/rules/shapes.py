"""Functions that only move elements: their transposes move them back."""

import math

import numpy as onp

from fastgrad._rules.arguments import tangents_or_zeros
from fastgrad._rules.direct import def_direct, def_whole
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import fit
from fastgrad.numpy.rules.indexing import untake
from fastgrad.tracer import primitive

# -------------------------------------------------------------------------------------------------------- same elements


def _reshape_vjp(g, _ans, vs_x, *args, **kwargs):
    return anp.reshape(g, vs_x.shape)


def _order(position, vs_x, args, kwargs):
    """Give the memory order in which a function, whose argument number ``position`` says it, read its first one."""
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


def _def_ordered(fun, position):
    # The order is that of the argument: a tangent or cotangent may lie in memory otherwise.
    def vjp(g, _ans, vs_x, *args, **kwargs):
        return anp.reshape(g, vs_x.shape, order=_order(position, vs_x, args, kwargs))

    def jvp(g, ans, vs_x, *args, **kwargs):
        return anp.reshape(g, anp.shape(ans), order=_order(position, vs_x, args, kwargs))

    def_direct(fun, vjps=(vjp,), jvps=(jvp,), compiled=("reshape",))


_def_ordered(anp.reshape, 2)
_def_ordered(anp.ravel, 1)
def_direct(anp.expand_dims, vjps=(_reshape_vjp,), jvps=("same",), compiled=("reshape",))
def_direct(anp.squeeze, vjps=(_reshape_vjp,), jvps=("same",), compiled=("reshape",))
def_direct(anp.broadcast_to, vjps=(lambda g, _ans, vs_x, *args, **kwargs: fit(g, vs_x),), jvps=("same",))


def _atleast_vjp(argnums, g, _ans, vs_args, kwargs):
    if len(vs_args) == 1:
        return [anp.reshape(g, vs_args[0].shape)]
    return [anp.reshape(g[i], vs_args[i].shape) for i in argnums]


def _atleast_jvp(fun):
    def jvp(argnums, gs, ans, args, kwargs):
        return fun(*tangents_or_zeros(argnums, gs, args, as_arrays=True))

    return jvp


for _fun in (anp.atleast_1d, anp.atleast_2d, anp.atleast_3d):
    def_whole(_fun, _atleast_vjp, _atleast_jvp(_fun))

# -------------------------------------------------------------------------------------------------------- permuted axes


def _transpose_vjp(g, _ans, _x, axes=None):
    if axes is None:
        return anp.transpose(g)
    n = len(axes)
    return anp.transpose(g, tuple(onp.argsort([axis % n for axis in axes])))


def _rollaxis_vjp(g, _ans, vs_x, axis, start=0):
    n = vs_x.ndim
    axis, start = axis % n, start + n if start < 0 else start
    return anp.moveaxis(g, start - 1 if axis < start else start, axis)


def_direct(anp.transpose, vjps=(_transpose_vjp,), jvps=("same",))
def_direct(anp.swapaxes, vjps=(lambda g, _ans, _x, axis1, axis2: anp.swapaxes(g, axis1, axis2),), jvps=("same",))
def_direct(
    anp.moveaxis, vjps=(lambda g, _ans, _x, source, destination: anp.moveaxis(g, destination, source),), jvps=("same",)
)
def_direct(anp.rollaxis, vjps=(_rollaxis_vjp,), jvps=("same",))
if hasattr(anp, "matrix_transpose"):
    def_direct(anp.matrix_transpose, vjps=(lambda g, _ans, _x: anp.matrix_transpose(g),), jvps=("same",))

# ---------------------------------------------------------------------------------------------------- permuted elements


def _minus(shift):
    return -shift if onp.isscalar(shift) else tuple(-onp.asarray(shift))


def_direct(anp.flip, vjps=(lambda g, _ans, _m, axis=None: anp.flip(g, axis),), jvps=("same",))
def_direct(anp.fliplr, vjps=(lambda g, _ans, _m: anp.fliplr(g),), jvps=("same",))
def_direct(anp.flipud, vjps=(lambda g, _ans, _m: anp.flipud(g),), jvps=("same",))


def _rot90_vjp(g, _ans, _m, k=1, axes=(0, 1)):
    return anp.rot90(g, -k if k % 1 == 0 else 1, axes)  # NumPy turns by three quarters for what is no integer


def_direct(anp.rot90, vjps=(_rot90_vjp,), jvps=("same",))
def_direct(anp.roll, vjps=(lambda g, _ans, _a, shift, axis=None: anp.roll(g, _minus(shift), axis),), jvps=("same",))

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


def _tile_vjp(g, _ans, vs_A, reps):
    reps = (reps,) if onp.isscalar(reps) else tuple(reps)
    rank = max(len(reps), vs_A.ndim)
    reps = (1,) * (rank - len(reps)) + reps
    shape = (1,) * (rank - vs_A.ndim) + vs_A.shape
    split = [n for pair in zip(reps, shape, strict=True) for n in pair]
    return anp.reshape(anp.sum(anp.reshape(g, split), axis=tuple(range(0, 2 * rank, 2))), vs_A.shape)


def_direct(anp.repeat, vjps=(_repeat_vjp,), jvps=("same",))
def_direct(anp.tile, vjps=(_tile_vjp,), jvps=("same",))

# ------------------------------------------------------------------------------------------------------------ diagonals


@primitive
def undiagonal(d, shape, offset=0, axis1=0, axis2=1):
    """Put the last axis of ``d`` on a diagonal of zeros of this shape: the transpose of ``numpy.diagonal``."""
    result = onp.zeros(shape, onp.asarray(d).dtype)
    # The moved array is a view: what is written to it stands in the result.
    moved = onp.moveaxis(result, (axis1, axis2), (-2, -1))
    n = onp.arange(onp.shape(d)[-1])
    moved[..., n + max(-offset, 0), n + max(offset, 0)] = d
    return result


def _diagonal_vjp(g, _ans, vs_a, offset=0, axis1=0, axis2=1):
    return undiagonal(g, vs_a.shape, offset, axis1, axis2)


def _undiagonal_vjp(g, _ans, _d, _shape, offset=0, axis1=0, axis2=1):
    return anp.diagonal(g, offset, axis1, axis2)


def _make_diagonal_vjp(g, _ans, _D, offset=0, axis1=0, axis2=1):
    return anp.diagonal(g, offset, axis1, axis2)


def _trace_vjp(g, _ans, vs_a, offset=0, axis1=0, axis2=1, dtype=None):
    rows, columns = vs_a.shape[axis1], vs_a.shape[axis2]
    n = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    spread = anp.broadcast_to(anp.expand_dims(g, -1), (*anp.shape(g), n))
    return fit(undiagonal(spread, vs_a.shape, offset, axis1, axis2), vs_a)


def _diag_vjp(g, _ans, vs_v, k=0):
    return anp.diag(g, k) if vs_v.ndim == 1 else undiagonal(g, vs_v.shape, k)


def_direct(undiagonal, vjps=(_undiagonal_vjp,), jvps=("same",))
def_direct(anp.diagonal, vjps=(_diagonal_vjp,), jvps=("same",))
def_direct(anp.make_diagonal, vjps=(_make_diagonal_vjp,), jvps=("same",))
def_direct(anp.trace, vjps=(_trace_vjp,), jvps=("same",))
def_direct(anp.diag, vjps=(_diag_vjp,), jvps=("same",))
def_direct(anp.tril, vjps=(lambda g, _ans, vs_m, k=0: fit(anp.tril(g, k), vs_m),), jvps=("same",))
def_direct(anp.triu, vjps=(lambda g, _ans, vs_m, k=0: fit(anp.triu(g, k), vs_m),), jvps=("same",))
