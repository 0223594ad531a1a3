"""Code as users write it, for `mypy --strict`; test_types.py runs it, too."""

from typing import Any

import numpy as onp
from numpy.typing import NDArray
from typing_extensions import assert_type

import fastgrad.numpy as np
from fastgrad import (
    checkpoint,
    elementwise_grad,
    grad,
    grad_and_aux,
    hessian,
    hessian_vector_product,
    jacobian,
    make_hvp,
    make_jvp,
    make_vjp,
    multigrad_dict,
    value_and_grad,
)
from fastgrad.extend import Box, VSpace, defjvp, defvjp, primitive, vspace
from fastgrad.misc import flatten
from fastgrad.misc.optimizers import adam
from fastgrad.tracer import getval, isbox

Array = NDArray[onp.float64]
Parameters = dict[str, Array]


def tanh(x: float) -> float:
    y: float = np.exp(-2.0 * x)
    return (1.0 - y) / (1.0 + y)


def loss(w: Array, x: Array, scale: float = 1.0) -> float:
    total: float = np.sum((x @ w) ** 2) * scale
    return total


def model_loss(params: Parameters, step: int) -> float:
    total: float = np.sum(np.tanh(params["w"]) ** 2) + np.sum(params["b"] ** 2)
    return total


@primitive
def logsumexp(x: Array) -> float:
    top: float = np.max(x)
    total: float = top + np.log(np.sum(np.exp(x - top)))
    return total


defvjp(logsumexp, lambda ans, x: lambda g: np.full(np.shape(x), g) * np.exp(x - np.full(np.shape(x), ans)))
defjvp(logsumexp, lambda g, ans, x: np.sum(g * np.exp(x - ans)))


@checkpoint
def layer(x: Array) -> Array:
    y: Array = np.tanh(x)
    return y


def scalar_derivatives() -> float:
    assert_type(grad(tanh)(0.5), float)
    assert_type(value_and_grad(tanh)(0.5), tuple[float, float])
    first = grad(tanh)
    assert_type(grad(first)(0.5), float)
    third: float = grad(grad(grad(tanh)))(0.5)
    return third


def descend(w: Array, x: Array) -> Array:
    gradient = grad(loss)
    assert_type(gradient(w, x, scale=2.0), Array)
    value, g = value_and_grad(loss)(w, x)
    assert_type(value, float)
    assert_type(g, Array)
    by_data: Array = grad(loss, 1)(w, x)
    both: tuple[Array, Array] = grad(loss, argnum=(0, 1))(w, x)
    assert both[1].shape == by_data.shape
    return w - 0.1 * g


def matrices(w: Array, x: Array) -> Array:
    curvature: Array = hessian(loss)(w, x)
    product: Array = hessian_vector_product(loss)(w, x, w)
    rows: Array = jacobian(layer)(w)
    multiply, gradient = make_hvp(loss)(w, x)
    assert_type(multiply(gradient), Array)
    pull, value = make_vjp(layer)(w)
    assert_type(pull(value), Array)
    assert_type(make_jvp(layer)(w)(w), tuple[Array, Array])
    assert_type(elementwise_grad(layer)(w), Array)
    return curvature + rows + product


def train(params: Parameters) -> Parameters:
    assert_type(grad(model_loss)(params, 0), Parameters)
    vector, unflatten = flatten(params)
    assert_type(unflatten(vector), Parameters)
    named: dict[str, Any] = multigrad_dict(loss)(np.ones(2), np.eye(2))
    assert set(named) == {"w", "x", "scale"}
    return adam(grad(model_loss), params, num_iters=2)


def with_auxiliary(w: Array) -> str:
    def pair(w: Array) -> tuple[float, str]:
        total: float = np.sum(w**2)
        return total, "kept"

    gradient, kept = grad_and_aux(pair)(w)
    assert_type(gradient, Array)
    return kept


def extension(w: Array) -> Array:
    space: VSpace = vspace(w)
    assert isbox(w) is False and getval(w) is w and Box is not None
    assert_type(logsumexp(w), float)
    assert space.iscomplex is False
    return grad(logsumexp)(w)


def main() -> None:
    w: Array = np.array([0.1, 0.2])
    x: Array = np.eye(2)
    scalar_derivatives()
    descend(w, x)
    matrices(w, x)
    train({"w": w, "b": np.zeros(1)})
    with_auxiliary(w)
    np.linalg.inv(x)
    extension(w)


if __name__ == "__main__":
    main()
