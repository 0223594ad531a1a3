"""Random programs made of the table of primitives, on arrays of every shape and layout.

All choices come from ``pick(sequence)``: hypothesis, or a seeded generator of random numbers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as onp
from checks import TWICE
from table_elementwise import DOMAINS

Pick = Callable[[Sequence], Any]

LARGEST = 60
LAYOUTS = ("C", "F", "strided", "reversed", "read-only", "misaligned", "swapped", "stride 0")

BY_NAME: dict[str, list] = {}
for _case in TWICE:
    BY_NAME.setdefault(_case.row.name, []).append(_case)
PRIMITIVES = sorted(BY_NAME)


def arguments(case: Any) -> tuple:
    """Return all positional arguments of a case of the table."""
    return case.sample.arguments(case.variables)


# ---------------------------------------------------------------------------------------------------------------------
# Arrays
# ---------------------------------------------------------------------------------------------------------------------


def laid_out(x: onp.ndarray, layout: str) -> onp.ndarray:
    """Return the same numbers in memory of another layout; with "stride 0", the first of them everywhere."""
    if layout == "F":
        return onp.asfortranarray(x)
    if layout == "strided":
        out = onp.zeros([3 * n for n in x.shape], x.dtype)[(..., *(slice(1, None, 3) for _ in x.shape))]
        out[...] = x
        return out
    if layout == "reversed":
        backwards = (..., *(slice(None, None, -1) for _ in x.shape))
        return onp.ascontiguousarray(x[backwards])[backwards]
    if layout == "read-only":
        out = onp.array(x)
        out.flags.writeable = False
        return out
    if layout == "misaligned":
        out = onp.zeros(x.nbytes + 1, onp.uint8)[1:].view(x.dtype).reshape(x.shape)
        out[...] = x
        return out
    if layout == "swapped":
        return x.astype(x.dtype.newbyteorder())
    if layout == "stride 0" and x.size:
        return onp.broadcast_to(x.ravel()[0], x.shape)
    return x


def random_entries(pick: Pick, shape: tuple, dtype: str) -> onp.ndarray:
    """Return random numbers of order 1."""
    rng = onp.random.default_rng(pick(range(1000)))
    entries = rng.uniform(-1.5, 1.5, shape)
    if dtype == "D":
        entries = entries + 1j * rng.uniform(-1.5, 1.5, shape)
    return onp.asarray(entries, dtype)


def random_input(pick: Pick, dtype: str) -> Any:
    """Return a number or an array, sometimes 0-d, empty, or with axes of size 1."""
    shape = tuple(pick((0, 1, 2, 3, 3)) for _ in range(pick((0, 1, 1, 2, 2, 3))))
    x = random_entries(pick, shape, dtype)
    if shape == () and pick((True, False)):
        return x.item() if dtype != "f" and pick((True, False)) else x[()]
    return laid_out(x, pick(LAYOUTS))


# ---------------------------------------------------------------------------------------------------------------------
# Steps: functions of a NumPy namespace and the value of earlier steps
# ---------------------------------------------------------------------------------------------------------------------


def is_complex(x: Any) -> bool:
    return onp.issubdtype(onp.result_type(getattr(x, "_value", x)), onp.complexfloating)


def bounded(np: Any, x: Any) -> Any:
    """Return numbers between -1 and 1, in each component."""
    return np.sin(np.real(x)) + 1j * np.sin(np.imag(x)) if is_complex(x) else np.sin(x)


def cycled(np: Any, x: Any, shape: tuple) -> Any:
    """Return an array of another shape filled with the entries of x, repeated in order, or with zeros if x is empty."""
    flat = np.ravel(x)
    n = int(onp.prod(shape))
    if onp.size(flat) == 0:
        return np.sum(flat) + onp.zeros(shape)
    return np.reshape(flat[onp.arange(n) % onp.size(flat)], shape)


@dataclass(frozen=True)
class Table:
    """A call from the table of rules, its arguments moved a little by the value."""

    case: Any
    output: int

    def __call__(self, np: Any, values: list) -> Any:
        moved = [self.moved(np, base, values[-1 - i % len(values)]) for i, base in enumerate(self.case.variables)]
        outputs = self.case.outputs(self.case.call(np)(*moved))
        return outputs[self.output % len(outputs)]

    @staticmethod
    def moved(np: Any, base: Any, value: Any) -> Any:
        # Entries move by less than half of their distance from one another and from the ends of the domain.
        by = 0.04 * bounded(np, cycled(np, value, onp.shape(base)))
        # Not `base + by`: Python's complex takes a float64 for a float, and returns a Python complex.
        return np.add(base, by if is_complex(base) else np.real(by))


@dataclass(frozen=True)
class Unary:
    """An elementwise function of the last value, which is mapped into the function's domain first."""

    name: str

    def __call__(self, np: Any, values: list) -> Any:
        domain = DOMAINS[self.name]
        low, high = max(domain.get("lo", -1.5), domain.get("gap", -9.0)), domain.get("hi", 1.5)
        x = values[-1]
        inside = (low + high) / 2 + 0.45 * (high - low) * np.sin(np.real(x))
        if is_complex(x) and "D" in domain.get("dtypes", ""):
            inside = inside + 1j * (0.6 + 0.3 * np.sin(np.imag(x)))
        return getattr(np, self.name)(inside)


@dataclass(frozen=True)
class Binary:
    """An operator between the last value and another, broadcast where their shapes allow."""

    symbol: str
    other: int
    swapped: bool

    def __call__(self, np: Any, values: list) -> Any:
        a, b = values[-1], values[self.other % len(values)]
        try:
            shape = onp.broadcast_shapes(onp.shape(a), onp.shape(b))
        except ValueError:
            shape = None
        if shape is None or onp.prod(shape) > LARGEST:
            b = cycled(np, b, onp.shape(a))
        a, b = (b, a) if self.swapped else (a, b)
        if self.symbol in ("truediv", "pow"):
            b = 1.5 + 0.9 * bounded(np, b)
        if self.symbol == "pow":
            a = 1.5 + 0.9 * bounded(np, a)
        return getattr(operator, self.symbol)(a, b)


@dataclass(frozen=True)
class Reshaping:
    """A function that changes the shape of the last value, along one of its axes."""

    name: str
    axis: int

    def __call__(self, np: Any, values: list) -> Any:
        x = values[-1]
        axis = self.axis % max(onp.ndim(x), 1)
        return RESHAPINGS[self.name](np, x, axis) if onp.ndim(x) else 2 * x


RESHAPINGS = {
    "transpose": lambda np, x, axis: x.T,
    "reversed": lambda np, x, axis: np.flip(x, axis),
    "rolled": lambda np, x, axis: np.roll(x, 1, axis),
    "flat": lambda np, x, axis: np.ravel(x, order="CFAK"[axis]),
    "new axis": lambda np, x, axis: np.expand_dims(x, axis),
    "sum": lambda np, x, axis: np.sum(x, axis=axis),
    "kept sum": lambda np, x, axis: np.sum(x, axis=axis, keepdims=True),
    "whole sum": lambda np, x, axis: np.sum(x),
    "slice": lambda np, x, axis: x[1:],
    "stepped": lambda np, x, axis: x[..., ::-2],
    "item": lambda np, x, axis: x[0] if len(x) else x,
    "items": lambda np, x, axis: x[[0, -1, 0]] if len(x) else x,
    "joined": lambda np, x, axis: np.concatenate([x, 2 * x], axis),
    "stacked": lambda np, x, axis: np.array([x, x[::-1]]),
}


@dataclass(frozen=True)
class Program:
    """A function of several arrays that runs steps one after the other."""

    steps: tuple

    def __call__(self, np: Any, *inputs: Any) -> Any:
        values = list(inputs)
        for step in self.steps:
            value = step(np, values)
            if onp.size(value) > LARGEST:
                value = np.sum(value, axis=0)
            values.append(value)
        return values[-1]


def random_step(pick: Pick) -> Any:
    kind = pick(("table", "table", "unary", "binary", "reshaping"))
    if kind == "table":
        return Table(pick(BY_NAME[pick(PRIMITIVES)]), pick(range(3)))
    if kind == "unary":
        return Unary(pick(sorted(DOMAINS)))
    if kind == "binary":
        return Binary(pick(("add", "sub", "mul", "truediv", "pow")), pick(range(4)), pick((False, True)))
    return Reshaping(pick(sorted(RESHAPINGS)), pick(range(3)))


def random_program(pick: Pick) -> Program:
    return Program(tuple(random_step(pick) for _ in range(pick(range(1, 7)))))
