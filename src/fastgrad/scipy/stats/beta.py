"""The beta distribution."""

import scipy.stats as _stats

from fastgrad.numpy import numpy_wrapper as _anp
from fastgrad.scipy.rules.location_scale import Family as _Family
from fastgrad.scipy.wrapping import special as _special

beta = _special.beta
psi = _special.psi


def grad_beta_logpdf_arg0(x, a, b):
    """Give the derivative of logpdf with respect to x."""
    return (a - 1) / x - (b - 1) / (1 - x)


def grad_beta_logpdf_arg1(x, a, b):
    """Give the derivative of logpdf with respect to a."""
    return _anp.log(x) - psi(a) + psi(a + b)


def grad_beta_logpdf_arg2(x, a, b):
    """Give the derivative of logpdf with respect to b."""
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
