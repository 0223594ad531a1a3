"""Errors of derived observables, a fit and a root."""

import autograd.numpy as np
import numpy as onp
import pyerrors as pe

X = onp.arange(1, 9) * 0.25


def model(p, x):
    return p[0] * np.exp(-p[1] * x) + p[2]


def job():
    rng = onp.random.default_rng(0)
    samples = 2.0 * onp.exp(-0.7 * X) + 0.3 + 0.05 * rng.normal(size=(200, 8))
    data = [pe.Obs([samples[:, i]], ["ensemble"]) for i in range(8)]
    for obs in data:
        obs.gamma_method()
    fit = pe.fits.least_squares(X, data, model, silent=True)
    matrix = onp.array(data[:4]).reshape(2, 2) + onp.eye(2)
    derived = [
        pe.derived_observable(lambda x, **kwargs: np.sin(x[0]) * np.log(x[1]) / x[2], data[:3]),
        pe.linalg.det(matrix),
        *pe.linalg.inv(matrix).ravel(),
        pe.roots.find_root(data[0], lambda x, d: np.exp(x) - d * 2.0, guess=0.5),
        *fit.fit_parameters,
    ]
    for obs in derived:
        obs.gamma_method()
    return {"values": [obs.value for obs in derived], "errors": [obs.dvalue for obs in derived]}
