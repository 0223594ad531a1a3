"""Learn the law of a pendulum: a Hamiltonian neural network beside an ordinary one.

    python examples/neural_network.py [--output neural_network.png] [--quick]

Both networks are trained on noisy slopes (dq/dt, dp/dt) at points (q, p). The output of the ordinary network is the
slope. The other network has one output, the energy H, and its slope is (dH/dp, -dH/dq), the derivative of the network
with respect to its input (Greydanus, Dzamba and Yosinski 2019). So training it takes the gradient of a gradient, and
the paths that it predicts conserve an energy.
"""

import argparse
import time
from pathlib import Path

import numpy
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

import fastgrad.numpy as np
from fastgrad import grad, value_and_grad
from fastgrad.misc.flatten import flatten

NOISE = 0.1
UNITS = 32


def energy(states):
    """Return the true energy of a pendulum of mass, length and gravity 1."""
    return 0.5 * states[..., 1] ** 2 - numpy.cos(states[..., 0])


def network(params, states):
    """Return the output of a network with two hidden layers, shape (n, outputs), for states of shape (n, 2)."""
    hidden = np.tanh(states @ params["W1"] + params["b1"])
    hidden = np.tanh(hidden @ params["W2"] + params["b2"])
    return hidden @ params["W3"]


def hamiltonian_slopes(params, states):
    """Return the slopes (dH/dp, -dH/dq) at the states, where H is the output of the network."""
    # Each row of the output depends on its own row of the input only, so the gradient of the sum has all gradients.
    slope = grad(lambda states: np.sum(network(params, states)))(states)
    return np.stack([slope[:, 1], -slope[:, 0]], axis=1)


def initial_params(outputs, rng):
    """Return random weights, scaled by the number of inputs, and biases of zero."""
    return {
        "W1": rng.normal(size=(2, UNITS)),
        "b1": numpy.zeros(UNITS),
        "W2": rng.normal(size=(UNITS, UNITS)) / numpy.sqrt(UNITS),
        "b2": numpy.zeros(UNITS),
        "W3": rng.normal(size=(UNITS, outputs)) / numpy.sqrt(UNITS),
    }


def train(slopes, params, states, targets, steps):
    """Return the parameters with the least squared error, under weight decay, and SciPy's report."""
    flat, unflatten = flatten(params)

    def loss(flat):
        return np.mean((slopes(unflatten(flat), states) - targets) ** 2) + 1e-5 * np.sum(flat**2)

    fit = minimize(value_and_grad(loss), flat, jac=True, method="L-BFGS-B", options={"maxiter": steps, "maxcor": 20})
    return unflatten(fit.x), fit


def follow(slopes, params, start, times):
    """Return the states at the given times, by integrating the learnt slopes."""
    solution = solve_ivp(lambda _, y: slopes(params, y[None])[0], times[[0, -1]], start, t_eval=times, rtol=1e-6)
    return solution.y.T


def true_slopes(_, states):
    """Return the slopes of the real pendulum."""
    return numpy.stack([states[:, 1], -numpy.sin(states[:, 0])], axis=1)


def draw(path, times, paths):
    """Draw the paths and their energies, and save the figure."""
    figure = Figure(figsize=(9, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    styles = {"truth": ("black", ":"), "ordinary network": ("#E69F00", "-"), "Hamiltonian network": ("#0072B2", "-")}
    for name in ("ordinary network", "Hamiltonian network", "truth"):
        color, line = styles[name]
        left.plot(*paths[name].T, color=color, linestyle=line, linewidth=1, label=name)
        right.plot(times, energy(paths[name]), color=color, linestyle=line, label=name)
    left.set(title="Path of the pendulum", xlabel="angle q", ylabel="momentum p")
    right.set(title="True energy along the path", xlabel="time", ylabel="energy")
    right.legend(frameon=False)
    for axes in left, right:
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, format="png", dpi=100)


def main(argv=None):
    """Train, report and draw; return the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default="neural_network.png", metavar="PNG")
    parser.add_argument("--quick", action="store_true", help="with fewer data and steps")
    options = parser.parse_args(argv)
    points, steps, end = (150, 80, 30.0) if options.quick else (400, 500, 100.0)

    rng = numpy.random.default_rng(0)
    states = rng.uniform((-2.5, -2.0), (2.5, 2.0), size=(points, 2))
    targets = true_slopes(None, states) + NOISE * rng.normal(size=states.shape)
    start, times = numpy.array([1.8, 0.0]), numpy.linspace(0.0, end, 10 * int(end))
    paths, found = {"truth": follow(true_slopes, None, start, times)}, {}
    print(f"{points} slopes with noise of {NOISE}; the pendulum followed for {end:.0f} units of time")
    print(f"{'':20} {'loss':>7} {'gradients':>10} {'seconds':>8} {'energy drift':>13}")
    for name, slopes, outputs in (
        ("ordinary network", network, 2),
        ("Hamiltonian network", hamiltonian_slopes, 1),
    ):
        clock = time.perf_counter()
        params, fit = train(slopes, initial_params(outputs, rng), states, targets, steps)
        seconds = time.perf_counter() - clock
        paths[name] = follow(slopes, params, start, times)
        drift = numpy.abs(energy(paths[name]) - energy(start)).max()
        found[name] = {"params": params, "fit": fit, "drift": drift}
        print(f"{name:20} {fit.fun:7.4f} {fit.njev:10} {seconds:8.2f} {drift:13.3f}")
    draw(options.output, times, paths)
    return found


if __name__ == "__main__":
    main()
