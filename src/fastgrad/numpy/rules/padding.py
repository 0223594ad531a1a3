"""numpy.pad: the rules of each of its modes.

The modes that pad with constants or with elements of the array are linear, and their transposes put elements back where
they came from; those positions are found by padding an array of positions. The other modes (statistics, ramps, odd
reflections) compute what they pad with, and have the rules of a composition of primitives.
"""

import math

import numpy as onp

from fastgrad._rules.direct import def_direct
from fastgrad.core import defvjp, make_jvp, make_vjp, vspace
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.batching import first_argument
from fastgrad.numpy.broadcasting import fit_dtype
from fastgrad.numpy.rules.indexing import untake

# ------------------------------------------------------------------------------------------------------- along one axis
# Each function returns what a mode puts before and behind the elements along an axis: n_before and n_behind of them.


def _edge(x, axis, n):
    """Return the first ``n`` slices along an axis, or the last ``-n``."""
    part = slice(n) if n >= 0 else slice(n, None)
    return x[(slice(None),) * axis + (part,)]


def _statistic(fun):
    def ends(x, axis, n_before, n_behind, stat_length=None):
        length = anp.shape(x)[axis]
        before, behind = (length, length) if stat_length is None else [min(n, length) for n in stat_length[axis]]
        first = fun(_edge(x, axis, before), axis=axis, keepdims=True)
        last = fun(_edge(x, axis, -behind), axis=axis, keepdims=True)
        return anp.repeat(first, n_before, axis), anp.repeat(last, n_behind, axis)

    return ends


def _ramp(x, axis, n_before, n_behind, end_values=None):
    before, behind = (0, 0) if end_values is None else end_values[axis]
    shape = [1] * anp.ndim(x)
    shape[axis] = -1

    def ramp(end, edge, n):
        share = (onp.arange(n) / max(n, 1)).reshape(shape)
        return end * (1 - share) + edge * share

    return ramp(before, _edge(x, axis, 1), n_before), anp.flip(ramp(behind, _edge(x, axis, -1), n_behind), axis)


def _odd_mirror(mode):
    """Return the function of the ends of an odd reflection, in which each mirror image is 2 * edge - element.

    Over the period of two mirrors, all elements grow by twice the difference between the last and the first.
    """

    def ends(x, axis, n_before, n_behind):
        n = anp.shape(x)[axis]
        positions = onp.pad(onp.arange(n), (n_before, n_behind), mode)
        step = n if mode == "symmetric" else max(n - 1, 1)
        mirrors = onp.arange(-n_before, n + n_behind) // step
        is_odd = mirrors % 2 == 1
        shape = [1] * anp.ndim(x)
        shape[axis] = -1
        sign, rises = onp.where(is_odd, -1, 1).reshape(shape), (mirrors - is_odd).reshape(shape)
        first, last = _edge(x, axis, 1), _edge(x, axis, -1)
        full = anp.take(x, positions, axis) * sign + rises * (last - first) + 2 * last * is_odd.reshape(shape)
        return _edge(full, axis, n_before), full[(slice(None),) * axis + (slice(n_before + n, None),)]

    return ends


_ENDS = {
    "maximum": _statistic(anp.max),
    "minimum": _statistic(anp.min),
    "mean": _statistic(anp.mean),
    "median": _statistic(anp.median),
    "linear_ramp": _ramp,
    "reflect": _odd_mirror("reflect"),
    "symmetric": _odd_mirror("symmetric"),
}


def _composed(x, pad_width, mode, kwargs):
    """Return the padded array, made by primitives, along one axis after the other as NumPy does."""
    ndim = anp.ndim(x)
    if isinstance(pad_width, dict):
        given = {axis % ndim: width for axis, width in pad_width.items()}
        pad_width = [onp.broadcast_to(given.get(axis, 0), 2) for axis in range(ndim)]
    options = {key: value for key, value in kwargs.items() if key != "reflect_type" and value is not None}
    # For each axis a pair, before and behind: of the widths, and of the options of the mode.
    options = {key: onp.broadcast_to(value, (ndim, 2)).tolist() for key, value in options.items()}
    widths = onp.broadcast_to(onp.asarray(pad_width), (ndim, 2)).tolist()
    for axis, (n_before, n_behind) in enumerate(widths):
        if n_before or n_behind:
            before, behind = _ENDS[mode](x, axis, n_before, n_behind, **options)
            x = anp.concatenate([before, x, behind], axis)
    return x


# ------------------------------------------------------------------------------------------------------------ the rules

BY_INDEX = ("edge", "reflect", "symmetric", "wrap")


def _is_composed(mode, kwargs):
    """Return whether a mode computes what it pads with; raise NotImplementedError if it is unknown."""
    if mode in BY_INDEX:
        return kwargs.get("reflect_type", "even") == "odd" and mode in _ENDS
    if mode in ("constant", "empty"):
        return False
    if not isinstance(mode, str) or mode not in _ENDS:
        raise NotImplementedError(
            f"pad of a traced value has no derivative with mode {mode!r}; use one of NumPy's named modes"
        )
    return True


def _pad_vjpmaker(_ans, array, pad_width, mode="constant", **kwargs):
    # Staged, since only some modes need the array: with a direct rule all would keep it.
    if _is_composed(mode, kwargs):
        return lambda g: make_vjp(lambda x: _composed(x, pad_width, mode, kwargs), array)[0](g)
    space = vspace(array)
    shape = space.shape
    if mode in ("constant", "empty"):
        return lambda g: anp.reshape(g[onp.pad(onp.ones(shape, bool), pad_width)], shape)

    def pullback(g):
        positions = onp.arange(math.prod(shape)).reshape(shape)
        return untake(g, onp.unravel_index(onp.pad(positions, pad_width, mode), shape), space)

    return pullback


def _pad_jvp(g, ans, array, pad_width, mode="constant", **kwargs):
    if _is_composed(mode, kwargs):
        tangent = make_jvp(lambda x: _composed(x, pad_width, mode, kwargs), array)(g)[1]
        return fit_dtype(tangent, vspace(ans))
    return anp.pad(g, pad_width) if mode in ("constant", "empty") else anp.pad(g, pad_width, mode)


def _pad_batch(x, pad_width, *args, **kwargs):
    if isinstance(pad_width, dict):
        return NotImplemented
    widths = onp.broadcast_to(onp.asarray(pad_width), (anp.ndim(x) - 1, 2)).tolist()
    return anp.pad(x, [(0, 0), *widths], *args, **kwargs) if not kwargs else NotImplemented


defvjp(anp.pad, _pad_vjpmaker)
def_direct(anp.pad, jvps=(_pad_jvp,), batch=first_argument(_pad_batch))
