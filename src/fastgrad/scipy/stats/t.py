"""Student's t distribution.

The derivatives come from differentiating, with y = (x - loc) / scale, the logarithm of the density,
log Gamma((df + 1) / 2) - log Gamma(df / 2) - log(pi df) / 2 - (df + 1) / 2 log(1 + y^2 / df) - log(scale).
"""

import scipy.stats as _stats

from fastgrad.numpy import numpy_wrapper as _anp
from fastgrad.scipy.rules.location_scale import Family as _Family
from fastgrad.scipy.wrapping import special as _special

psi = _special.psi


def _slope(y, df):
    return -(1 + 1 / df) * y / (1 + y * y / df)


def _df_partial(y, df):
    square = y * y / df
    halves = psi((df + 1) / 2) - psi(df / 2)
    return 0.5 * (halves - 1 / df - _anp.log1p(square) + (1 + 1 / df) * square / (1 + square))


_family = _Family(_stats.t, __name__, _slope, {"df": _df_partial})

pdf, logpdf = _family.densities()
cdf, logcdf, sf, logsf = _family.distribution_functions("cdf", "logcdf", "sf", "logsf")


def grad_tlogpdf_diff(diff, df):
    """Return the derivative of the standard logpdf with respect to x.

    Parameters
    ----------
    diff : array_like
        The points; real.
    df : array_like
        The degrees of freedom.

    Returns
    -------
    array_like
        The derivative, of the common shape of the arguments.
    """
    return _slope(diff, df)


def grad_tlogpdf_x(x, df, loc, scale):
    """Return the derivative of logpdf with respect to x.

    Parameters
    ----------
    x : array_like
        Points; real.
    df : array_like
        The degrees of freedom.
    loc, scale : array_like
        Location and scale.

    Returns
    -------
    array_like
        The derivative, of the common shape of the arguments.
    """
    return _slope((x - loc) / scale, df) / scale


def grad_tlogpdf_loc(x, df, loc, scale):
    """Return the derivative of logpdf with respect to loc.

    Parameters
    ----------
    x : array_like
        Points; real.
    df : array_like
        The degrees of freedom.
    loc, scale : array_like
        Location and scale.

    Returns
    -------
    array_like
        The derivative, of the common shape of the arguments.
    """
    return -grad_tlogpdf_x(x, df, loc, scale)


def grad_tlogpdf_scale(x, df, loc, scale):
    """Return the derivative of logpdf with respect to scale.

    Parameters
    ----------
    x : array_like
        Points; real.
    df : array_like
        The degrees of freedom.
    loc, scale : array_like
        Location and scale.

    Returns
    -------
    array_like
        The derivative, of the common shape of the arguments.
    """
    y = (x - loc) / scale
    return -(1 + y * _slope(y, df)) / scale


def grad_tlogpdf_df(x, df, loc, scale):
    """Return the derivative of logpdf with respect to df.

    Parameters
    ----------
    x : array_like
        Points; real.
    df : array_like
        The degrees of freedom.
    loc, scale : array_like
        Location and scale.

    Returns
    -------
    array_like
        The derivative, of the common shape of the arguments.
    """
    return _df_partial((x - loc) / scale, df)
