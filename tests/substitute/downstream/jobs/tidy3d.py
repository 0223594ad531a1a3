"""Topology optimisation: filters, projections, penalties."""

import autograd.numpy as np
import numpy as onp
import tidy3d as td
from autograd import value_and_grad
from tidy3d.plugins.autograd import grey_dilation, make_erosion_dilation_penalty, make_filter_and_project

FILTER = make_filter_and_project(radius=0.06, dl=0.02, beta=8.0)
PENALTY = make_erosion_dilation_penalty(radius=0.06, dl=0.02)


def objective(params):
    density = FILTER(params)
    structure = td.Structure(geometry=td.Box(size=(density[0, 0] + 1.0, 1, 1)), medium=td.Medium(permittivity=2.0))
    contrast = np.mean(grey_dilation(density, size=3) - density)
    return PENALTY(density) + contrast + structure.geometry.size[0] * np.mean(density**2)


def job():
    params = onp.random.default_rng(0).uniform(0, 1, (40, 40))
    for _ in range(3):
        value, gradient = value_and_grad(objective)(params)
        params = onp.clip(params - 10.0 * gradient, 0, 1)
    return {"params": params, "value": value}
