"""The namespace of `fastgrad.numpy`, at autograd's import path: NumPy's names, some with fastgrad's own functions.

No function is defined here, because NumPy's ``any``, ``max`` and ``sum`` hide Python's.
"""

import numpy as _np

from fastgrad.numpy._namespace import arrays as _arrays
from fastgrad.numpy._namespace import functions as _functions
from fastgrad.numpy._namespace import in_place as _in_place
from fastgrad.numpy._namespace import wrapping as _wrapping
from fastgrad.numpy._namespace.wrapping import notrace_functions, wrap_intdtype, wrap_namespace
from fastgrad.tracer import Box, notrace_primitive, primitive

_names = {
    **vars(_wrapping.primitives),
    **{name: getattr(module, name) for module in (_arrays, _functions, _in_place) for name in module.__all__},
    "numpy_version": _np.__version__,
}
__all__ = ["Box", "notrace_functions", "notrace_primitive", "primitive", "wrap_intdtype", "wrap_namespace", *_names]
globals().update(_names)
