"""Statistics: covariance and correlation, quantiles, and weighted counts.

All but bincount are compositions of primitives, from the formulas that NumPy's documentation gives for them. A quantile
is a mixture of two order statistics, whose derivatives are those of sorting.
"""

import numpy as onp

from fastgrad._rules.direct import def_direct
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import as_array, dtype_of, fit_dtype, is_complex, kept_shape, normalize_axes
from fastgrad.numpy.composing import NUMPY_VERSION, def_composed_name

# ---------------------------------------------------------------------------------------------------- covariance matrix


def _variables_in_rows(x, rowvar, dtype):
    """Return the observations of a covariance matrix as a matrix with a row for each variable."""
    is_row = anp.ndim(x) < 2 or (anp.shape(x)[0] == 1 and NUMPY_VERSION < (2, 2))
    x = anp._astype(x, dtype)
    matrix = x if anp.ndim(x) == 2 else anp.reshape(x, (1, -1))
    return matrix if rowvar or is_row else matrix.T


def _weights(fweights, aweights):
    weights = None if fweights is None else onp.asarray(fweights, float)
    if aweights is None:
        return weights
    return aweights if weights is None else weights * aweights


def _cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None):
    if dtype is None:
        dtype = onp.result_type(float, *[dtype_of(x) for x in (m, y) if x is not None])
    x = _variables_in_rows(as_array(m), rowvar, dtype)
    if y is not None:
        x = anp.concatenate([x, _variables_in_rows(as_array(y), rowvar, dtype)], 0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    w, aweights = _weights(fweights, aweights), None if aweights is None else as_array(aweights)
    if w is None:
        total = freedom = anp.shape(x)[1]
    else:
        w = as_array(w)
        total = freedom = anp.sum(w)
    if ddof:
        freedom = total - ddof * (1 if aweights is None else anp.sum(w * aweights) / total)
    deviation = x - anp.sum(x if w is None else x * w, axis=1, keepdims=True) / total
    other = (deviation if w is None else deviation * w).T
    return anp.squeeze(anp.dot(deviation, anp.conj(other) if is_complex(other) else other) / freedom)


def _corrcoef(x, y=None, rowvar=True, bias=None, ddof=None, dtype=None):
    c = _cov(x, y, rowvar, dtype=dtype)
    if anp.ndim(c) == 0:
        return c / c
    deviation = anp.sqrt(anp.real(anp.diag(c)))
    return c / deviation[:, None] / deviation


def_composed_name("cov", _cov, ("fweights",))
def_composed_name("corrcoef", _corrcoef)

# ------------------------------------------------------------------------------------------------------------ quantiles


def _in_front(a, axis):
    """Return an array with the reduced axes joined and put in front."""
    if axis is None:
        return anp.reshape(a, (-1,))
    axes = normalize_axes(axis, anp.ndim(a))
    a = anp.moveaxis(a, axes, range(len(axes)))
    return anp.reshape(a, (-1, *anp.shape(a)[len(axes) :]))


def _quantile_of(a, q, axis, method, keepdims):
    """Return quantiles as mixtures of neighbours among the sorted elements.

    Their positions are what NumPy returns as the quantiles of 0, 1, ..., n - 1, which is right for each of its methods.
    """
    ordered = anp.sort(_in_front(a, axis), axis=0)
    n = anp.shape(ordered)[0]
    position = onp.asarray(onp.quantile(onp.arange(float(n)), q, method=method))
    low = position.astype(int)
    share = (position - low).reshape(position.shape + (1,) * (anp.ndim(ordered) - 1)).astype(dtype_of(a))
    below, above = ordered[low], ordered[onp.minimum(low + 1, n - 1)]
    result = below * (1 - share) + above * share
    return anp.reshape(result, position.shape + kept_shape(anp.shape(a), axis)) if keepdims else result


def _quantile(
    a,
    q,
    axis=None,
    _out=None,
    _overwrite_input=False,
    method="linear",
    keepdims=False,
    _weights=None,
    _interpolation=None,
):
    return _quantile_of(a, q, axis, method, keepdims)


def _percentile(
    a,
    q,
    axis=None,
    _out=None,
    _overwrite_input=False,
    method="linear",
    keepdims=False,
    _weights=None,
    _interpolation=None,
):
    return _quantile_of(a, onp.true_divide(q, 100), axis, method, keepdims)


def _median(a, axis=None, _out=None, _overwrite_input=False, keepdims=False):
    return _quantile_of(a, 0.5, axis, "linear", keepdims)


def_composed_name("quantile", _quantile, ("q",))
def_composed_name("percentile", _percentile, ("q",))
def_composed_name("median", _median)

# --------------------------------------------------------------------------------------------------------------- counts


def _bincount_vjp_weights(g, _ans, x, vs_weights, minlength=0):
    return fit_dtype(g[onp.asarray(x)], vs_weights)


def_direct(anp.bincount, vjps=(None, _bincount_vjp_weights), jvps=(None, "same"))
