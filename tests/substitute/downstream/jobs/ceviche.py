"""FDFD gradients in both polarisations."""

import autograd.numpy as np
import ceviche
import numpy as onp
from ceviche.jacobians import jacobian

SHAPE, PML, DL = (60, 60), [10, 10], 5e-8
OMEGA = 2 * onp.pi * 200e12
SOURCE = onp.zeros(SHAPE)
SOURCE[15, 20:40] = 1.0
DESIGN = onp.zeros(SHAPE)
DESIGN[22:38, 22:38] = 1.0


def power_hz(rho):
    eps = 1 + DESIGN * (1 + 4 * (1 + np.tanh(4 * np.reshape(rho, SHAPE))))
    fields = ceviche.fdfd_hz(OMEGA, DL, eps, PML).solve(SOURCE)
    return np.sum(np.abs(fields[2])[45, 25:35]) * 1e6


def power_ez(rho):
    eps = 1 + DESIGN * (1 + 4 * (1 + np.tanh(4 * np.reshape(rho, SHAPE))))
    fields = ceviche.fdfd_ez(OMEGA, DL, eps, PML).solve(SOURCE)
    return np.sum(np.square(np.abs(fields[2])[45, 25:35])) * 1e6


def job():
    rho = 0.1 * onp.random.default_rng(0).normal(size=SHAPE).ravel()
    for _ in range(2):
        step = jacobian(power_ez, mode="reverse")(rho).ravel()
        rho = rho + 0.1 * step / onp.abs(step).max()
    return {"ez": [rho, power_ez(rho)], "hz": jacobian(power_hz, mode="reverse")(rho)}
