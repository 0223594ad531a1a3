"""Operators on functions: gradients, Jacobians, Hessians and products with them.

They are defined in `fastgrad._operators`, by subject; this is the path that autograd has them at, and that pickles of
derived functions refer to.
"""

from fastgrad._operators.checkpoints import checkpoint
from fastgrad._operators.gradients import (
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    holomorphic_grad,
    make_jvp,
    make_vjp,
    multigrad_dict,
    value_and_grad,
)
from fastgrad._operators.jacobians import hessian, jacfwd, jacobian, jacrev
from fastgrad._operators.products import (
    _contracted,
    _half_sum_of_squares,
    ggnvp_maker,
    hessian_tensor_product,
    hessian_vector_product,
    make_ggnvp,
    make_hvp,
    make_jvp_reversemode,
    tensor_jacobian_product,
    vector_jacobian_product,
)
from fastgrad.core import make_jvp as _make_jvp  # noqa: F401
from fastgrad.core import make_vjp as _make_vjp  # noqa: F401
from fastgrad.core import vspace  # noqa: F401
from fastgrad.wrap_util import unary_to_nary  # noqa: F401

__all__ = [
    "checkpoint",
    "deriv",
    "elementwise_grad",
    "grad",
    "grad_and_aux",
    "grad_named",
    "hessian",
    "hessian_tensor_product",
    "hessian_vector_product",
    "holomorphic_grad",
    "jacfwd",
    "jacobian",
    "jacrev",
    "make_ggnvp",
    "make_hvp",
    "make_jvp",
    "make_jvp_reversemode",
    "make_vjp",
    "multigrad_dict",
    "tensor_jacobian_product",
    "value_and_grad",
    "vector_jacobian_product",
]

# A derived function is pickled as what made it and of what; these are looked up here.
for _function in (*map(globals().get, __all__), _contracted, _half_sum_of_squares, ggnvp_maker):
    _function.__module__ = __name__
