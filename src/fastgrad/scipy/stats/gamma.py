"""The gamma distribution.

The derivatives come from differentiating log f = (a - 1) log x - x - log Gamma(a).
"""

import scipy.stats as _stats

from fastgrad.numpy import numpy_wrapper as _anp
from fastgrad.scipy.rules.location_scale import Family as _Family
from fastgrad.scipy.wrapping import special as _special

gamma = _special.gamma
psi = _special.psi


def grad_gamma_logpdf_arg0(x, a):
    """Return the derivative of the standard logpdf with respect to x.

    Parameters
    ----------
    x : array_like
        Points inside the support; real.
    a : array_like
        The shape parameter.

    Returns
    -------
    array_like
        The derivative, of the common shape of the arguments.
    """
    return (a - 1) / x - 1


def grad_gamma_logpdf_arg1(x, a):
    """Return the derivative of the standard logpdf with respect to a.

    Parameters
    ----------
    x : array_like
        Points inside the support; real.
    a : array_like
        The shape parameter.

    Returns
    -------
    array_like
        The derivative, of the common shape of the arguments.
    """
    return _anp.log(x) - psi(a)


_family = _Family(
    _stats.gamma, __name__, grad_gamma_logpdf_arg0, {"a": grad_gamma_logpdf_arg1}, support=(0.0, float("inf"))
)

pdf, logpdf = _family.densities()
cdf, logcdf, sf, logsf = _family.distribution_functions("cdf", "logcdf", "sf", "logsf")

__all__ = [
    "cdf",
    "gamma",
    "grad_gamma_logpdf_arg0",
    "grad_gamma_logpdf_arg1",
    "logcdf",
    "logpdf",
    "logsf",
    "pdf",
    "psi",
    "sf",
]
