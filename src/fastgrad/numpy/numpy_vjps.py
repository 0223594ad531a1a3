"""autograd's import path for helpers of VJP rules. The rules are in `fastgrad.numpy.rules`, all modes together."""

from fastgrad.core import VJPNode, defvjp, defvjp_argnum, vspace
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import (
    match_complex,
    repeat_to_match_shape,
    replace_zero,
    unbroadcast,
    unbroadcast_f,
)
from fastgrad.numpy.numpy_boxes import ArrayBox
from fastgrad.numpy.rules.indexing import untake
from fastgrad.numpy.rules.nondifferentiable import nograd_functions
from fastgrad.numpy.rules.reductions import balanced_eq

__all__ = [
    "ArrayBox",
    "VJPNode",
    "anp",
    "balanced_eq",
    "defvjp",
    "defvjp_argnum",
    "match_complex",
    "nograd_functions",
    "repeat_to_match_shape",
    "replace_zero",
    "unbroadcast",
    "unbroadcast_f",
    "untake",
    "vspace",
]
