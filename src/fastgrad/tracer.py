"""Tracing: boxes, nodes, primitives and trace levels. Most is compiled, in `_engine/tracing/`."""

from fastgrad._engine.backward import toposort
from fastgrad._engine.core import (
    Box,
    Node,
    Primitive,
    TraceStack,
    find_top_boxed_args,
    getval,
    isbox,
    new_box,
    trace,
    trace_stack,
    ufunc_primitives,
)
from fastgrad._rules import registries as _registries
from fastgrad._rules.arguments import subvals
from fastgrad._rules.direct import register
from fastgrad.wrap_util import wraps

__all__ = [
    "Box",
    "Node",
    "TraceStack",
    "box_type_mappings",
    "box_types",
    "find_top_boxed_args",
    "getval",
    "isbox",
    "new_box",
    "notrace_primitive",
    "notrace_primitives",
    "primitive",
    "register_notrace",
    "subvals",
    "toposort",
    "trace",
    "trace_primitives_map",
    "trace_stack",
    "wraps",
]

box_type_mappings = Box.type_mappings
box_types = Box.types
# The primitives that serve calls of NumPy's own functions on boxes. Only ufuncs ask a box for one.
trace_primitives_map = ufunc_primitives
notrace_primitives = _registries.NotracePrimitives()

for _function in (find_top_boxed_args, getval, isbox, new_box, trace):
    _function.__module__ = __name__  # the path that pickles refer to


def primitive(f_raw):
    """Return a function whose calls on traced values are recorded as one operation.

    Parameters
    ----------
    f_raw : callable
        The function of concrete values. It is called with the traced arguments unboxed.

    Returns
    -------
    Primitive
        Takes the arguments of ``f_raw``. Its derivatives are set by `fastgrad.extend.defvjp` and
        `fastgrad.extend.defjvp`.

    Notes
    -----
    A primitive made of a ufunc that fastgrad has no rule for also serves calls of the ufunc itself on traced values, as
    long as the primitive exists.

    Examples
    --------
    >>> import math
    >>> import fastgrad.numpy as np
    >>> from fastgrad import grad
    >>> from fastgrad.extend import defvjp, primitive
    >>> @primitive
    ... def erf(x):
    ...     return math.erf(x)
    >>> defvjp(erf, lambda ans, x: lambda g: g * 2 / np.sqrt(np.pi) * np.exp(-(x**2)))
    >>> print(round(grad(erf)(0.0), 4))
    1.1284
    """
    return Primitive(f_raw)


def notrace_primitive(f_raw):
    """Return a function whose result is a constant in every trace; it unboxes its arguments.

    Parameters
    ----------
    f_raw : callable
        The function of concrete values.

    Returns
    -------
    Primitive
        Takes the arguments of ``f_raw``.
    """
    return Primitive(f_raw, never_traced=True)


def register_notrace(trace_type, primitive_fun):
    """Register a primitive as one whose result is a constant in the traces of one node type.

    Parameters
    ----------
    trace_type : type
        The node type: `VJPNode` for reverse mode, `JVPNode` for forward mode.
    primitive_fun : Primitive
        The primitive whose calls are not recorded.
    """
    if trace_type not in primitive_fun.notrace:
        primitive_fun.notrace = (*primitive_fun.notrace, trace_type)
    register(primitive_fun)
