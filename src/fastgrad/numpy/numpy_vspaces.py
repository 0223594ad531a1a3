"""Vector spaces of arrays, scalars and the named tuples of NumPy's linear algebra. The classes are compiled."""

import numpy as np

from fastgrad._engine.core import ArrayVSpace, ComplexArrayVSpace, array_vspace
from fastgrad.builtins import NamedTupleVSpace
from fastgrad.core import VSpace

__all__ = ["ArrayVSpace", "ComplexArrayVSpace", "VSpace", "complex_types", "float_types", "linalg_results"]

float_types = (float, np.longdouble, np.float64, np.float32, np.float16)
complex_types = (complex, np.clongdouble, np.complex128, np.complex64)

VSpace.register(np.ndarray, array_vspace)
for _type in float_types:
    ArrayVSpace.register(_type)
for _type in complex_types:
    ComplexArrayVSpace.register(_type)

# The types of named tuples that NumPy's linear algebra returns, by name.
_ONE = np.eye(1)
linalg_results = {
    type(result).__name__: type(result)
    for result in [f(_ONE) for f in (np.linalg.eig, np.linalg.eigh, np.linalg.qr, np.linalg.slogdet, np.linalg.svd)]
}
for _name, _type in linalg_results.items():
    _space = type(f"{_name}VSpace", (NamedTupleVSpace,), {"__module__": __name__, "seq_type": _type})
    _space.__doc__ = f"The space of values of type {_name}."
    _space.register(_type)
    globals()[_space.__name__] = _space
