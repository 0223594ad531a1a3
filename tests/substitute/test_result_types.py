"""Results of operators have the type, shape and dtype of autograd's."""

import importlib

import numpy as onp
import pytest

X = onp.array([0.5, 1.5, -0.7])


def scalar(np):
    return lambda x: x * x + np.sin(x)


def total(np):
    return lambda x: np.sum(np.sin(x) * x)


def vector(np):
    return lambda x: np.sin(x) * x[::-1]


F32 = onp.array([0.5, 1.5, -0.7], onp.float32)
CASES = [
    ("grad", scalar, 2.0),
    ("grad", scalar, onp.float64(2.0)),
    ("grad", scalar, onp.float32(2.0)),
    ("grad", scalar, onp.array(2.0)),
    ("grad", total, X),
    ("grad", total, F32),
    ("grad", total, X.reshape(3, 1)),
    ("grad", lambda np: lambda x: x, 2.0),
    ("grad", lambda np: lambda x: x + 1.0, 2.0),
    ("grad", lambda np: lambda x: x[1], X),
    ("grad", lambda np: lambda x: -x, 2.0),
    ("grad", lambda np: lambda x: np.sum(x * onp.ones(3)), 2.0),
    ("grad", lambda np: lambda x: x[0] * x[1], (2.0, 3.0)),
    ("grad", lambda np: lambda x: x[0] * x[1][0], [2.0, [3.0, 1.0]]),
    ("grad", lambda np: lambda x: x["a"] * np.sum(x["b"]), {"a": 2.0, "b": X}),
    ("grad", lambda np: lambda x: np.real(x * x), 1.0 + 2.0j),
    ("grad", lambda np: lambda x: np.real(np.sum(x * np.conj(x))), X + 1j),
    ("value_and_grad", scalar, 2.0),
    ("value_and_grad", total, X),
    ("value_and_grad", total, F32),
    ("elementwise_grad", scalar, 2.0),
    ("elementwise_grad", vector, X),
    ("elementwise_grad", vector, F32),
    ("deriv", scalar, 2.0),
    ("deriv", vector, X),
    ("deriv", vector, F32),
    ("jacobian", scalar, 2.0),
    ("jacobian", total, X),
    ("jacobian", vector, X),
    ("jacobian", vector, F32),
    ("hessian", scalar, 2.0),
    ("hessian", total, X),
    ("holomorphic_grad", scalar, 1.0 + 2.0j),
    ("holomorphic_grad", lambda np: lambda x: np.sum(np.sin(x)), X + 1j),
    ("grad_and_aux", lambda np: lambda x: (x * x, x * 3.0), 2.0),
]


def kind(value):
    """Return a description of a result that two packages must agree on."""
    if isinstance(value, dict):
        return {key: kind(element) for key, element in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value), [kind(element) for element in value]
    return type(value), onp.shape(value), onp.asarray(value).dtype


def flat(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return onp.concatenate([flat(element) for element in value])
    return onp.ravel(value)


@pytest.mark.parametrize(("operator", "make", "x"), CASES)
def test_results_are_of_the_kind_autograd_gives(operator, make, x):
    pytest.importorskip("autograd")
    ours, theirs = [
        getattr(importlib.import_module(name), operator)(make(importlib.import_module(f"{name}.numpy")))(x)
        for name in ("fastgrad", "autograd")
    ]
    onp.testing.assert_allclose(flat(ours), flat(theirs), rtol=1e-6)
    assert kind(ours) == kind(theirs)


@pytest.mark.parametrize("seed", [1.0, onp.float64(1.0), onp.array(1.0), onp.float32(1.0)], ids=repr)
@pytest.mark.parametrize("x", [2.0, onp.float32(2.0), onp.array(2.0)], ids=repr)
def test_vjp_and_jvp_results_are_of_the_kind_autograd_gives(seed, x):
    pytest.importorskip("autograd")
    results = []
    for name in ("fastgrad", "autograd"):
        package, f = importlib.import_module(name), scalar(importlib.import_module(f"{name}.numpy"))
        vjp, value = package.make_vjp(f)(x)
        results.append(kind([value, vjp(seed), package.make_jvp(f)(x)(seed)]))
    assert results[0] == results[1]
