"""Derivatives of distribution functions with respect to shapes, which have no closed form.

With the score s = d(log f)/da of a density f, differentiating its distribution function F gives the partial mean of s:

    dF/da (y) = integral of s f up to y = integral over p from 0 to F(y) of s(F^-1(p)).

In the second form the integrand is well scaled for all shapes, and its only singularity is that of a logarithm at 0,
so that the double exponential rule (Takahasi and Mori 1974) is accurate to machine precision. The tail of smaller
probability is integrated, which is possible since these means are 0 over the whole line. Differentiating the partial
mean of h gives h f with respect to y, and the partial mean of h s + dh/da with respect to a, which covers all orders.
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
    """A standard distribution: its functions and scores.

    Parameters
    ----------
    cdf, sf, ppf, isf : callable
        Functions of y (or of a probability) and the shapes, which are called with concrete values only.
    density : callable
        Function of y and the shapes, made of primitives.
    scores : sequence of callable
        For each shape, a function of y and the shapes made of primitives: the derivative of the logarithm of the
        density with respect to the shape.
    support : tuple of float
        The ends of the support.
    upper_is_exact : callable, optional
        Function of the shapes, which returns whether floats resolve y near the upper end of the support well enough for
        integration from above; without it they always do.
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
        """Return the ends of the support, moved inwards by one float if they are 0 and 1."""
        low, high = self.support
        return np.finfo(float).tiny if low == 0 else low, np.nextafter(high, 0)


@primitive
def partial_mean(h, law, y, *shapes):
    """Integrate ``h(t, *shapes)`` times the density of a law from minus infinity to y, for a function h of mean 0.

    Parameters
    ----------
    h : callable
        Elementwise function, made of primitives.
    law : Law
        The distribution.
    y : array_like
        The upper ends of the integrals; real.
    *shapes : array_like
        The shapes of the distribution, which broadcast with y.

    Returns
    -------
    ndarray
        The integrals, of the common shape of y and the shapes.
    """
    lower, upper = law.cdf(y, *shapes), law.sf(y, *shapes)
    from_below = np.asarray(lower <= upper)
    if law.upper_is_exact is not None:
        from_below = from_below | ~np.asarray(law.upper_is_exact(*shapes))
    mass = np.where(from_below, lower, upper)[..., None]
    shapes = [np.asarray(shape)[..., None] for shape in shapes]
    p = mass * _PROBABILITIES
    points = np.where(from_below[..., None], law.ppf(p, *shapes), law.isf(p, *shapes))
    # SciPy's inverse is nan for some of the smallest probabilities, whose weights are below rounding.
    points = np.where(np.isnan(points), points[..., -1:], points)
    values = h(np.clip(points, *law.open_support()), *shapes)
    return np.where(from_below, 1.0, -1.0) * np.sum(values * (mass * _WEIGHTS), axis=-1)


def _next(h, law, k):
    """Return the function h s + dh/da for the k-th shape a."""

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
