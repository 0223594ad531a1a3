"""Student's t distribution."""

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
    """Give the derivative of the standard logpdf with respect to x."""
    return _slope(diff, df)


def grad_tlogpdf_x(x, df, loc, scale):
    """Give the derivative of logpdf with respect to x."""
    return _slope((x - loc) / scale, df) / scale


def grad_tlogpdf_loc(x, df, loc, scale):
    """Give the derivative of logpdf with respect to loc."""
    return -grad_tlogpdf_x(x, df, loc, scale)


def grad_tlogpdf_scale(x, df, loc, scale):
    """Give the derivative of logpdf with respect to scale."""
    y = (x - loc) / scale
    return -(1 + y * _slope(y, df)) / scale


def grad_tlogpdf_df(x, df, loc, scale):
    """Give the derivative of logpdf with respect to df."""
    return _df_partial((x - loc) / scale, df)
