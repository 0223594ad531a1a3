"""Samples of `odeint`."""

from __future__ import annotations

import numpy as onp
from samples import ERRS, arr, sample, val
from scipy_samples import scipy_row


def decay(y: object, t: object) -> object:
    return -y * y + t


def driven(y: object, t: object, a: object, b: object) -> object:
    return b * t - a * y * y


def time_first(t: object, y: object) -> object:
    return decay(y, t)


START, TIMES = arr(3, lo=0.4, hi=1.0), val((0.1, 0.3, 0.7))
TIGHT = {"rtol": 1e-10, "atol": 1e-10}
# An ODE is solved up to a tolerance; test_scipy_integrate.py checks the second order.
ODEINT = [
    sample(decay, START, TIMES, (), **TIGHT),
    sample(decay, START, TIMES, **TIGHT).but(oracle=ERRS),
    sample(decay, START, val((0.7, 0.5, 0.1)), **TIGHT).but(oracle=ERRS),
    sample(decay, 0.5, onp.array([0.0, 0.5]), **TIGHT).but(oracle=ERRS),
    sample(time_first, START, TIMES, tfirst=True, **TIGHT).but(oracle=ERRS),
    sample(driven, START, TIMES, (arr(3), arr()), **TIGHT).but(oracle=ERRS),
    sample(driven, onp.ones(3), onp.array([0.1, 0.2]), (arr(3), 0.5), rtol=1e-10, atol=onp.full(3, 1e-10)).but(
        oracle=ERRS
    ),
    sample(decay, START, val((0.3,)), **TIGHT).but(oracle=ERRS),
]
ROWS = [scipy_row("integrate", "odeint", [s.but(coarse=True) for s in ODEINT])]
