"""Vector spaces of arrays and scalars. The classes are compiled, in `_core.pyx`."""

import numpy as np

from fastgrad._core import ArrayVSpace, ComplexArrayVSpace, array_vspace
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

# The named tuples that NumPy's linear algebra returns.
linalg_results = tuple(
    type(result)
    for result in (
        np.linalg.eig(np.eye(1)),
        np.linalg.eigh(np.eye(1)),
        np.linalg.qr(np.eye(1)),
        np.linalg.slogdet(np.eye(1)),
        np.linalg.svd(np.eye(1)),
    )
    if type(result) is not tuple
)
for _type in linalg_results:
    _name = f"{_type.__name__}VSpace"
    globals()[_name] = type(_name, (NamedTupleVSpace,), {"__module__": __name__, "seq_type": _type})
    globals()[_name].register(_type)
