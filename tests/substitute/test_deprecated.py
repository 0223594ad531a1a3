"""Deprecated functions of autograd work, with a warning."""

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import grad, primitive
from fastgrad.util import quick_grad_check


def product():
    @primitive
    def f(x, y):
        return x * y**2

    return f


def test_defgrad():
    f = product()
    with pytest.warns(UserWarning, match="defgrad method is deprecated"):
        f.defgrad(lambda ans, x, y: lambda g: g * y**2)
        f.defgrad(lambda ans, x, y: lambda g: g * 2 * x * y, argnum=1)
    assert grad(f, (0, 1))(2.0, 3.0) == (9.0, 12.0)


def test_defvjp_method():
    f = product()
    with pytest.warns(UserWarning, match="defvjp method is deprecated"):
        f.defvjp(lambda g, ans, vs, gvs, x, y: g * y**2 + 0 * (vs.size + gvs.size))
        f.defvjp(lambda g, ans, vs, gvs, x, y: g * 2 * x * y, argnum=1)
    assert grad(f, (0, 1))(2.0, 3.0) == (9.0, 12.0)


def test_defvjp_is_zero():
    f = product()
    with pytest.warns(UserWarning, match="defvjp_is_zero method is deprecated"):
        f.defvjp_is_zero(argnums=(0, 1))
    assert grad(f, (0, 1))(2.0, 3.0) == (0.0, 0.0)


def test_quick_grad_check():
    with pytest.warns(UserWarning, match="quick_grad_check function is deprecated"):
        quick_grad_check(lambda x, a, b=1.0: np.sum(a * b * x**2), onp.ones(2), (2.0,), {"b": 3.0})

    @primitive
    def wrong(x):
        return x**2

    with pytest.warns(UserWarning):
        wrong.defgrad(lambda ans, x: lambda g: g * x)
        with pytest.raises(AssertionError):
            quick_grad_check(wrong, 1.5)
