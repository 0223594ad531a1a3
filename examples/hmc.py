"""Sample a Bayesian logistic regression by Hamiltonian Monte Carlo: the O-rings of the space shuttle.

    python examples/hmc.py [--output hmc.png] [--quick]

Before the Challenger was lost, at 31 °F, there had been 23 flights at 53 °F and more; on 7 of them a sealing ring was
damaged (Dalal, Fowlkes and Hoadley 1989). How likely was damage at 31 °F? The posterior of the two coefficients is
sampled by four chains, whose step size is set by dual averaging (Hoffman and Gelman 2014). Every leapfrog step takes a
gradient, so there are tens of thousands.
"""

import argparse
import time
from pathlib import Path

import numpy
from matplotlib.figure import Figure

import fastgrad.numpy as np
from fastgrad import value_and_grad

TEMPERATURE = numpy.array(
    [66, 70, 69, 68, 67, 72, 73, 70, 57, 63, 70, 78, 67, 53, 67, 75, 70, 81, 76, 79, 75, 76, 58]
)  # fmt: skip
DAMAGED = numpy.array([0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1])
PRIOR_SD = 3.0
CHALLENGER = 31.0


def scaled(temperature):
    """Return the temperature in units of 10 °F, from 70 °F."""
    return (temperature - 70.0) / 10.0


def log_posterior(theta, x, y):
    """Return the log density of intercept and slope, up to a constant."""
    logit = theta[0] + theta[1] * x
    return np.sum(y * logit - np.logaddexp(0.0, logit)) - 0.5 * np.sum((theta / PRIOR_SD) ** 2)


class Target:
    """A log density with its gradient, which counts its calls."""

    def __init__(self, log_density, *data):
        self.function, self.data, self.calls = value_and_grad(log_density), data, 0

    def __call__(self, theta):
        self.calls += 1
        return self.function(theta, *self.data)


def leapfrog(target, theta, momentum, gradient, step, steps):
    """Follow the Hamiltonian flow; return the new state, with the log density and its gradient there."""
    for _ in range(steps):
        momentum = momentum + 0.5 * step * gradient
        theta = theta + step * momentum
        log_p, gradient = target(theta)
        momentum = momentum + 0.5 * step * gradient
    return theta, momentum, log_p, gradient


class DualAveraging:
    """Adapts a step size until the acceptance rate has the wished value."""

    def __init__(self, step, wished=0.8):
        self.centre, self.wished, self.error, self.log_mean, self.n = numpy.log(10.0 * step), wished, 0.0, 0.0, 0

    def update(self, acceptance):
        """Use the acceptance of one trajectory; return the step size for the next one."""
        self.n += 1
        self.error += (self.wished - acceptance - self.error) / (self.n + 10.0)
        log_step = self.centre - numpy.sqrt(self.n) / 0.05 * self.error
        self.log_mean += self.n**-0.75 * (log_step - self.log_mean)
        return numpy.exp(log_step)


def sample(target, start, draws, warmup, rng, length=3.0):
    """Return a chain, shape (draws, parameters), and its mean acceptance; trajectories are about `length` long."""
    theta, step, adaptation = start, 0.1, DualAveraging(0.1)
    log_p, gradient = target(theta)
    chain, acceptances = [], []
    for i in range(warmup + draws):
        momentum = rng.normal(size=len(theta))
        # A random length keeps the chain from running in circles.
        steps = max(1, int(rng.uniform(0.5, 1.5) * length / step))
        new = leapfrog(target, theta, momentum, gradient, step, min(steps, 100))
        gain = new[2] - log_p - 0.5 * (numpy.sum(new[1] ** 2) - numpy.sum(momentum**2))
        acceptance = numpy.exp(min(0.0, gain))
        if rng.uniform() < acceptance:
            theta, _, log_p, gradient = new
        if i < warmup:
            step = adaptation.update(acceptance)
        else:
            step = numpy.exp(adaptation.log_mean)
            chain.append(theta)
            acceptances.append(acceptance)
    return numpy.array(chain), numpy.mean(acceptances)


def r_hat(chains):
    """Return for each parameter the spread of all chains over the spread within a chain; it tends to 1."""
    draws = chains.shape[1]
    within = chains.var(axis=1, ddof=1).mean(axis=0)
    between = chains.mean(axis=1).var(axis=0, ddof=1)
    return numpy.sqrt((draws - 1) / draws + between / within)


def draw(path, chains):
    """Draw the posterior of the coefficients, and that of the chance of damage, and save the figure."""
    figure = Figure(figsize=(9, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    for chain, color in zip(chains, ("#0072B2", "#E69F00", "#009E73", "#CC79A7"), strict=True):
        left.plot(*chain[::5].T, "o", markersize=3, alpha=0.6, color=color, markeredgewidth=0)
    left.set(title="Posterior, a colour for each chain", xlabel="log odds at 70 °F", ylabel="slope per 10 °F")
    grid = numpy.linspace(28.0, 85.0, 200)
    theta = chains.reshape(-1, 2)[::5]
    chance = 1.0 / (1.0 + numpy.exp(-(theta[:, :1] + theta[:, 1:] * scaled(grid))))
    low, middle, high = numpy.quantile(chance, (0.05, 0.5, 0.95), axis=0)
    right.fill_between(grid, low, high, color="#0072B2", alpha=0.2, linewidth=0, label="90 % interval")
    right.plot(grid, middle, color="#0072B2", label="median")
    right.plot(TEMPERATURE, DAMAGED, "o", color="#D55E00", markerfacecolor="none", label="flights")
    right.axvline(CHALLENGER, color="black", linewidth=1, linestyle=":")
    right.text(CHALLENGER + 0.7, 0.42, "Challenger", rotation=90)
    right.set(title="Chance of a damaged ring", xlabel="temperature (°F)", ylim=(-0.03, 1.03))
    right.legend(frameon=False, loc="upper right", bbox_to_anchor=(1.0, 0.9))
    for axes in left, right:
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, format="png", dpi=100)


def main(argv=None):
    """Sample, report and draw; return the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default="hmc.png", metavar="PNG")
    parser.add_argument("--quick", action="store_true", help="with fewer draws")
    options = parser.parse_args(argv)
    draws, warmup = (500, 200) if options.quick else (2000, 500)

    target = Target(log_posterior, scaled(TEMPERATURE), DAMAGED)
    rng = numpy.random.default_rng(0)
    start = time.perf_counter()
    runs = [sample(target, rng.normal(size=2), draws, warmup, rng) for _ in range(4)]
    seconds = time.perf_counter() - start

    chains = numpy.array([chain for chain, _ in runs])
    theta = chains.reshape(-1, 2)
    mean, sd = theta.mean(axis=0), theta.std(axis=0)
    at_31 = numpy.mean(1.0 / (1.0 + numpy.exp(-(theta @ [1.0, scaled(CHALLENGER)]))))
    print(f"4 chains of {draws} draws: {target.calls:,} gradients in {seconds:.2f} s")
    print(f"acceptance {numpy.mean([rate for _, rate in runs]):.2f}, R-hat {r_hat(chains).max():.3f}")
    for name, *row in zip(("log odds at 70 °F", "slope per 10 °F"), mean, sd, strict=True):
        print("{:18} {:6.2f} ± {:.2f}".format(name, *row))
    print(f"Chance of damage at 31 °F: {at_31:.3f}")
    draw(options.output, chains)
    return {"mean": mean, "sd": sd, "r_hat": r_hat(chains), "at_31": at_31, "calls": target.calls}


if __name__ == "__main__":
    main()
