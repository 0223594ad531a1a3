"""convolve and correlate: bilinear functions of two vectors, and each other's transposes.

With (a * v)[k] = sum of a[i] v[k - i], the cotangent of a[i] is the sum of g[k] v[k - i], a correlation.
"""

import math

from fastgrad._engine.core import VSpace
from fastgrad._rules.direct import def_direct
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import fit, is_complex


def _full(g, n, m, mode):
    """Return the cotangent of the full convolution of vectors of lengths ``n`` and ``m``, which ``mode`` cuts.

    "same" keeps the middle, of the length of the longer vector; "valid" the elements where the vectors overlap fully.
    """
    if isinstance(mode, int):
        mode = ("valid", "same", "full")[mode]
    whole, part = n + m - 1, anp.shape(g)[0]
    if mode[0].lower() == "f":
        return g
    before = (min(n, m) - 1) // 2 if mode[0].lower() == "s" else min(n, m) - 1
    return anp.pad(g, (before, whole - part - before))


def _length(x):
    return math.prod(x.shape if isinstance(x, VSpace) else anp.shape(x))


def _convolve_vjp(g, space, other, mode):
    g = _full(g, _length(space), _length(other), mode)
    return fit(anp.reshape(anp.convolve(g, anp.flip(anp.atleast_1d(other)), "valid"), space.shape), space)


def _convolve_vjp_a(g, _ans, vs_a, v, mode="full"):
    return _convolve_vjp(g, vs_a, v, mode)


def _convolve_vjp_v(g, _ans, a, vs_v, mode="full"):
    return _convolve_vjp(g, vs_v, a, mode)


def_direct(anp.convolve, vjps=(_convolve_vjp_a, _convolve_vjp_v), jvps=("same", "same"))

# correlate(a, v) is the convolution of a with the reversed conjugate of v. If v is the longer one, the mode keeps the
# part of the reversed correlate(v, a).


def _conj(x):
    return anp.conj(x) if is_complex(x) else x


def _full_correlation(g, n, m, mode):
    return _full(g, n, m, mode) if n >= m else anp.flip(_full(anp.flip(g), n, m, mode))


def _correlate_vjp_a(g, _ans, vs_a, v, mode="valid"):
    g = _full_correlation(g, _length(vs_a), _length(v), mode)
    return fit(anp.reshape(anp.convolve(g, _conj(anp.atleast_1d(v)), "valid"), vs_a.shape), vs_a)


def _correlate_vjp_v(g, _ans, a, vs_v, mode="valid"):
    g = _full_correlation(g, _length(a), _length(vs_v), mode)
    cotangent = anp.flip(anp.convolve(g, anp.flip(anp.atleast_1d(a)), "valid"))
    return fit(anp.reshape(_conj(cotangent), vs_v.shape), vs_v)


def_direct(anp.correlate, vjps=(_correlate_vjp_a, _correlate_vjp_v), jvps=("same", "same"))
