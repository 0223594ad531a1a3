"""Sensitivity of an optimum to its weights (with vittles)."""

import autograd.numpy as np
import numpy as onp
import paragami
import vittles
from scipy.optimize import minimize

RNG = onp.random.default_rng(0)
DATA = RNG.multivariate_normal(onp.zeros(3), [[1, 0.3, 0], [0.3, 2, 0.1], [0, 0.1, 1]], size=50)
PATTERN = paragami.PatternDict()
PATTERN["mean"] = paragami.NumericVectorPattern(3)
PATTERN["precision"] = paragami.PSDSymmetricMatrixPattern(3)


def loss(params, weights):
    centred = DATA - params["mean"]
    quadratic = np.einsum("ni,ij,nj->n", centred, params["precision"], centred)
    return np.mean(weights * (quadratic - np.linalg.slogdet(params["precision"])[1])) / 2


def job():
    weights = onp.ones(50)
    flat_loss = paragami.FlattenFunctionInput(loss, PATTERN, free=True)
    objective = paragami.OptimizationObjective(lambda flat: flat_loss(flat, weights))
    start = PATTERN.flatten({"mean": onp.full(3, 0.5), "precision": onp.eye(3)}, free=True)
    fit = minimize(objective.f, start, jac=objective.grad, hess=objective.hessian, method="trust-exact", tol=1e-10)
    sensitivity = vittles.HyperparameterSensitivityLinearApproximation(flat_loss, fit.x, weights)
    return {"fit": fit.x, "sensitivity": sensitivity.get_dopt_dhyper()}
