"""Functions whose derivative is zero wherever it exists: their results are constants to both modes."""

from fastgrad.core import JVPNode, VJPNode
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.tracer import register_notrace

NAMES = (
    "all allclose any argmax argmin argpartition argsort argwhere around array_equal array_equiv ceil common_type "
    "count_nonzero diag_indices_from digitize empty_like equal fix flatnonzero floor floor_divide greater "
    "greater_equal isclose iscomplex iscomplexobj isfinite isfortran isin isinf isnan isneginf isposinf isreal "
    "isrealobj isscalar iterable less less_equal lexsort logical_and logical_not logical_or logical_xor "
    "may_share_memory nanargmax nanargmin ndim nonzero not_equal ones_like result_type rint round searchsorted shape "
    "shares_memory sign signbit size spacing tril_indices_from triu_indices_from trunc zeros_like"
).split()

nograd_functions = [getattr(anp, name) for name in NAMES]
for _fun in nograd_functions:
    register_notrace(VJPNode, _fun)
    register_notrace(JVPNode, _fun)
