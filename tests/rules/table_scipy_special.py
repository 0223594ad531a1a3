"""Samples of the special functions."""

from __future__ import annotations

import numpy as onp
import scipy.special
from samples import ERRS, NO_RULE, SHAPE, WRONG, arr, const, sample, val
from scipy_samples import APART, POSITIVE, REAL, UNIT, one, order, scipy_row, two

COUNT = [(0,), (1,), (2,)]

REFUSED_ORDER = sample(arr(3, **POSITIVE), const(1.5)).but(refused=True)

# The second order would take a trigamma function of complex numbers.
COMPLEX_ONCE = sample(arr(3, kind="D", lo=-1.5, hi=2.0)).but(order=1)
SIGNS = [sample(val((-0.5, -1.5, 2.0))).but(dtypes="df")]

ROWS = [
    scipy_row("special", "gamma", one(**POSITIVE) + [COMPLEX_ONCE, sample(arr(3, lo=-0.9, hi=-0.1))]),
    scipy_row("special", "gammaln", one(**POSITIVE) + [sample(val((-0.5, -1.4)))]),
    scipy_row("special", "loggamma", [*one(**POSITIVE), COMPLEX_ONCE], oracle=NO_RULE),
    scipy_row("special", "gammasgn", SIGNS, benchmark=SIGNS[0].but(order=1)),
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
    scipy_row("special", "gammainc", order([(1.5,), (1.0,), (0.6,)], POSITIVE)),
    scipy_row("special", "gammaincc", order([(1.5,), (1.0,), (0.6,)], POSITIVE)),
    scipy_row("special", "gammaincinv", order([(1.5,), (1.0,)], UNIT), oracle=NO_RULE),
    scipy_row("special", "gammainccinv", order([(1.5,), (1.0,)], UNIT), oracle=NO_RULE),
    scipy_row("special", "betainc", order([(1.5, 2.5), (1.0, 0.7)], UNIT)),
    scipy_row("special", "betaincinv", order([(1.5, 2.5), (1.0, 0.7)], UNIT), oracle=NO_RULE),
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
    ROWS.append(scipy_row("special", "betaincc", order([(1.5, 2.5), (1.0, 0.7)], UNIT), oracle=NO_RULE))

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
ROWS += [
    scipy_row("special", "logsumexp", LOGSUMEXP),
    scipy_row("special", "softmax", SOFT, oracle=NO_RULE),
    scipy_row("special", "log_softmax", SOFT, oracle=NO_RULE),
]
