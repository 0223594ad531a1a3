"""Inputs and programs shared by the benchmarks."""

import numpy
from programs import fan_out_1000, sin_50

from fastgrad.core import VJPNode
from fastgrad.tracer import new_box

#: Calls per timed run of an operation shorter than a microsecond: a result of 1 ms means 1 us a call.
CALLS = range(1000)

#: What a primitive is called with.
OPERANDS = {"float": 0.5, "float64": numpy.float64(0.5), "vector10": numpy.linspace(0.1, 1.0, 10)}

#: What a whole program is differentiated at.
INPUTS = {"scalar": 0.5, "vector10": numpy.linspace(0.1, 1.0, 10)}


def boxed(value):
    """Box `value` at trace level 0, outside any trace, on a root node of reverse mode."""
    return new_box(value, 0, VJPNode.new_root())


PROGRAMS = {"sin_50": sin_50, "fan_out_1000": fan_out_1000}


def program(name, kind, np):
    """Build a scalar-valued program.

    Parameters
    ----------
    name : str
        A key of `PROGRAMS`.
    kind : str
        A key of `INPUTS`; the result for a vector is summed.
    np : module
        The NumPy namespace the program calls: ``numpy``, or the wrapped one of a differentiating package.
    """
    fun = PROGRAMS[name](np)
    if kind == "scalar":
        return fun
    return lambda x: np.sum(fun(x))
