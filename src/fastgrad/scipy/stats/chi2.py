"""The chi-squared distribution, whose degrees of freedom may be any positive number.

The derivatives come from differentiating log f = (df / 2 - 1) log x - x / 2 - (df / 2) log 2 - log Gamma(df / 2).
"""

import scipy.stats as _stats

from fastgrad.numpy import numpy_wrapper as _anp
from fastgrad.scipy.rules.location_scale import Family as _Family
from fastgrad.scipy.wrapping import special as _special

gamma = _special.gamma
psi = _special.psi


def grad_chi2_logpdf(x, df):
    """Return the derivative of the standard logpdf with respect to x.

    Parameters
    ----------
    x : array_like
        Points inside the support; real.
    df : array_like
        The degrees of freedom.

    Returns
    -------
    array_like
        The derivative, of the common shape of the arguments.
    """
    return (df / 2 - 1) / x - 0.5


def _df_partial(x, df):
    return 0.5 * (_anp.log(x / 2) - psi(df / 2))


_family = _Family(_stats.chi2, __name__, grad_chi2_logpdf, {"df": _df_partial}, support=(0.0, float("inf")))

pdf, logpdf = _family.densities()
cdf, logcdf, sf, logsf = _family.distribution_functions("cdf", "logcdf", "sf", "logsf")

__all__ = ["cdf", "gamma", "grad_chi2_logpdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]
