"""Samples of the reductions and the accumulations."""

from __future__ import annotations

from typing import Any

import numpy as onp
from samples import COMPLEX, ERRS, NO_RULE, WRONG, Row, Sample, arr, sample, val

ONE = onp.int64(1)
ALL_AXES = [0, -1, (0, 2), (-1, 0), (1,), (0, 1, 2), ONE, (onp.int64(0), -1)]
MASK = onp.array([[True, False, True], [False, True, True]])
COLUMN = onp.array([[True], [False]])


def reduction(dtypes: str, scalar: bool = True, **options: Any) -> list[Sample]:
    """Return samples of every form of axis, with and without keepdims, in each layout."""
    cube = arr(2, 3, 4, **options)
    samples = [
        sample(arr(4, **options)).but(dtypes=dtypes),
        sample(arr(2, 3, layout="T", **options)).but(dtypes=dtypes),
        sample(arr(2, 3, **options), axis=1).but(dtypes=dtypes),
        sample(arr(2, 3, layout="S", **options), axis=0),
        sample(arr(2, 3, layout="R", **options), axis=-1, keepdims=True),
        sample(arr(2, 3, **options), 1),
        sample(cube, axis=None, keepdims=True),
        sample(arr(1, 3, **options), axis=0),
    ]
    samples += [sample(cube, axis=axis) for axis in ALL_AXES]
    samples += [sample(cube, axis=axis, keepdims=True) for axis in ALL_AXES[:4]]
    if scalar:
        samples += [sample(0.7), sample(arr(**options)), sample(arr(**options), axis=())]
    return samples


EMPTY_SUMS = [
    sample(arr(0)),
    sample(arr(2, 0), axis=1),
    sample(arr(2, 0), axis=0),
    sample(arr(2, 3), axis=()),
]
WHERE = [
    sample(arr(2, 3), where=MASK).but(oracle=WRONG),
    sample(arr(2, 3), where=MASK, axis=0).but(oracle=WRONG),
    sample(arr(2, 3), where=COLUMN, axis=0, keepdims=True).but(oracle=WRONG),
    sample(arr(2, 3), where=onp.array([True, False, True]), axis=1).but(oracle=WRONG),
]
INITIAL = [sample(arr(2, 3), initial=1.5), sample(arr(2, 3), axis=0, initial=1.5), sample(0.5, initial=1.5)]
DTYPE = [
    sample(arr(2, 3), axis=0, dtype="f").but(coarse=True),
    sample(arr(2, 3), axis=0, dtype="d").but(dtypes="f"),
    sample(arr(2, 3), dtype="D").but(oracle=COMPLEX),
]
LISTS = [sample([0.5, 1.5]), sample([arr(3), arr(3)], axis=0)]
OBJECTS = [LISTS[0], LISTS[1].but(oracle=WRONG)]
MASKED_SUM = sample(arr(2, 3), where=MASK, initial=2.0).but(oracle=WRONG)
ZEROS = [
    sample(val((2.0, 0.0, 3.0))).but(oracle=WRONG),
    sample(val((2.0, 0.0, 0.0, 3.0))).but(oracle=WRONG),
    sample(val((0.0, 0.0, 0.0))).but(oracle=WRONG),
    sample(val(((2.0, 0.0, 3.0), (1.0, 2.0, -1.0), (0.0, 2.0, 0.0))), axis=1).but(oracle=WRONG),
    sample(val(((2.0, 0.0, 3.0), (1.0, 2.0, -1.0), (0.0, 2.0, 0.0))), axis=0, keepdims=True).but(oracle=WRONG),
    sample(val((2j, 0.0, 1 + 1j), kind="D")).but(oracle=WRONG),
    sample(0.0).but(oracle=WRONG),
]


def _zero(g: Any, x: Any) -> Any:
    return onp.zeros_like(x)


def _spread(name: str) -> list[Sample]:
    samples = reduction("dfD", scalar=name == "var") + [
        sample(arr(2, 3), ddof=1),
        sample(arr(2, 3), axis=1, ddof=1).but(dtypes="dfD"),
        sample(arr(2, 3, 4), axis=(0, 2), ddof=2, keepdims=True),
        sample(arr(2, 3), axis=0, ddof=0.5),
        sample(arr(2, 3), 1, None, None, 1).but(oracle=ERRS),
        sample(arr(2, 3), axis=0, dtype="f").but(coarse=True),
    ]
    wide = onp.array([[True, False, True, True], [True, True, False, True]])
    masked = [sample(arr(2, 4), where=wide), sample(arr(2, 4), where=wide, axis=1, ddof=1)]
    samples += [s.but(oracle=WRONG) for s in masked]
    if name == "std":
        # The spread of one item, or of equal items, is zero; its derivative is chosen to be zero.
        samples = [s for s in samples if s.args[0] != arr(1, 3)]
        equal = [sample(val((2.0, 2.0, 2.0))), sample(val(((1.0, 1.0), (1.0, 1.0))), axis=0)]
        flat = [sample(arr(1, 3), axis=0), *[s.but(oracle=WRONG) for s in equal]]
        samples += [s.but(kink=True, pullback=_zero) for s in flat]
    return samples


def _extremes(sign: float) -> list[Sample]:
    """Return samples of a maximum (sign 1) or a minimum (sign -1)."""
    spaced = {"distinct": 0.05}
    tie_outside = val(((1.0, 1.0, 0.5), (0.0, 0.5, 1.0)))
    return reduction("df", **spaced) + [
        sample(arr(2, 3, **spaced), initial=0.1),
        sample(arr(2, 3, **spaced), axis=1, initial=0.1),
        sample(arr(2, 3, **spaced), axis=1, where=MASK, initial=-5.0 * sign),
        sample(arr(2, 3, **spaced), axis=1, where=MASK, initial=5.0 * sign).but(oracle=WRONG),
        sample(tie_outside, where=onp.array([True, False, True]), axis=1, initial=-5.0 * sign).but(
            oracle=WRONG if sign > 0 else True
        ),
        sample(val((1.0, 3.0, 3.0, 1.0))).but(order=1),
        sample(val(((1.0, 3.0, 3.0, 1.0), (1.0, 0.0, 2.0, 2.0))), axis=1).but(order=1),
        sample(val((1.0, 1.0, 1.0))).but(kink=True),
        sample(arr(0), initial=0.1),
    ]


NAN = onp.nan
HOLES = [
    sample(val((1.0, NAN, -2.0, 0.5))).but(dtypes="df"),
    sample(val(((1.0, NAN, -2.0), (0.5, 3.0, NAN))), axis=0),
    sample(val(((1.0, NAN, -2.0), (0.5, 3.0, NAN))), axis=-1, keepdims=True),
    sample(val(((1.0, NAN, -2.0), (0.5, 3.0, NAN))), axis=(0, 1)),
    sample(arr(2, 3, 4, layout="T", distinct=0.05), axis=(0, 2)),
]
SPREAD_HOLES = [sample(val((1.0, NAN, -2.0, 0.5)), ddof=1), sample(val(((1.0, NAN), (2.0, 5.0), (1.5, 3.0))), axis=0)]
AVERAGE = [
    *reduction("df", scalar=False)[:12],
    sample(arr(3), weights=onp.array([1.0, 2.0, 4.0])),
    sample(arr(2, 3), axis=1, weights=onp.array([1.0, 2.0, 4.0])),
    sample(arr(2, 3), axis=0, weights=onp.array([[1.0, 2.0, 4.0], [2.0, 1.0, 1.0]])),
]
WEIGHTED = [
    sample(arr(3), arr(3, lo=0.5)),
    sample(arr(2, 3), arr(3, lo=0.5), 1),
    sample(arr(2, 3), arr(2, 3, lo=0.5), 0),
]

ROWS = [
    Row("sum", reduction("dfDF") + EMPTY_SUMS + WHERE + INITIAL + DTYPE + OBJECTS + [MASKED_SUM]),
    Row("mean", reduction("dfD") + [sample(arr(2, 0), axis=0)] + WHERE + DTYPE + LISTS),
    Row("prod", reduction("dfD") + EMPTY_SUMS + WHERE + INITIAL + DTYPE[:2] + ZEROS),
    Row("var", _spread("var")),
    Row("std", _spread("std")),
    *[Row(name, _extremes(1.0 if "max" in name else -1.0)) for name in ("max", "min", "amax", "amin")],
    Row("ptp", reduction("df", distinct=0.05), oracle=NO_RULE),
    *[Row(name, HOLES, oracle=NO_RULE) for name in ("nansum", "nanmean", "nanprod", "nanmax", "nanmin")],
    *[Row(name, HOLES[1:] + SPREAD_HOLES, oracle=NO_RULE) for name in ("nanvar", "nanstd")],
    Row("average", AVERAGE, oracle=NO_RULE),
    Row(
        "average traced weights",
        WEIGHTED,
        fun=lambda np: lambda x, weights, axis=None: np.average(x, axis, weights),
        covers=("average",),
        oracle=NO_RULE,
    ),
]
