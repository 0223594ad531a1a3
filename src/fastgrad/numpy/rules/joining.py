"""Building, joining and splitting arrays, and casting them: linear functions, which place elements in new arrays.

The cotangent of each part is the part of the cotangent at its place; joining and splitting are each other's transposes.
"""

from itertools import accumulate

from fastgrad._engine.core import VSpace
from fastgrad._rules.arguments import tangents_or_zeros
from fastgrad._rules.direct import def_direct, def_whole
from fastgrad.core import vspace
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.batching import all_batches, batch_axis, first_argument
from fastgrad.numpy.broadcasting import fit, fit_dtype

# ------------------------------------------------------------------------------------------------------ building arrays


def _array_from_args_vjp(argnums, g, _ans, vs_args, kwargs):
    # The argument `ndmin` of numpy.array may have added axes of length 1 in front.
    leading = anp.ndim(g) - 1 - vs_args[argnums[0]].ndim
    if leading:
        g = anp.reshape(g, anp.shape(g)[leading:])
    return [fit_dtype(g[i - 2], vs_args[i]) for i in argnums]


def _array_from_args_jvp(argnums, gs, _ans, args, kwargs):
    return anp.array_from_args(args[0], args[1], *tangents_or_zeros(argnums, gs, args, 2, as_arrays=True))


def _array_from_args_batch(rows, _ans, argnums, array_args, array_kwargs, *args):
    if array_args or array_kwargs:
        return NotImplemented
    return anp.swapaxes(anp.array_from_args((), {}, *all_batches(args, argnums, rows, first=2)), 0, 1)


def _array_from_scalars_vjp(argnums, g, _ans, _args, kwargs):
    flat = anp.ravel(g)
    return [flat[i - 1] for i in argnums]


def _array_from_scalars_jvp(argnums, gs, _ans, args, kwargs):
    given = dict(zip(argnums, gs, strict=True))
    return anp.array_from_scalars(args[0], *[given.get(i, 0.0) for i in range(1, len(args))])


def _array_from_scalar_or_array_vjp(g, _ans, _args, _kwargs, vs_x):
    return fit_dtype(anp.reshape(g, vs_x.shape), vs_x)


def_whole(anp.array_from_args, _array_from_args_vjp, _array_from_args_jvp, batch=_array_from_args_batch)
def_whole(anp.array_from_scalars, _array_from_scalars_vjp, _array_from_scalars_jvp)
def_direct(
    anp._array_from_scalar_or_array, vjps=(None, None, _array_from_scalar_or_array_vjp), jvps=(None, None, "same")
)

# ------------------------------------------------------------------------------------------------- copies, casts, fills


def _copy_vjp(g, _ans, vs_x, *args, **kwargs):
    return fit_dtype(anp.reshape(g, vs_x.shape), vs_x)


def _astype_vjp(g, _ans, vs_x, *args, **kwargs):
    return fit_dtype(g, vs_x)


def_direct(anp.copy, vjps=(_copy_vjp,), jvps=("same",), batch=first_argument(anp.copy))
for _fun in (anp.asarray, anp.asanyarray, anp.ascontiguousarray, anp.asfortranarray):
    def_direct(_fun, vjps=(_copy_vjp,), jvps=("same",))
def_direct(anp._astype, vjps=(_astype_vjp,), jvps=("same",), batch=first_argument(anp._astype))


def _full_vjp_fill_value(g, _ans, _like, vs_fill_value, *args, **kwargs):
    return fit(g, vs_fill_value)


def _full_like_vjp_a(g, _ans, vs_a, *args, **kwargs):
    return vs_a.zeros()


def _full_like_jvp_a(g, ans, *args, **kwargs):
    return vspace(ans).zeros()


def_direct(anp.full, vjps=(None, _full_vjp_fill_value), jvps=(None, "same"))
def_direct(anp.full_like, vjps=(_full_like_vjp_a, _full_vjp_fill_value), jvps=(_full_like_jvp_a, "same"))

# -------------------------------------------------------------------------------------------------------------- joining


def _concatenate_vjp(argnums, g, _ans, vs_args, kwargs):
    axis = vs_args[0]
    shapes = [x.shape if isinstance(x, VSpace) else anp.shape(x) for x in vs_args[1:]]
    before = (slice(None),) * (axis % len(shapes[0]))
    ends = [0, *accumulate([shape[axis] for shape in shapes])]
    return [fit_dtype(g[(*before, slice(ends[i - 1], ends[i]))], vs_args[i]) for i in argnums]


def _concatenate_jvp(argnums, gs, _ans, args, kwargs):
    return anp.concatenate_args(args[0], *tangents_or_zeros(argnums, gs, args, 1, as_arrays=True))


def _concatenate_batch(rows, _ans, argnums, axis, *args):
    return anp.concatenate_args(batch_axis(axis), *all_batches(args, argnums, rows, first=1))


def _stack_vjp(argnums, g, _ans, vs_args, kwargs):
    before = (slice(None),) * (vs_args[0] % anp.ndim(g))
    return [fit_dtype(g[(*before, i - 1)], vs_args[i]) for i in argnums]


def _stack_jvp(argnums, gs, _ans, args, kwargs):
    return anp.stack_args(args[0], *tangents_or_zeros(argnums, gs, args, 1, as_arrays=True))


def_whole(anp.concatenate_args, _concatenate_vjp, _concatenate_jvp, batch=_concatenate_batch)
def_whole(anp.stack_args, _stack_vjp, _stack_jvp)

# ------------------------------------------------------------------------------------------------------------ splitting


def _split_vjp(axis_of):
    """Return the VJP of a function that splits along the axis ``axis_of(ndim, *args)``."""

    def vjp(g, _ans, vs_ary, indices_or_sections, *args, **kwargs):
        return anp.concatenate(g, axis_of(vs_ary.ndim, *args, **kwargs))

    return vjp


def _unstack_vjp(g, _ans, _x, axis=0):
    return anp.stack(g, axis=axis)


for _fun in (anp.split, anp.array_split):
    def_direct(_fun, vjps=(_split_vjp(lambda ndim, axis=0: axis),), jvps=("same",))
def_direct(anp.vsplit, vjps=(_split_vjp(lambda ndim: 0),), jvps=("same",))
def_direct(anp.hsplit, vjps=(_split_vjp(lambda ndim: 0 if ndim == 1 else 1),), jvps=("same",))
def_direct(anp.dsplit, vjps=(_split_vjp(lambda ndim: 2),), jvps=("same",))
if hasattr(anp, "unstack"):
    def_direct(anp.unstack, vjps=(_unstack_vjp,), jvps=("same",))
