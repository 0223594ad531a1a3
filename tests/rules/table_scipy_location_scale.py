"""Samples of the distributions with location and scale."""

from __future__ import annotations

import numpy as onp
from samples import ERRS, NO_RULE, Row, Sample, arr, const, sample
from scipy_samples import POSITIVE, REAL, parameters, scipy_row

LOC, SCALE = {"lo": -0.3, "hi": 0.0}, {"lo": 1.0, "hi": 2.0}
SHAPE_PARAMETER = {"lo": 1.6, "hi": 3.4}
X = {"norm": REAL, "t": REAL, "gamma": POSITIVE, "chi2": POSITIVE, "beta": {"lo": 0.1, "hi": 0.6}}
N_SHAPES = {"norm": 0, "t": 1, "gamma": 1, "chi2": 1, "beta": 2}
# The functions that autograd has of each distribution.
NORMAL_FUNCTIONS = ("cdf", "sf", "logcdf", "logsf")
THEIRS = {"norm": NORMAL_FUNCTIONS, "t": ("cdf", "logcdf"), "gamma": ("cdf",), "chi2": ("cdf",), "beta": ("cdf",)}


def blamed(samples: list[Sample], wanted: bool) -> list[Sample]:
    """Return the samples, marked as errors of autograd if `wanted`."""
    return [s.but(oracle=ERRS) for s in samples] if wanted else samples


def family(name: str) -> list[Row]:
    n = N_SHAPES[name]
    x, shapes, constants = X[name], [SHAPE_PARAMETER] * n, [const(1.7)] * n
    no_scale = name in ("gamma", "chi2", "beta")
    standard = [
        *[sample(arr(*s, **x), *[arr(*s, **o) for o in shapes]) for s in ((3,), (2, 2), ())],
        *parameters(x, *shapes)[1:3],
    ]
    moved = [
        *parameters(x, *shapes, LOC, SCALE)[:1],
        sample(arr(2, 1, **x), *[arr(3, **o) for o in shapes], arr(1, **LOC), arr(2, 3, **SCALE)),
        sample(0.5, *[2.5] * n, -0.1, 1.5),
        sample(arr(3, **x), *constants, scale=2.0),
        sample(arr(3, **x), *constants, loc=-0.2, scale=onp.array([1.0, 2.0, 1.5])),
    ]
    cumulative = [
        sample(arr(3, **x), *constants).but(dtypes="df"),
        *blamed([sample(arr(2, 1, **x), *constants, arr(3, **LOC), arr(1, 3, **SCALE))], name != "norm"),
        *(blamed(parameters(x, *shapes, LOC, SCALE), True) if n else []),
        *blamed([sample(arr(**x), *constants, loc=-0.2, scale=1.5)], no_scale),
    ]
    standard[0], moved[0] = standard[0].but(dtypes="df"), moved[0].but(dtypes="df")
    density = blamed(standard, name == "chi2") + blamed(moved, no_scale)
    rows = [scipy_row(f"stats.{name}", fun, density) for fun in ("pdf", "logpdf")]
    for fun in NORMAL_FUNCTIONS:
        rows.append(scipy_row(f"stats.{name}", fun, cumulative, oracle=fun in THEIRS[name] or NO_RULE))
    return rows


ROWS = [row for name in X for row in family(name)]
