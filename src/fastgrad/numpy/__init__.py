"""NumPy, differentiable: every name of ``numpy``, with its functions as primitives."""

from numpy import __version__  # noqa: F401

from fastgrad.numpy.numpy_wrapper import *  # noqa: F403

from fastgrad.numpy import fitting, numpy_boxes, numpy_vspaces, rules  # isort: skip  # noqa: F401
from fastgrad.numpy._namespace import fast_calls  # isort: skip  # noqa: F401
from fastgrad.numpy import numpy_jvps, numpy_vjps  # isort: skip  # noqa: F401
from fastgrad.numpy import fft, linalg, random  # isort: skip  # noqa: F401

__all__ = [name for name in globals() if not name.startswith("_")]  # noqa: F405

# No module __getattr__ here: with one, CPython would look up every `np.sin` by a slower path.
