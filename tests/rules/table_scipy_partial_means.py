"""Samples of distribution functions differentiated with respect to their shapes."""

from __future__ import annotations

import scipy.special
from samples import ERRS, NO_RULE
from scipy_samples import POSITIVE, UNIT, parameters, scipy_row, two

# autograd has no derivatives with respect to the shapes.
GAMMA = [s.but(oracle=ERRS) for s in two(POSITIVE, POSITIVE)[:-1]]
GAMMA_INVERSE = two(POSITIVE, UNIT)
BETA = [s.but(oracle=ERRS) for s in parameters(POSITIVE, POSITIVE, UNIT)]
FUNCTIONS = [
    ("gammainc", GAMMA, True),
    ("gammaincc", GAMMA, True),
    ("gammaincinv", GAMMA_INVERSE, NO_RULE),
    ("gammainccinv", GAMMA_INVERSE, NO_RULE),
    ("betainc", BETA, True),
    ("betaincinv", BETA, NO_RULE),
    ("betaincc", BETA, NO_RULE),
]

ROWS = [
    scipy_row("special", name, samples, " by shapes", oracle=oracle)
    for name, samples, oracle in FUNCTIONS
    if hasattr(scipy.special, name)  # betaincc from SciPy 1.12 on
]
