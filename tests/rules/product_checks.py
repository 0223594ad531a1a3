"""The check of products: both modes against NumPy's own products, since products are linear in each argument."""

from functools import partial

import numpy as onp

import fastgrad.numpy as np
from fastgrad.core import make_jvp, make_vjp


def draw(shape, dtype="d"):
    entries = onp.random.uniform(-1.5, 1.5, shape)
    if dtype in "DF":
        entries = entries + 1j * onp.random.uniform(-1.5, 1.5, shape)
    return onp.asarray(entries).astype(dtype)


def is_variable(arg):
    return isinstance(arg, float) or (isinstance(arg, onp.ndarray) and arg.dtype.kind in "fc")


def replaced(args, k, value):
    return (*args[:k], value, *args[k + 1 :])


def cotangent_by_basis(fun, args, k, g):
    """Return the k-th cotangent from a call of NumPy for each entry, or two calls if the entry is complex."""
    x = onp.asarray(args[k])
    cotangent = onp.zeros(x.shape, "D" if x.dtype.kind == "c" else "d")
    for index in onp.ndindex(x.shape):
        for unit in (1, 1j) if x.dtype.kind == "c" else (1,):
            basis = onp.zeros_like(x)
            basis[index] = unit
            cotangent[index] += onp.sum(g * fun(*replaced(args, k, basis))).real * onp.conj(unit)
    return cotangent


def check(name, *args, **kwargs):
    """Compare both modes, each argument alone and all at once, with NumPy."""
    fun, ours = (partial(getattr(module, name), **kwargs) for module in (onp, np))
    answer = fun(*args)
    g = draw(onp.shape(answer), answer.dtype.char)
    variables = [k for k, arg in enumerate(args) if is_variable(arg)]
    tolerance = 2e-5 if any(getattr(args[k], "dtype", "d") in ("f", "F") for k in variables) else 1e-12

    def of_all(values):
        full = list(args)
        for i, k in enumerate(variables):
            full[k] = values[i]
        return ours(*full)

    at_once = make_vjp(of_all, [args[k] for k in variables])[0](g)
    for together, k in zip(at_once, variables, strict=True):
        cotangent = make_vjp(lambda x, k=k: ours(*replaced(args, k, x)), args[k])[0](g)
        wanted = cotangent_by_basis(fun, args, k, g)
        for found in (cotangent, together):
            assert onp.shape(found) == wanted.shape
            assert found.dtype == onp.asarray(args[k]).dtype
            onp.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)
        tangent = draw(onp.shape(args[k]), onp.asarray(args[k]).dtype.char)
        pushed = make_jvp(lambda x, k=k: ours(*replaced(args, k, x)), args[k])(tangent)[1]
        assert onp.shape(pushed) == onp.shape(answer) and pushed.dtype == answer.dtype
        onp.testing.assert_allclose(pushed, fun(*replaced(args, k, tangent)), rtol=tolerance, atol=tolerance)
