"""Joining arrays and splitting them: each is the other's transpose."""

from itertools import accumulate

from fastgrad._engine.core import VSpace
from fastgrad._rules.arguments import tangents_or_zeros
from fastgrad._rules.direct import def_direct, def_whole
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import fit_dtype


def _concatenate_vjp(argnums, g, _ans, vs_args, kwargs):
    axis = vs_args[0]
    shapes = [x.shape if isinstance(x, VSpace) else anp.shape(x) for x in vs_args[1:]]
    before = (slice(None),) * (axis % len(shapes[0]))
    ends = [0, *accumulate([shape[axis] for shape in shapes])]
    return [fit_dtype(g[(*before, slice(ends[i - 1], ends[i]))], vs_args[i]) for i in argnums]


def _concatenate_jvp(argnums, gs, _ans, args, kwargs):
    return anp.concatenate_args(args[0], *tangents_or_zeros(argnums, gs, args, 1, as_arrays=True))


def_whole(anp.concatenate_args, _concatenate_vjp, _concatenate_jvp)


def _stack_vjp(argnums, g, _ans, vs_args, kwargs):
    before = (slice(None),) * (vs_args[0] % anp.ndim(g))
    return [fit_dtype(g[(*before, i - 1)], vs_args[i]) for i in argnums]


def _stack_jvp(argnums, gs, _ans, args, kwargs):
    return anp.stack_args(args[0], *tangents_or_zeros(argnums, gs, args, 1, as_arrays=True))


def_whole(anp.stack_args, _stack_vjp, _stack_jvp)


def _split_vjp(axis_of):
    """Make the rule of a function that splits along ``axis_of(ndim, *args)``."""

    def rule(g, _ans, vs_ary, indices_or_sections, *args, **kwargs):
        return anp.concatenate(g, axis_of(vs_ary.ndim, *args, **kwargs))

    return rule


_by_axis = _split_vjp(lambda ndim, axis=0: axis)
def_direct(anp.split, vjps=(_by_axis,), jvps=("same",))
def_direct(anp.array_split, vjps=(_by_axis,), jvps=("same",))
def_direct(anp.vsplit, vjps=(_split_vjp(lambda ndim: 0),), jvps=("same",))
def_direct(anp.hsplit, vjps=(_split_vjp(lambda ndim: 0 if ndim == 1 else 1),), jvps=("same",))
def_direct(anp.dsplit, vjps=(_split_vjp(lambda ndim: 2),), jvps=("same",))
if hasattr(anp, "unstack"):
    def_direct(anp.unstack, vjps=(lambda g, _ans, _x, axis=0: anp.stack(g, axis=axis),), jvps=("same",))
