"""Samples of special functions and of the distributions."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as onp
import scipy.special
from checks import ERRS, NO_RULE, SHAPE, WRONG, Row, Sample, arr, const, sample, val

SCIPY = {"numpy": "scipy", "fastgrad.numpy": "fastgrad.scipy", "autograd.numpy": "autograd.scipy"}


def scipy_row(module: str, name: str, samples: list[Sample], **options: Any) -> Row:
    """A row for a function of a module of SciPy's, its name written as ``special.gamma`` or ``stats.norm.pdf``."""
    package, _, distribution = module.partition(".")

    def fun(np: Any) -> Any:
        found = importlib.import_module(f"{SCIPY[np.__name__]}.{package}")
        if distribution:
            found = getattr(found, distribution)
        return getattr(found, name)

    covers = getattr(importlib.import_module("fastgrad.scipy." + module), name).__name__
    return Row(f"{module}.{name}", samples, fun=fun, covers=(covers,), **options)


def one(dtypes: str = "df", **options: Any) -> list[Sample]:
    """Samples of a function of one argument."""
    return [
        sample(arr(4, **options)).but(dtypes=dtypes),
        sample(arr(2, 3, layout="T", **options)),
        sample(arr(2, 3, layout="R", **options)),
        sample(arr(**options)),
        sample(float((options.get("lo", -1.5) + 2 * options.get("hi", 1.5)) / 3)),
        sample(arr(0, **options)),
    ]


def two(a: dict, b: dict, dtypes: str = "df", broken: bool = False) -> list[Sample]:
    """Samples of a function of two arguments, broadcast in every way."""
    shapes = [((3,), (3,)), ((2, 3), (3,)), ((3, 1), (1, 2)), ((), (2,)), ((2,), ()), ((), ()), ((1,), (0,))]
    samples = [sample(arr(*m, **a), arr(*n, **b)) for m, n in shapes]
    samples = [samples[0].but(dtypes=dtypes), *samples[1:]]
    middle_a, middle_b = ((o.get("lo", -1.5) + 2 * o.get("hi", 1.5)) / 3 for o in (a, b))
    return [*samples, sample(float(middle_a), arr(2, **b)), sample(arr(2, **a), const(float(middle_b)))]


def order(first: list, *rest: dict, dtypes: str = "df") -> list[Sample]:
    """Samples of a function whose first arguments are constants."""
    samples = [sample(*[const(c) for c in constants], *[arr(3, **o) for o in rest]) for constants in first]
    grid = [sample(*[const(c) for c in first[0]], *[arr(2, 3, layout="T", **o) for o in rest])]
    scalars = [sample(*[const(c) for c in first[0]], *[arr(**o) for o in rest])]
    return [*[s.but(dtypes=dtypes) for s in samples], *grid, *scalars]


def parameters(*values: dict) -> list[Sample]:
    """Samples of real arguments together, broadcast against each other."""
    n = len(values)
    shapes = [[(3,)] * n, [(2, 3), (3,), (2, 1), (1, 3)][:n], [(), (2,), (), (2,)][:n], [()] * n]
    return [sample(*[arr(*s, **o) for s, o in zip(row, values, strict=False)]) for row in shapes]


POSITIVE, UNIT, REAL = {"lo": 0.4, "hi": 3.0}, {"lo": 0.1, "hi": 0.9}, {"lo": -2.0, "hi": 2.0}
APART = {"lo": -2.0, "hi": 2.0, "gap": 0.3}
COUNT = [(0,), (1,), (2,)]


# autograd has no derivatives with respect to the parameters.
GAMMA_SHAPE = [s.but(oracle=ERRS) for s in two(POSITIVE, POSITIVE)[:-1]]
BETA_SHAPES = [s.but(oracle=ERRS) for s in parameters(POSITIVE, POSITIVE, UNIT)]
REFUSED_ORDER = sample(arr(3, **POSITIVE), const(1.5)).but(refused=True)

# The second order would take a trigamma function of complex numbers.
COMPLEX_ONCE = sample(arr(3, kind="D", lo=-1.5, hi=2.0)).but(order=1)

SPECIAL = [
    scipy_row("special", "gamma", one(**POSITIVE) + [COMPLEX_ONCE, sample(arr(3, lo=-0.9, hi=-0.1))]),
    scipy_row("special", "gammaln", one(**POSITIVE) + [sample(val((-0.5, -1.4)))]),
    scipy_row("special", "loggamma", [*one(**POSITIVE), COMPLEX_ONCE], oracle=NO_RULE),
    scipy_row("special", "gammasgn", [sample(val((-0.5, -1.5, 2.0))).but(dtypes="df")]),
    scipy_row(
        "special",
        "rgamma",
        one(**POSITIVE)
        + [
            COMPLEX_ONCE,
            sample(arr(3, lo=-2.9, hi=0.4)).but(dtypes="df"),
            sample(val((0.0, -1.0, -3.0))).but(oracle=WRONG),
        ],
    ),
    scipy_row("special", "psi", one(**POSITIVE)),
    scipy_row("special", "polygamma", order(COUNT, POSITIVE, dtypes="d")),
    scipy_row("special", "multigammaln", [sample(arr(3, lo=2.0, hi=4.0), 3), sample(arr(2, 2, lo=1.0, hi=4.0), 1)]),
    scipy_row("special", "beta", two(POSITIVE, POSITIVE)),
    scipy_row("special", "betaln", two(POSITIVE, POSITIVE)),
    scipy_row("special", "gammainc", order([(1.5,), (1.0,), (0.6,)], POSITIVE) + GAMMA_SHAPE),
    scipy_row("special", "gammaincc", order([(1.5,), (1.0,), (0.6,)], POSITIVE) + GAMMA_SHAPE),
    scipy_row("special", "gammaincinv", order([(1.5,), (1.0,)], UNIT) + two(POSITIVE, UNIT), oracle=NO_RULE),
    scipy_row("special", "gammainccinv", order([(1.5,), (1.0,)], UNIT) + two(POSITIVE, UNIT), oracle=NO_RULE),
    scipy_row("special", "betainc", order([(1.5, 2.5), (1.0, 0.7)], UNIT) + BETA_SHAPES),
    scipy_row("special", "betaincinv", order([(1.5, 2.5), (1.0, 0.7)], UNIT) + BETA_SHAPES, oracle=NO_RULE),
    *[scipy_row("special", name, one(**REAL)) for name in ("j0", "j1")],
    *[scipy_row("special", name, one(**POSITIVE)) for name in ("y0", "y1")],
    scipy_row("special", "jn", order([(0,), (3,), (1.5,)], POSITIVE, dtypes="df")),
    scipy_row("special", "jv", order([(0,), (1.5,)], POSITIVE, dtypes="dfD") + [REFUSED_ORDER], oracle=NO_RULE),
    scipy_row("special", "yn", order([(0,), (1,), (3,)], POSITIVE, dtypes="d")),
    scipy_row("special", "yv", order([(0,), (1.5,)], POSITIVE, dtypes="dfD"), oracle=NO_RULE),
    *[scipy_row("special", f"hankel{i}", order([(1.5,)], POSITIVE, dtypes="D"), oracle=NO_RULE) for i in (1, 2)],
    *[scipy_row("special", name, one(**REAL)) for name in ("i0", "i1")],
    *[scipy_row("special", name, one(**APART), oracle=NO_RULE) for name in ("i0e", "i1e")],
    scipy_row("special", "iv", order([(0,), (1,), (1.5,)], POSITIVE, dtypes="dfD") + [REFUSED_ORDER]),
    scipy_row(
        "special",
        "ive",
        [
            *order([(0,), (1,), (1.5,)], POSITIVE),
            sample(const(1.5), arr(3, kind="D", **POSITIVE)).but(oracle=WRONG),
        ],
    ),
    scipy_row("special", "kn", order([(0,), (1,), (3,)], POSITIVE, dtypes="d"), oracle=NO_RULE),
    scipy_row("special", "kv", order([(0,), (1.5,)], POSITIVE, dtypes="dfD"), oracle=NO_RULE),
    scipy_row("special", "kve", order([(0,), (1.5,)], POSITIVE, dtypes="dfD"), oracle=NO_RULE),
    *[scipy_row("special", name, one(**POSITIVE), oracle=NO_RULE) for name in ("k0", "k1", "k0e", "k1e")],
    *[scipy_row("special", name, one("dfDF", **REAL)) for name in ("erf", "erfc")],
    *[scipy_row("special", name, one("dfDF", **REAL), oracle=NO_RULE) for name in ("erfcx", "erfi", "dawsn")],
    scipy_row("special", "wofz", [sample(arr(3, kind="D")), sample(arr(2, 2, kind="F"))], oracle=NO_RULE),
    scipy_row("special", "erfinv", one(lo=-0.8, hi=0.8)),
    scipy_row("special", "erfcinv", one(lo=0.2, hi=1.8)),
    *[scipy_row("special", name, one("dfD", **REAL), oracle=NO_RULE) for name in ("ndtr", "log_ndtr")],
    scipy_row("special", "ndtri", one(**UNIT), oracle=NO_RULE),
    scipy_row("special", "owens_t", two(REAL, REAL), oracle=NO_RULE),
    *[scipy_row("special", name, one("dfD", **POSITIVE), oracle=NO_RULE) for name in ("expi", "exp1")],
    scipy_row("special", "expn", order([(2,), (4,)], POSITIVE, dtypes="d"), oracle=NO_RULE),
    scipy_row("special", "expit", one(**REAL)),
    scipy_row("special", "log_expit", one(**REAL), oracle=NO_RULE),
    scipy_row("special", "logit", one(**UNIT)),
    *[scipy_row("special", name, one("dfD", **UNIT), oracle=NO_RULE) for name in ("log1p", "expm1")],
    *[scipy_row("special", name, one(**APART), oracle=NO_RULE) for name in ("exp2", "exp10", "cbrt", "cosm1")],
    *[
        scipy_row(
            "special", name, [*two(REAL, POSITIVE, "dfD"), sample(val((0.0, 2.0)), arr(2, **POSITIVE))], oracle=NO_RULE
        )
        for name in ("xlogy", "xlog1py")
    ],
    scipy_row("special", "entr", one(**POSITIVE), oracle=NO_RULE),
    *[scipy_row("special", name, two(POSITIVE, POSITIVE), oracle=NO_RULE) for name in ("rel_entr", "kl_div")],
]

if hasattr(scipy.special, "betaincc"):  # from SciPy 1.12 on
    SPECIAL.append(
        scipy_row("special", "betaincc", order([(1.5, 2.5), (1.0, 0.7)], UNIT) + BETA_SHAPES, oracle=NO_RULE)
    )

WEIGHTS = onp.array([0.5, 2.0, 0.0, 1.0])
SIGNED = onp.array([0.5, -3.0, 1.0])
LOGSUMEXP = [
    *[
        sample(arr(2, 3, layout=layout), **{"axis": axis})
        for axis, layout in ((None, "C"), (0, "T"), (1, "S"), (-1, "R"))
    ],
    sample(arr(4)).but(dtypes="df"),
    sample(arr(2, 3, 2), axis=(0, 2)).but(oracle=True),
    sample(arr(2, 3, 2), axis=(0, -1), keepdims=True),
    sample(arr(2, 3), axis=1, keepdims=True).but(dtypes="df"),
    sample(arr(2, 3), 1),
    sample(0.5),
    sample(arr()),
    sample(0.5, axis=-1, keepdims=True, return_sign=True).but(oracle=ERRS),
    sample(arr(), axis=0, keepdims=True, return_sign=True).but(oracle=ERRS),
    sample(arr(), axis=(), return_sign=True).but(oracle=ERRS),
    sample(arr(4), b=WEIGHTS),
    sample(arr(2, 4), axis=1, b=WEIGHTS),
    sample(arr(4), b=onp.full((3, 1), 0.5), axis=0).but(oracle=SHAPE),
    sample(arr(2, 3), None, arr(3, lo=0.2)).but(oracle=ERRS),
    sample(arr(3), 0, arr(2, 3, lo=0.2), True).but(oracle=ERRS),
    sample(arr(4), b=None).but(oracle=ERRS),
    sample([0.5, arr(), -1.0]).but(oracle=ERRS),
    sample(arr(3, kind="D")).but(),
    sample(arr(3), return_sign=True).but(oracle=ERRS),
    sample(arr(2, 3), b=SIGNED, axis=1, return_sign=True).but(oracle=ERRS),
    sample(arr(2, 3), 0, arr(2, 3), True, True).but(oracle=ERRS),
    sample(arr(3, kind="D"), return_sign=True).but(oracle=ERRS),
    sample(arr(2, 3), -1, arr(3, kind="D"), False, True).but(oracle=ERRS),
]
SOFT = [
    sample(arr(4)).but(dtypes="df"),
    sample(arr(2, 3, layout="T")),
    sample(arr(2, 3), axis=0),
    sample(arr(2, 3), -1),
    sample(arr(2, 3, 2), axis=(0, 2)),
    sample(arr()),
]
SPECIAL += [
    scipy_row("special", "logsumexp", LOGSUMEXP),
    scipy_row("special", "softmax", SOFT, oracle=NO_RULE),
    scipy_row("special", "log_softmax", SOFT, oracle=NO_RULE),
]


# ---------------------------------------------------------------------------------------------------------------------
# Distributions
# ---------------------------------------------------------------------------------------------------------------------

LOC, SCALE = {"lo": -0.3, "hi": 0.0}, {"lo": 1.0, "hi": 2.0}
SHAPE_PARAMETER = {"lo": 1.6, "hi": 3.4}
X = {"norm": REAL, "t": REAL, "gamma": POSITIVE, "chi2": POSITIVE, "beta": {"lo": 0.1, "hi": 0.6}}
N_SHAPES = {"norm": 0, "t": 1, "gamma": 1, "chi2": 1, "beta": 2}
# What autograd has of each.
NORMAL_FUNCTIONS = ("cdf", "sf", "logcdf", "logsf")
THEIRS = {"norm": NORMAL_FUNCTIONS, "t": ("cdf", "logcdf"), "gamma": ("cdf",), "chi2": ("cdf",), "beta": ("cdf",)}


def blamed(samples: list[Sample], wanted: bool) -> list[Sample]:
    """The samples, autograd at fault in them if so wanted."""
    return [s.but(oracle=ERRS) for s in samples] if wanted else samples


def family(name: str) -> list[Row]:
    n = N_SHAPES[name]
    x, shapes, constants = X[name], [SHAPE_PARAMETER] * n, [const(1.7)] * n
    no_scale = name in ("gamma", "chi2", "beta")
    standard = [
        *[sample(arr(*s, **x), *[arr(*s, **o) for o in shapes]) for s in ((3,), (2, 2), ())],
        *parameters(x, *shapes)[1:3],
    ]
    moved = [
        *parameters(x, *shapes, LOC, SCALE)[:1],
        sample(arr(2, 1, **x), *[arr(3, **o) for o in shapes], arr(1, **LOC), arr(2, 3, **SCALE)),
        sample(0.5, *[2.5] * n, -0.1, 1.5),
        sample(arr(3, **x), *constants, scale=2.0),
        sample(arr(3, **x), *constants, loc=-0.2, scale=onp.array([1.0, 2.0, 1.5])),
    ]
    cumulative = [
        sample(arr(3, **x), *constants).but(dtypes="df"),
        *blamed([sample(arr(2, 1, **x), *constants, arr(3, **LOC), arr(1, 3, **SCALE))], name != "norm"),
        *(blamed(parameters(x, *shapes, LOC, SCALE), True) if n else []),
        *blamed([sample(arr(**x), *constants, loc=-0.2, scale=1.5)], no_scale),
    ]
    standard[0], moved[0] = standard[0].but(dtypes="df"), moved[0].but(dtypes="df")
    density = blamed(standard, name == "chi2") + blamed(moved, no_scale)
    rows = [scipy_row(f"stats.{name}", fun, density) for fun in ("pdf", "logpdf")]
    for fun in NORMAL_FUNCTIONS:
        rows.append(scipy_row(f"stats.{name}", fun, cumulative, oracle=fun in THEIRS[name] or NO_RULE))
    return rows


K = onp.array([0, 1, 4])
POISSON = [
    sample(K, arr(3, **POSITIVE)),
    sample(K[:, None], arr(2, **POSITIVE)),
    sample(2, arr(**POSITIVE)),
    sample(K, arr(2, 3, **POSITIVE), loc=-1).but(oracle=ERRS),
    sample(K + 1, arr(1, **POSITIVE), 1).but(oracle=ERRS),
]
STATS = [row for name in X for row in family(name)]
STATS += [scipy_row("stats.poisson", name, POISSON) for name in ("pmf", "logpmf", "cdf")]
STATS += [scipy_row("stats.poisson", "sf", POISSON, oracle=NO_RULE)]
SIMPLEX = onp.array([0.2, 0.5, 0.3])
CONSTRAINED = [
    sample(SIMPLEX, arr(3, **POSITIVE)),
    sample(onp.array([[0.2, 0.1], [0.5, 0.2], [0.3, 0.7]]), arr(3, **POSITIVE)).but(oracle=ERRS),
    sample(arr(2, lo=0.1, hi=0.4), arr(3, **POSITIVE)).but(oracle=ERRS),
    sample(arr(2, 4, lo=0.1, hi=0.4), arr(3, **POSITIVE)).but(oracle=ERRS),
]
STATS += [scipy_row("stats.dirichlet", name, CONSTRAINED) for name in ("pdf", "logpdf")]

# Of a covariance matrix SciPy reads one triangle: see test_scipy for its derivative in symmetric directions.
COV = onp.array([[1.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 2.0]])
NORMAL = [
    sample(arr(3), arr(3), const(COV)),
    sample(arr(4, 3), arr(3), const(COV)),
    sample(arr(2, 4, 3, layout="T"), arr(3), const(COV)).but(oracle=ERRS),
    sample(arr(1, 3), arr(3), const(COV)),
    sample(arr(4, 3), arr(3), arr(**POSITIVE)).but(oracle=ERRS),
    sample(arr(4, 3), arr(3), arr(3, **POSITIVE)).but(oracle=ERRS),
    sample(arr(4), arr(), arr(**POSITIVE)).but(oracle=ERRS),
    sample(arr(4), arr(1), arr(1, 1, **POSITIVE)).but(oracle=ERRS),
    sample(arr(4, 1), arr(1), 1.5).but(oracle=ERRS),
    sample(0.5, 0.2, 1.5).but(oracle=ERRS),
    sample(arr(4)).but(oracle=ERRS),
    sample(arr(4, 3), cov=COV).but(oracle=ERRS),
    sample(arr(4, 3), onp.zeros(3)).but(oracle=ERRS),
    sample(arr(4, 3), arr(3), const(COV), True),
]
ENTROPY = [
    sample(onp.zeros(3), arr(**POSITIVE)).but(oracle=ERRS),
    sample(onp.zeros(3), arr(3, **POSITIVE)).but(oracle=ERRS),
    sample(None, arr(1, 1, **POSITIVE)),
    sample(arr(3), 1.5).but(oracle=ERRS),
]
STATS += [scipy_row("stats.multivariate_normal", name, NORMAL) for name in ("pdf", "logpdf")]
STATS += [scipy_row("stats.multivariate_normal", "entropy", ENTROPY)]

ROWS = [*SPECIAL, *STATS]
