"""The beta distribution.

The derivatives come from differentiating log f = (a - 1) log x + (b - 1) log(1 - x) - log B(a, b), with
d log B / da = psi(a) - psi(a + b) (DLMF 5.12.1, 5.2.2).
"""

import scipy.stats as _stats

from fastgrad.numpy import numpy_wrapper as _anp
from fastgrad.scipy.rules.location_scale import Family as _Family
from fastgrad.scipy.wrapping import special as _special

beta = _special.beta
psi = _special.psi


def grad_beta_logpdf_arg0(x, a, b):
    """Return the derivative of the standard logpdf with respect to x.

    Parameters
    ----------
    x : array_like
        Points inside the support; real.
    a, b : array_like
        The shape parameters.

    Returns
    -------
    array_like
        The derivative, of the common shape of the arguments.
    """
    return (a - 1) / x - (b - 1) / (1 - x)


def grad_beta_logpdf_arg1(x, a, b):
    """Return the derivative of the standard logpdf with respect to a.

    Parameters
    ----------
    x : array_like
        Points inside the support; real.
    a, b : array_like
        The shape parameters.

    Returns
    -------
    array_like
        The derivative, of the common shape of the arguments.
    """
    return _anp.log(x) - psi(a) + psi(a + b)


def grad_beta_logpdf_arg2(x, a, b):
    """Return the derivative of the standard logpdf with respect to b.

    Parameters
    ----------
    x : array_like
        Points inside the support; real.
    a, b : array_like
        The shape parameters.

    Returns
    -------
    array_like
        The derivative, of the common shape of the arguments.
    """
    return _anp.log1p(-x) - psi(b) + psi(a + b)


_family = _Family(
    _stats.beta,
    __name__,
    grad_beta_logpdf_arg0,
    {"a": grad_beta_logpdf_arg1, "b": grad_beta_logpdf_arg2},
    support=(0.0, 1.0),
    upper_is_exact=lambda _a, b: b >= 1,
)

pdf, logpdf = _family.densities()
cdf, logcdf, sf, logsf = _family.distribution_functions("cdf", "logcdf", "sf", "logsf")

__all__ = [
    "beta",
    "cdf",
    "grad_beta_logpdf_arg0",
    "grad_beta_logpdf_arg1",
    "grad_beta_logpdf_arg2",
    "logcdf",
    "logpdf",
    "logsf",
    "pdf",
    "psi",
    "sf",
]
