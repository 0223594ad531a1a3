"""Rows and arguments that the tables of SciPy's functions share."""

from __future__ import annotations

import importlib
from typing import Any

from samples import Row, Sample, arr, const, sample

SCIPY = {"numpy": "scipy", "fastgrad.numpy": "fastgrad.scipy", "autograd.numpy": "autograd.scipy"}


def scipy_row(module: str, name: str, samples: list[Sample], detail: str = "", **options: Any) -> Row:
    """Return the row of a function of a module of SciPy, for example ``special.gamma`` or ``stats.norm.pdf``.

    A function with several rows has a different ``detail`` in each.
    """
    package, _, distribution = module.partition(".")

    def fun(np: Any) -> Any:
        found = importlib.import_module(f"{SCIPY[np.__name__]}.{package}")
        if distribution:
            found = getattr(found, distribution)
        return getattr(found, name)

    # Old versions of fastgrad, which the benchmarks measure too, may not have the function.
    primitive = getattr(importlib.import_module("fastgrad.scipy." + module), name, None)
    covers = (getattr(primitive, "__name__", name),)
    return Row(f"{module}.{name}{detail}", samples, fun=fun, covers=covers, **options)


def one(dtypes: str = "df", **options: Any) -> list[Sample]:
    """Return samples of a function of one argument."""
    return [
        sample(arr(4, **options)).but(dtypes=dtypes),
        sample(arr(2, 3, layout="T", **options)),
        sample(arr(2, 3, layout="R", **options)),
        sample(arr(**options)),
        sample(float((options.get("lo", -1.5) + 2 * options.get("hi", 1.5)) / 3)),
        sample(arr(0, **options)),
    ]


def two(a: dict, b: dict, dtypes: str = "df", broken: bool = False) -> list[Sample]:
    """Return samples of a function of two arguments, broadcast in every way."""
    shapes = [((3,), (3,)), ((2, 3), (3,)), ((3, 1), (1, 2)), ((), (2,)), ((2,), ()), ((), ()), ((1,), (0,))]
    samples = [sample(arr(*m, **a), arr(*n, **b)) for m, n in shapes]
    samples = [samples[0].but(dtypes=dtypes), *samples[1:]]
    middle_a, middle_b = ((o.get("lo", -1.5) + 2 * o.get("hi", 1.5)) / 3 for o in (a, b))
    return [*samples, sample(float(middle_a), arr(2, **b)), sample(arr(2, **a), const(float(middle_b)))]


def order(first: list, *rest: dict, dtypes: str = "df") -> list[Sample]:
    """Return samples of a function whose first arguments are constants."""
    samples = [sample(*[const(c) for c in constants], *[arr(3, **o) for o in rest]) for constants in first]
    grid = [sample(*[const(c) for c in first[0]], *[arr(2, 3, layout="T", **o) for o in rest])]
    scalars = [sample(*[const(c) for c in first[0]], *[arr(**o) for o in rest])]
    return [*[s.but(dtypes=dtypes) for s in samples], *grid, *scalars]


def parameters(*values: dict) -> list[Sample]:
    """Return samples of several real arguments, broadcast against each other."""
    n = len(values)
    shapes = [[(3,)] * n, [(2, 3), (3,), (2, 1), (1, 3)][:n], [(), (2,), (), (2,)][:n], [()] * n]
    return [sample(*[arr(*s, **o) for s, o in zip(row, values, strict=False)]) for row in shapes]


POSITIVE, UNIT, REAL = {"lo": 0.4, "hi": 3.0}, {"lo": 0.1, "hi": 0.9}, {"lo": -2.0, "hi": 2.0}
APART = {"lo": -2.0, "hi": 2.0, "gap": 0.3}
