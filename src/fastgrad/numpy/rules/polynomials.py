"""Polynomials, piecewise linear interpolation, and points in geometric progression: compositions of primitives.

Each composition is the definition that NumPy's documentation gives; polynomials are evaluated by Horner's scheme.
"""

import operator

import numpy as onp

from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import as_array, dtype_of
from fastgrad.numpy.composing import def_composed_name
from fastgrad.tracer import getval

# -------------------------------------------------------------------------------------------------------- interpolation


def _one_period(x, xp, fp, period):
    """Return x brought into one period, and the known points with one more beyond each end of the period."""
    xp = anp.mod(xp, period)
    order = onp.argsort(getval(xp))
    xp, fp = xp[order], fp[order]
    xp = anp.concatenate([xp[-1:] - period, xp, xp[:1] + period])
    return anp.mod(x, period), xp, anp.concatenate([fp[-1:], fp, fp[:1]])


def _interp(x, xp, fp, left=None, right=None, period=None):
    x, xp, fp = as_array(x), as_array(xp), as_array(fp)
    if period is not None:
        x, xp, fp = _one_period(x, xp, fp, abs(period))
        left = right = None
    concrete_x, known = onp.asarray(getval(x)), onp.asarray(getval(xp))
    last = len(known) - 1
    i = onp.clip(onp.searchsorted(known, concrete_x, "right") - 1, 0, max(last - 1, 0))
    j = onp.minimum(i + 1, last)
    value = fp[i] if last == 0 else fp[i] + (x - xp[i]) / (xp[j] - xp[i]) * (fp[j] - fp[i])
    value = anp.where(concrete_x > known[-1], fp[-1] if right is None else right, value)
    return anp.where(concrete_x < known[0], fp[0] if left is None else left, value)


def_composed_name("interp", _interp, ("period",))

# ---------------------------------------------------------------------------------------------------------- polynomials


def _polyval(p, x):
    p, x = as_array(p), as_array(x)
    y = onp.zeros(anp.shape(x), dtype_of(x))
    for k in range(anp.shape(p)[0]):
        y = y * x + p[k]
    return y


def _polyder(p, m=1):
    p = as_array(p)
    for _ in range(operator.index(m)):
        p = p[:-1] * onp.arange(anp.shape(p)[0] - 1, 0, -1)
    return p


def _polyint(p, m=1, k=None):
    p, m = as_array(p), operator.index(m)
    constants = onp.zeros(m) if k is None else anp.broadcast_to(anp.atleast_1d(k), (m,))
    for i in range(m):
        p = anp.concatenate([p / onp.arange(anp.shape(p)[0], 0, -1), constants[i : i + 1]])
    return p


def _padded_sum(add):
    def composition(a1, a2):
        a1, a2 = anp.atleast_1d(a1), anp.atleast_1d(a2)
        n = max(anp.shape(a1)[0], anp.shape(a2)[0])
        return add(anp.pad(a1, (n - anp.shape(a1)[0], 0)), anp.pad(a2, (n - anp.shape(a2)[0], 0)))

    return composition


def _vander(x, N=None, increasing=False):
    powers = onp.arange(anp.shape(x)[0] if N is None else operator.index(N))
    return anp.expand_dims(x, 1) ** (powers if increasing else powers[::-1])


def_composed_name("polyval", _polyval)
def_composed_name("polyder", _polyder)
def_composed_name("polyint", _polyint)
def_composed_name("polyadd", _padded_sum(anp.add))
def_composed_name("polysub", _padded_sum(anp.subtract))
def_composed_name("vander", _vander)

# ----------------------------------------------------------------------------------------------- geometric progressions


def _with_axis(x, rank, axis):
    """Return an array with axes added in front to have ``rank``, and with one more at ``axis``."""
    return anp.expand_dims(anp.reshape(x, (1,) * (rank - anp.ndim(x)) + anp.shape(x)), axis)


def _logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    rank = max(map(anp.ndim, (start, stop, base)))
    share = onp.linspace(0.0, 1.0, num, endpoint).reshape((-1,) + (1,) * rank)
    share = onp.moveaxis(share, 0, axis)
    start, stop, base = (_with_axis(x, rank, axis) for x in (start, stop, base))
    points = base ** (start * (1.0 - share) + stop * share)
    return points if dtype is None else anp._astype(points, dtype)


def _geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    rank = max(map(anp.ndim, (start, stop)))
    share = onp.linspace(0.0, 1.0, num, endpoint).reshape((-1,) + (1,) * rank)
    share = onp.moveaxis(share, 0, axis)
    start, stop = (_with_axis(x, rank, axis) for x in (start, stop))
    points = start * (stop / start) ** share
    return points if dtype is None else anp._astype(points, dtype)


def_composed_name("logspace", _logspace)
def_composed_name("geomspace", _geomspace)
