"""Derivatives of distribution functions with respect to shapes, which have no closed form.

With the score s = d(log f)/da of a density f, the derivative of its distribution function F is the partial mean of s:

    dF/da (y) = integral of s f up to y = integral over p from 0 to F(y) of s(F^-1(p)).

In the second form the integrand is well scaled for any shape, and has but the mild singularity of a logarithm at 0: the
double exponential rule (Takahasi and Mori 1974) takes it to machine precision. The tail of less probability is
integrated; all these means are 0 over the whole line. The derivative of the partial mean of h is h f with respect to y,
and the partial mean of h s + dh/da with respect to a: so every order is at hand.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastgrad._rules.direct import def_direct
from fastgrad.differential_operators import make_jvp
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.tracer import primitive

_STEPS = np.arange(-3.3, 3.35, 0.1)
# The abscissae of the double exponential rule on (0, 1), and the weights: their derivative times the step.
_PROBABILITIES = 1 / (1 + np.exp(-math.pi * np.sinh(_STEPS)))
_WEIGHTS = 0.1 * math.pi * np.cosh(_STEPS) * _PROBABILITIES / (1 + np.exp(math.pi * np.sinh(_STEPS)))


@dataclass
class Law:
    """A standard distribution.

    Parameters
    ----------
    cdf, sf, ppf, isf : callable
        Of y (or a probability) and the shapes; never traced.
    density : callable
        Of y and the shapes, made of primitives.
    scores : sequence of callable
        For each shape the derivative of the logarithm of the density, made of primitives.
    support : tuple of float
    upper_is_exact : callable
        Of the shapes: whether y is told from the upper end of the support where it matters.
    """

    cdf: Any
    sf: Any
    ppf: Any
    isf: Any
    density: Any
    scores: Any
    support: tuple = (-math.inf, math.inf)
    upper_is_exact: Any = None

    def open_support(self):
        """Give the ends of the support, 0 and 1 moved in by a float."""
        low, high = self.support
        return np.finfo(float).tiny if low == 0 else low, np.nextafter(high, 0)


@primitive
def partial_mean(h, law, y, *shapes):
    """Integrate ``h(t, *shapes)`` times the density of a law up to y, for an h of mean 0.

    Parameters
    ----------
    h : callable
        Elementwise, made of primitives.
    law : Law
    y : array_like
    *shapes : array_like
        They broadcast against each other and y.
    """
    lower, upper = law.cdf(y, *shapes), law.sf(y, *shapes)
    from_below = np.asarray(lower <= upper)
    if law.upper_is_exact is not None:
        from_below = from_below | ~np.asarray(law.upper_is_exact(*shapes))
    mass = np.where(from_below, lower, upper)[..., None]
    shapes = [np.asarray(shape)[..., None] for shape in shapes]
    p = mass * _PROBABILITIES
    points = np.where(from_below[..., None], law.ppf(p, *shapes), law.isf(p, *shapes))
    # SciPy's inverse gives nan for some of the smallest probabilities, whose weight is below rounding.
    points = np.where(np.isnan(points), points[..., -1:], points)
    values = h(np.clip(points, *law.open_support()), *shapes)
    return np.where(from_below, 1.0, -1.0) * np.sum(values * (mass * _WEIGHTS), axis=-1)


def _next(h, law, k):
    """Give h s + dh/da for the k-th shape a."""

    def integrand(t, *shapes):
        push = make_jvp(lambda shape: h(t, *shapes[:k], shape, *shapes[k + 1 :]))(shapes[k])
        value, change = push(anp.ones_like(shapes[k]))
        return value * law.scores[k](t, *shapes) + change

    return integrand


def _y_rule(g, _ans, h, law, y, *shapes):
    return g * h(y, *shapes) * law.density(y, *shapes)


def _shape_rule(k):
    return lambda g, _ans, h, law, y, *shapes: g * partial_mean(_next(h, law, k), law, y, *shapes)


_RULES = (None, None, _y_rule, _shape_rule(0), _shape_rule(1))
def_direct(partial_mean, vjps=_RULES, jvps=_RULES, broadcasts=True)
