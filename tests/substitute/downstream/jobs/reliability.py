"""Fits of seven distributions to censored data."""

import matplotlib

matplotlib.use("agg")

import numpy as onp  # noqa: E402
from reliability.Fitters import (  # noqa: E402
    Fit_Gamma_2P,
    Fit_Gumbel_2P,
    Fit_Loglogistic_2P,
    Fit_Lognormal_2P,
    Fit_Normal_2P,
    Fit_Weibull_2P,
    Fit_Weibull_3P,
)

RNG = onp.random.default_rng(0)
TIMES = 10 * RNG.weibull(2.0, 100)
FAILURES, CENSORED = TIMES[TIMES < 12], onp.full((TIMES >= 12).sum(), 12.0)
FITTERS = (
    Fit_Weibull_2P,
    Fit_Gamma_2P,
    Fit_Lognormal_2P,
    Fit_Loglogistic_2P,
    Fit_Normal_2P,
    Fit_Gumbel_2P,
    Fit_Weibull_3P,
)


def job():
    results = {}
    for fitter in FITTERS:
        fit = fitter(FAILURES, CENSORED, show_probability_plot=False, print_results=False)
        table = fit.results[["Point Estimate", "Standard Error"]]
        results[fitter.__name__] = [table.values.astype(float), fit.loglik]
    return results
