"""Hamiltonian Monte Carlo, unconstrained and on a manifold."""

import autograd.numpy as np
import mici
import numpy as onp


def density(q):
    return 0.5 * np.sum(q**2) + (q[1] - q[0] ** 2) ** 2 + 0.1 * np.sum(np.cos(q)) ** 2


def constraint(q):
    return np.array([np.sum(q**2) + 0.3 * np.sin(3 * q[0]) - 2.0])


def run(system, integrator, start):
    sampler = mici.samplers.StaticMetropolisHMC(system, integrator, onp.random.default_rng(1), n_step=8)
    _, traces, _ = sampler.sample_chains(0, 15, [start], display_progress=False, adapters=[])
    return traces["pos"][0]


def job():
    euclidean = mici.systems.EuclideanMetricSystem(density, backend="autograd")
    constrained = mici.systems.DenseConstrainedEuclideanMetricSystem(density, constr=constraint, backend="autograd")
    start = onp.array([0.5, 1.0, -0.5])
    on_manifold = onp.array([0.0, 1.0, 1.0])
    return {
        "euclidean": run(euclidean, mici.integrators.LeapfrogIntegrator(euclidean, 0.1), start),
        "constrained": run(constrained, mici.integrators.ConstrainedLeapfrogIntegrator(constrained, 0.1), on_manifold),
    }
