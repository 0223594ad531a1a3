"""The entries of the table of rules: a :class:`Row` names a primitive, a :class:`Sample` is one call of it.

The benchmarks make their cases of the same table, so this module and the tables import nothing that only tests need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as onp

Tree = Any

# Faults of autograd.
ERRS = "errs"
WRONG = "a wrong number"
SHAPE = "a cotangent of the wrong shape"
COMPLEX = "a complex cotangent of a real argument"
NO_RULE = "no rule"


# ---------------------------------------------------------------------------------------------------------------------
# Arguments
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variable:
    """An array argument that is differentiated, drawn anew for each dtype.

    Parameters
    ----------
    shape : tuple of int
    lo, hi : float
        The entries (their real parts, if complex) are uniform on this interval.
    gap : float
        Entries are kept at least this far from zero.
    distinct : float or None
        If given, the entries are a shuffled lattice of spacing 0.2 with this offset: arrays with offsets 0.1 apart
        never tie.
    layout : {"C", "T", "S", "R"}
        C contiguous, transposed, every second entry of a larger array, or negative strides.
    kind : str or None
        A dtype character that overrides the dtype of the case.
    values : tuple or None
        The entries themselves, as nested tuples.
    """

    shape: tuple[int, ...]
    lo: float = -1.5
    hi: float = 1.5
    gap: float = 0.0
    distinct: float | None = None
    layout: str = "C"
    kind: str | None = None
    values: Any = None

    def build(self, rng: onp.random.Generator, dtype: str) -> onp.ndarray:
        dtype = self.kind or dtype
        return _with_layout(onp.array(self._entries(rng, dtype), dtype), self.layout)

    def _entries(self, rng: onp.random.Generator, dtype: str) -> onp.ndarray:
        if self.values is not None:
            return onp.array(self.values)
        if self.distinct is not None:
            size = int(onp.prod(self.shape))
            lattice = rng.permutation(size) - size // 2
            return (0.2 * lattice + self.distinct).reshape(self.shape)
        entries = rng.uniform(self.lo, self.hi, self.shape)
        if self.gap:
            entries = onp.where(entries < 0, -1.0, 1.0) * onp.maximum(abs(entries), self.gap + 0.1 * abs(entries))
        if dtype in "DF":
            entries = entries + 1j * rng.uniform(0.2, 1.0, self.shape) * rng.choice([-1.0, 1.0], self.shape)
        return entries


def _with_layout(x: onp.ndarray, layout: str) -> onp.ndarray:
    if x.ndim == 0:
        return x
    if layout == "T":
        return onp.ascontiguousarray(x.T).T
    if layout == "S":
        spaced = onp.zeros([2 * n for n in x.shape], x.dtype)[tuple(slice(None, None, 2) for _ in x.shape)]
        spaced[...] = x
        return spaced
    if layout == "R":
        backwards = tuple(slice(None, None, -1) for _ in x.shape)
        return onp.ascontiguousarray(x[backwards])[backwards]
    return x


@dataclass(frozen=True)
class Constant:
    """A float argument that is not differentiated (a plain array or an integer is never differentiated)."""

    value: Any


def arr(*shape: int, **options: Any) -> Variable:
    """Return a random array of this shape; see `Variable` for the options."""
    return Variable(shape, **options)


def val(values: Any, **options: Any) -> Variable:
    """Return an array with these entries; see `Variable` for the options."""
    return Variable(onp.shape(values), values=values, **options)


def const(value: Any) -> Constant:
    """Return a float that is not differentiated."""
    return Constant(value)


def is_variable(x: Any) -> bool:
    return isinstance(x, (Variable, float, complex))


def leaves(tree: Tree) -> list[Any]:
    if isinstance(tree, (list, tuple)):
        return [leaf for item in tree for leaf in leaves(item)]
    return [tree]


def _rebuild(tree: Tree, values: Iterator[Any]) -> Tree:
    """Return the tree with each of its variables replaced by the next of `values`."""
    if isinstance(tree, (list, tuple)):
        return type(tree)([_rebuild(item, values) for item in tree])
    if isinstance(tree, Constant):
        return tree.value
    return next(values) if is_variable(tree) else tree


def _build(x: Any, rng: onp.random.Generator, dtype: str) -> Any:
    if isinstance(x, Variable):
        return x.build(rng, dtype)
    if isinstance(x, onp.generic):
        return onp.dtype(dtype).type(x)
    return complex(x, rng.uniform(0.2, 1.0)) if dtype in "DF" else x


# ---------------------------------------------------------------------------------------------------------------------
# The table's entries
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """One call of a primitive.

    Parameters
    ----------
    args : tuple
        Python floats and `Variable` items, at any depth of lists and tuples, are differentiated; the rest is constant.
    kwargs : mapping
        Passed as they are.
    dtypes : str
        The dtype characters at which the sample is checked.
    order : {1, 2}
        2 if the function is twice differentiable here.
    kink : bool
        The function has no derivative here: there is no comparison with differences, but both modes must agree.
    coarse : bool
        The call itself rounds to single precision.
    refused : bool
        There is no rule for this call: it works on concrete values, and raises an error in both modes.
    oracle : bool or str or mapping
        True if autograd is right here; else the reason why it is not, for all dtypes or by dtype character.
    pullback : callable or None
        ``pullback(g, *variables)`` returns the correct cotangents where differences cannot be used.
    """

    args: tuple
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    dtypes: str = "d"
    order: int = 2
    kink: bool = False
    coarse: bool = False
    refused: bool = False
    oracle: bool | str | Mapping[str, str] = True
    pullback: Callable | None = None

    def but(self, **changes: Any) -> Sample:
        """Return the same call with other flags."""
        return replace(self, **changes)

    @property
    def is_differentiated(self) -> bool:
        """Return whether any argument is a variable."""
        return any(map(is_variable, leaves(self.args)))

    def draw(self, rng: onp.random.Generator, dtype: str) -> list[Any]:
        """Return the values of the variables."""
        return [_build(x, rng, dtype) for x in leaves(self.args) if is_variable(x)]

    def arguments(self, variables: Iterable[Any]) -> Tree:
        """Return the positional arguments, with each variable replaced by the next of ``variables``."""
        return _rebuild(self.args, iter(variables))


def sample(*args: Any, **kwargs: Any) -> Sample:
    """Return a call with these arguments; set its flags with `Sample.but`."""
    return Sample(args, kwargs)


@dataclass(frozen=True)
class Row:
    """A function, with its samples.

    Parameters
    ----------
    name : str
        The name in NumPy's namespace, or any other if `fun` is given.
    samples : sequence of Sample
    fun : callable or None
        Takes the NumPy namespace to use and returns the function.
    ref : callable or None
        What the function must equal, if NumPy has no such function.
    covers : tuple of str
        The ``__name__`` of the primitives whose rules are checked here; the name itself if empty.
    oracle : bool or str
        A reason given here applies to every sample of the row.
    benchmark : Sample or None
        The call to be timed; by default the sample that `typical` chooses.
    """

    name: str
    samples: list[Sample]
    fun: Callable | None = None
    ref: Callable | None = None
    covers: tuple[str, ...] = ()
    oracle: bool | str = True
    benchmark: Sample | None = None

    def function(self, np: Any) -> Callable:
        if np is onp and self.ref is not None:
            return self.ref
        return self.fun(np) if self.fun is not None else getattr(np, self.name)

    @property
    def exists(self) -> bool:
        """Return whether this NumPy has the function."""
        return self.fun is not None or self.ref is not None or hasattr(onp, self.name)

    @property
    def typical(self) -> Sample | None:
        """Return the sample that stands for the function in the benchmarks, or None if no sample has a derivative.

        It is the first on an array in double precision, twice differentiable if there is one.
        """
        smooth = [s for s in self.samples if s.is_differentiated and not s.kink and not s.refused]
        return self.benchmark or max(smooth, key=_suitability, default=None)


def _suitability(sample: Sample) -> tuple[bool, ...]:
    """Return how well a sample stands for its function, best if all are true."""
    arrays = [x for x in leaves(sample.args) if isinstance(x, Variable)]
    is_plain = all(x.shape and 0 not in x.shape and x.layout == "C" for x in arrays)
    return sample.order == 2, "d" in sample.dtypes, not sample.coarse, bool(arrays) and is_plain
