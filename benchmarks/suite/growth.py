"""How the cost of a gradient grows: with the number of nodes, with the size of the arrays."""

import numpy

import fastgrad.numpy as np
from fastgrad import grad

from .timing import fastest

DEPTHS = (10**3, 10**4, 10**5, 10**6)
SIZES = tuple(10**k for k in range(7))
ARRAYS = {size: numpy.linspace(0.1, 1.0, size) for size in SIZES}


def chain(depth):
    """A chain of this many nodes on a scalar."""

    def fun(x):
        for _ in range(depth):
            x = x * 0.999
        return x

    return fun


def five_calls(x):
    """Five calls on an array: the price of the calls in small ones, of the arithmetic in large ones."""
    return np.sum(np.tanh(np.sin(x) * x + 1.0))


class Depth:
    params = DEPTHS
    param_names = ["nodes"]

    def time_grad_of_chain(self, nodes):
        grad(chain(nodes))(1.0)


class Linearity:
    def track_deep_over_shallow(self):
        """1 if a gradient takes time in proportion to the nodes; the garbage collector is off."""
        deep, shallow = max(DEPTHS), min(DEPTHS)
        times = fastest(*[("g(1.0)", {"g": grad(chain(depth))}) for depth in (deep, shallow)], rounds=5)
        return (times[0] / deep) / (times[1] / shallow)

    track_deep_over_shallow.unit = "time a node of 10^6 / of 10^3"


class Size:
    params = SIZES
    param_names = ["elements"]

    def time_numpy_function(self, elements):
        x = ARRAYS[elements]
        numpy.sum(numpy.tanh(numpy.sin(x) * x + 1.0))

    def time_grad(self, elements):
        grad(five_calls)(ARRAYS[elements])
