"""Ratios measured in one process and one run, which a slow machine moves far less than times."""

import numpy

import fastgrad
import fastgrad.numpy as fnp

from .common import INPUTS, PROGRAMS, boxed, program
from .timing import fastest

try:
    import autograd
    import autograd.numpy as anp
except ImportError:
    autograd = None


class _EachProgram:
    params = [list(PROGRAMS), list(INPUTS)]
    param_names = ["program", "kind"]


def _call(fun, x):
    return "fun(x)", {"fun": fun, "x": x}


class AgainstAutograd(_EachProgram):
    unit = "autograd's time / fastgrad's"

    def setup(self, name, kind):
        if autograd is None:
            raise NotImplementedError("autograd is not installed")

    def track_grad_speedup(self, name, kind):
        x = INPUTS[kind]
        ours = fastgrad.grad(program(name, kind, fnp))
        theirs = autograd.grad(program(name, kind, anp))
        numpy.testing.assert_allclose(ours(x), theirs(x))  # A wrong gradient has no speed.
        our_seconds, their_seconds = fastest(_call(ours, x), _call(theirs, x))
        return their_seconds / our_seconds


class AgainstNumpy(_EachProgram):
    unit = "time of the gradient / of the function in NumPy"

    def track_grad_cost(self, name, kind):
        x = INPUTS[kind]
        gradient = fastgrad.grad(program(name, kind, fnp))
        function = program(name, kind, numpy)
        gradient_seconds, function_seconds = fastest(_call(gradient, x), _call(function, x))
        return gradient_seconds / function_seconds


class BoxedCalls:
    def track_multiply(self):
        (seconds,) = fastest(("b * b", {"b": boxed(0.5)}))
        return seconds * 1e6

    track_multiply.unit = "us"

    def track_sin_cost(self):
        x = numpy.float64(0.5)
        traced, raw = fastest(("sin(b)", {"sin": fnp.sin, "b": boxed(x)}), ("sin(x)", {"sin": numpy.sin, "x": x}))
        return traced / raw

    track_sin_cost.unit = "time of np.sin(box) / of NumPy's sin"
