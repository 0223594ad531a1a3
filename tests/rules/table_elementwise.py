"""Samples of the elementwise functions and of choices between arrays."""

from __future__ import annotations

from typing import Any

import numpy as onp
from samples import COMPLEX, ERRS, NO_RULE, SHAPE, WRONG, Row, Sample, arr, const, sample, val


def unary(dtypes: str = "df", **options: Any) -> list[Sample]:
    """Return samples of a scalar, 0-d, empty and other arrays in every layout; the first three at every dtype."""
    low, high = options.get("lo", -1.5), options.get("hi", 1.5)
    inside = float(low + 0.6 * (high - low))
    return [
        sample(inside).but(dtypes=dtypes),
        sample(arr(4, **options)).but(dtypes=dtypes),
        sample(arr(2, 3, layout="T", **options)).but(dtypes=dtypes),
        sample(onp.float64(inside)),
        sample(arr(**options)),
        sample(arr(2, 3, layout="S", **options)),
        sample(arr(2, 1, 3, layout="R", **options)),
        sample(arr(0, **options)),
        sample(arr(2, 0, **options)),
    ]


def binary(dtypes: str = "df", left: dict | None = None, right: dict | None = None) -> list[Sample]:
    """Return samples of every way of broadcasting two arguments."""
    left, right = left or {}, right or {}
    a = left.get("distinct", left.get("lo", -1.5) * 0.3 + left.get("hi", 1.5) * 0.7)
    b = right.get("distinct", right.get("lo", -1.5) * 0.4 + right.get("hi", 1.5) * 0.6)
    return [
        sample(a, b).but(dtypes=dtypes),
        sample(arr(3, **left), arr(3, **right)).but(dtypes=dtypes),
        sample(arr(3, 1, **left), arr(1, 4, **right)).but(dtypes=dtypes),
        sample(a, arr(2, 3, **right)).but(dtypes=dtypes),
        sample(arr(2, 3, **left), b).but(dtypes=dtypes),
        sample(arr(2, 3, 4, **left), arr(4, **right)),
        sample(arr(3, **left), arr(2, 3, layout="R", **right)),
        sample(arr(3, 1, **left), arr(2, 3, 4, **right)),
        sample(arr(2, 3, layout="T", **left), arr(2, 3, layout="S", **right)),
        sample(arr(**left), arr(1, **right)),
        sample(arr(1, **left), arr(3, **right)),
        sample(arr(1, 1, **left), arr(3, **right)),
        sample(arr(3, **left), const(b)),
        sample(const(a), arr(3, **right)),
        sample(arr(0, **left), b),
        sample(arr(3, **left), arr(0, 3, **right)),
        sample(arr(3, kind="f", **left), arr(2, 3, **right)),
        sample(onp.float64(a), arr(3, kind="f", **right)),
    ]


def half_complex(left: dict | None = None, right: dict | None = None) -> list[Sample]:
    """Return samples of a real and a complex argument in both orders: the real one has a real cotangent."""
    left, right = left or {}, right or {}
    return [
        sample(arr(3, **left), arr(3, kind="D", **right)),
        sample(arr(2, 3, kind="D", **left), arr(3, **right)),
        sample(1.2, arr(3, kind="D", **right)),
    ]


DOMAINS: dict[str, dict] = {
    "negative": {"dtypes": "dfD"},
    "absolute": {"dtypes": "dfD", "gap": 0.2},
    "fabs": {"gap": 0.2},
    "sqrt": {"dtypes": "dfD", "lo": 0.3, "hi": 3.0},
    "square": {"dtypes": "dfDF"},
    "reciprocal": {"dtypes": "dfD", "gap": 0.4},
    "exp": {"dtypes": "dfDF"},
    "exp2": {"dtypes": "dfD"},
    "expm1": {"dtypes": "dfD"},
    "log": {"dtypes": "dfD", "lo": 0.3, "hi": 3.0},
    "log2": {"dtypes": "dfD", "lo": 0.3, "hi": 3.0},
    "log10": {"dtypes": "dfD", "lo": 0.3, "hi": 3.0},
    "log1p": {"dtypes": "dfD", "lo": -0.5, "hi": 2.0},
    "sin": {"dtypes": "dfD"},
    "cos": {"dtypes": "dfD"},
    "tan": {"dtypes": "dfD", "lo": -1.0, "hi": 1.0},
    "arcsin": {"dtypes": "dfD", "lo": -0.8, "hi": 0.8},
    "arccos": {"dtypes": "dfD", "lo": -0.8, "hi": 0.8},
    "arctan": {"dtypes": "dfD"},
    "sinh": {"dtypes": "dfD"},
    "cosh": {"dtypes": "dfD"},
    "tanh": {"dtypes": "dfD"},
    "arcsinh": {"dtypes": "dfD"},
    "arccosh": {"dtypes": "dfD", "lo": 1.4, "hi": 3.0},
    "arctanh": {"dtypes": "dfD", "lo": -0.8, "hi": 0.8},
    "sinc": {"dtypes": "dfD", "gap": 0.1},
    "deg2rad": {},
    "rad2deg": {},
    "degrees": {},
    "radians": {},
    "real": {"dtypes": "dfDF"},
    "imag": {"dtypes": "dfDF"},
    "conj": {"dtypes": "dfD"},
    "angle": {"dtypes": "dfD", "gap": 0.3},
    "real_if_close": {"dtypes": "dfD"},
    "nan_to_num": {"dtypes": "dfD"},
}

MASK = onp.array([True, False, True, True])
BOTH_SIDES = val((-2.5, -0.7, 0.4, 2.2))

# Samples of single functions beyond those of `unary`.
EXTRA: dict[str, list[Sample]] = {
    "absolute": [
        sample(val((0.0, 1.0, -2.0))).but(kink=True),
        sample(val((0j, 1 + 1j, -2j), kind="D")).but(
            kink=True, pullback=lambda g, z: g * onp.array([0, 0.5**0.5 * (1 - 1j), 1j])
        ),
    ],
    "arccosh": [sample(val((-1.5 + 0.4j, 0.3 - 0.8j, -0.2 - 0.3j), kind="D")).but(oracle=WRONG)],
    "arccos": [sample(val((-1.5 + 0.4j, 2.3 - 0.8j), kind="D"))],
    "arcsin": [sample(val((-1.5 + 0.4j, 2.3 - 0.8j), kind="D"))],
    "sqrt": [sample(val((-1.5 + 0.4j, -0.3 - 0.8j), kind="D"))],
    "sinc": [sample(val((0.0, 0.5, 1.0, -2.0))).but(oracle=WRONG), sample(0.0).but(oracle=WRONG)],
    "exp": [
        sample(arr(3), dtype="f").but(coarse=True, oracle=ERRS),
        sample(arr(2, 3), dtype="d").but(dtypes="df", oracle=ERRS),
    ],
    "angle": [
        sample(arr(3, gap=0.3), True).but(dtypes="dD", oracle=ERRS),
        sample(arr(3, gap=0.3), deg=True).but(dtypes="dD", oracle=ERRS),
        sample(BOTH_SIDES),
    ],
    "real_if_close": [
        sample(val((1.0 + 0j, -2.0), kind="D")).but(kink=True),
        sample(arr(3, kind="D"), tol=1000).but(oracle=ERRS),
    ],
    "nan_to_num": [
        sample(val((onp.nan, 1.0, onp.inf, -onp.inf))),
        sample(val((onp.nan, 1.0, onp.inf, -2.0)), nan=2.0, posinf=5.0).but(oracle=ERRS),
        sample(val((onp.nan, 1.0, -onp.inf, -2.0)), neginf=-5.0).but(oracle=ERRS),
    ],
}


def _unary_rows() -> list[Row]:
    rows = []
    for name, options in DOMAINS.items():
        covers = {"conj": ("conjugate",)}.get(name, ())
        rows.append(Row(name, unary(**options) + EXTRA.get(name, []), covers=covers))
    return rows


POSITIVE = {"lo": 0.4, "hi": 2.5}
APART = {"gap": 0.4}
LATTICE, BETWEEN = {"distinct": 0.05}, {"distinct": 0.15}
TIES = [
    sample(val((1.0, 2.0, -1.0)), val((1.0, 0.0, -1.0))).but(order=1),
    sample(1.0, 1.0).but(order=1),
    sample(val((1.0, 2.0, 1.0)), 1.0).but(order=1),
]
POWERS = [
    sample(BOTH_SIDES, const(2)),
    sample(BOTH_SIDES, const(3.0)).but(dtypes="df"),
    sample(BOTH_SIDES, const(-1.0)),
    sample(BOTH_SIDES, const(0.0)),
    sample(BOTH_SIDES, const(onp.array([2.0, 3.0, 0.0, 1.0]))),
    sample(BOTH_SIDES, onp.array([2, 3, 0, 1])),
    sample(val((0.0, 1.5)), const(2.0)),
    sample(val((0.0, 1.5)), const(1.0)),
    sample(val((0.0, 1.5)), const(0.0)),
    sample(val((0.0, 0.0, 0.0, 0.0)), const(onp.array([0.0, 1.0, 2.0, 3.0]))),
    sample(0.0, const(2)),
    sample(0.0, const(2.0)),
    sample(0.0, const(1.0)),
    sample(val((0.0, 1.5)), val((2.0, 3.0))).but(
        kink=True, pullback=lambda g, x, y: [g * y * x ** (y - 1), g * onp.array([0.0, onp.log(1.5) * 1.5**3])]
    ),
    # Some exponents have a special form; those beside them have the general one.
    *[sample(arr(3, **POSITIVE), const(y)) for y in (-2.0, -1.5, -0.5, 0.5, 1.5, 2.5, 4.0, 5, 6.0)],
    *[sample(1.3, const(y)) for y in (-2, -0.5, 0.5, 1.5, 3, 4)],
    sample(2, arr(3)),
    sample(onp.array([1, 2, 3]), arr(3)),
    sample(arr(3, kind="D"), const(2)),
    sample(arr(3, kind="D"), const(-2.0)),
    sample(arr(3, **POSITIVE), const(2.0), dtype="f").but(coarse=True, oracle=ERRS),
]


def _filled(name: str) -> Row:
    """Return the row of a ufunc with ``where=`` and ``out=``, which writes into an array that is not traced."""

    def make(np: Any) -> Any:
        return lambda *args, where: getattr(np, name)(*args, where=where, out=onp.full(4, 2.0))

    args = (arr(4),) if name in ("exp", "sin") else (arr(4), arr(1))
    return Row(f"{name} where", [sample(*args, where=MASK).but(refused=True)], fun=make, covers=(name,), oracle=ERRS)


def _binary_rows() -> list[Row]:
    arithmetic = binary("dfD") + half_complex()
    quotient = binary("dfD", right=APART) + half_complex(right=APART)
    power = binary("dfD", POSITIVE) + half_complex(POSITIVE) + POWERS
    extrema = binary("df", LATTICE, BETWEEN) + TIES
    remainders = binary("df", {"lo": 4.2, "hi": 4.8}, {"lo": 1.6, "hi": 1.9}) + [
        sample(val((5.3, -3.1, 2.2, -2.2)), val((2.0, 1.7, -0.9, -0.9))),
        sample(BOTH_SIDES, const(0.9)),
        sample(const(7.7), val((2.0, -1.3))),
    ]
    return [
        Row("add", arithmetic + [sample(arr(3), arr(3), dtype="f").but(coarse=True, oracle=ERRS)]),
        Row("subtract", arithmetic),
        Row("multiply", arithmetic + [sample(arr(3), onp.array([1, 2, 3])), sample(True, arr(3)), sample(arr(3), 2)]),
        Row("divide", quotient + [sample(arr(3), 2), sample(2, arr(3, gap=0.4))]),
        Row("true_divide", quotient[:3], covers=("divide",)),
        Row("power", power),
        Row("arctan2", binary("df", APART, APART)),
        Row("hypot", binary("df", APART, APART)),
        Row("logaddexp", binary()),
        Row("logaddexp2", binary()),
        Row("maximum", extrema),
        Row("minimum", extrema),
        Row("fmax", extrema),
        Row("fmin", extrema),
        Row("mod", remainders, covers=("remainder",)),
        Row("remainder", remainders[:3]),
        *map(_filled, ("exp", "sin", "add", "multiply")),
    ]


def _ruleless_rows() -> list[Row]:
    """Return the rows of functions for which autograd has no rule."""
    remainders = [
        sample(4.5, 1.7).but(dtypes="df"),
        sample(val((5.3, -3.1, 2.2, -2.2)), val((2.0, 1.7, -0.9, -0.9))),
        sample(arr(3, 1, lo=4.2, hi=4.8), arr(4, lo=1.6, hi=1.9)),
        sample(BOTH_SIDES, const(0.9)),
    ]
    power = binary("dD", POSITIVE) + half_complex(POSITIVE) + POWERS[:8]
    signed = binary("df", APART, APART) + [sample(BOTH_SIDES, const(-2.0)), sample(const(1.5), BOTH_SIDES)]
    return [
        Row("copysign", signed, oracle=NO_RULE),
        Row("positive", unary("dfD"), oracle=NO_RULE),
        Row("fmod", remainders, oracle=NO_RULE),
        Row("float_power", power, oracle=NO_RULE),
    ]


COLUMN = onp.array([[True], [False]])


def _choosing_rows() -> list[Row]:
    four = arr(4, distinct=0.05)
    where = [
        sample(MASK, arr(4), arr(4)).but(dtypes="dfD"),
        sample(MASK, arr(4), 2.5).but(dtypes="dfD", oracle=SHAPE),
        sample(MASK, 2.5, arr(4)).but(oracle=SHAPE),
        sample(MASK, arr(1), arr(4)).but(oracle=SHAPE),
        sample(MASK, arr(2, 4), arr(4, layout="R")).but(oracle=SHAPE),
        sample(COLUMN, arr(3), arr(2, 3)).but(oracle=SHAPE),
        sample(COLUMN, arr(3), 1.0).but(oracle=SHAPE),
        sample(COLUMN, 2.0, 1.0).but(oracle=SHAPE),
        sample(COLUMN, arr(), arr(1, 3)).but(oracle=SHAPE),
        sample(True, arr(3), arr(3)),
        sample(onp.array(False), 2.0, 1.0),
        sample(True, arr(3), arr(2, 1)).but(oracle=SHAPE),
        sample(onp.zeros((0, 2), bool), arr(2), 1.0).but(oracle=SHAPE),
        sample(MASK, arr(4), arr(4, kind="D")).but(oracle=COMPLEX),
        sample(MASK, 0.5, arr(4, kind="D")).but(oracle=SHAPE),
        sample(onp.array([1, 0, 2, 0]), arr(4), const(0.0)),
    ]
    clip = [
        sample(four, const(-0.2), const(0.2)).but(dtypes="df"),
        sample(0.5, const(-0.2), const(0.2)),
        sample(arr(2, 3, distinct=0.05, layout="T"), const(-0.2), const(0.2)),
        sample(arr(distinct=0.05), const(-0.2), const(0.2)),
        sample(four, const(-0.2), None),
        sample(four, None, const(0.2)),
        sample(four, a_min=-0.2, a_max=0.2),
        sample(four, const(onp.array([-0.3, -0.2, 0.0, 0.2])), const(0.3)),
        sample(four, const(-0.2), const(onp.array([[0.2], [0.0]]))).but(oracle=SHAPE),
        sample(0.05, const(onp.array([-0.3, 0.2])), const(0.3)).but(oracle=SHAPE),
        sample(arr(0), const(-0.2), const(0.2)),
    ]
    bounds = [
        sample(four, -0.2, 0.2),
        sample(four, arr(4, lo=-0.25, hi=-0.24), 0.2),
        sample(arr(2, 4, distinct=0.05), arr(4, lo=-0.25, hi=-0.24), arr(2, 1, lo=0.23, hi=0.24)),
    ]
    keyword = [sample(four, -0.2, 0.2), sample(arr(2, 3, distinct=0.05), -0.2, 0.2)]
    return [
        Row("where", where),
        Row("clip", clip),
        Row("clip traced bounds", bounds, fun=lambda np: np.clip, covers=("clip",), oracle=NO_RULE),
        Row(
            "clip keyword bounds",
            keyword,
            fun=lambda np: lambda x, low, high: np.clip(x, a_max=high, a_min=low),
            covers=("clip",),
            oracle=NO_RULE,
        ),
    ]


SPLIT_AT = onp.array([True, False, False])
SELECT = [
    sample([SPLIT_AT, ~SPLIT_AT], [arr(3), arr(3)]).but(dtypes="dfD"),
    sample([SPLIT_AT, onp.array([True, True, False])], [arr(3), arr(3)]),
    sample([SPLIT_AT, onp.array([True, True, False])], [arr(3), arr(3, layout="R")], 0.5),
    sample([SPLIT_AT], [arr(3)], default=2.0),
    sample([SPLIT_AT, onp.array([False, True, False])], [arr(3), 0.5], const(1.0)),
    sample([SPLIT_AT, onp.array([False, True, False])], [arr(2, 3), arr(3)]),
]
HEAVISIDE = [
    sample(arr(4, gap=0.2), 0.5).but(dtypes="df"),
    sample(onp.array([0, 1, -1, 0]), arr(4)),
    sample(onp.array([[0], [1]]), arr(3, kind="f")),
    sample(arr(2, kind="f", gap=0.2), arr(2, kind="f")),
    sample(onp.zeros(2, "f"), arr(2, kind="f")),
]
LDEXP = [sample(arr(4), 3).but(dtypes="df"), sample(arr(3), onp.array([[1], [-2]]))]

ROWS = [
    *_unary_rows(),
    *_binary_rows(),
    *_ruleless_rows(),
    *_choosing_rows(),
    Row("select", SELECT, covers=("where",)),
    Row("heaviside", HEAVISIDE, oracle=NO_RULE),
    Row("ldexp", LDEXP, oracle=NO_RULE),
    Row("cbrt", unary(gap=0.3), oracle=NO_RULE),
]
