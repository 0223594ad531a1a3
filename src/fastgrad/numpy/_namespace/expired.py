"""Names that NumPy had once and dropped, for the libraries that still import them from autograd.numpy.

In autograd's place, `fastgrad.numpy` looks here when it has no such name; where NumPy still has one, NumPy's is used.
"""

import builtins
import sys
import warnings

import numpy as _np

from fastgrad.numpy import numpy_wrapper as _anp
from fastgrad.tracer import isbox as _isbox

# Dropped name -> the name of the same thing in NumPy today.
RENAMED = {
    "Inf": "inf",
    "Infinity": "inf",
    "NAN": "nan",
    "NaN": "nan",
    "PINF": "inf",
    "alltrue": "all",
    "bool8": "bool_",
    "bytes0": "bytes_",
    "cfloat": "complex128",
    "clongfloat": "clongdouble",
    "complex_": "complex128",
    "cumproduct": "cumprod",
    "float_": "float64",
    "infty": "inf",
    "int0": "intp",
    "longcomplex": "clongdouble",
    "longfloat": "longdouble",
    "mat": "asmatrix",
    "object0": "object_",
    "product": "prod",
    "rank": "ndim",
    "round_": "round",
    "row_stack": "vstack",
    "singlecomplex": "complex64",
    "sometrue": "any",
    "str0": "str_",
    "string_": "bytes_",
    "trapz": "trapezoid",
    "uint0": "uintp",
    "unicode_": "str_",
}

# What was Python's own.
PYTHONS = ("complex", "float", "int", "object", "str")


def asfarray(a, dtype=_np.float64):
    """Give the array as one of floats, of the given dtype if that is inexact."""
    return _anp.asarray(a, dtype=dtype if _np.issubdtype(dtype, _np.inexact) else _np.float64)


def asscalar(a):
    """Give the one element of an array."""
    return _anp.reshape(a, ()) if _isbox(a) else _np.asarray(a).item()


def in1d(ar1, ar2, assume_unique=False, invert=False):
    """Say of each element of the flattened ``ar1`` whether it is in ``ar2``."""
    return _anp.isin(_anp.ravel(ar1), ar2, assume_unique=assume_unique, invert=invert)


def msort(a):
    """Give the array sorted along its first axis."""
    return _anp.sort(a, axis=0)


# Dropped name -> what it gives, and what to write instead.
REWRITTEN = {
    "NINF": (-_np.inf, "-inf"),
    "NZERO": (-0.0, "-0.0"),
    "PZERO": (0.0, "0.0"),
    "asfarray": (asfarray, "asarray with a dtype"),
    "asscalar": (asscalar, "the method item"),
    "in1d": (in1d, "isin with ravel"),
    "msort": (msort, "sort with axis=0"),
}


def find(name):
    """Give what a dropped name stood for, with a DeprecationWarning; AttributeError if NumPy never had it."""
    if name in RENAMED:
        value, instead = getattr(_anp, RENAMED[name]), f"fastgrad.numpy.{RENAMED[name]}"
    elif name in PYTHONS:
        value, instead = getattr(builtins, name), f"Python's {name}"
    elif name in REWRITTEN:
        value, instead = REWRITTEN[name]
    else:
        raise AttributeError(f"module 'fastgrad.numpy' has no attribute {name!r}")
    warnings.warn(f"NumPy has dropped the name {name!r}; use {instead}", DeprecationWarning, stacklevel=2)
    return value


def offer(yes):
    """Have `fastgrad.numpy` look here for names that it has not, or no longer."""
    names = vars(sys.modules["fastgrad.numpy"])
    if yes:
        names["__getattr__"] = find
    else:
        names.pop("__getattr__", None)
