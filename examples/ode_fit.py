"""Fit the Lotka-Volterra equations to a century-old record of hares and lynx, with error bars from the Hessian.

    python examples/ode_fit.py [--output ode_fit.png] [--quick]

The Hudson's Bay Company recorded how many pelts it bought each year. Hares multiply and are eaten, lynx eat and starve,
which makes four rates and two initial populations. The equations are integrated by the classical Runge-Kutta method,
written out in a few lines, and the gradient goes back through all its steps. The errors of the counts are assumed to be
log-normal.
"""

import argparse
import time
from pathlib import Path

import numpy
from matplotlib.figure import Figure
from scipy.optimize import minimize

import fastgrad.numpy as np
from fastgrad import hessian, jacobian, value_and_grad

# Pelts in thousands, from 1900 on (Elton and Nicholson 1942): hares, lynx.
PELTS = numpy.array([
    [30, 4], [47.2, 6.1], [70.2, 9.8], [77.4, 35.2], [36.3, 59.4], [20.6, 41.7], [18.1, 19], [21.4, 13], [22, 8.3],
    [25.4, 9.1], [27.1, 7.4], [40.3, 8], [57, 12.3], [76.6, 19.5], [52.3, 45.7], [19.5, 51.1], [11.2, 29.7],
    [7.6, 15.8], [14.6, 9.7], [16.2, 10.1], [24.7, 8.6],
])  # fmt: skip
NAMES = ("hares born", "hares eaten", "lynx starved", "lynx fed", "hares in 1900", "lynx in 1900", "size of errors")
GUESS = numpy.array([0.5, 0.03, 0.8, 0.02, 30.0, 5.0, 0.5])
# Posterior means by MCMC, in Carpenter's "Predator-prey population dynamics: the Lotka-Volterra model in Stan" (2018).
# In that model hares and lynx have errors of 0.25 each.
PUBLISHED = numpy.array([0.55, 0.028, 0.80, 0.024, 34.0, 5.9, 0.25])
STEPS_A_YEAR = 5


def runge_kutta(slope, y, step):
    """Return the state one step later, by the classical method of fourth order."""
    k1 = slope(y)
    k2 = slope(y + 0.5 * step * k1)
    k3 = slope(y + 0.5 * step * k2)
    k4 = slope(y + step * k3)
    return y + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def log_populations(log_p, years):
    """Return the logarithms of hares and lynx at every step, shape (1 + years * STEPS_A_YEAR, 2)."""
    born, eaten, starved, fed = np.exp(log_p[:4])
    alone, together = np.array([born, -starved]), np.array([[0.0, -eaten], [fed, 0.0]])
    path = [log_p[4:6]]
    for _ in range(years * STEPS_A_YEAR):
        path.append(runge_kutta(lambda log_y: alone + together @ np.exp(log_y), path[-1], 1.0 / STEPS_A_YEAR))
    return np.stack(path)


def negative_log_likelihood(log_p, pelts):
    """Return -log p(pelts), with log-normal errors."""
    errors = np.log(pelts) - log_populations(log_p, len(pelts) - 1)[::STEPS_A_YEAR]
    return 0.5 * np.sum((errors / np.exp(log_p[6])) ** 2) + pelts.size * (log_p[6] + 0.5 * np.log(2.0 * np.pi))


def draw(path, pelts, log_p, covariance):
    """Draw data and fit, continued for ten years, with the uncertainty of the curve; save the figure."""
    years = len(PELTS) + 9
    log_y = log_populations(log_p, years)
    # To first order, the Jacobian of the curve turns errors of the parameters into errors of the curve.
    slope = jacobian(log_populations)(log_p, years)
    sd = numpy.sqrt(numpy.einsum("tip,pq,tiq->ti", slope, covariance, slope))
    times = 1900 + numpy.arange(len(log_y)) / STEPS_A_YEAR
    figure = Figure(figsize=(9, 6), layout="constrained")
    for i, (axes, name, color) in enumerate(
        zip(figure.subplots(2, 1, sharex=True), ("hares", "lynx"), ("#0072B2", "#D55E00"), strict=True)
    ):
        low, high = (numpy.exp(log_y[:, i] + side * sd[:, i]) for side in (-2.0, 2.0))
        axes.fill_between(times, low, high, color=color, alpha=0.2, linewidth=0, label="±2 sd of the curve")
        axes.plot(times, numpy.exp(log_y[:, i]), color=color, label="fitted")
        axes.plot(1900 + numpy.arange(len(pelts)), pelts[:, i], "o", color="black", markersize=4, label="pelts")
        axes.set(title=name.capitalize(), ylabel="thousands")
        axes.set_ylim(0, 1.4 * pelts[:, i].max())
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, ncols=3, loc="upper left")
    axes.set(xlabel="year")
    figure.savefig(path, format="png", dpi=100)


def main(argv=None):
    """Fit, report and draw; return the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default="ode_fit.png", metavar="PNG")
    parser.add_argument("--quick", action="store_true", help="with the years to 1915 alone")
    options = parser.parse_args(argv)
    pelts = PELTS[:16] if options.quick else PELTS

    start = time.perf_counter()
    fit = minimize(value_and_grad(negative_log_likelihood), numpy.log(GUESS), args=(pelts,), jac=True, method="BFGS")
    covariance = numpy.linalg.inv(hessian(negative_log_likelihood)(fit.x, pelts))
    seconds = time.perf_counter() - start

    found = numpy.exp(fit.x)
    sd = found * numpy.sqrt(numpy.diag(covariance))
    print(f"{pelts.size} counts, {fit.njev} gradients and a Hessian in {seconds:.2f} s")
    print(f"{'':15} {'guess':>8} {'fitted':>8} {'±':>7} {'published':>10}")
    for row in zip(NAMES, GUESS, found, sd, PUBLISHED, strict=True):
        print("{:15} {:8.3f} {:8.3f} {:7.3f} {:10.3f}".format(*row))
    draw(options.output, pelts, fit.x, covariance)
    return {"found": found, "sd": sd, "log_p": fit.x, "fit": fit}


if __name__ == "__main__":
    main()
