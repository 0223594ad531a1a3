"""Gradient of a patterned slab's reflection (RCWA)."""

import autograd.numpy as np
import grcwa
import numpy as onp
from autograd import grad

grcwa.set_backend("autograd")
PIXELS = 20


def reflection(params):
    layer = grcwa.obj(21, [0.9, 0], [0, 0.9], params[-1] + 0.0j, 0.1, 0.2, verbose=0)
    layer.Add_LayerUniform(1.0, 1.0)
    layer.Add_LayerGrid(params[-2], PIXELS, PIXELS)
    layer.Add_LayerUniform(1.0, 1.0)
    layer.Init_Setup()
    layer.GridLayer_geteps(params[:-2])
    layer.MakeExcitationPlanewave(1.0, 0.0, 0.0, 0.0, order=0)
    reflected, _ = layer.RT_Solve(normalize=1)
    return np.real(reflected)


def job():
    eps = 4 + onp.random.default_rng(0).uniform(0, 3, PIXELS**2)
    return {"gradient": grad(reflection)(onp.concatenate([eps, [0.3, 1.1]]))}
