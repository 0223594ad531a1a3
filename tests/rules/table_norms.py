"""Samples of the norms of `numpy.linalg`."""

from __future__ import annotations

from linalg_samples import INF, NUMPY_2, REGULAR, la, mat, row, with_all
from samples import ERRS, NO_RULE, WRONG, arr, const, sample, val

# ---------------------------------------------------------------------------------------------------------------- norms

VECTORS = [
    sample(arr(4)).but(dtypes="dfD"),
    sample(arr(2, 3)).but(dtypes="dfD"),
    sample(arr(2, 3, 2, layout="T")).but(dtypes="dD"),
    sample(2.5).but(oracle=ERRS),
    sample(arr(2, 3), None, 1).but(dtypes="dD"),
    sample(arr(2, 3), axis=-1),
    sample(arr(2, 3, 2), axis=(0, 2)).but(dtypes="dD"),
    sample(arr(2, 3, 2), axis=(2,)).but(oracle=ERRS),
    sample(arr(3), 2).but(dtypes="dD"),
    sample(arr(2, 3), ord=2, axis=0),
    sample(arr(4, gap=0.2), 3).but(dtypes="dfD"),
    sample(arr(4, gap=0.2), const(1.5)).but(dtypes="dD"),
    sample(arr(2, 3, gap=0.2), 4, 1).but(dtypes="dD"),
    sample(arr(2, 3, gap=0.2), 3, 0),
    sample(arr(3, gap=0.2), -2).but(dtypes="dD", oracle=ERRS),
    sample(arr(3, gap=0.2), const(0.5)).but(oracle=ERRS),
    *[sample(arr(4, gap=0.2), const(p)).but(dtypes="dD", oracle=ERRS) for p in (1, -INF, 0)],
    *[sample(arr(2, 3, gap=0.2), const(p), 1).but(dtypes="dD", oracle=ERRS) for p in (1, -INF)],
    sample(arr(4, gap=0.2), const(INF)).but(dtypes="dfD", oracle=WRONG),
    sample(arr(2, 3, gap=0.2), const(INF), -1).but(dtypes="dD", oracle=WRONG),
]
MATRICES = [
    sample(mat(3, 2), "fro").but(dtypes="dfD"),
    sample(mat(2, 3, 2), "fro", (0, 2)),
    sample(mat(3, 2), "nuc").but(dtypes="dfD"),
    sample(mat(3, 3), "nuc"),
    sample(mat(2, 3, 2), "nuc", (2, 0)),
    *[sample(mat(3, 2, gap=0.1), const(p)).but(dtypes="dD", oracle=ERRS) for p in (1, -1, INF, -INF, 2, -2)],
    *[sample(mat(2, 3, 2, gap=0.1), const(p), (0, -1)).but(oracle=ERRS) for p in (1, -1, INF, -INF, 2, -2)],
    sample(mat(2, 3, 2, gap=0.1), 1, (2, 1)).but(oracle=ERRS),
    sample(mat(3, 2, gap=0.1), 1).but(dtypes="f", oracle=ERRS),
]
KEEPDIMS = [
    sample(arr(3), keepdims=True).but(dtypes="dD"),
    sample(arr(2, 3), axis=1, keepdims=True).but(dtypes="dD", oracle=ERRS),
    sample(arr(2, 3), None, 1, True).but(oracle=ERRS),
    sample(arr(2, 3, gap=0.2), 3, axis=0, keepdims=True).but(oracle=ERRS),
    sample(arr(2, 3), "fro", keepdims=True),
    sample(arr(2, 3, 2), "nuc", axis=(0, 1), keepdims=True).but(oracle=ERRS),
    sample(arr(2, 3, gap=0.2), const(INF), keepdims=True).but(oracle=ERRS),
]
AT_ZERO = [
    sample(val((0.0, 0.0, 0.0))).but(dtypes="dD"),
    sample(val(((0.0, 0.0), (1.0, 2.0))), axis=1),
    sample(val(((0.0, 0.0), (1.0, 2.0))), axis=1, keepdims=True),
    *[sample(val((0.0, 0.0, 0.0)), const(p)).but(dtypes="dD") for p in (1, 3, 1.5, INF)],
    *[sample(val(((0.0, 0.0), (0.0, 0.0))), const(p)).but(dtypes="dD") for p in ("fro", "nuc", 2, 1, INF)],
]
ZERO = with_all(AT_ZERO, kink=True, oracle=WRONG)
TIES = with_all(
    [sample(val((1.0, -1.0, 0.5)), const(INF)), sample(val(((1.0, 2.0), (-2.0, 1.0))), 1), sample(val(REGULAR), 2)],
    kink=True,
    oracle=ERRS,
)
VECTOR_NORM = [
    sample(arr(4)).but(dtypes="dfD"),
    sample(arr(2, 3, 2), axis=(0, 2), keepdims=True).but(dtypes="dD"),
    sample(arr(2, 3, gap=0.2), ord=3).but(dtypes="dD"),
    sample(arr(2, 3, 2, gap=0.2), ord=1, axis=(0, 1)),
    sample(arr(2, 3, gap=0.2), ord=INF, axis=-1),
    sample(val(((0.0, 0.0), (1.0, 2.0))), axis=1).but(kink=True),
]
MATRIX_NORM = [
    sample(mat(3, 2)).but(dtypes="dfD"),
    sample(mat(2, 3, 2), keepdims=True).but(dtypes="dD"),
    *[sample(mat(2, 3, 2, gap=0.1), ord=p).but(dtypes="dD") for p in ("nuc", 2, -2, 1, -1, INF, -INF)],
]

# ------------------------------------------------------------------------------------------------------------- the rows

ROWS = [
    row("norm", VECTORS),
    row("norm of matrices", MATRICES, la("norm"), ("norm",)),
    row("norm keepdims", KEEPDIMS, la("norm"), ("norm",)),
    row("norm at zero", ZERO, la("norm"), ("norm",)),
    row("norm ties", TIES, la("norm"), ("norm",)),
]
if NUMPY_2:
    ROWS += [
        row("vector_norm", VECTOR_NORM, oracle=NO_RULE),
        row("matrix_norm", MATRIX_NORM, oracle=NO_RULE),
    ]
