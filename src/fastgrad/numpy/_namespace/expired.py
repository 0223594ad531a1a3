"""Names that NumPy has removed, for libraries that still import them from autograd.numpy.

When fastgrad stands in autograd's place, `fastgrad.numpy` looks here for names that it does not have. A name that the
installed NumPy still has is NumPy's.
"""

import builtins
import sys
import warnings

import numpy as _np

from fastgrad.numpy import numpy_wrapper as _anp
from fastgrad.tracer import isbox as _isbox

# Removed name -> the name of the same thing in NumPy today.
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

# Removed names of Python's own types.
PYTHONS = ("complex", "float", "int", "object", "str")


def asfarray(a, dtype=_np.float64):
    """Return an array in an inexact dtype: the given one if it is inexact, else float64."""
    return _anp.asarray(a, dtype=dtype if _np.issubdtype(dtype, _np.inexact) else _np.float64)


def asscalar(a):
    """Return the single element of an array."""
    return _anp.reshape(a, ()) if _isbox(a) else _np.asarray(a).item()


def in1d(ar1, ar2, assume_unique=False, invert=False):
    """Return for each element of the flattened ``ar1`` whether it is in ``ar2``."""
    return _anp.isin(_anp.ravel(ar1), ar2, assume_unique=assume_unique, invert=invert)


def msort(a):
    """Return an array sorted along its first axis."""
    return _anp.sort(a, axis=0)


# Removed name -> its value, and what to write instead.
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
    """Return the value of a removed name, with a DeprecationWarning; raise AttributeError for any other name."""
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


def offer(available):
    """Set whether `fastgrad.numpy` looks here for names that it does not have."""
    names = vars(sys.modules["fastgrad.numpy"])
    if available:
        names["__getattr__"] = find
    else:
        names.pop("__getattr__", None)
