"""Checks of batches of rows for one call of the table: they have the numbers of the same rows one by one."""

import math

import numpy as onp
from checks import EXACT_TOL

import fastgrad.numpy as np
from fastgrad._engine.core import NotBatchable
from fastgrad._jacobians import jacobians as _jacobians
from fastgrad.core import make_jvp as push_along
from fastgrad.core import make_vjp as pull_along
from fastgrad.core import vspace

# Calls that are not made on batches, with the reason.
ROW_BY_ROW = {
    "indexing-28": "arrays of indices that stand apart, whose places repeat",
    "indexing-29": "arrays of indices that stand apart, whose places repeat",
    "pad modes": "a staged rule that gives sparse cotangents",
}


def rows_one_by_one(vjp, space, x_space):
    both = space.iscomplex and not x_space.iscomplex
    rows = [_jacobians._row(vjp, vector, both) for vector in _jacobians._basis(space, 0, math.prod(space.shape))]
    return onp.array(rows)


def columns_one_by_one(push, x_space):
    basis = _jacobians._basis(x_space, 0, math.prod(x_space.shape))
    return onp.array([_jacobians._column(push, vector) for vector in basis])


def assert_same(batch, loop, precision, what):
    assert batch.shape == loop.shape and batch.dtype == loop.dtype, f"{what}: {batch.shape} {batch.dtype}"
    tol = EXACT_TOL[precision]
    tol *= 10 if precision in "fF" else 1
    assert onp.max(abs(batch - loop), initial=0) <= tol * (1 + onp.max(abs(loop), initial=0)), what


def check_batches(case, fun, x):
    """Check that the rows and columns of a Jacobian computed in batches are those computed one by one."""
    vjp, ans = pull_along(fun, x)
    space, x_space = vspace(ans), vspace(x)
    n, n_x = math.prod(space.shape), math.prod(x_space.shape)
    both = space.iscomplex and not x_space.iscomplex
    if n:
        loop = rows_one_by_one(vjp, space, x_space)
        try:
            batch = _jacobians._pulled(vjp, space, 0, n, both)
        except NotBatchable:
            assert any(case.id.startswith(name) for name in ROW_BY_ROW), "it does not go in a batch"
        else:
            assert_same(batch, loop, case.precision, "rows")
    if n_x:
        push = push_along(fun, x)
        ways = _jacobians._pushed(push, x_space, 0, n_x, 10**9), columns_one_by_one(push, x_space)
        batch, loop = (_jacobians._from_columns(columns, x, x_space) for columns in ways)
        assert_same(batch, loop, case.precision, "columns")


def functions_of_one(case):
    """Yield, for each variable of a case, the function of this variable alone, and the variable's value."""
    for i, x in enumerate(case.variables):

        def fun(value, i=i):
            given = [*case.variables[:i], value, *case.variables[i + 1 :]]
            outputs = case.outputs(case.call(np)(*given))
            return outputs[0] if len(outputs) == 1 else np.concatenate([np.ravel(output) for output in outputs])

        yield fun, x


def check_jacobian(case):
    """Check the Jacobian of a case with respect to each of its variables."""
    for fun, x in functions_of_one(case):
        check_batches(case, fun, x)


def check_jacobian_of_pullback(case):
    """Check the Jacobian of the pullback of a case with respect to each of its variables."""
    parts = [onp.ravel(g) for g in case.cotangents]
    g = case.cotangents[0] if len(parts) == 1 else onp.concatenate(parts)
    for fun, x in functions_of_one(case):
        check_batches(case, lambda value, fun=fun: pull_along(fun, value)[0](g), x)
