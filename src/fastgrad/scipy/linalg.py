"""The functions of scipy.linalg as primitives; their rules are in `fastgrad.scipy.rules.linalg`."""

from fastgrad.scipy import wrapping as _wrapping
from fastgrad.scipy.rules.linalg import grad_solve_banded, grad_solve_triangular  # noqa: F401

globals().update(vars(_wrapping.linalg))
