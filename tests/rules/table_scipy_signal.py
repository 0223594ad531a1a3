"""Samples of the convolution of `scipy.signal`."""

from __future__ import annotations

import importlib

import numpy as onp
from samples import COMPLEX, ERRS, SHAPE, Row, arr, sample
from scipy_samples import SCIPY

BATCH, FILTER = arr(4, 2, 3), arr(3, 3, 2)
CONVOLVE = [
    sample(arr(5), arr(3)).but(dtypes="dfD"),
    sample(arr(3, layout="R"), arr(5)),
    *[sample(arr(5), arr(m), mode=mode) for m in (3, 4) for mode in ("valid", "same", "full")],
    sample(arr(3), arr(5), mode="valid"),
    sample(arr(3), arr(4), mode="same"),
    sample(arr(1), arr(1), mode="valid"),
    sample(arr(4, kind="D"), arr(3)).but(oracle=COMPLEX),
    sample(arr(4, 3, layout="T"), arr(2, 2)),
    sample(arr(4, 3), arr(2, 2), mode="valid"),
    sample(arr(4, 3), arr(2, 2), mode="same"),
    sample(arr(2, 2), arr(3, 4), None, ((), ()), "valid"),
    sample(BATCH, FILTER, axes=([0], [1])),
    sample(BATCH, FILTER, axes=([0], [1]), mode="valid"),
    sample(BATCH, FILTER, axes=([0], [1]), dot_axes=([1], [2])),
    sample(BATCH, FILTER, axes=([0], [1]), dot_axes=([1], [2]), mode="valid"),
    sample(arr(2, 3, 2), arr(4, 3, 2), axes=([0], [0]), dot_axes=([2, 1], [2, 1]), mode="valid").but(oracle=SHAPE),
    sample(arr(2, 3, 4), arr(4, 3, 2), axes=([0], [2]), dot_axes=([2, 1], [0, 1])).but(oracle=SHAPE),
    sample(arr(5, 4, 2), arr(2, 3, 3), axes=([0, 1], [2, 1]), dot_axes=([2], [0])),
    sample(arr(4, 2), arr(2, 3), axes=([0], [1])),
    sample(arr(4, 2, 3), arr(3), axes=([0], [0])),
    sample(arr(2, 3), arr(4, 3), axes=[(), ()], dot_axes=[(1,), (1,)]),
    sample(BATCH, FILTER, axes=([-3], [-2]), dot_axes=([-2], [-1])).but(oracle=ERRS),
]


def convolution(np: object) -> object:
    module = importlib.import_module(f"{SCIPY[np.__name__ if np is not onp else 'fastgrad.numpy']}.signal")
    return module.convolve.fun if np is onp else module.convolve


ROWS = [Row("signal.convolve", CONVOLVE, fun=convolution, covers=("convolve",))]
