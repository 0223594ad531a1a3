"""The Poisson distribution, differentiable with respect to mu; k and loc are counts.

The derivative of logpmf comes from differentiating k log(mu) - mu - log(k!).
"""

import numpy as _onp
import scipy.stats as _stats

from fastgrad._rules.direct import def_direct as _def_direct
from fastgrad._rules.direct import no_rule as _no_rule
from fastgrad.numpy import numpy_wrapper as _anp
from fastgrad.scipy.rules.location_scale import primitive_of as _primitive_of
from fastgrad.tracer import getval as _getval

_PARAMETERS = ("k", "mu", "loc")


def grad_poisson_logpmf(k, mu):
    """Return the derivative of logpmf with respect to mu, k / mu - 1.

    Parameters
    ----------
    k : array_like
        Counts.
    mu : array_like
        The mean; where k = 0 it may be 0.

    Returns
    -------
    array_like
        The derivative, of the common shape of the arguments.
    """
    both_zero = _onp.logical_and(_getval(k) == 0, _getval(mu) == 0)
    return k / (_anp.where(both_zero, 1, mu) if _onp.any(both_zero) else mu) - 1


def _make(method, mu_rule):
    fun = _primitive_of(_stats.poisson, method, _PARAMETERS, __name__, (0,))
    rules = (_no_rule(f"poisson.{method}", "k"), mu_rule, _no_rule(f"poisson.{method}", "loc"))
    _def_direct(fun, vjps=rules, jvps=rules, broadcasts=True)
    return fun


pmf = _make("pmf", lambda g, ans, k, mu, loc=0: g * ans * grad_poisson_logpmf(k - loc, mu))
logpmf = _make("logpmf", lambda g, _ans, k, mu, loc=0: g * grad_poisson_logpmf(k - loc, mu))
# The derivatives of the terms of the sum up to k are pmf(i - 1) - pmf(i), which telescope to -pmf(k).
cdf = _make("cdf", lambda g, _ans, k, mu, loc=0: -g * pmf(_anp.floor(k), mu, loc))
sf = _make("sf", lambda g, _ans, k, mu, loc=0: g * pmf(_anp.floor(k), mu, loc))
