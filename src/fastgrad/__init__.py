"""Automatic differentiation of NumPy code: autograd's programming model on a compiled engine."""

import sys as _sys

from fastgrad import extend, util  # attributes of the package, as autograd's are  # noqa: F401
from fastgrad import numpy as _numpy  # registers the boxes of arrays and scalars  # noqa: F401
from fastgrad._diagnostics.debug import debug
from fastgrad._substitute.former_paths import FormerPathFinder as _FormerPathFinder
from fastgrad._substitute.install import install_as_autograd, uninstall_as_autograd
from fastgrad.builtins import dict, isinstance, list, tuple, type
from fastgrad.core import primitive
from fastgrad.differential_operators import (
    checkpoint,
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacfwd,
    jacobian,
    jacrev,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)

__all__ = [
    "checkpoint",
    "debug",
    "deriv",
    "dict",
    "elementwise_grad",
    "grad",
    "grad_and_aux",
    "grad_named",
    "hessian",
    "hessian_tensor_product",
    "hessian_vector_product",
    "holomorphic_grad",
    "install_as_autograd",
    "isinstance",
    "jacfwd",
    "jacobian",
    "jacrev",
    "list",
    "make_ggnvp",
    "make_hvp",
    "make_jvp",
    "make_vjp",
    "multigrad_dict",
    "primitive",
    "tensor_jacobian_product",
    "tuple",
    "type",
    "uninstall_as_autograd",
    "value_and_grad",
    "vector_jacobian_product",
]

_sys.meta_path.append(_FormerPathFinder)


def load_ipython_extension(ipython):
    """Make a notebook's ``import autograd`` load fastgrad; called by ``%load_ext fastgrad``."""
    install_as_autograd()


def unload_ipython_extension(ipython):
    """Undo `load_ipython_extension`; called by ``%unload_ext fastgrad``."""
    uninstall_as_autograd()
