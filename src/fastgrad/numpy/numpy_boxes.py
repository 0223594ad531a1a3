"""The box of arrays and scalars: its attributes and methods beside the operators, which are compiled."""

import sys

import numpy as np

from fastgrad._engine.core import ArrayBox, connect_operators
from fastgrad.builtins import SequenceBox
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.numpy_vspaces import complex_types, float_types, linalg_results
from fastgrad.tracer import trace_primitives_map

__all__ = ["ArrayBox", "SequenceBox", "trace_primitives_map"]

for _type in (np.ndarray, *float_types, *complex_types):
    ArrayBox.register(_type)


def _named_tuple_box(cls):
    """Return the type of box of a type of named tuple; it has the fields as attributes."""
    fields = {field: property(lambda self, i=i: self[i]) for i, field in enumerate(cls._fields)}
    fields |= {"__slots__": (), "__module__": __name__, "__doc__": f"A traced {cls.__name__}."}
    return type(f"{cls.__name__}Box", (SequenceBox,), fields)


for _type in linalg_results.values():
    _named_tuple_box(_type).register(_type)

connect_operators(vars(anp), anp.getitem)

ArrayBox.T = property(lambda self: anp.transpose(self), doc="The array with its axes reversed.")
ArrayBox.real = property(lambda self: anp.real(self), doc="The real part.")
ArrayBox.imag = property(lambda self: anp.imag(self), doc="The imaginary part.")

ArrayBox.__array_namespace__ = lambda self, *, api_version=None: sys.modules["fastgrad.numpy"]


def _astype(self, *args, **kwargs):
    """Return the array cast to a dtype."""
    return anp._astype(self, *args, **kwargs)


ArrayBox.astype = _astype
ArrayBox.flatten = anp.ravel
ArrayBox.conj = ArrayBox.conjugate = anp.conj


def _reshape(self, *shape, order="C"):
    """Return the array in another shape, given as one tuple or as numbers."""
    shape = shape[0] if len(shape) == 1 else shape
    return anp.reshape(self, shape) if order == "C" else anp.reshape(self, shape, order=order)


def _transpose(self, *axes):
    """Return the array with its axes in another order, given as one tuple or as numbers; reversed by default."""
    return anp.transpose(self, *(axes if len(axes) < 2 else (axes,)))


def _compress(self, condition, axis=None):
    """Return the elements or slices where the condition holds."""
    return anp.compress(condition, self, axis)


ArrayBox.reshape, ArrayBox.transpose, ArrayBox.compress = _reshape, _transpose, _compress

# Methods of an array that are functions of NumPy with the same name and arguments.
METHODS = (
    "all any argmax argmin argpartition argsort nonzero searchsorted round clip copy cumprod cumsum diagonal dot max "
    "mean min prod ptp ravel repeat squeeze std sum swapaxes take trace var"
).split()
for _name in METHODS:
    setattr(ArrayBox, _name, getattr(anp, _name))
