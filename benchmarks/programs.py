"""The programs that ``compare.py`` runs, each written once for every library.

A builder takes a namespace with NumPy's names (`numpy` itself, ``fastgrad.numpy``, ``autograd.numpy``, ``jax.numpy`` or
an adapter) and returns a function of one argument whose value is a real scalar. Constants are made by the builder, so
that each library holds them in arrays of its own.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy

GROUPS = ("scalar", "small", "large", "whole")


@dataclass(frozen=True)
class Program:
    """A function to differentiate.

    Attributes
    ----------
    name : str
    group : str
        One of `GROUPS`.
    build : callable
        From a namespace to the function.
    make_input : callable
        Returns the function's argument: a float, an array, or lists, tuples and dicts of these.
    """

    name: str
    group: str
    build: Callable
    make_input: Callable


def normal(*shape, seed=0):
    """Return standard normal numbers, the same ones on each call."""
    return numpy.random.default_rng(seed).standard_normal(shape)


def vector10():
    return numpy.linspace(0.3, 1.2, 10)


def summed(build):
    """Return the builder of the same function, elementwise on an array and then summed."""

    def build_sum(np):
        function = build(np)
        return lambda x: np.sum(function(x))

    return build_sum


# Scalars, and the same programs on small arrays.


def sin_50(np):
    def function(x):
        for _ in range(50):
            x = np.sin(x)
        return x

    return function


def tanh_exp(np):
    def function(x):
        y = np.exp(-2.0 * x)
        return (1.0 - y) / (1.0 + y)

    return function


def fan_out_1000(np):
    def function(x):
        for _ in range(1000):
            x = (x + x) / 2
        return x

    return function


def rk4(np, prey=10.0, predators=5.0, steps=100, dt=0.02):
    """Lotka-Volterra equations by the classical Runge-Kutta method: the last number of prey by their growth rate."""

    def slope(x, y, growth):
        return growth * x - 0.1 * x * y, 0.075 * x * y - 1.5 * y

    def function(growth):
        x, y = prey, predators
        for _ in range(steps):
            k1, l1 = slope(x, y, growth)
            k2, l2 = slope(x + dt / 2 * k1, y + dt / 2 * l1, growth)
            k3, l3 = slope(x + dt / 2 * k2, y + dt / 2 * l2, growth)
            k4, l4 = slope(x + dt * k3, y + dt * l3, growth)
            x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            y = y + dt / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
        return x

    return function


def rk4_vector10(np):
    return summed(lambda np: rk4(np, np.array(numpy.full(10, 10.0)), np.array(numpy.full(10, 5.0))))(np)


def index_loop(np):
    def function(x):
        total = 0.0
        for i in range(1, len(x)):
            total = total + x[i] * x[i - 1]
        return total

    return function


# Small arrays.


def rosenbrock_20(np):
    def function(x):
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    return function


def logistic_200x10(np):
    """Logistic regression: the negative log likelihood with an L2 penalty."""
    features = np.array(normal(200, 10))
    signs = np.array(numpy.where(normal(200, seed=1) > 0, 1.0, -1.0))

    def function(weights):
        margins = signs * np.dot(features, weights)
        return np.sum(np.log(1.0 + np.exp(-margins))) + 0.1 * np.sum(weights**2)

    return function


def mlp_4x32(np):
    """A network of four layers of 32 units on a batch of 32: its mean squared error."""
    inputs = np.array(normal(32, 32))
    targets = np.array(numpy.tanh(normal(32, 32, seed=1)))

    def function(layers):
        hidden = inputs
        for weights, bias in layers:
            hidden = np.tanh(np.dot(hidden, weights) + bias)
        return np.mean((hidden - targets) ** 2)

    return function


def mlp_layers():
    return [(normal(32, 32, seed=i) / 6, normal(32, seed=10 + i) / 6) for i in range(4)]


def dict_parameters(np):
    """The misfit of a damped oscillation with a second harmonic, and a penalty on its parameters."""
    times = np.array(numpy.linspace(0.0, 5.0, 50))
    observed = np.array(normal(50))

    def function(params):
        envelope = params["amplitude"] * np.exp(-params["decay"] * times)
        phase = params["frequency"] * times + params["phase"]
        trend = params["trend"][0] + params["trend"][1] * times
        model = envelope * (np.cos(phase) + params["harmonic"] * np.cos(2.0 * phase)) + trend
        penalty = params["amplitude"] ** 2 + params["decay"] ** 2 + np.sum(params["trend"] ** 2)
        return np.sum((model - observed) ** 2) + 0.1 * penalty

    return function


def oscillation():
    return {
        "amplitude": 1.5,
        "decay": 0.3,
        "frequency": 2.0,
        "phase": 0.4,
        "harmonic": 0.2,
        "trend": numpy.array([0.1, -0.05]),
    }


def linear_dynamical_system(np):
    """``x = A x + b u`` over 50 steps: the sum of the squares of all states."""
    controls = [math.cos(0.3 * step) for step in range(50)]
    start = np.array(numpy.ones(6))

    def function(params):
        x, cost = start, 0.0
        for control in controls:
            x = params["A"] @ x + params["b"] * control
            cost = cost + np.sum(x**2)
        return cost

    return function


def linear_system():
    return {"A": 0.9 * numpy.eye(6) + 0.03 * normal(6, 6), "b": normal(6, seed=1)}


def arrays_from_scalars(np):
    """Ray transfer matrices of thin lenses and the gaps between them: how far the whole is from a 1:1 relay."""

    def function(gaps):
        system = np.array([[1.0, 0.0], [0.0, 1.0]])
        for i in range(len(gaps)):
            lens = np.array([[1.0, 0.0], [-1.0 / (2.0 + i), 1.0]])
            gap = np.array([[1.0, gaps[i]], [0.0, 1.0]])
            system = np.dot(gap, np.dot(lens, system))
        return (system[0, 0] + 1.0) ** 2 + system[0, 1] ** 2 + (system[1, 1] + 1.0) ** 2

    return function


def gaussian_log_density(np):
    """The log density of 30 points under a normal distribution in 8 dimensions."""
    points = np.array(normal(30, 8))
    jitter = np.array(0.5 * numpy.eye(8))

    def function(params):
        covariance = np.dot(params["factor"], params["factor"].T) + jitter
        deviations = (points - params["mean"]).T
        distances = np.sum(deviations * np.linalg.solve(covariance, deviations))
        return -0.5 * (distances + 30 * np.linalg.slogdet(covariance)[1] + 240 * math.log(2 * math.pi))

    return function


def broadcasting_2d(np):
    """A Gaussian kernel between 20 points and 30: the sum of its values, weighted."""
    centres = np.array(numpy.linspace(-1.0, 1.0, 30))
    weights = np.array(normal(30))

    def function(x):
        kernel = np.exp(-0.5 * (x[:, None] - centres[None, :]) ** 2)
        return np.sum(kernel * weights)

    return function


# Large arrays.


def elementwise_chain_1e6(np):
    """Ten functions in a chain."""

    def function(x):
        y = np.sqrt(1.0 + np.tanh(x) ** 2)
        y = np.exp(y)
        y = np.log(y / (1.0 + y))
        return np.sum(np.abs(y) ** 3)

    return function


def mean_squared_error_1e6(np):
    targets = np.array(normal(10**6))

    def function(predictions):
        return np.mean((predictions - targets) ** 2)

    return function


# Whole programs.


def trigonometric_chain_1e6(np):
    """Sines and cosines of a million numbers, which cost more than all else: no library can gain much."""

    def function(x):
        y = np.exp(np.sin(x))
        y = np.cos(np.sqrt(y + 1.0)) * x
        return np.sum(np.sin(y) ** 2)

    return function


def rnn(np):
    """A recurrent network of 16 units over 20 steps of a batch of 8: the error of its predictions of the next input."""
    sequence = [np.array(normal(8, 4, seed=step)) for step in range(21)]
    start = np.array(numpy.zeros((8, 16)))

    def function(params):
        hidden, loss = start, 0.0
        for now, following in zip(sequence[:-1], sequence[1:], strict=True):
            hidden = np.tanh(np.dot(now, params["input"]) + np.dot(hidden, params["hidden"]) + params["hidden_bias"])
            prediction = np.dot(hidden, params["output"]) + params["output_bias"]
            loss = loss + np.mean((prediction - following) ** 2)
        return loss

    return function


def rnn_parameters():
    return {
        "input": normal(4, 16) / 2,
        "hidden": normal(16, 16, seed=1) / 4,
        "hidden_bias": numpy.zeros(16),
        "output": normal(16, 4, seed=2) / 4,
        "output_bias": numpy.zeros(4),
    }


def kalman_filter(np):
    """The negative log likelihood of 50 noisy positions of a body in the plane, by the logarithms of the noises."""
    transition = np.array(numpy.kron(numpy.eye(2), [[1.0, 0.1], [0.0, 1.0]]))
    process_shape = np.array(numpy.kron(numpy.eye(2), [[0.0025, 0.05], [0.05, 1.0]]))
    projection = np.array(numpy.kron(numpy.eye(2), [[1.0, 0.0]]))
    identity2, identity4 = np.array(numpy.eye(2)), np.array(numpy.eye(4))
    observations = [np.array(row) for row in numpy.cumsum(normal(50, 2), axis=0)]
    start = np.array(numpy.zeros(4))

    def function(log_noises):
        process = np.exp(log_noises[0]) * process_shape
        noise = np.exp(log_noises[1]) * identity2
        mean, covariance, loss = start, 10.0 * identity4, 0.0
        for observation in observations:
            mean = np.dot(transition, mean)
            covariance = np.dot(np.dot(transition, covariance), transition.T) + process
            residual = observation - np.dot(projection, mean)
            spread = np.dot(np.dot(projection, covariance), projection.T) + noise
            gain = np.linalg.solve(spread, np.dot(projection, covariance)).T
            loss = loss + 0.5 * (np.dot(residual, np.linalg.solve(spread, residual)) + np.linalg.slogdet(spread)[1])
            mean = mean + np.dot(gain, residual)
            covariance = np.dot(identity4 - np.dot(gain, projection), covariance)
        return loss

    return function


def gaussian_process(np):
    """The negative log marginal likelihood of 40 points, by the logarithms of length, signal and noise."""
    positions = numpy.sort(normal(40))
    distances = np.array((positions[:, None] - positions[None, :]) ** 2)
    values = np.array(numpy.sin(3.0 * positions) + 0.1 * normal(40, seed=1))
    identity = np.array(numpy.eye(40))

    def function(params):
        length, signal, noise = np.exp(params["length"]), np.exp(params["signal"]), np.exp(params["noise"])
        covariance = signal * np.exp(-0.5 * distances / length**2) + noise * identity
        factor = np.linalg.cholesky(covariance)
        whitened = np.linalg.solve(factor, values)
        return 0.5 * np.sum(whitened**2) + np.sum(np.log(np.diag(factor)))

    return function


PROGRAMS = (
    Program("sin_50", "scalar", sin_50, lambda: 0.7),
    Program("tanh_exp", "scalar", tanh_exp, lambda: 0.7),
    Program("fan_out_1000", "scalar", fan_out_1000, lambda: 0.7),
    Program("rk4", "scalar", rk4, lambda: 1.1),
    Program("index_loop", "scalar", index_loop, lambda: normal(200)),
    Program("sin_50_vector10", "small", summed(sin_50), vector10),
    Program("tanh_exp_vector10", "small", summed(tanh_exp), vector10),
    Program("fan_out_1000_vector10", "small", summed(fan_out_1000), vector10),
    Program("rk4_vector10", "small", rk4_vector10, vector10),
    Program("rosenbrock_20", "small", rosenbrock_20, lambda: normal(20)),
    Program("logistic_200x10", "small", logistic_200x10, lambda: normal(10, seed=2)),
    Program("mlp_4x32", "small", mlp_4x32, mlp_layers),
    Program("dict_parameters", "small", dict_parameters, oscillation),
    Program("linear_dynamical_system", "small", linear_dynamical_system, linear_system),
    Program("arrays_from_scalars", "small", arrays_from_scalars, lambda: numpy.linspace(1.0, 2.0, 20)),
    Program("gaussian_log_density", "small", gaussian_log_density, lambda: {"mean": normal(8), "factor": normal(8, 8)}),
    Program("broadcasting_2d", "small", broadcasting_2d, lambda: numpy.linspace(-1.5, 1.5, 20)),
    Program("elementwise_chain_1e6", "large", elementwise_chain_1e6, lambda: normal(10**6, seed=1)),
    Program("mean_squared_error_1e6", "large", mean_squared_error_1e6, lambda: normal(10**6, seed=1)),
    Program("trigonometric_chain_1e6", "whole", trigonometric_chain_1e6, lambda: normal(10**6, seed=1)),
    Program("rnn", "whole", rnn, rnn_parameters),
    Program("kalman_filter", "whole", kalman_filter, lambda: numpy.array([-1.0, -2.0])),
    Program("gaussian_process", "whole", gaussian_process, lambda: {"length": -1.0, "signal": 0.0, "noise": -3.0}),
)
