"""Samples of the operators, methods and properties of a box."""

from __future__ import annotations

import operator
from typing import Any

import numpy as onp
from samples import ERRS, Row, Sample, arr, const, sample
from table_elementwise import POSITIVE, unary


def _operator_rows() -> list[Row]:
    """Return the rows of the operators of a box on either side."""
    pairs = [
        sample(1.5, 0.7),
        sample(arr(3), arr(3)).but(dtypes="dfD"),
        sample(arr(3, gap=0.3), 0.7).but(dtypes="df"),
        sample(1.5, arr(2, 3, gap=0.3)),
        sample(arr(2, 1), arr(3, gap=0.3)),
        sample(const(2.5), arr(3, gap=0.3)),
        sample(arr(3), 2),
        sample(2, arr(3, gap=0.3)),
        sample(const(onp.array([1.0, 2.0, 3.0])), arr(3, gap=0.3)),
        sample(arr(3), const(onp.array([1.0, 2.0, 3.0]))),
        sample(onp.float64(1.5), 0.7),
        sample(const(onp.float64(1.5)), arr(3, gap=0.3)),
    ]
    positive = [
        sample(1.5, 0.7),
        sample(arr(3, **POSITIVE), arr(3)),
        sample(arr(3, **POSITIVE), const(2)),
        sample(arr(3, **POSITIVE), const(2.0)).but(dtypes="df"),
        sample(const(2.0), arr(3)),
        sample(2, arr(2, 2)),
        sample(0.0, const(2)),
    ]
    remainder = [
        sample(4.5, 1.7),
        sample(arr(3, lo=4.2, hi=4.8), const(1.7)),
        sample(const(4.5), arr(3, lo=1.6, hi=1.9)),
    ]
    product = [
        sample(arr(3), arr(3)),
        sample(arr(2, 3), arr(3)).but(dtypes="df"),
        sample(arr(2, 3), arr(3, 2, layout="T")),
        sample(const(onp.ones((2, 3))), arr(3)),
        sample(arr(4, 2, 3), const(onp.ones((3, 2)))),
    ]
    table = [
        ("add", pairs, "add"),
        ("sub", pairs, "subtract"),
        ("mul", pairs, "multiply"),
        ("truediv", pairs, "divide"),
        ("pow", positive, "power"),
        ("mod", remainder, "remainder"),
        ("matmul", product, "matmul"),
        ("neg", unary("dD"), "negative"),
        ("abs", unary("dD", gap=0.2), "absolute"),
    ]
    return [
        Row(f"operator {name}", samples, fun=lambda np, name=name: getattr(operator, name), covers=(covers,))
        for name, samples, covers in table
    ]


METHODS: dict[str, tuple[Any, list[Sample]]] = {
    "sum": (lambda x, **kw: x.sum(**kw), [sample(arr(2, 3)), sample(arr(2, 3), axis=-1, keepdims=True)]),
    "mean": (lambda x, *args: x.mean(*args), [sample(arr(2, 3)), sample(arr(2, 3), 1)]),
    "prod": (lambda x, **kw: x.prod(**kw), [sample(arr(2, 3), axis=0)]),
    "var": (lambda x, **kw: x.var(**kw), [sample(arr(2, 3), axis=0, ddof=1)]),
    "std": (lambda x, **kw: x.std(**kw), [sample(arr(2, 3), axis=1)]),
    "max": (lambda x, **kw: x.max(**kw), [sample(arr(2, 3, distinct=0.05), axis=1)]),
    "min": (lambda x, **kw: x.min(**kw), [sample(arr(2, 3, distinct=0.05), axis=1)]),
    "cumsum": (lambda x, **kw: x.cumsum(**kw), [sample(arr(2, 3), axis=1)]),
    "clip": (lambda x, low, high: x.clip(low, high), [sample(arr(5, distinct=0.05), const(-0.1), const(0.2))]),
    "dot": (
        lambda x, y: x.dot(y),
        # A method of a plain array cannot trace its argument, so only the array is traced.
        [sample(arr(2, 3), const(onp.ones(3))).but(oracle=ERRS), sample(arr(3), const(onp.ones(3))).but(oracle=ERRS)],
    ),
    "ravel": (lambda x: x.ravel(), [sample(arr(2, 3))]),
    "reshape": (
        lambda x, *shape: x.reshape(*shape),
        [sample(arr(2, 3), 3, 2), sample(arr(2, 3), (6,)), sample(arr(6), -1)],
    ),
    "squeeze": (lambda x: x.squeeze(), [sample(arr(2, 1))]),
    "transpose": (
        lambda x, *axes: x.transpose(*axes),
        [sample(arr(2, 3)), sample(arr(2, 3, 4), (1, 2, 0)), sample(arr(2, 3, 4), 1, 2, 0).but(oracle=ERRS)],
    ),
    "swapaxes": (lambda x, a, b: x.swapaxes(a, b), [sample(arr(2, 3), 0, 1)]),
    "diagonal": (
        lambda x, **kw: x.diagonal(**kw),
        [sample(arr(3, 3)).but(oracle=ERRS), sample(arr(3, 4), offset=1).but(oracle=ERRS)],
    ),
    "trace": (lambda x, **kw: x.trace(**kw), [sample(arr(3, 3)), sample(arr(3, 4), offset=1)]),
    "repeat": (lambda x, *a, **kw: x.repeat(*a, **kw), [sample(arr(2, 3), 2, axis=1)]),
    "astype": (lambda x, dtype: x.astype(dtype), [sample(arr(3), float), sample(arr(3), onp.float32).but(coarse=True)]),
    "conj": (lambda x: x.conj(), [sample(arr(3, kind="D")).but(oracle=ERRS)]),
}


def _method_rows() -> list[Row]:
    rows = []
    for name, (method, samples) in METHODS.items():
        covers = ("_astype" if name == "astype" else getattr(onp, name).__name__,)
        rows.append(Row(f"method {name}", samples, fun=lambda np, f=method: f, covers=covers))
    rows.append(Row("property T", [sample(arr(2, 3, 4))], fun=lambda np: lambda x: x.T, covers=("transpose",)))
    return rows


ROWS = [*_operator_rows(), *_method_rows()]
