"""Fit a Gaussian to a posterior by natural gradients, and compare them with plain gradients.

    python examples/natural_gradient_vi.py [--output natural_gradient_vi.png] [--quick]

Twenty animals were given four doses of a drug; 0, 1, 3 and 5 of five died (Racine and others 1986). The posterior of
the two coefficients of a logistic dose-response curve is skewed and badly scaled. The nearest Gaussian is the one with
the highest evidence lower bound (ELBO). A step along the plain gradient depends on the parameters that describe the
Gaussian. A step along the natural gradient does not, because it measures a step by the divergence that it causes. The
measure is the Fisher matrix, the Hessian of the Kullback-Leibler divergence, which `hessian` computes.
"""

import argparse
import time
from pathlib import Path

import numpy
from matplotlib.figure import Figure
from scipy.optimize import minimize

import fastgrad.numpy as np
from fastgrad import grad, hessian, value_and_grad

LOG_DOSE = numpy.array([-0.86, -0.30, -0.05, 0.73])
ANIMALS, DEATHS = 5, numpy.array([0, 1, 3, 5])
PRIOR_MEAN, PRIOR_PRECISION = numpy.array([0.0, 10.0]), numpy.linalg.inv([[4.0, 10.0], [10.0, 100.0]])
START = numpy.array([3.0, 22.0, 0.0, 0.0, 0.0])


def log_joint(theta):
    """Return log p(deaths, theta), up to a constant, for coefficients of shape (..., 2)."""
    logit = theta[..., :1] + theta[..., 1:] * LOG_DOSE
    apart = theta - PRIOR_MEAN
    prior = -0.5 * np.sum((apart @ PRIOR_PRECISION) * apart, axis=-1)
    return np.sum(DEATHS * logit - ANIMALS * np.logaddexp(0.0, logit), axis=-1) + prior


def gaussian(phi):
    """Return the mean and the Cholesky factor; phi holds the mean, the logarithms of the diagonal, and the rest."""
    scale = np.exp(phi[2:4])
    return phi[:2], np.array([[scale[0], 0.0], [phi[4], scale[1]]])


def quadrature(n):
    """Return points and weights that integrate over the standard normal distribution in two dimensions."""
    points, weights = numpy.polynomial.hermite_e.hermegauss(n)
    return numpy.array([(a, b) for a in points for b in points]), numpy.outer(weights, weights).ravel() / (2 * numpy.pi)


def elbo(phi, points, weights):
    """Return the mean of log p under the Gaussian plus its entropy, up to a constant."""
    mean, factor = gaussian(phi)
    return np.sum(weights * log_joint(mean + points @ factor.T)) + phi[2] + phi[3]


def divergence(phi, other):
    """Return the Kullback-Leibler divergence of the Gaussian `phi` from another."""
    (mean, factor), (other_mean, other_factor) = gaussian(phi), gaussian(other)
    ratio, apart = np.linalg.solve(other_factor, factor), np.linalg.solve(other_factor, mean - other_mean)
    return 0.5 * (np.sum(ratio**2) + np.sum(apart**2) - 2.0) + np.sum(other[2:4] - phi[2:4])


def plain_direction(_, gradient):
    """Return the gradient itself."""
    return gradient


def natural_direction(phi, gradient):
    """Return the gradient multiplied by the inverse of the Fisher matrix."""
    fisher = hessian(divergence, 1)(phi, phi)
    return numpy.linalg.solve(fisher, gradient)


def exact_moments():
    """Return the mean and the standard deviation of the posterior, by summing over a grid."""
    axes = numpy.linspace(-6.0, 9.0, 400), numpy.linspace(-10.0, 50.0, 400)
    theta = numpy.stack(numpy.meshgrid(*axes), axis=-1).reshape(-1, 2)
    weights = numpy.exp(log_joint(theta))
    mean = weights @ theta / weights.sum()
    return mean, numpy.sqrt(weights @ (theta - mean) ** 2 / weights.sum())


# The rates are about the best fixed ones; at a higher rate an ascent oscillates and does not converge.
ASCENTS = {"plain gradient": (plain_direction, 0.6), "natural gradient": (natural_direction, 0.7)}


def ascend(objective, direction, rate, steps):
    """Return the path of the parameters, shape (1 + steps, 5)."""
    path = [START]
    for _ in range(steps):
        path.append(path[-1] + rate * direction(path[-1], grad(objective)(path[-1])))
    return numpy.array(path)


def draw(path, gaps, paths):
    """Draw the distance from the highest ELBO along both ascents, and their paths over the posterior."""
    figure = Figure(figsize=(9, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    colors = {"plain gradient": "#E69F00", "natural gradient": "#0072B2"}
    for name, gap in gaps.items():
        left.semilogy(gap, color=colors[name], label=name)
    left.set(title="Distance from the highest ELBO", xlabel="step", ylabel="nats", ylim=(1e-10, None))
    left.legend(frameon=False)
    grid = numpy.stack(numpy.meshgrid(numpy.linspace(-2, 4.5, 160), numpy.linspace(0, 26, 160)), axis=-1)
    density = numpy.exp(log_joint(grid) - log_joint(grid).max())
    right.contourf(grid[..., 0], grid[..., 1], density, levels=numpy.linspace(0.02, 1.0, 8), cmap="Greys", alpha=0.6)
    angle = numpy.linspace(0.0, 2.0 * numpy.pi, 200)
    for name, phis in paths.items():
        right.plot(phis[:, 0], phis[:, 1], ".-", color=colors[name], markersize=5, linewidth=1)
    for radius in (1.0, 2.0):
        mean, factor = gaussian(phis[-1])
        right.plot(*(mean[:, None] + radius * factor @ [numpy.cos(angle), numpy.sin(angle)]), color="#0072B2")
    right.set(title="Posterior (grey) and fitted Gaussian")
    right.set(xlabel="intercept", ylabel="slope")
    for axes in left, right:
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, format="png", dpi=100)


def main(argv=None):
    """Fit, report and draw; return the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default="natural_gradient_vi.png", metavar="PNG")
    parser.add_argument("--quick", action="store_true", help="with fewer steps")
    options = parser.parse_args(argv)
    steps, nodes = (60, 12) if options.quick else (250, 20)
    points, weights = quadrature(nodes)

    def objective(phi):
        return elbo(phi, points, weights)

    best = minimize(value_and_grad(lambda phi: -objective(phi)), START, jac=True, method="BFGS", options={"gtol": 1e-9})
    paths, gaps = {}, {}
    print(f"{steps} steps of each; a gradient in every step")
    print(f"{'':17} {'rate':>6} {'seconds':>8} {'to 0.01 nat':>12} {'to 1e-6 nat':>12}")
    for name, (direction, rate) in ASCENTS.items():
        start = time.perf_counter()
        paths[name] = ascend(objective, direction, rate, steps)
        seconds = time.perf_counter() - start
        gaps[name] = numpy.array([-best.fun - objective(phi) for phi in paths[name]])
        reached = [f"{numpy.argmax(gaps[name] < g)} steps" if gaps[name].min() < g else "never" for g in (1e-2, 1e-6)]
        print(f"{name:17} {rate:6.2f} {seconds:8.2f} {reached[0]:>12} {reached[1]:>12}")
    mean, factor = gaussian(paths["natural gradient"][-1])
    covariance = factor @ factor.T
    for name, *row in zip(
        ("intercept", "slope"), mean, numpy.sqrt(numpy.diag(covariance)), *exact_moments(), strict=True
    ):
        print("{:10} {:5.2f} ± {:.2f}, of the posterior {:5.2f} ± {:.2f}".format(name, *row))
    draw(options.output, gaps, paths)
    return {"gaps": gaps, "mean": mean, "covariance": covariance}


if __name__ == "__main__":
    main()
