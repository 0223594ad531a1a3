"""autograd's import path for helpers of JVP rules. The rules are in `fastgrad.numpy.rules`, all modes together."""

from fastgrad.core import JVPNode, def_linear, defjvp, defjvp_argnum, vspace
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import broadcast, match_complex, replace_zero
from fastgrad.numpy.numpy_boxes import ArrayBox
from fastgrad.numpy.rules.nondifferentiable import nograd_functions
from fastgrad.numpy.rules.reductions import balanced_eq

__all__ = [
    "ArrayBox",
    "JVPNode",
    "anp",
    "balanced_eq",
    "broadcast",
    "def_linear",
    "defjvp",
    "defjvp_argnum",
    "match_complex",
    "nograd_functions",
    "replace_zero",
    "vspace",
]
