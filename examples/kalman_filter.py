"""Fit a state-space model by the likelihood that its Kalman filter gives, and smooth by one more gradient.

    python examples/kalman_filter.py [--output kalman_filter.png] [--quick]

The state is a noisy oscillator: every step turns a vector of two components, shrinks it a little, and adds a random
push. The first component is measured, with noise. The filter is a loop over the measurements. Period, damping and both
noises are found by maximizing the likelihood, whose gradient goes back through the loop. The data are simulated.
"""

import argparse
import time
from pathlib import Path

import numpy
from matplotlib.figure import Figure
from scipy.optimize import minimize

import fastgrad.numpy as np
from fastgrad import grad, hessian, value_and_grad

NAMES = ("period (steps)", "decay time (steps)", "process noise", "measurement noise")
TRUTH = numpy.array([25.0, 40.0, 0.4, 1.0])
GUESS = numpy.array([20.0, 20.0, 1.0, 0.5])
IDENTITY = numpy.eye(2)


def transition(period, decay):
    """Return the matrix that turns by 360°/period and shrinks by exp(-1/decay)."""
    shrink, angle = np.exp(-1.0 / decay), 2.0 * np.pi / period
    c, s = shrink * np.cos(angle), shrink * np.sin(angle)
    return np.array([[c, -s], [s, c]])


def kalman_filter(log_p, y):
    """Return log p(y), and for every time the mean and the variance of the state given the measurements so far."""
    period, decay, process, noise = np.exp(log_p)
    a = transition(period, decay)
    # Before the first measurement: the distribution that the motion neither widens nor narrows.
    mean, covariance = numpy.zeros(2), process**2 / (1.0 - np.exp(-2.0 / decay)) * IDENTITY
    log_p_y, means, variances = 0.0, [], []
    for measured in y:
        innovation, variance = measured - mean[0], covariance[0, 0] + noise**2
        log_p_y = log_p_y - 0.5 * (np.log(2.0 * np.pi * variance) + innovation**2 / variance)
        gain = covariance[:, 0] / variance
        mean, covariance = mean + gain * innovation, covariance - np.outer(gain, covariance[0])
        means.append(mean)
        variances.append(covariance)
        mean, covariance = a @ mean, a @ covariance @ a.T + process**2 * IDENTITY
    return log_p_y, means, variances


def negative_log_likelihood(log_p, y):
    """Return -log p(y), the function to be minimized."""
    return -kalman_filter(log_p, y)[0]


def smoothed(log_p, y):
    """Return the mean of the first component at every time, given all measurements.

    By Tweedie's formula it is y + noise² d log p(y) / dy, so the gradient replaces a backward recursion.
    """
    return y - np.exp(2.0 * log_p[3]) * grad(negative_log_likelihood, 1)(log_p, y)


def simulate(steps):
    """Return the states, shape (steps, 2), and the measurements."""
    rng = numpy.random.default_rng(1)
    period, decay, process, noise = TRUTH
    states = [rng.normal(size=2) * process / numpy.sqrt(1.0 - numpy.exp(-2.0 / decay))]
    for _ in range(steps - 1):
        states.append(transition(period, decay) @ states[-1] + process * rng.normal(size=2))
    states = numpy.array(states)
    return states, states[:, 0] + noise * rng.normal(size=steps)


def draw(path, states, y, means, sds, smooth):
    """Draw both components over the last 120 steps, and save the figure."""
    figure = Figure(figsize=(9, 6), layout="constrained")
    first, second = figure.subplots(2, 1, sharex=True)
    times = numpy.arange(len(y))[-120:]
    first.plot(times, y[times], ".", color="#8C8C8C", label="measured")
    for axes, i in (first, 0), (second, 1):
        mean, sd = means[times, i], sds[times, i]
        axes.fill_between(times, mean - 2 * sd, mean + 2 * sd, color="#0072B2", alpha=0.2, linewidth=0, label="±2 sd")
        axes.plot(times, mean, color="#0072B2", label="filtered")
        axes.plot(times, states[times, i], color="black", linewidth=1, linestyle=":", label="truth")
        axes.spines[["top", "right"]].set_visible(False)
    first.plot(times, smooth[times], color="#D55E00", label="smoothed")
    first.set(title="The measured component", ylabel="state 1")
    second.set(title="The hidden component", ylabel="state 2", xlabel="time (steps)")
    first.set_ylim(1.6 * min(y[times]), None)
    first.legend(frameon=False, ncols=5, loc="lower left")
    figure.savefig(path, format="png", dpi=100)


def main(argv=None):
    """Fit, report and draw; return the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default="kalman_filter.png", metavar="PNG")
    parser.add_argument("--quick", action="store_true", help="with fewer measurements")
    options = parser.parse_args(argv)
    states, y = simulate(200 if options.quick else 800)

    start = time.perf_counter()
    fit = minimize(value_and_grad(negative_log_likelihood), numpy.log(GUESS), args=(y,), jac=True, method="BFGS")
    log_sd = numpy.sqrt(numpy.diag(numpy.linalg.inv(hessian(negative_log_likelihood)(fit.x, y))))
    smooth = smoothed(fit.x, y)
    seconds = time.perf_counter() - start

    found = numpy.exp(fit.x)
    _, means, variances = kalman_filter(fit.x, y)
    means, sds = numpy.array(means), numpy.sqrt(numpy.diagonal(variances, axis1=1, axis2=2))
    rms = [numpy.sqrt(numpy.mean((x - states[:, 0]) ** 2)) for x in (y, means[:, 0], smooth)]
    print(f"{len(y)} measurements, {fit.njev} gradients and a Hessian in {seconds:.2f} s")
    print(f"{'':18} {'guess':>7} {'fitted':>7} {'±':>6} {'truth':>7}")
    for row in zip(NAMES, GUESS, found, found * log_sd, TRUTH, strict=True):
        print("{:18} {:7.2f} {:7.2f} {:6.2f} {:7.2f}".format(*row))
    print("Error of the first component: {:.2f} measured, {:.2f} filtered, {:.2f} smoothed".format(*rms))
    draw(options.output, states, y, means, sds, smooth)
    return {"found": found, "sd": found * log_sd, "log_p": fit.x, "y": y, "smoothed": smooth, "rms": rms}


if __name__ == "__main__":
    main()
