"""Fits to censored data; a proportional hazards regression."""

import numpy as onp
import surpyval as surv

RNG = onp.random.default_rng(0)
TIMES = 10 * RNG.weibull(2.0, 100)
CENSORED = (TIMES > 12).astype(int)
TIMES = onp.minimum(TIMES, 12)
COVARIATES = RNG.normal(size=(100, 2))


def job():
    results = {}
    for name in ("Weibull", "Gamma", "LogNormal", "LogLogistic", "ExpoWeibull"):
        results[name] = getattr(surv, name).fit(x=TIMES, c=CENSORED).params
    results["regression"] = surv.WeibullPH.fit(x=TIMES, Z=COVARIATES, c=CENSORED).params
    return results
