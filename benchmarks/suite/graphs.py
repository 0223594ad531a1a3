"""Graphs of other shapes than a chain: fan-out, indexing, containers, nested derivatives."""

from functools import cache

import numpy

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


def sum_of_squares_by_index(x):
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] * x[i]
    return total


def squared_differences(x):
    return np.sum((x[1:] - x[:-1]) ** 2)


def gathered(x):
    return np.sum(x[ORDER] ** 2)


VECTORS = {length: numpy.linspace(0.1, 1.0, length) for length in (100, 1000)}
ORDER = numpy.arange(100)[::-1]


class Indexing:
    params = list(VECTORS)
    param_names = ["length"]

    def time_grad_index_loop(self, length):
        grad(sum_of_squares_by_index)(VECTORS[length])

    def time_grad_slices(self, length):
        grad(squared_differences)(VECTORS[length])

    def time_grad_integer_array(self, length):
        grad(gathered)(VECTORS[length])


def layer(weights, bias, x):
    return np.tanh(np.dot(x, weights) + bias)


def loss_of_dict(params, x):
    for i in range(LAYERS):
        x = layer(params[f"w{i}"], params[f"b{i}"], x)
    return np.sum(x**2)


def loss_of_list(params, x):
    for weights, bias in params:
        x = layer(weights, bias, x)
    return np.sum(x**2)


LAYERS = 4
BATCH = numpy.linspace(-1.0, 1.0, 50).reshape(5, 10)
WEIGHTS = numpy.linspace(-0.5, 0.5, 100).reshape(10, 10)
BIAS = numpy.linspace(-0.1, 0.1, 10)
DICT_PARAMS = {f"w{i}": WEIGHTS for i in range(LAYERS)} | {f"b{i}": BIAS for i in range(LAYERS)}
LIST_PARAMS = [(WEIGHTS, BIAS) for _ in range(LAYERS)]


class Containers:
    """A network of four small layers, its parameters held in a container."""

    def time_grad_dict(self):
        grad(loss_of_dict)(DICT_PARAMS, BATCH)

    def time_grad_list_of_tuples(self):
        grad(loss_of_list)(LIST_PARAMS, BATCH)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def cube(x):
    return x * x * x


POINT = numpy.linspace(0.5, 1.5, 5)


class Nesting:
    """Derivatives of derivatives: boxes in boxes."""

    def time_third_derivative(self):
        grad(grad(grad(cube)))(2.0)

    def time_hessian(self):
        hessian(rosenbrock)(POINT)

    def time_hessian_vector_product(self):
        make_hvp(rosenbrock)(POINT)[0](POINT)

    def time_jacobian(self):
        jacobian(np.sin)(INPUTS["vector10"])
