"""Find the rotation period of a spotted star with a Gaussian process, its hyperparameters fitted by gradients.

    python examples/gaussian_process.py [--output gaussian_process.png] [--quick]

The brightness of a star with dark spots repeats with its rotation, but not exactly, because the spots come and go. A
quasi-periodic kernel describes such a signal. Its five hyperparameters are found by maximizing the marginal likelihood;
the gradient goes through the Cholesky factor of the covariance. The measurements are simulated, so the truth is known.
"""

import argparse
import time
from pathlib import Path

import numpy
from matplotlib.figure import Figure
from scipy.optimize import minimize

import fastgrad.numpy as np
from fastgrad import hessian, value_and_grad

NAMES = ("amplitude (%)", "spot lifetime (d)", "period (d)", "smoothness", "noise (%)")
TRUTH = numpy.array([1.0, 15.0, 5.0, 0.6, 0.15])
GUESS = numpy.array([0.7, 8.0, 4.6, 1.0, 0.3])


def kernel(log_h, s, t):
    """Return the covariance of the brightness at the times s with that at the times t."""
    amplitude, lifetime, period, smoothness = np.exp(log_h[:4])
    lag = s[:, None] - t
    decay = (lag / lifetime) ** 2
    return amplitude**2 * np.exp(-0.5 * decay - 2.0 * (np.sin(np.pi * lag / period) / smoothness) ** 2)


def covariance(log_h, t):
    """Return the covariance of the measurements: kernel and noise."""
    return kernel(log_h, t, t) + np.exp(2.0 * log_h[4]) * numpy.eye(len(t))


def negative_log_likelihood(log_h, t, y):
    """Return -log p(y), with the brightness itself integrated out."""
    factor = np.linalg.cholesky(covariance(log_h, t))
    whitened = np.linalg.solve(factor, y)
    return 0.5 * np.sum(whitened**2) + np.sum(np.log(np.diag(factor))) + 0.5 * len(y) * np.log(2.0 * np.pi)


def predict(log_h, t, y, t_new):
    """Return the mean and the standard deviation of the brightness at new times."""
    cross = kernel(log_h, t_new, t)
    gain = numpy.linalg.solve(covariance(log_h, t), cross.T).T
    variance = numpy.exp(2.0 * log_h[0]) - numpy.sum(gain * cross, axis=1)
    return gain @ y, numpy.sqrt(numpy.maximum(variance, 0.0))


def simulate(nights):
    """Return the true brightness on a fine grid, and the times and values of the measurements."""
    rng = numpy.random.default_rng(3)
    grid = numpy.linspace(0.0, 40.0, 801)
    jitter = 1e-8 * numpy.eye(len(grid))
    brightness = numpy.linalg.cholesky(kernel(numpy.log(TRUTH), grid, grid) + jitter) @ rng.normal(size=len(grid))
    clear = numpy.flatnonzero((grid < 16.0) | ((grid > 22.0) & (grid < 34.0)))  # bad weather, and the end of the run
    seen = numpy.sort(rng.choice(clear, nights, replace=False))
    return grid, brightness, grid[seen], brightness[seen] + TRUTH[4] * rng.normal(size=nights)


def draw(path, grid, brightness, t, y, before, after):
    """Draw the prediction before and after the fit, and save the figure."""
    figure = Figure(figsize=(9, 6), layout="constrained")
    for axes, (mean, sd), title in zip(
        figure.subplots(2, 1, sharex=True, sharey=True), (before, after), ("first guess", "fitted"), strict=True
    ):
        axes.fill_between(grid, mean - 2 * sd, mean + 2 * sd, color="#0072B2", alpha=0.2, linewidth=0, label="±2 sd")
        axes.plot(grid, mean, color="#0072B2", label="prediction")
        axes.plot(grid, brightness, color="black", linewidth=1, linestyle=":", label="truth")
        axes.plot(t, y, ".", color="#D55E00", label="measurements")
        axes.set(title=f"Hyperparameters: {title}", ylabel="brightness (%)")
        axes.spines[["top", "right"]].set_visible(False)
    axes.set(xlabel="time (days)")
    axes.legend(frameon=False, ncols=4, loc="lower left")
    figure.savefig(path, format="png", dpi=100)


def main(argv=None):
    """Fit, report and draw; return the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default="gaussian_process.png", metavar="PNG")
    parser.add_argument("--quick", action="store_true", help="with fewer measurements")
    options = parser.parse_args(argv)
    grid, brightness, t, y = simulate(60 if options.quick else 120)

    start = time.perf_counter()
    objective = value_and_grad(negative_log_likelihood)
    fit = minimize(objective, numpy.log(GUESS), args=(t, y), jac=True, method="L-BFGS-B")
    # The curvature of the likelihood at its maximum tells how well each hyperparameter is known.
    log_sd = numpy.sqrt(numpy.diag(numpy.linalg.inv(hessian(negative_log_likelihood)(fit.x, t, y))))
    seconds = time.perf_counter() - start

    found = numpy.exp(fit.x)
    before, after = (predict(log_h, t, y, grid) for log_h in (numpy.log(GUESS), fit.x))
    inside = numpy.mean(numpy.abs(brightness - after[0]) < 2.0 * after[1])
    print(f"{len(t)} measurements, {fit.njev} gradients and a Hessian in {seconds:.2f} s")
    print(f"{'':18} {'guess':>7} {'fitted':>7} {'±':>6} {'truth':>7}")
    for row in zip(NAMES, GUESS, found, found * log_sd, TRUTH, strict=True):
        print("{:18} {:7.2f} {:7.2f} {:6.2f} {:7.2f}".format(*row))
    print(f"The band of ±2 sd holds {inside:.0%} of the true curve.")
    draw(options.output, grid, brightness, t, y, before, after)
    return {"found": found, "sd": found * log_sd, "inside": inside, "fit": fit}


if __name__ == "__main__":
    main()
