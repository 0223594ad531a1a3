"""Cumulative sums and products, also those that skip nan or begin with an initial value.

The transpose of a cumulative sum is a cumulative sum from the end. The derivatives of cumulative products divide by the
factors where none is near zero, and otherwise solve a recurrence; both follow by differentiating the definition.
"""

import numpy as onp

from fastgrad._rules.direct import def_direct, refuse_keywords
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.batching import batch_axis, first_argument, flatten_rows
from fastgrad.numpy.broadcasting import dtype_of, like
from fastgrad.numpy.composing import def_composed_name
from fastgrad.numpy.rules.reductions import is_regular
from fastgrad.tracer import getval

# ------------------------------------------------------------------------------------------------------ cumulative sums


def _reversed_cumsum(g, axis):
    return anp.flip(anp.cumsum(anp.flip(g, axis), axis=axis), axis)


def _cumsum_vjp(g, _ans, vs_a, axis=None, dtype=None, out=None):
    refuse_keywords("cumsum", out=out)
    line = 0 if axis is None or not vs_a.shape else axis
    return like(anp.reshape(_reversed_cumsum(g, line), vs_a.shape), vs_a)


def _cumsum_jvp(g, _ans, _a, axis=None, dtype=None, out=None):
    refuse_keywords("cumsum", out=out)
    return anp.cumsum(g, axis=axis, dtype=dtype)


def _cumsum_batch(x, axis=None, *args, **kwargs):
    if axis is None or anp.ndim(x) == 1:
        x, axis = flatten_rows(x), 0
    return anp.cumsum(x, batch_axis(axis), *args, **kwargs)


def_direct(anp.cumsum, vjps=(_cumsum_vjp,), jvps=(_cumsum_jvp,), batch=first_argument(_cumsum_batch))

# -------------------------------------------------------------------------------------------------- cumulative products


def _line(x, shape, axis):
    """Return an array as an accumulation reads it, flat if there is no axis, and the axis."""
    if axis is None or not shape:
        return anp.reshape(x, (-1,)), 0
    return x, axis


def _delayed(x, steps, fill):
    """Return an array moved along its last axis by some steps, with ``fill`` at the front."""
    n = anp.shape(x)[-1]
    front = onp.full((*anp.shape(x)[:-1], min(steps, n)), fill, dtype_of(x))
    return anp.concatenate([front, x[..., : max(n - steps, 0)]], -1)


def _recur(a, b):
    """Return the solution of ``s[k] = a[k] * s[k - 1] + b[k]``, ``s[-1] = 0``, along the last axis.

    By the scan of Hillis and Steele (1986), "Data parallel algorithms".
    """
    steps, n = 1, anp.shape(b)[-1]
    while steps < n:
        b = b + a * _delayed(b, steps, 0)
        a = a * _delayed(a, steps, 0)
        steps *= 2
    return b


def _cumprod_vjp(g, ans, a, axis=None, dtype=None, out=None):
    refuse_keywords("cumprod", out=out)
    shape = anp.shape(a)
    x, line = _line(a, shape, axis)
    if is_regular(ans):
        result = _reversed_cumsum(g * ans, line) / x
    else:
        x, y, g = anp.swapaxes(x, line, -1), anp.swapaxes(ans, line, -1), anp.swapaxes(g, line, -1)
        # The total derivative with respect to the k-th product is s[k] = g[k] + x[k + 1] * s[k + 1].
        sums = _recur(_delayed(x[..., ::-1], 1, 0), g[..., ::-1])[..., ::-1]
        result = anp.swapaxes(sums * _delayed(y, 1, 1), line, -1)
    return like(anp.reshape(result, shape), a)


def _cumprod_jvp(g, ans, a, axis=None, dtype=None, out=None):
    refuse_keywords("cumprod", out=out)
    shape = anp.shape(a)
    x, line = _line(a, shape, axis)
    v, _ = _line(g, shape, axis)
    if is_regular(ans):
        return like(ans * anp.cumsum(v / x, axis=line), ans)
    x, y, v = anp.swapaxes(x, line, -1), anp.swapaxes(ans, line, -1), anp.swapaxes(v, line, -1)
    return like(anp.swapaxes(_recur(x, v * _delayed(y, 1, 1)), line, -1), ans)


def_direct(anp.cumprod, vjps=(_cumprod_vjp,), jvps=(_cumprod_jvp,))

# --------------------------------------------------------------------------------------------------------- compositions


def _nancumsum(a, axis=None, dtype=None, _out=None):
    return anp.cumsum(anp.where(onp.isnan(getval(a)), 0, a), axis, dtype)


def _nancumprod(a, axis=None, dtype=None, _out=None):
    return anp.cumprod(anp.where(onp.isnan(getval(a)), 1, a), axis, dtype)


def _with_initial(accumulate, initial):
    """Return the composition of a cumulative function of the array API, which may include the initial value."""

    def composition(x, axis=None, dtype=None, _out=None, include_initial=False):
        x = anp.atleast_1d(x)
        axis = 0 if axis is None else axis
        total = accumulate(x, axis, dtype)
        if not include_initial:
            return total
        shape = list(anp.shape(total))
        shape[axis] = 1
        return anp.concatenate([onp.full(shape, initial, dtype_of(total)), total], axis)

    return composition


def_composed_name("nancumsum", _nancumsum)
def_composed_name("nancumprod", _nancumprod)
def_composed_name("cumulative_sum", _with_initial(anp.cumsum, 0))
def_composed_name("cumulative_prod", _with_initial(anp.cumprod, 1))
