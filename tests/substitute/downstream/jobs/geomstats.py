"""Geodesics and curvature of a metric given as a function."""

import os

os.environ["GEOMSTATS_BACKEND"] = "autograd"

import geomstats.backend as gs  # noqa: E402
from geomstats.geometry.euclidean import Euclidean  # noqa: E402
from geomstats.geometry.riemannian_metric import RiemannianMetric  # noqa: E402
from geomstats.numerics.geodesic import ExpODESolver, LogShootingSolver  # noqa: E402
from geomstats.numerics.ivp import GSIVPIntegrator  # noqa: E402


class HalfPlane(RiemannianMetric):
    def metric_matrix(self, base_point=None):
        y = base_point[..., 1]
        return gs.einsum("...,ij->...ij", 1 / y**2, gs.eye(2))


def geodesic():
    plane = Euclidean(2, equip=False)
    plane.equip_with_metric(HalfPlane)
    plane.metric.exp_solver = ExpODESolver(plane, integrator=GSIVPIntegrator(n_steps=10, step_type="rk4"))
    plane.metric.log_solver = LogShootingSolver(plane, flatten=True)
    start = gs.array([0.0, 1.0])
    end = plane.metric.exp(gs.array([0.5, 0.3]), start)
    return end, plane.metric.log(end, start), plane.metric.riemann_tensor(start)


def job():
    end, tangent, curvature = geodesic()
    return {"end": end, "tangent": tangent, "curvature": curvature}
