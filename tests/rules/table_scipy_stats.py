"""Samples of the other distributions: Poisson, Dirichlet and multivariate normal."""

from __future__ import annotations

import numpy as onp
from samples import ERRS, NO_RULE, arr, const, sample
from scipy_samples import POSITIVE, scipy_row

K = onp.array([0, 1, 4])
POISSON = [
    sample(K, arr(3, **POSITIVE)),
    sample(K[:, None], arr(2, **POSITIVE)),
    sample(2, arr(**POSITIVE)),
    sample(K, arr(2, 3, **POSITIVE), loc=-1).but(oracle=ERRS),
    sample(K + 1, arr(1, **POSITIVE), 1).but(oracle=ERRS),
]
ROWS = [scipy_row("stats.poisson", name, POISSON) for name in ("pmf", "logpmf", "cdf")]
ROWS += [scipy_row("stats.poisson", "sf", POISSON, oracle=NO_RULE)]
SIMPLEX = onp.array([0.2, 0.5, 0.3])
CONSTRAINED = [
    sample(SIMPLEX, arr(3, **POSITIVE)),
    sample(onp.array([[0.2, 0.1], [0.5, 0.2], [0.3, 0.7]]), arr(3, **POSITIVE)).but(oracle=ERRS),
    sample(arr(2, lo=0.1, hi=0.4), arr(3, **POSITIVE)).but(oracle=ERRS),
    sample(arr(2, 4, lo=0.1, hi=0.4), arr(3, **POSITIVE)).but(oracle=ERRS),
]
ROWS += [scipy_row("stats.dirichlet", name, CONSTRAINED) for name in ("pdf", "logpdf")]

# SciPy reads one triangle of a covariance matrix; test_scipy_stats.py checks its derivative in symmetric directions.
COV = onp.array([[1.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 2.0]])
NORMAL = [
    sample(arr(3), arr(3), const(COV)),
    sample(arr(4, 3), arr(3), const(COV)),
    sample(arr(2, 4, 3, layout="T"), arr(3), const(COV)).but(oracle=ERRS),
    sample(arr(1, 3), arr(3), const(COV)),
    sample(arr(4, 3), arr(3), arr(**POSITIVE)).but(oracle=ERRS),
    sample(arr(4, 3), arr(3), arr(3, **POSITIVE)).but(oracle=ERRS),
    sample(arr(4), arr(), arr(**POSITIVE)).but(oracle=ERRS),
    sample(arr(4), arr(1), arr(1, 1, **POSITIVE)).but(oracle=ERRS),
    sample(arr(4, 1), arr(1), 1.5).but(oracle=ERRS),
    sample(0.5, 0.2, 1.5).but(oracle=ERRS),
    sample(arr(4)).but(oracle=ERRS),
    sample(arr(4, 3), cov=COV).but(oracle=ERRS),
    sample(arr(4, 3), onp.zeros(3)).but(oracle=ERRS),
    sample(arr(4, 3), arr(3), const(COV), True),
]
ENTROPY = [
    sample(onp.zeros(3), arr(**POSITIVE)).but(oracle=ERRS),
    sample(onp.zeros(3), arr(3, **POSITIVE)).but(oracle=ERRS),
    sample(None, arr(1, 1, **POSITIVE)),
    sample(arr(3), 1.5).but(oracle=ERRS),
]
ROWS += [scipy_row("stats.multivariate_normal", name, NORMAL) for name in ("pdf", "logpdf")]
ROWS += [scipy_row("stats.multivariate_normal", "entropy", ENTROPY)]
