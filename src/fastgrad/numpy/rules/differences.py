"""Differences, gradients by difference quotients, evenly spaced points, the trapezoidal rule, and unwrap.

All are linear in the values that are differenced or summed, and each result depends on few neighbours; the transposes
are the same sums with the signs or coefficients of the transposed matrix, as NumPy's documentation defines it.
"""

import numpy as onp

from fastgrad._rules.direct import def_direct, def_whole
from fastgrad.core import VSpace, vspace
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import dtype_of, fit, fit_dtype, normalize_axes
from fastgrad.numpy.composing import def_composed_name
from fastgrad.tracer import getval

_NOT_GIVEN = onp._NoValue

# ---------------------------------------------------------------------------------------------------------- differences


def _zeros(x, axis, length):
    """Return zeros of the shape and dtype of ``x`` except for the length of one axis."""
    shape = list(anp.shape(x))
    shape[axis] = length
    return onp.zeros(shape, dtype_of(x))


def _between(x, axis, start, stop):
    return x[(slice(None),) * (axis % anp.ndim(x)) + (slice(start, stop),)]


def _shape(x):
    return x.shape if isinstance(x, VSpace) else onp.shape(x)


def _length(end, axis):
    """Return how much ``prepend`` or ``append`` adds to an axis."""
    if end is _NOT_GIVEN:
        return 0
    return _shape(end)[axis] if _shape(end) else 1


def _joined_diff_vjp(g, n, axis, length):
    """Return the cotangent of the array that the n-th difference was taken of, which has this length along the axis."""
    if n >= length:
        return _zeros(g, axis, length)
    edge = _zeros(g, axis, n)
    back = anp.diff(anp.concatenate([edge, g, edge], axis), n, axis)
    return -back if n % 2 else back


def _diff_vjp(argnums, g, _ans, vs_args, kwargs):
    a, n, axis, prepend, append = _diff_arguments(vs_args, kwargs)
    if n == 0:
        return [g if i == 0 else vs_args[i].zeros() for i in argnums]
    front, middle, back = _length(prepend, axis), _shape(a)[axis], _length(append, axis)
    joined = _joined_diff_vjp(g, n, axis, front + middle + back)
    bounds = {0: (front, front + middle), 3: (0, front), 4: (front + middle, front + middle + back)}
    if front == back == 0:
        return [fit(joined, a)]
    return [fit(_between(joined, axis, *bounds[i]), vs_args[i]) for i in argnums]


def _diff_arguments(args, kwargs):
    names = ("a", "n", "axis", "prepend", "append")
    given = {"n": 1, "axis": -1, "prepend": _NOT_GIVEN, "append": _NOT_GIVEN}
    given.update(zip(names, args, strict=False))
    given.update(kwargs)
    return [given[name] for name in names]


def _diff_jvp(argnums, gs, ans, args, kwargs):
    a, n, axis, prepend, append = _diff_arguments(args, kwargs)
    tangents = dict(zip(argnums, gs, strict=True))
    values = []
    for i, x in ((0, a), (3, prepend), (4, append)):
        values.append(x if x is _NOT_GIVEN else tangents[i] if i in tangents else onp.zeros_like(getval(x)))
    return anp.diff(values[0], n, axis, values[1], values[2])


def_whole(anp.diff, _diff_vjp, _diff_jvp)


def _ediff1d(ary, to_end=None, to_begin=None):
    differences = anp.diff(anp.ravel(ary))
    ends = [None if end is None else fit_dtype(anp.ravel(end), vspace(differences)) for end in (to_begin, to_end)]
    return anp.concatenate([part for part in (ends[0], differences, ends[1]) if part is not None])


def_composed_name("ediff1d", _ediff1d)

# unwrap adds multiples of the period, whose number is constant almost everywhere.
def_direct(anp.unwrap, vjps=("identity",), jvps=("identity",))


# ------------------------------------------------------------------------------------------------- difference quotients

# Element i of numpy.gradient depends on elements i - 2 to i + 2; at a distance of 2 only at the edges.
_REACH = 2


def _bands(n, spacing, edge_order, dtype):
    """Return the coefficients of ``numpy.gradient`` along an axis: ``bands[d, i]`` is that of element ``i + d - 2``.

    They are measured by calling NumPy on arrays of zeros and ones, with the ones so far apart that no two of them enter
    the same element.
    """
    width = 2 * _REACH + 1
    elements = onp.arange(n)
    probes = (elements[:, None] % width == onp.arange(width)).astype(dtype)
    answers = onp.gradient(probes, spacing, axis=0, edge_order=edge_order)
    sources = elements + onp.arange(-_REACH, _REACH + 1)[:, None]
    return onp.where((sources >= 0) & (sources < n), answers[elements, sources % width], 0)


def _even_gradient_vjp(g, axis, spacing, n):
    """Return the cotangent of f from that of its difference quotients along one axis, for even spacing.

    An inner quotient is ``(f[i + 1] - f[i - 1]) / (2 h)``. One at the edge, which is of first order, is the same with
    the linear extrapolation ``f[-1] = 2 f[0] - f[1]``.
    """
    half = g / (2 * spacing)
    first, last = _between(half, axis, 0, 1), _between(half, axis, n - 1, n)
    padded = [-2 * first, 2 * first, _between(half, axis, 1, n - 1), 2 * last, -2 * last]
    padded = anp.concatenate(padded, axis)
    return _between(padded, axis, 0, n) - _between(padded, axis, 2, n + 2)


def _gradient_vjp_along(g, axis, spacing, edge_order, space):
    """Return the cotangent of f from that of its difference quotients along one axis."""
    n = space.shape[axis]
    if edge_order == 1 and onp.ndim(spacing) == 0:
        return _even_gradient_vjp(g, axis, spacing, n)
    shape = [1] * space.ndim
    shape[axis] = n
    total = None
    bands = _bands(n, spacing, edge_order, space.dtype)
    for shift, band in enumerate(bands, -_REACH):
        if not band.any():
            continue
        part = g * band.reshape(shape)
        edge = _zeros(part, axis, abs(shift))
        if shift > 0:
            part = anp.concatenate([edge, _between(part, axis, 0, n - shift)], axis)
        elif shift < 0:
            part = anp.concatenate([_between(part, axis, -shift, n), edge], axis)
        total = part if total is None else total + part
    return total


def _gradient_vjp(g, _ans, vs_f, *spacings, axis=None, edge_order=1):
    axes = normalize_axes(axis, vs_f.ndim)
    spacings = spacings if len(spacings) == len(axes) else (spacings or (1.0,)) * len(axes)
    spacings = [getval(spacing) for spacing in spacings]
    cotangents = [g] if len(axes) == 1 else [g[i] for i in range(len(axes))]
    total = None
    for part, one, spacing in zip(cotangents, axes, spacings, strict=True):
        pulled = _gradient_vjp_along(part, one, spacing, edge_order, vs_f)
        total = pulled if total is None else total + pulled
    return fit(total, vs_f)


def_direct(anp.gradient, vjps=(_gradient_vjp,), jvps=("same",))

# ------------------------------------------------------------------------------------------------- evenly spaced points


def _linspace_arguments(args, kwargs):
    names = ("start", "stop", "num", "endpoint", "retstep", "dtype", "axis")
    given = {"num": 50, "endpoint": True, "retstep": False, "dtype": None, "axis": 0}
    given.update(zip(names, args, strict=False))
    given.update(kwargs)
    return given


def _linspace_vjp(argnums, g, _ans, vs_args, kwargs):
    given = _linspace_arguments(vs_args, kwargs)
    num, endpoint, axis = given["num"], given["endpoint"], given["axis"]
    points, step = (g[0], g[1]) if given["retstep"] else (g, None)
    rank = max(len(_shape(given["start"])), len(_shape(given["stop"]))) + 1
    shape = [1] * rank
    shape[axis] = num
    share = onp.linspace(0.0, 1.0, num, endpoint).reshape(shape)
    divisions = num - 1 if endpoint else num
    cotangents = []
    for i in argnums:
        pulled = anp.sum(points * (share if i else 1.0 - share), axis=axis)
        if step is not None and divisions > 0:
            pulled = pulled + (step if i else -step) / divisions
        cotangents.append(fit(pulled, vs_args[i]))
    return cotangents


def _linspace_jvp(argnums, gs, ans, args, kwargs):
    tangents = dict(zip(argnums, gs, strict=True))
    ends = [tangents[i] if i in tangents else onp.zeros_like(getval(args[i])) for i in (0, 1)]
    return anp.linspace(*ends, *args[2:], **kwargs)


def_whole(anp.linspace, _linspace_vjp, _linspace_jvp)

# ----------------------------------------------------------------------------------------------------- trapezoidal rule


def _widths(x, dx, axis, shape):
    """Return the distances between the samples of an integral, in a shape that broadcasts to theirs."""
    if x is None:
        return dx
    if anp.ndim(x) != 1:
        return anp.diff(x, axis=axis)
    along = [1] * len(shape)
    along[axis] = -1
    return anp.reshape(anp.diff(x), along)


def _trapezoid_vjp_y(g, _ans, vs_y, x=None, dx=1.0, axis=-1):
    pieces = list(vs_y.shape)
    pieces[axis] -= 1
    if pieces[axis] < 1:
        return vs_y.zeros()
    half = anp.expand_dims(g, axis) * 0.5 * (_widths(x, dx, axis, vs_y.shape) * onp.ones(pieces))
    edge = _zeros(half, axis, 1)
    return fit(anp.concatenate([half, edge], axis) + anp.concatenate([edge, half], axis), vs_y)


def _trapezoid_vjp_x(g, _ans, y, x=None, dx=1.0, axis=-1):
    n = anp.shape(y)[axis]
    if n < 2:
        return vspace(x).zeros()
    middles = (_between(y, axis, 1, n) + _between(y, axis, 0, n - 1)) * 0.5
    pieces = anp.expand_dims(g, axis) * middles
    if anp.ndim(x) == 1 and anp.ndim(y) > 1:
        pieces, axis = anp.sum(pieces, axis=tuple(i for i in range(anp.ndim(y)) if i != axis % anp.ndim(y))), 0
    return fit(_joined_diff_vjp(pieces, 1, axis, n), vspace(x))


for _name in ("trapezoid", "trapz"):
    if hasattr(anp, _name):
        def_direct(getattr(anp, _name), vjps=(_trapezoid_vjp_y, _trapezoid_vjp_x), jvps=("same", "same"))
