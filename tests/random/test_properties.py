"""Random programs of the table's primitives: values are NumPy's, and all ways to compute a derivative agree.

The programs are the same in every run; ``FASTGRAD_EXAMPLES=10000`` takes others, 10000 of each kind.
"""

import os

import numpy as onp
import pytest
import random_programs as programs
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import fastgrad.numpy as anp
from fastgrad import (
    checkpoint,
    grad,
    hessian,
    hessian_vector_product,
    jacfwd,
    jacobian,
    jacrev,
    make_hvp,
    make_jvp,
    make_vjp,
    value_and_grad,
    vector_jacobian_product,
)
from fastgrad.differential_operators import make_jvp_reversemode

EXAMPLES = int(os.environ.get("FASTGRAD_EXAMPLES", "0"))
TOL = {"d": 1e-9, "D": 1e-9, "f": 2e-3}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("error"),
    pytest.mark.filterwarnings("ignore:Output seems independent of input"),
    pytest.mark.filterwarnings("ignore:.?(msort|trapz).? is deprecated:DeprecationWarning"),
]


def examples(number):
    return settings(
        max_examples=EXAMPLES or number,
        derandomize=not EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],  # programs are short, and shrinking one takes minutes
        suppress_health_check=list(HealthCheck),
    )


def close(actual, expected, tol, what):
    assert onp.shape(actual) == onp.shape(expected), f"{what}: shape {onp.shape(actual)} for {onp.shape(expected)}"
    scale = 1e-3 + onp.max(onp.abs(expected), initial=0.0)
    error = onp.max(onp.abs(onp.subtract(actual, expected)), initial=0.0)
    assert error <= tol * scale, f"{what}: off by {error:.3g}\n got {actual}\n for {expected}"


# ------------------------------------------------------------------------- derivatives along w and v, by several ways


def weighted(h, w):
    return lambda x: anp.sum(anp.real(w * h(x)))


def pull_by_columns(way):
    return lambda h, w, x: anp.tensordot(w, way(h)(x), onp.ndim(w))


def push_by_rows(way):
    return lambda h, v, x: anp.tensordot(way(h)(x), v, onp.ndim(v))


PULLS = {
    "make_vjp": lambda h, w, x: make_vjp(h)(x)[0](w),
    "grad": lambda h, w, x: grad(weighted(h, w))(x),
    "value_and_grad": lambda h, w, x: value_and_grad(weighted(h, w))(x)[1],
    "checkpoint": lambda h, w, x: grad(checkpoint(weighted(h, w)))(x),
}
PUSHES = {
    "make_jvp": lambda h, v, x: make_jvp(h)(x)(v)[1],
    "make_jvp_reversemode": lambda h, v, x: make_jvp_reversemode(h)(x)(v),
}
# A Jacobian has a row for each number of the output; it is the derivative if all numbers are real.
REAL_PULLS = {
    **PULLS,
    "jacobian": pull_by_columns(jacobian),
    "jacrev": pull_by_columns(jacrev),
    "jacfwd": pull_by_columns(jacfwd),
    "vector_jacobian_product": lambda h, w, x: vector_jacobian_product(h)(x, w),
}
REAL_PUSHES = {
    **PUSHES,
    "jacobian": push_by_rows(jacobian),
    "jacrev": push_by_rows(jacrev),
    "jacfwd": push_by_rows(jacfwd),
}


class Level:
    """A derivative of a function of one argument, a pullback of w or a pushforward of v, computed in two ways."""

    def __init__(self, pick, x, value):
        real = not (onp.iscomplexobj(x) or onp.iscomplexobj(value))
        self.pulls = pick((True, False))
        ways = ((PULLS, REAL_PULLS) if self.pulls else (PUSHES, REAL_PUSHES))[real]
        self.ways = pick(sorted(ways)), pick(sorted(ways))
        self.along = like(pick, value if self.pulls else x)
        self.table = ways

    def over(self, h, i):
        return lambda x: self.table[self.ways[i]](h, self.along, x)

    def differences(self, h, pick, x):
        """Return what the derivative is paired with, and the pairing by differences of h."""
        v = like(pick, x) if self.pulls else self.along
        return v, [central(lambda t: h(x + t * v), step) for step in (1e-3, 5e-4)]


def like(pick, x):
    """Return random numbers of the shape and dtype of x."""
    return programs.random_entries(pick, onp.shape(x), onp.asarray(x).dtype.char)[()]


def central(f, step):
    """Return the derivative at 0 by differences of fourth order."""
    return (8 * (f(step) - f(-step)) - (f(2 * step) - f(-2 * step))) / (12 * step)


def paired(a, b):
    return onp.sum(onp.real(onp.multiply(a, b)))


# ---------------------------------------------------------------------------------------------------------------- tests


class Problem:
    """Return a program with its arguments, and the function of one of them."""

    def __init__(self, pick, dtype):
        self.program = programs.random_program(pick)
        self.inputs = [programs.random_input(pick, dtype) for _ in range(pick((1, 2, 2, 3)))]
        self.argnum = pick(range(len(self.inputs)))
        self.x = self.inputs[self.argnum]

    def function(self, np=anp, inputs=None):
        inputs = list(self.inputs if inputs is None else inputs)
        return lambda x: self.program(np, *inputs[: self.argnum], x, *inputs[self.argnum + 1 :])

    def __repr__(self):
        inputs = [f"{type(x).__name__}{onp.shape(x)} {onp.asarray(x).dtype}" for x in self.inputs]
        return f"{self.program} of {', '.join(inputs)} by argument {self.argnum}"


def picked(data):
    return lambda options: data.draw(st.sampled_from(options))


@pytest.mark.parametrize("dtype", ["d", "D", "f"])
@examples(200)
@given(data=st.data())
def test_the_value_is_numpys_and_the_cotangent_is_like_the_argument(dtype, data):
    pick = picked(data)
    problem = Problem(pick, dtype)
    want = problem.function(onp)(problem.x)
    kept = [onp.array(x) for x in problem.inputs]
    vjp, value = make_vjp(problem.function())(problem.x)
    pushed_value, tangent = make_jvp(problem.function())(problem.x)(like(pick, problem.x))
    cotangent = vjp(like(pick, want))
    for got in value, pushed_value:
        assert onp.asarray(got).dtype == onp.asarray(want).dtype, problem
        close(got, want, 1e-13 if onp.asarray(want).dtype.char in "dD" else 1e-5, problem)
    assert onp.shape(cotangent) == onp.shape(problem.x), problem
    # The byte order may differ.
    assert onp.asarray(cotangent).dtype.type is onp.asarray(problem.x).dtype.type, problem
    assert onp.shape(tangent) == onp.shape(want), problem
    for x, before in zip(problem.inputs, kept, strict=True):
        onp.testing.assert_array_equal(x, before, err_msg=str(problem))


@pytest.mark.parametrize("dtype", ["d", "D"])
@examples(250)
@given(data=st.data())
def test_derivatives_nest_by_any_ways(dtype, data):
    pick = picked(data)
    problem = Problem(pick, dtype)
    first, second = problem.function(), problem.function()
    for _ in range(pick((1, 1, 2, 2, 3))):
        inner = first
        level = Level(pick, problem.x, inner(problem.x))
        first, second = level.over(first, 0), level.over(second, 1)
    got = first(problem.x)
    close(got, second(problem.x), TOL[dtype], f"{level.ways} of {problem}")
    v, slopes = level.differences(inner, pick, problem.x)
    if level.pulls:
        got, slopes = paired(got, v), [paired(level.along, slope) for slope in slopes]
    # Some programs oscillate so fast that differences are inexact; two step sizes show by how much.
    doubt = onp.max(onp.abs(slopes[0] - slopes[1]), initial=0.0) / (1e-3 + onp.max(onp.abs(slopes[1]), initial=0.0))
    close(got, slopes[1], 1e-5 + 10 * doubt, f"{level.ways[0]} of {problem} for differences")


@examples(100)
@given(data=st.data())
def test_single_precision_is_double_precision_rounded(data):
    pick = picked(data)
    problem = Problem(pick, "f")
    wide = [onp.asarray(x, float) for x in problem.inputs]
    level = Level(pick, problem.x, problem.function()(problem.x))
    want = level.over(problem.function(inputs=wide), 1)(wide[problem.argnum])
    close(level.over(problem.function(), 0)(problem.x), want, TOL["f"], f"{level.ways} of {problem}")


@examples(100)
@given(data=st.data())
def test_products_with_the_hessian_agree(data):
    pick = picked(data)
    problem = Problem(pick, "d")
    x, w = problem.x, like(pick, problem.function(onp)(problem.x))
    scalar, v = weighted(problem.function(), w), like(pick, problem.x)
    want = make_jvp(grad(scalar))(x)(v)[1]
    close(hessian_vector_product(scalar)(x, v), want, TOL["d"], f"hessian_vector_product of {problem}")
    close(make_hvp(scalar)(x)[0](v), want, TOL["d"], f"make_hvp of {problem}")
    close(onp.tensordot(hessian(scalar)(x), v, onp.ndim(v)), want, TOL["d"], f"hessian of {problem}")
