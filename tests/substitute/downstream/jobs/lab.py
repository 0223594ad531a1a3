"""Gaussian process: marginal likelihood, gradient, Hessian."""

import lab.autograd as B
import numpy as onp
from autograd import grad, hessian

RNG = onp.random.default_rng(0)
X = onp.linspace(0, 5, 40)[:, None]
Y = onp.sin(2 * X) + 0.1 * RNG.normal(size=X.shape)


def loss(params):
    scale, length, noise = B.exp(params[0]), B.exp(params[1]), B.exp(params[2])
    covariance = scale * B.exp(-0.5 * B.pw_dists2(X, X) / length**2) + noise * B.eye(40)
    factor = B.cholesky(covariance)
    whitened = B.triangular_solve(factor, Y)
    return 0.5 * B.sum(whitened**2) + B.sum(B.log(B.diag(factor)))


def job():
    params = onp.array([0.1, -0.2, -2.0])
    for _ in range(20):
        params = params - 0.01 * grad(loss)(params)
    return {"params": params, "hessian": hessian(loss)(params)}
