"""The normal distribution; d(log f)/dx = -x comes from differentiating log f = -x^2 / 2 - log(2 pi) / 2."""

import scipy.stats as _stats

from fastgrad.scipy.rules.location_scale import Family as _Family

_family = _Family(_stats.norm, __name__, slope=lambda y: -y, shapes={})

pdf, logpdf = _family.densities()
cdf, sf, logcdf, logsf = _family.distribution_functions("cdf", "sf", "logcdf", "logsf")
