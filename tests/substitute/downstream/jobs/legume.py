"""Gradient of a photonic crystal slab's bands and losses."""

import autograd.numpy as np
import legume
import numpy as onp
from autograd import grad

legume.set_backend("autograd")


def frequency(params):
    radius, shift = params
    lattice = legume.Lattice("hexagonal")
    crystal = legume.PhotCryst(lattice)
    crystal.add_layer(d=0.5, eps_b=12.0)
    crystal.layers[-1].add_shape(legume.Circle(eps=1.0, r=radius, x_cent=shift))
    gme = legume.GuidedModeExp(crystal, gmax=4)
    gme.run(kpoints=onp.array([[0.5, 1.0], [0.0, 0.4]]), gmode_inds=[0, 1, 2, 3], numeig=4, verbose=False)
    return np.sum(gme.freqs[:, 1]) - np.log(1e-3 + np.sum(gme.freqs_im[:, 3]))


def job():
    return {"gradient": grad(frequency)(np.array([0.3, 0.02]))}
