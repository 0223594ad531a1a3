"""The Dirichlet distribution.

The derivatives come from differentiating log f = sum (alpha_i - 1) log x_i - sum log Gamma(alpha_i)
+ log Gamma(sum alpha_i).
"""

import numpy as _onp
import scipy.stats as _stats

from fastgrad._rules.direct import def_direct as _def_direct
from fastgrad.core import vspace as _vspace
from fastgrad.numpy import numpy_wrapper as _anp
from fastgrad.numpy.broadcasting import fit as _fit
from fastgrad.scipy.rules.location_scale import primitive_of as _primitive_of
from fastgrad.scipy.wrapping import special as _special
from fastgrad.tracer import getval as _getval

digamma = _special.digamma

rvs = _primitive_of(_stats.dirichlet, "rvs", ("alpha", "size", "random_state"), __name__, (1, None))
pdf = _primitive_of(_stats.dirichlet, "pdf", ("x", "alpha"), __name__)
logpdf = _primitive_of(_stats.dirichlet, "logpdf", ("x", "alpha"), __name__)


def _columns(x, alpha):
    """Return x with all its components along the first axis, and alpha in a shape that broadcasts with it."""
    x = x if hasattr(x, "ndim") else _onp.asarray(x)
    alpha = _anp.reshape(alpha, (-1,) + (1,) * (x.ndim - 1))
    if len(x) < len(alpha):
        x = _anp.concatenate([x, 1 - _anp.sum(x, axis=0, keepdims=True)])
    return x, alpha


def _x_partial(x, alpha):
    """Return the derivative with respect to x, (alpha - 1) / x.

    If x has no last component, that is one minus the sum of the others.
    """
    n = len(_getval(x))
    full, alpha = _columns(x, alpha)
    zero_by_zero = (_getval(alpha) == 1) & (_getval(full) == 0)
    ratio = (alpha - 1) / (_anp.where(zero_by_zero, 1, full) if _onp.any(zero_by_zero) else full)
    return ratio if n == len(ratio) else ratio[:-1] - ratio[-1:]


def _alpha_partial(x, alpha):
    """Return the derivative with respect to alpha, log(x) - psi(alpha) + psi(sum(alpha))."""
    full, alpha = _columns(x, alpha)
    return _anp.log(full) - digamma(alpha) + digamma(_anp.sum(alpha))


def _log_x_vjp(g, _ans, x, alpha):
    return _fit(g * _x_partial(x, alpha), _vspace(_getval(x)))


def _log_alpha_vjp(g, _ans, x, alpha):
    cotangent = g * _alpha_partial(x, alpha)
    return _fit(_anp.sum(cotangent, axis=tuple(range(1, cotangent.ndim))), _vspace(_getval(alpha)))


def _log_x_jvp(g, _ans, x, alpha):
    return _anp.sum(g * _x_partial(x, alpha), axis=0)


def _log_alpha_jvp(g, _ans, x, alpha):
    partial = _alpha_partial(x, alpha)
    return _anp.sum(_anp.reshape(g, (-1,) + (1,) * (partial.ndim - 1)) * partial, axis=0)


_def_direct(logpdf, vjps=(_log_x_vjp, _log_alpha_vjp), jvps=(_log_x_jvp, _log_alpha_jvp))
_def_direct(
    pdf,
    vjps=(
        lambda g, ans, x, alpha: _log_x_vjp(g * ans, ans, x, alpha),
        lambda g, ans, x, alpha: _log_alpha_vjp(g * ans, ans, x, alpha),
    ),
    jvps=(
        lambda g, ans, x, alpha: ans * _log_x_jvp(g, ans, x, alpha),
        lambda g, ans, x, alpha: ans * _log_alpha_jvp(g, ans, x, alpha),
    ),
)
