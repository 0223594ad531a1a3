"""Graphs of other shapes than a chain: fan-out, indexing, nested derivatives."""

from functools import cache

import numpy
from programs import rosenbrock_20

import fastgrad.numpy as np
from fastgrad import grad, hessian, jacobian, make_hvp
from fastgrad.core import make_vjp

from .common import INPUTS


def used_1000_times(x):
    return sum([k * x for k in range(1000)])


def total_used_1000_times(x):
    return np.sum(used_1000_times(x))


FAN_OUT = {"scalar": used_1000_times, "vector10": total_used_1000_times}


@cache
def fan_out_vjp(kind):
    vjp, _ = make_vjp(FAN_OUT[kind], INPUTS[kind])
    return vjp


class FanOut:
    """One input used 1000 times: its node receives 1000 cotangents."""

    params = list(INPUTS)
    param_names = ["kind"]

    def time_backward(self, kind):
        fan_out_vjp(kind)(1.0)

    def time_grad(self, kind):
        grad(FAN_OUT[kind])(INPUTS[kind])


def squared_differences(x):
    return np.sum((x[1:] - x[:-1]) ** 2)


def gathered(x):
    return np.sum(x[ORDER] ** 2)


VECTORS = {length: numpy.linspace(0.1, 1.0, length) for length in (100, 1000)}
ORDER = numpy.arange(100)[::-1]


class Indexing:
    params = list(VECTORS)
    param_names = ["length"]

    def time_grad_slices(self, length):
        grad(squared_differences)(VECTORS[length])

    def time_grad_integer_array(self, length):
        grad(gathered)(VECTORS[length])


def cube(x):
    return x * x * x


ROSENBROCK = rosenbrock_20(np)
POINT = numpy.linspace(0.5, 1.5, 5)


class Nesting:
    """Derivatives of derivatives: boxes in boxes."""

    def time_third_derivative(self):
        grad(grad(grad(cube)))(2.0)

    def time_hessian(self):
        hessian(ROSENBROCK)(POINT)

    def time_hessian_vector_product(self):
        make_hvp(ROSENBROCK)(POINT)[0](POINT)

    def time_jacobian(self):
        jacobian(np.sin)(INPUTS["vector10"])
