"""The multivariate normal distribution.

With d = x - mean, the (pseudo-)inverse P of cov and q = P d, the derivatives of logpdf with respect to x, mean and cov
are -q, q and (q q^T - P) / 2. The last one is that of a function of symmetric matrices. They come from differentiating
-(d^T P d + log det(2 pi cov)) / 2 (Petersen and Pedersen 2012, The Matrix Cookbook, sections 2.1, 2.2 and 2.4).
"""

import numpy as _onp
import scipy.stats as _stats

from fastgrad._rules.direct import def_direct as _def_direct
from fastgrad.core import vspace as _vspace
from fastgrad.numpy import linalg as _npla
from fastgrad.numpy import numpy_wrapper as _anp
from fastgrad.numpy.broadcasting import fit as _fit
from fastgrad.scipy.rules.location_scale import primitive_of as _primitive_of
from fastgrad.scipy.wrapping import linalg as _linalg
from fastgrad.tracer import getval as _getval

_PARAMETERS, _DEFAULTS = ("x", "mean", "cov", "allow_singular"), (None, 1, False)

pdf = _primitive_of(_stats.multivariate_normal, "pdf", _PARAMETERS, __name__, _DEFAULTS)
logpdf = _primitive_of(_stats.multivariate_normal, "logpdf", _PARAMETERS, __name__, _DEFAULTS)
entropy = _primitive_of(_stats.multivariate_normal, "entropy", ("mean", "cov"), __name__, (None, 1))

# SciPy takes eigenvalues as zero that are smaller than this multiple of the largest one.
_SINGULAR = 1e6 * float(_onp.finfo(float).eps)


def generalized_outer_product(x):
    """Return the outer product of a vector with itself, or of each row of a matrix.

    Parameters
    ----------
    x : array_like, shape (n,), (m, n) or (..., m, n)
        Vector or rows; arrays of more axes are stacks of matrices, which are multiplied by their transposes.

    Returns
    -------
    array_like, shape (n, n), (m, n, n) or (..., m, m)
        The products.
    """
    if _anp.ndim(x) == 1:
        return _anp.outer(x, x)
    return _anp.matmul(x, _anp.swapaxes(x, -1, -2)) if _anp.ndim(x) > 2 else x[:, :, None] * x[:, None, :]


def covgrad(x, mean, cov, allow_singular=False):
    """Return the derivative of logpdf with respect to cov.

    Parameters
    ----------
    x : array_like, shape (n,) or (m, n)
        Points.
    mean : array_like, shape (n,)
    cov : array_like, shape (n, n)
    allow_singular : bool
        Whether cov may be singular.

    Returns
    -------
    array_like, shape (n, n) or (m, n, n)
        The derivative at each point.
    """
    scaled = solve(allow_singular)(cov, (x - mean).T).T
    return 0.5 * (generalized_outer_product(scaled) - _inverse(cov, allow_singular))


def solve(allow_singular):
    """Return a function that solves a linear system.

    Parameters
    ----------
    allow_singular : bool
        Whether the matrix may be singular; its pseudo-inverse is then used.

    Returns
    -------
    callable
        ``solver(A, x)`` for a matrix of shape (n, n) and a right-hand side of shape (n,) or (n, m).
    """
    if allow_singular:
        return lambda A, x: _anp.dot(_npla.pinv(A), x)
    return _npla.solve


def _inverse(matrix, allow_singular):
    return _npla.pinv(matrix, _SINGULAR) if allow_singular else _linalg.inv(matrix)


def _dimension(mean, cov):
    if mean is not None:
        return _onp.size(_getval(mean))
    shape = cov.shape if isinstance(cov, _stats.Covariance) else _anp.shape(cov)
    return shape[-1] if len(shape) > 1 or isinstance(cov, _stats.Covariance) else 1


def _matrix(cov, dim):
    """Return cov, which may be a number, a diagonal or a Covariance, as a matrix."""
    if isinstance(cov, _stats.Covariance):
        return cov.covariance
    cov = _anp.multiply(1.0, 1.0 if cov is None else cov)
    if dim == 1:
        return _anp.reshape(cov, (1, 1))
    if _anp.ndim(cov) == 0:
        return cov * _onp.eye(dim)
    return _anp.diag(cov) if _anp.ndim(cov) == 1 else cov


def _scaled(x, mean, cov, allow_singular):
    """Return q, with the vector of each point on the last axis, and P."""
    dim = _dimension(mean, cov)
    if _anp.ndim(x) < 2:
        x = _anp.reshape(x, (-1, 1) if dim == 1 else (1, -1))
    distance = _anp.multiply(1.0, x) if mean is None else x - _anp.reshape(mean, (dim,))
    precision = _inverse(_matrix(cov, dim), allow_singular)
    return _anp.matmul(distance, precision), precision


def _on_points(g, q):
    """Return the cotangent of the answer, whose axes of length 1 SciPy drops, in the points' shape with a last axis."""
    return _anp.reshape(g, (*_anp.shape(q)[:-1], 1))


def _x_vjp(g, _ans, x, mean=None, cov=1, allow_singular=False):
    q, _ = _scaled(x, mean, cov, allow_singular)
    cotangent = -_on_points(g, q) * q
    space = _vspace(_getval(x))
    return _anp.reshape(cotangent, space.shape) if space.size == q.size else _fit(cotangent, space)


def _mean_vjp(g, _ans, x, mean=None, cov=1, allow_singular=False):
    q, _ = _scaled(x, mean, cov, allow_singular)
    summed = _anp.sum(_on_points(g, q) * q, axis=tuple(range(q.ndim - 1)))
    space = _vspace(_getval(mean))
    return _fit(_anp.reshape(summed, space.shape), space)


def _of_matrix(cotangent, cov):
    """Return the cotangent of cov as it was given, for that of the covariance matrix."""
    space = _vspace(_getval(cov))
    if space.size == cotangent.size:
        cotangent = _anp.reshape(cotangent, space.shape)
    elif len(space.shape) == 1:
        cotangent = _anp.diagonal(cotangent)
    else:
        cotangent = _anp.reshape(_anp.trace(cotangent), space.shape)
    return _fit(cotangent, space)


def _cov_vjp(g, _ans, x, mean=None, cov=1, allow_singular=False):
    q, precision = _scaled(x, mean, cov, allow_singular)
    rows = _anp.reshape(q, (-1, q.shape[-1]))
    weights = _anp.reshape(_on_points(g, q), (-1, 1))
    return _of_matrix(0.5 * (_anp.dot((weights * rows).T, rows) - _anp.sum(weights) * precision), cov)


def _x_jvp(g, ans, x, mean=None, cov=1, allow_singular=False):
    q, _ = _scaled(x, mean, cov, allow_singular)
    rows = _anp.reshape(g, (-1, 1) if q.shape[-1] == 1 else (1, -1)) if _anp.ndim(g) < 2 else g
    return _anp.reshape(-_anp.sum(q * rows, axis=-1), _anp.shape(ans))


def _mean_jvp(g, ans, x, mean=None, cov=1, allow_singular=False):
    q, _ = _scaled(x, mean, cov, allow_singular)
    return _anp.reshape(_anp.sum(q * _anp.reshape(g, (-1,)), axis=-1), _anp.shape(ans))


def _cov_jvp(g, ans, x, mean=None, cov=1, allow_singular=False):
    q, precision = _scaled(x, mean, cov, allow_singular)
    change = _matrix(g, precision.shape[0])
    stretch = _anp.sum(_anp.matmul(q, change) * q, axis=-1)
    return _anp.reshape(0.5 * (stretch - _anp.sum(precision * change)), _anp.shape(ans))


def _entropy_cov_vjp(g, _ans, mean=None, cov=1):
    precision = _inverse(_matrix(cov, _dimension(mean, cov)), True)
    return _of_matrix(0.5 * g * precision, cov)


def _entropy_cov_jvp(g, _ans, mean=None, cov=1):
    precision = _inverse(_matrix(cov, _dimension(mean, cov)), True)
    return 0.5 * _anp.sum(precision * _matrix(g, precision.shape[0]))


def _times_density(log_rule):
    """Return the VJP of the density, made from that of its logarithm."""
    return lambda g, ans, *args, **kwargs: log_rule(g * ans, ans, *args, **kwargs)


_VJPS, _JVPS = (_x_vjp, _mean_vjp, _cov_vjp), (_x_jvp, _mean_jvp, _cov_jvp)


def _density_jvp(log_rule):
    """Return the JVP of the density, made from that of its logarithm."""
    return lambda g, ans, *args, **kwargs: ans * log_rule(g, ans, *args, **kwargs)


_def_direct(logpdf, vjps=_VJPS, jvps=_JVPS)
_def_direct(pdf, vjps=[_times_density(rule) for rule in _VJPS], jvps=[_density_jvp(rule) for rule in _JVPS])
_def_direct(entropy, vjps=(None, _entropy_cov_vjp), jvps=(None, _entropy_cov_jvp))
