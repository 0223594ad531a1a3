"""The teaching engine of examples/mini_autograd.py, by itself and against fastgrad."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import fastgrad.numpy as np
from fastgrad import grad

PATH = Path(__file__).resolve().parents[2] / "examples" / "mini_autograd.py"
SPEC = importlib.util.spec_from_file_location("mini_autograd", PATH)
mini = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(mini)
Value = mini.Value


def example():
    """Return z, x, y of the example expression at (2, 5)."""
    x, y = Value(2.0), Value(5.0)
    return mini.log(x) + x * y - mini.sin(y), x, y


def test_example_expression():
    z, x, y = example()
    z.backward()
    assert z.data == pytest.approx(11.652071455223, abs=1e-12)
    assert x.grad == pytest.approx(5.5, abs=1e-12)
    assert y.grad == pytest.approx(1.716337814537, abs=1e-12)


def test_script_prints_the_example():
    run = subprocess.run([sys.executable, PATH], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-3:] == ["z     = 11.652071455223", "dz/dx = 5.5", "dz/dy = 1.716337814537"]


# Each works on a traced number of either engine; `m` is the module with log, exp and sin.
UNARY = {
    "add": lambda m, x: x + 2.5,
    "add_reflected": lambda m, x: 2.5 + x,
    "multiply": lambda m, x: x * 2.5,
    "multiply_reflected": lambda m, x: 2.5 * x,
    "negative": lambda m, x: -x,
    "subtract": lambda m, x: x - 2.5,
    "subtract_reflected": lambda m, x: 2.5 - x,
    "divide": lambda m, x: x / 2.5,
    "divide_reflected": lambda m, x: 2.5 / x,
    "power_3": lambda m, x: x**3,
    "power_1": lambda m, x: x**1,
    "power_0": lambda m, x: x**0,
    "power_negative": lambda m, x: x**-2,
    "power_fraction": lambda m, x: x**0.5,
    "exp": lambda m, x: m.exp(x),
    "log": lambda m, x: m.log(x),
    "sin": lambda m, x: m.sin(x),
}
BINARY = {
    "add": lambda m, x, y: x + y,
    "multiply": lambda m, x, y: x * y,
    "subtract": lambda m, x, y: x - y,
    "divide": lambda m, x, y: x / y,
}
SHARED = {
    "square": (lambda m, x: x * x, 6.0),
    "double": (lambda m, x: x + x, 2.0),
    "difference": (lambda m, x: x - x, 0.0),
    "quotient": (lambda m, x: x / x, 0.0),
    "diamond": (lambda m, x: (lambda a: (a + 1.0) * (a - 2.0))(x * x), 102.0),
    "stacked_diamonds": (lambda m, x: (lambda a: (lambda b: b * b)(a + a))(x * x), 432.0),
    "short_and_long_path": (lambda m, x: x * m.exp(m.log(x) * 2.0), 27.0),
}


@pytest.mark.parametrize("point", [0.7, 3.0])
@pytest.mark.parametrize("name", UNARY)
def test_operation_of_one_value(name, point):
    f, x = UNARY[name], Value(point)
    out = f(mini, x)
    out.backward()
    assert out.data == pytest.approx(f(np, point), rel=1e-14)
    assert x.grad == pytest.approx(grad(lambda t: f(np, t))(point), rel=1e-14)


@pytest.mark.parametrize("name", BINARY)
def test_operation_of_two_values(name):
    f, x, y = BINARY[name], Value(1.5), Value(-0.4)
    out = f(mini, x, y)
    out.backward()
    assert out.data == pytest.approx(f(np, 1.5, -0.4), rel=1e-14)
    for argnum, value in enumerate((x, y)):
        assert value.grad == pytest.approx(grad(lambda s, t: f(np, s, t), argnum)(1.5, -0.4), rel=1e-14)


@pytest.mark.parametrize("name", SHARED)
def test_contributions_of_a_shared_value_add_up(name):
    f, expected = SHARED[name]
    x = Value(3.0)
    f(mini, x).backward()
    assert x.grad == pytest.approx(expected, rel=1e-13)
    assert x.grad == pytest.approx(grad(lambda t: f(np, t))(3.0), rel=1e-13)


@pytest.mark.parametrize("function", ["exp", "log", "sin"])
def test_functions_take_plain_numbers(function):
    out = getattr(mini, function)(0.5)
    assert isinstance(out, Value)
    assert out.data == pytest.approx(getattr(np, function)(0.5), rel=1e-15)


def test_power_zero_at_zero_has_slope_zero():
    x = Value(0.0)
    (x**0).backward()
    assert x.grad == 0.0


def test_traced_exponent_is_refused():
    with pytest.raises(TypeError, match="plain number"):
        Value(2.0) ** Value(3.0)


def test_seed_scales_the_gradients():
    z, x, y = example()
    z.backward()
    once = x.grad, y.grad
    z.backward(seed=-2.0)
    assert z.grad == -2.0
    assert (x.grad, y.grad) == pytest.approx((-2.0 * once[0], -2.0 * once[1]), rel=1e-15)


def test_backward_twice_does_not_double():
    z, x, y = example()
    z.backward()
    once = x.grad, y.grad
    z.backward()
    assert (x.grad, y.grad) == once


def test_shared_input_of_two_results():
    """A pass clears what an earlier pass through another result left behind."""
    x = Value(3.0)
    square, cube = x**2, x**3
    square.backward()
    cube.backward()
    assert x.grad == 27.0


def test_parents():
    x, y = Value(2.0), Value(5.0)
    assert x.parents == ()
    assert (x * y).parents == (x, y)
    assert (x * x).parents == (x, x)


def test_order_has_outputs_before_inputs():
    z, x, y = example()
    order = z.backward()
    place = {value: i for i, value in enumerate(order)}
    assert order[0] is z
    assert len(order) == len(place), "a value stands in the order once"
    assert {x, y} <= set(place)
    assert all(place[value] < place[parent] for value in order for parent in value.parents)
    assert place.keys() >= {parent for value in order for parent in value.parents}


def test_input_alone():
    x = Value(2.0)
    assert x.backward() == [x]
    assert x.grad == 1.0


def test_deep_chain_needs_no_recursion():
    x = Value(1.0)
    y = x
    for _ in range(5000):
        y = y * 1.0001
    assert len(y.backward()) == 10001
    assert x.grad == pytest.approx(1.0001**5000, rel=1e-10)
