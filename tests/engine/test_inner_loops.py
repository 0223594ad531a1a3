"""NumPy's inner loops called directly return what NumPy returns, bit for bit, warnings included."""

import os
import subprocess
import sys
import warnings

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import grad
from fastgrad._engine.core import Primitive, inner_loop_dtypes

UFUNCS = {
    value.fun.__name__: value
    for value in vars(np).values()
    if isinstance(value, Primitive) and isinstance(value.fun, onp.ufunc) and value.fun.nout == 1 and value.fun.nin < 3
}


def takes(fun, dtype):
    return any(types[: fun.fun.nin] == dtype * fun.fun.nin for types in fun.fun.types)


UFUNCS = {name: fun for name, fun in UFUNCS.items() if takes(fun, "d") and fun.fun.signature is None}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 5e-324, -1e-310, 1e308, -1e308, onp.inf, -onp.inf, onp.nan]
SWITCH = os.environ.get("FASTGRAD_INNER_LOOPS", os.environ.get("FASTGRAD_LANE"))
with_inner_loops = pytest.mark.skipif(SWITCH == "0", reason="the inner loops are switched off")


def same(found, wanted):
    assert type(found) is type(wanted)
    assert onp.asarray(found).dtype == onp.asarray(wanted).dtype
    assert onp.asarray(found).tobytes() == onp.asarray(wanted).tobytes()
    assert onp.shape(found) == onp.shape(wanted)


def operands(dtype):
    rng = onp.random.default_rng(0)
    values = onp.concatenate([SPECIAL, rng.normal(size=20), rng.normal(size=6) * 1e150])
    if dtype == "D":
        values = values[: len(values) // 2 * 2].view("D")
    with onp.errstate(all="ignore"):
        return values.astype(dtype)


@with_inner_loops
def test_the_common_ufuncs_have_inner_loops():
    for name in ("add", "subtract", "multiply", "divide", "negative", "exp", "log", "sin", "tanh", "sqrt", "maximum"):
        assert "d" in inner_loop_dtypes(UFUNCS[name])


@pytest.mark.parametrize(
    "name, dtype", [(name, dtype) for name in UFUNCS for dtype in "dfD" if takes(UFUNCS[name], dtype)]
)
def test_arrays_are_what_numpy_gives(name, dtype):
    fun = UFUNCS[name]
    x = operands(dtype)
    with onp.errstate(all="ignore"):
        if fun.fun.nin == 1:
            same(fun(x), fun.fun(x))
            same(fun(x[:0]), fun.fun(x[:0]))
            same(fun(x[:6].reshape(2, 3)), fun.fun(x[:6].reshape(2, 3)))
        else:
            for y in (x[::-1].copy(), onp.roll(x, 5)):
                same(fun(x, y), fun.fun(x, y))
                for i in range(len(x)):
                    one, other = x[i : i + 1], y[i : i + 1]
                    same(fun(one, other), fun.fun(one, other))
            half = onp.full_like(x, 0.5)
            same(fun(x, half), fun.fun(x, half))
            for i in range(len(x)):
                same(fun(x[i : i + 1], half[:1]), fun.fun(x[i : i + 1], half[:1]))


@pytest.mark.parametrize("name", UFUNCS)
def test_scalars_are_what_numpy_gives(name):
    fun = UFUNCS[name]
    with onp.errstate(all="ignore"):
        for x in (*SPECIAL, *map(onp.float64, SPECIAL)):
            if fun.fun.nin == 1:
                same(fun(x), fun.fun(x))
                continue
            for y in (*SPECIAL, 2, -1, onp.float64(0.3), 2**60, True):
                same(fun(x, y), fun.fun(x, y))
                same(fun(y, x), fun.fun(y, x))


@pytest.mark.parametrize("name", [name for name in UFUNCS if UFUNCS[name].fun.nin == 2])
def test_an_array_and_a_scalar_are_what_numpy_gives(name):
    fun, x = UFUNCS[name], operands("d")
    with onp.errstate(all="ignore"):
        for y in (*SPECIAL, 2, -1, 2**60, onp.float64(0.3), onp.float32(0.3), onp.array(0.3)):
            same(fun(x, y), fun.fun(x, y))
            same(fun(y, x), fun.fun(y, x))
        for y in (0.3, 2, onp.float32(0.3)):
            same(fun(x.astype("f"), y), fun.fun(x.astype("f"), y))


def test_arrays_that_the_loops_do_not_take_as_they_are():
    x = onp.linspace(0.1, 0.9, 24).reshape(4, 6)
    unaligned = onp.frombuffer(b"\0" + x.tobytes(), "u1")[1:].view("f8")
    read_only = x.copy()
    read_only.flags.writeable = False
    for y in (x.T, x[::-1], x[:, ::2], x.astype(">f8"), unaligned, read_only, x[0, 0:0], onp.array(0.5), x.view(Sub)):
        same(np.sin(y), onp.sin(y))
        same(np.add(y, y), onp.add(y, y))
        same(np.multiply(y, 2.0), onp.multiply(y, 2.0))


class Sub(onp.ndarray):
    pass


WAYS_ROUND = {
    **{name: lambda np, x, name=name: getattr(np, name)(x, x) for name in ("dot", "inner", "vdot", "matmul", "outer")},
    **{name: lambda np, x, name=name: getattr(np, name)(x) for name in ("sum", "mean", "max", "min", "prod", "var")},
    "x[1]": lambda np, x: np.reshape(x, (-1,))[1],
    "axis": lambda np, x: np.sum(x, axis=0),
    "take": lambda np, x: np.take(x, 1),
    "where": lambda np, x: np.where(x == x, x, x),
    "matrix": lambda np, x: np.dot(np.reshape(x, (1, -1)), x),
}


@pytest.mark.parametrize("name", WAYS_ROUND)
@pytest.mark.parametrize("dtype", "?bBhilefdgFDGO")
def test_the_ways_round_numpys_wrappers_give_what_numpy_gives(name, dtype):
    """For all dtypes, also those without an inner loop; the result is a number where NumPy's is a number."""
    x = onp.array([1, 0, 1]).astype(dtype)
    found, wanted = WAYS_ROUND[name](np, x), WAYS_ROUND[name](onp, x)
    assert type(found) is type(wanted)
    assert onp.asarray(found).dtype == onp.asarray(wanted).dtype
    onp.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("x", [0.0, onp.float64(0.0), onp.zeros(3)], ids=repr)
def test_warnings_and_errors_are_numpys(x):
    calls = [
        (np.log, (x,)),
        (np.divide, (1.0, x)),
        (np.divide, (x, x)),
        (np.exp, (x + 1e4,)),
        (np.multiply, (x + 1e200, 1e200)),
        (np.multiply, (x + 1e-200, 1e-200)),
        (np.subtract, (x + onp.inf, onp.inf)),
    ]
    for fun, args in calls:
        for mode in ("warn", "ignore", "raise"):
            outcomes = []
            for f in (fun, fun.fun):
                with warnings.catch_warnings(record=True) as caught, onp.errstate(all=mode):
                    warnings.simplefilter("always")
                    try:
                        value = onp.asarray(f(*args)).tobytes()
                    except FloatingPointError as error:
                        value = str(error)
                outcomes.append((value, [str(warning.message) for warning in caught]))
            assert outcomes[0] == outcomes[1], (fun, args, mode)


def test_a_flag_left_by_others_is_not_taken_for_ones_own():
    with onp.errstate(all="ignore"):
        onp.log(onp.zeros(3))
    with onp.errstate(all="raise"):
        same(np.sin(onp.ones(3)), onp.sin(onp.ones(3)))


@pytest.mark.parametrize("variable", ["FASTGRAD_INNER_LOOPS", "FASTGRAD_LANE"])
def test_without_inner_loops_everything_is_the_same(variable):
    environment = {name: value for name, value in os.environ.items() if name != "FASTGRAD_INNER_LOOPS"}
    program = (
        "import numpy as onp, fastgrad.numpy as np; from fastgrad import grad;"
        "from fastgrad._engine.core import inner_loop_dtypes;"
        "f = lambda x: np.sum(np.tanh(x * 2.0) / (x + 1.5));"
        "print(inner_loop_dtypes(np.sin), grad(f)(onp.linspace(0, 1, 5)).tobytes().hex())"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**environment, variable: on},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for on in "01"
    ]
    assert outputs[0] == outputs[1][-1:]
    assert outputs[1][0] == "dfD"


def test_gradients_through_inner_loops_respect_errstate():
    with onp.errstate(all="raise"), pytest.raises(FloatingPointError):
        grad(lambda x: np.sum(np.sqrt(x)))(onp.zeros(2))
