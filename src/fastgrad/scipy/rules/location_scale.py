"""Rules of the distributions with location and scale, of density f((x - loc) / scale; shapes) / scale.

By differentiating: with y = (x - loc) / scale and u = d(log f)/dy, the derivatives of log f(y) - log(scale) with
respect to x, loc and scale are u / scale, -u / scale and -(1 + y u) / scale. Those of the distribution function are p,
-p and -y p, where p is the density.
"""

import inspect

import numpy as onp

from fastgrad._engine.core import Primitive
from fastgrad._rules.direct import def_direct
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.scipy.rules.partial_means import Law, partial_mean
from fastgrad.tracer import getval


def primitive_of(distribution, method, parameters, module, defaults=()):
    """Return a method of one of SciPy's distributions as a primitive.

    Parameters
    ----------
    distribution : object
        The distribution in ``scipy.stats``.
    method : str
        The name of the method.
    parameters : tuple of str
        The names of the parameters. They are missing in SciPy's own signatures, and are needed to find the position of
        a traced argument that is given by keyword.
    module : str
        The module that defines the primitive.
    defaults : tuple
        Defaults of the last parameters.

    Returns
    -------
    Primitive
    """
    function = getattr(distribution, method)

    def evaluate(*args, **kwargs):
        return function(*args, **kwargs)

    required = len(parameters) - len(defaults)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    values = [inspect.Parameter.empty] * required + list(defaults)
    evaluate.__signature__ = inspect.Signature(
        [inspect.Parameter(name, kind, default=value) for name, value in zip(parameters, values, strict=True)]
    )
    evaluate.__name__ = evaluate.__qualname__ = method
    evaluate.__module__ = module
    evaluate.__doc__ = function.__doc__
    return Primitive(evaluate, array_like=True)


class Family:
    """A distribution of SciPy's with shapes, location and scale, from whose methods it makes primitives with rules.

    Parameters
    ----------
    distribution : scipy.stats.rv_continuous
    module : str
        The module that defines the primitives.
    slope : callable
        ``slope(y, *shapes)`` returns the derivative of the logarithm of the standard density.
    shapes : dict
        Maps the name of each shape to a function ``partial(y, *shapes)`` that returns the derivative of that logarithm
        with respect to the shape.
    support : tuple of float
        The ends of the closed support of the standard distribution.
    upper_is_exact : callable, optional
        See `Law`.
    """

    def __init__(self, distribution, module, slope, shapes, support=(-onp.inf, onp.inf), upper_is_exact=None):
        self.distribution = distribution
        self.upper_is_exact = upper_is_exact
        self.module = module
        self.slope = slope
        self.shapes = shapes
        self.support = support
        self.parameters = ("x", *shapes, "loc", "scale")

    def _make(self, method):
        return primitive_of(self.distribution, method, self.parameters, self.module, (0.0, 1.0))

    def _standard(self, *args, **kwargs):
        """Return y, the shapes and the scale of a call."""
        given = {"loc": 0.0, "scale": 1.0, **dict(zip(self.parameters, args, strict=False)), **kwargs}
        x, *shapes, loc, scale = [given[name] for name in self.parameters]
        return (x - loc) / scale, shapes, scale

    def _partial(self, name, args, kwargs):
        """Return the derivative of the logarithm of the density with respect to a parameter; 0 outside the support."""
        y, shapes, scale = self._standard(*args, **kwargs)
        low, high = self.support
        outside = onp.logical_or(getval(y) < low, getval(y) > high)
        if not onp.any(outside):
            return self._inside(name, y, shapes, scale)
        return anp.where(outside, 0, self._inside(name, anp.where(outside, 0.5, y), shapes, scale))

    def _inside(self, name, y, shapes, scale):
        if name in self.shapes:
            return self.shapes[name](y, *shapes)
        slope = self.slope(y, *shapes)
        if name == "scale":
            return -(1 + y * slope) / scale
        return slope / scale if name == "x" else -slope / scale

    def densities(self):
        """Return the density and its logarithm.

        Returns
        -------
        pdf, logpdf : Primitive
        """
        pdf, logpdf = self._make("pdf"), self._make("logpdf")
        _same_rules(logpdf, [self._log_rule(name) for name in self.parameters])
        _same_rules(pdf, [self._density_rule(name) for name in self.parameters])
        self.pdf, self.logpdf = pdf, logpdf
        of = self.distribution
        scores = tuple(self.shapes.values())
        self.law = Law(of.cdf, of.sf, of.ppf, of.isf, pdf, scores, self.support, self.upper_is_exact)
        return pdf, logpdf

    def _log_rule(self, name):
        return lambda g, _ans, *args, **kwargs: g * self._partial(name, args, kwargs)

    def _density_rule(self, name):
        return lambda g, ans, *args, **kwargs: g * ans * self._partial(name, args, kwargs)

    def distribution_functions(self, *methods):
        """Return some of cdf, sf, logcdf and logsf.

        Parameters
        ----------
        *methods : str
            Their names.

        Returns
        -------
        tuple of Primitive
        """
        made = [self._make(method) for method in methods]
        for fun, method in zip(made, methods, strict=True):
            _same_rules(fun, [self._cumulative_rule(method, name) for name in self.parameters])
        return tuple(made)

    def _cumulative_rule(self, method, name):
        sign = -1 if method.endswith("sf") else 1
        if name in self.shapes:
            return self._shape_rule(method, name, sign)

        def rule(g, ans, *args, **kwargs):
            if method.startswith("log"):
                density = anp.exp(self.logpdf(*args, **kwargs) - _without_infinities(ans))
            else:
                density = self.pdf(*args, **kwargs)
            if name == "scale":
                density = density * self._standard(*args, **kwargs)[0]
            return g * density * (sign if name == "x" else -sign)

        return rule

    def _shape_rule(self, method, name, sign):
        def rule(g, ans, *args, **kwargs):
            y, shapes, _ = self._standard(*args, **kwargs)
            change = partial_mean(self.shapes[name], self.law, y, *shapes)
            return g * sign * (change * anp.exp(-_without_infinities(ans)) if method.startswith("log") else change)

        return rule


def _without_infinities(log):
    """Return logarithms with 0 instead of the logarithm of 0."""
    impossible = getval(log) == -onp.inf
    return anp.where(impossible, 0, log) if onp.any(impossible) else log


def _same_rules(fun, rules):
    """Set the rules of an elementwise function of real arguments, which are the same in both modes."""
    def_direct(fun, vjps=rules, jvps=rules, broadcasts=True)
