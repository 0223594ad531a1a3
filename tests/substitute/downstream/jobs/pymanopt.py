"""Optimisation on Stiefel and SPD manifolds."""

import autograd.numpy as np
import numpy as onp
import pymanopt
from pymanopt.manifolds import Stiefel, SymmetricPositiveDefinite
from pymanopt.optimizers import ConjugateGradient, TrustRegions

RNG = onp.random.default_rng(0)
MATRIX = RNG.normal(size=(12, 12))
MATRIX = MATRIX + MATRIX.T
FACTORS = RNG.normal(size=(6, 4, 4))
SAMPLES = FACTORS @ FACTORS.transpose(0, 2, 1) + onp.eye(4)

STIEFEL = Stiefel(12, 3)
SPD = SymmetricPositiveDefinite(4)


@pymanopt.function.autograd(STIEFEL)
def brockett(X):
    return -np.trace(X.T @ MATRIX @ X @ np.diag(np.arange(1.0, 4.0)))


@pymanopt.function.autograd(SPD)
def divergence(X):
    return sum(np.linalg.slogdet((X + S) / 2)[1] - np.linalg.slogdet(X)[1] / 2 for S in SAMPLES)


def job():
    start, _ = onp.linalg.qr(onp.random.default_rng(1).normal(size=(12, 3)))
    options = {"verbosity": 0, "min_gradient_norm": 1e-8, "max_time": 1e9}
    on_stiefel = ConjugateGradient(max_iterations=60, **options).run(
        pymanopt.Problem(STIEFEL, brockett), initial_point=start
    )
    on_spd = TrustRegions(max_iterations=10, **options).run(
        pymanopt.Problem(SPD, divergence), initial_point=onp.eye(4), maxinner=6
    )
    return {"stiefel": on_stiefel.cost, "spd": [on_spd.point, on_spd.cost]}
