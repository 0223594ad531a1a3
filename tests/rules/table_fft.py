"""Samples of the discrete Fourier transforms, listed without their module: ``fft`` is ``numpy.fft.fft``."""

from __future__ import annotations

from typing import Any

import numpy as onp
from samples import ERRS, NO_RULE, WRONG, Row, Sample, arr, sample

ONE = onp.int64(1)
NUMPY_1 = int(onp.__version__.split(".")[0]) < 2

COMPLEX = [
    sample(arr(4)).but(dtypes="dfDF"),
    sample(arr(5)).but(dtypes="dD"),
    sample(arr(1)),
    sample(arr(2, 3, layout="T")).but(dtypes="dD"),
    sample(arr(5), 8).but(dtypes="dD"),
    sample(arr(5), n=3).but(dtypes="dD"),
    sample(arr(2, 5, layout="R"), 4).but(dtypes="dD"),
    sample(arr(4, 3), axis=0).but(dtypes="dD"),
    sample(arr(2, 5, 2), n=7, axis=-2),
    sample(arr(2, 5, 2), n=ONE * 2, axis=ONE),
    sample(arr(0, 3)),
    *[sample(arr(5), norm=norm).but(dtypes="dD") for norm in ("backward", "ortho", "forward")],
    *[sample(arr(2, 4), n=n, axis=0, norm=norm) for n in (1, 3) for norm in ("ortho", "forward")],
]
# autograd raises an error if the number of points is odd, and scales wrongly if a norm is given.
REAL = [
    sample(arr(4)).but(dtypes="df"),
    sample(arr(2)),
    sample(arr(5)).but(oracle=ERRS),
    sample(arr(1)).but(oracle=ERRS),
    sample(arr(2, 4, layout="T")),
    sample(arr(5), 8),
    sample(arr(5), n=3).but(oracle=ERRS),
    sample(arr(2, 5, layout="R"), 4),
    sample(arr(4, 3), axis=0),
    sample(arr(2, 5, 2), n=7, axis=-2).but(oracle=ERRS),
    sample(arr(2, 5, 2), n=ONE * 2, axis=ONE).but(oracle=ERRS),
    sample(arr(0, 4)),
    sample(arr(6), norm="backward").but(oracle=WRONG),
    sample(arr(6), norm="ortho"),
    sample(arr(6), norm="forward").but(oracle=WRONG),
    sample(arr(4, 3), n=6, axis=0, norm="forward").but(oracle=WRONG),
    *[sample(arr(5), norm=norm).but(oracle=ERRS) for norm in ("backward", "ortho", "forward")],
]
# Frequencies 0 and n / 2 of the complex samples have imaginary parts, which the inverse drops.
HALF = [
    sample(arr(4)).but(dtypes="dfDF"),
    sample(arr(5)).but(dtypes="dD"),
    sample(arr(2)).but(dtypes="dD"),
    sample(arr(4), 6).but(dtypes="dD"),
    sample(arr(4), 7).but(dtypes="dD", oracle=ERRS),
    sample(arr(4), 5).but(dtypes="D", oracle=ERRS),
    sample(arr(4), 4).but(dtypes="D"),
    sample(arr(4), 1).but(dtypes="D", oracle=ERRS),
    sample(arr(4), 2).but(dtypes="D"),
    sample(arr(3), 9).but(dtypes="dD", oracle=ERRS),
    sample(arr(3), n=10).but(dtypes="D"),
    sample(arr(2, 3, layout="T")).but(dtypes="dD"),
    sample(arr(4, 3, layout="R"), axis=0).but(dtypes="dD"),
    sample(arr(2, 3, 2), n=7, axis=-2).but(dtypes="D", oracle=ERRS),
    sample(arr(2, 3, 2), n=ONE * 3, axis=ONE).but(dtypes="D", oracle=ERRS),
    sample(arr(0, 3)).but(dtypes="D"),
    sample(arr(4), 6, norm="backward").but(dtypes="dD", oracle=WRONG),
    sample(arr(4), 6, norm="ortho").but(dtypes="dD"),
    sample(arr(4), 6, norm="forward").but(dtypes="dD", oracle=WRONG),
    *[sample(arr(4), 5, norm=norm).but(dtypes="dD", oracle=ERRS) for norm in ("backward", "ortho", "forward")],
]

# Transforms along several axes, by default the last two: each with autograd's faults in the complex, real and inverse
# real transform.
TWO = [
    (sample(arr(4, 6)), True, True, True),
    (sample(arr(3, 5, layout="T")), True, ERRS, True),
    (sample(arr(2, 3, 4)), True, True, True),
    (sample(arr(2, 4, 3, layout="S"), axes=(0, 1)), True, True, True),
    (sample(arr(2, 3, 4), axes=(-1, 0)), True, True, True),
    (sample(arr(2, 3, 4), axes=[ONE, 0]), True, True, True),
    (sample(arr(2, 4), axes=(1,)), True, True, True),
    (sample(arr(4, 4), (2, 5), (0, 1)), True, ERRS, ERRS),
    (sample(arr(4, 4), s=(5, 3), axes=(0, 1)), True, ERRS, ERRS),
    (sample(arr(3, 3, 2), s=(4, 4), axes=(2, 0), norm="ortho"), True, True, True),
    (sample(arr(4, 4), axes=(0, 1), norm="ortho"), True, True, True),
    (sample(arr(4, 4), axes=(0, 1), norm="forward"), True, WRONG, WRONG),
    (sample(arr(4, 3), axes=(0, 1), norm="backward"), True, ERRS, WRONG),
    (sample(arr(4, 4), axes=(0, 0)), True, ERRS, ERRS),
    (sample(arr(4, 3), axes=(1, 0, -1)), True, ERRS, WRONG),
    (sample(arr(4, 3), s=(3, 5, 6), axes=(0, 1, -2), norm="forward"), WRONG, WRONG, WRONG),
    (sample(arr(4, 3), s=(6, 3), axes=(0, 0)), WRONG, ERRS, ERRS),
]
# NumPy 1 does not accept -1, which keeps the length of an axis.
TWO += (
    []
    if NUMPY_1
    else [
        (sample(arr(4, 3), s=(-1, 6), axes=(0, 1)), True, WRONG, WRONG),
        (sample(arr(4, 3), s=(6, -1), axes=(0, 1)), True, ERRS, ERRS),
    ]
)
# All axes by default.
MANY = [*TWO, (sample(arr(4)), True, True, True), (sample(arr(2, 2, 3, 4)), True, True, True)]


def of_kind(kind: str, table: list[tuple]) -> list[Sample]:
    """Return the samples for one kind of transform."""
    column = 1 + ("complex", "real", "half").index(kind)
    dtypes = "d" if kind == "real" else "dD"
    first = table[0][0].but(dtypes="df" if kind == "real" else "dfDF")
    return [first, *[entry[0].but(dtypes=dtypes, oracle=entry[column]) for entry in table[1:]]]


SHIFTS = [
    sample(arr(4)).but(dtypes="dfDF"),
    sample(arr(5)).but(dtypes="dD"),
    sample(arr(3, 4, layout="T")),
    sample(arr(3, 4), 0),
    sample(arr(3, 5), axes=-1),
    sample(arr(3, 5, 2), axes=(0, -2)),
    sample(arr(3, 5), axes=ONE),
    sample(arr(0, 3)),
]


def row(name: str, samples: list[Sample], **options: Any) -> Row:
    """Return the row of a function of ``numpy.fft``."""
    return Row(f"fft.{name}", samples, fun=lambda np: getattr(np.fft, name), covers=(name,), **options)


ROWS = [
    row("fft", COMPLEX),
    row("ifft", COMPLEX),
    row("rfft", REAL),
    row("irfft", HALF),
    row("hfft", HALF, oracle=NO_RULE),
    row("ihfft", REAL, oracle=NO_RULE),
    row("fft2", of_kind("complex", TWO)),
    row("ifft2", of_kind("complex", TWO)),
    row("rfft2", of_kind("real", TWO)),
    row("irfft2", of_kind("half", TWO)),
    row("fftn", of_kind("complex", MANY)),
    row("ifftn", of_kind("complex", MANY)),
    row("rfftn", of_kind("real", MANY)),
    row("irfftn", of_kind("half", MANY)),
    row("fftshift", SHIFTS),
    row("ifftshift", SHIFTS),
]
