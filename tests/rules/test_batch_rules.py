"""Every primitive of the table, and its pullback, called on batches of rows."""

import math

import numpy as onp
import pytest
from batch_checks import ROW_BY_ROW, check_jacobian, check_jacobian_of_pullback, functions_of_one
from checks import DIFFERENTIABLE, TWICE

import fastgrad.numpy as np
from fastgrad._jacobians import jacobians as _jacobians
from fastgrad.core import make_jvp as push_along
from fastgrad.core import make_vjp as pull_along
from fastgrad.core import vspace

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Output seems independent of input")]


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=str)
def test_jacobian_of_every_primitive(case):
    check_jacobian(case)


@pytest.mark.parametrize("case", TWICE, ids=str)
def test_jacobian_of_every_pullback(case):
    check_jacobian_of_pullback(case)


@pytest.mark.parametrize("case", TWICE[::4], ids=str)
def test_batches_are_traced(case):
    # The rows are boxes of an outer trace: batch rules consist of primitives, so they are differentiated too.
    def norm(fun, x, batch):
        vjp, ans = pull_along(fun, x)
        space, x_space = vspace(ans), vspace(x)
        both = space.iscomplex and not x_space.iscomplex
        n = math.prod(space.shape)
        if batch:
            rows = _jacobians._pulled(vjp, space, 0, n, both)
        else:
            rows = _jacobians.stacked([_jacobians._row(vjp, g, both) for g in _jacobians._basis(space, 0, n)])
        return np.sum(np.real(rows * np.cos(onp.arange(float(np.size(rows))).reshape(np.shape(rows)))))

    for fun, x in functions_of_one(case):
        if not 0 < onp.size(fun(x)) * onp.size(x) <= 100 or any(case.id.startswith(name) for name in ROW_BY_ROW):
            continue
        batch, loop = (pull_along(lambda x, fun=fun, way=way: norm(fun, x, way), x)[0](1.0) for way in (True, False))
        onp.testing.assert_allclose(batch, loop, rtol=1e-9, atol=1e-9 * (1 + onp.max(abs(loop))))
        batch, loop = (push_along(lambda x, fun=fun, way=way: norm(fun, x, way), x)(x)[1] for way in (True, False))
        onp.testing.assert_allclose(batch, loop, rtol=1e-9, atol=1e-9 * (1 + abs(loop)))
