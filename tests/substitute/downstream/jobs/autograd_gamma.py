"""Gamma regression with censoring by maximum likelihood."""

import autograd.numpy as np
import numpy as onp
from autograd import value_and_grad
from autograd_gamma import gammainccln, gammaincinv, gammaln
from scipy.optimize import minimize

RNG = onp.random.default_rng(0)
X = onp.column_stack([onp.ones(200), RNG.normal(size=200)])
TIMES = RNG.gamma(2.0, onp.exp(X @ [0.3, 0.5]))
OBSERVED = TIMES < 4.0
TIMES = onp.minimum(TIMES, 4.0)


def loss(params):
    shape, scaled = np.exp(params[0]), TIMES * np.exp(-np.dot(X, params[1:]))
    log_density = (shape - 1) * np.log(scaled) - scaled - gammaln(shape) - np.dot(X, params[1:])
    return -np.mean(np.where(OBSERVED, log_density, gammainccln(shape, scaled)))


def job():
    fit = minimize(value_and_grad(loss), onp.zeros(3), jac=True, method="L-BFGS-B", options={"maxiter": 12})
    median = value_and_grad(lambda shape: gammaincinv(shape, 0.5))(onp.exp(fit.x[0]))
    return {"fit": [fit.x, fit.fun], "median": median}
