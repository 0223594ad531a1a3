"""The namespaces of scipy.special and scipy.linalg with their functions as primitives."""

import types

import scipy.linalg as _linalg
import scipy.special as _special

from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.numpy_wrapper import wrap_namespace

special = types.SimpleNamespace(__name__="fastgrad.scipy.special")
linalg = types.SimpleNamespace(__name__="fastgrad.scipy.linalg")
wrap_namespace(vars(_special), vars(special))
wrap_namespace(vars(_linalg), vars(linalg))

special.sinc = anp.sinc  # NumPy's function, which has rules
