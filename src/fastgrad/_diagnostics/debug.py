"""`fastgrad.debug`: nodes that store the line of the user's code and check what rules return.

While it is active, traces start from the node classes below instead of the engine's own. The engine treats them like
node classes that a user defines: it records calls by the general path and calls their pullbacks from Python. Outside of
`debug` blocks the only cost is one check at the start of a trace.
"""

import contextlib
import linecache
from contextvars import ContextVar

import numpy as onp

from fastgrad._diagnostics.user_code import user_frame
from fastgrad._engine.backward import count_debuggers
from fastgrad._engine.core import (
    ArrayVSpace,
    JVPNode,
    SparseObject,
    VJPNode,
    connect,
    parameter_name,
    share_constants,
    unbox_all,
)

# The number of `debug` blocks that this thread, or asyncio task, is in.
_depth = ContextVar("depth", default=0)


class debug(contextlib.ContextDecorator):
    """Check each rule and name the line of code that a wrong derivative comes from: a context manager or a decorator.

    Nodes that are recorded inside the block store the line of the user's code, and each rule that runs is checked. An
    error names the primitive, the shapes of its arguments, and the line: file, number, function and text.

    Raises
    ------
    FloatingPointError
        If a rule returns a cotangent, or in forward mode a tangent, with NaN for input without NaN. Infinities are
        allowed, and so are NaNs in the values of the function itself, such as those that `fastgrad.numpy.where` does
        not select.
    ValueError
        If a cotangent does not have the shape of its argument, or a tangent that of its value.
    TypeError
        If a rule returns None, or a complex cotangent for a real argument.
    Exception
        An error of a rule, with the line added to its message.

    Notes
    -----
    The block applies to the thread or asyncio task that enters it, may be nested, and costs nothing elsewhere. A
    gradient takes ten to a hundred times as long in it. Graphs recorded inside are checked wherever they are pulled
    back.

    Examples
    --------
    >>> import fastgrad, fastgrad.numpy as np
    >>> with fastgrad.debug():
    ...     fastgrad.grad(lambda x: np.sqrt(x) * 0.0)(0.0)  # doctest: +SKIP
    FloatingPointError: the VJP of sqrt gave NaN for argument 0 (x)...
    """

    def __enter__(self):
        _depth.set(_depth.get() + 1)
        count_debuggers(1)
        return self

    def __exit__(self, *exc):
        # The depth is counted rather than restored, as a generator may leave its block after the code around it has
        # entered another one.
        _depth.set(max(_depth.get() - 1, 0))
        count_debuggers(-1)

    def _recreate_cm(self):
        return debug()


def _node_types():
    """Return the node classes for new traces, or None for the engine's own."""
    return (DebugVJPNode, DebugJVPNode) if _depth.get() else None


# -------------------------------------------------------------------------------------------------------------- nodes


class _Call:
    """Description of a call of a primitive for messages: its arguments, its value and the line of the user's code."""

    __slots__ = ("argnums", "fun", "line", "shapes")

    def __init__(self, fun, value, args, argnums):
        self.fun, self.argnums = fun, argnums
        frame, _ = user_frame(2)
        self.line = None if frame is None else (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        arguments = ", ".join(f"{_argument(fun, i)} {_described(args[i])}" for i in argnums)
        self.shapes = f"traced: {arguments}; value: {_described(value)}"

    def __str__(self):
        if self.line is None:
            return f"{self.fun.__name__}, {self.shapes}"
        file, number, function = self.line
        text = linecache.getline(file, number).strip()
        return f'  {self.shapes}\n  recorded at "{file}", line {number}, in {function}' + (
            f"\n    {text}" if text else ""
        )

    def annotate(self, error, mode):
        """Add this description to the message of an error that a rule raised."""
        note = f"in the {mode} of {self.fun.__name__}\n{self}"
        if error.args and isinstance(error.args[0], str):
            error.args = (f"{error.args[0]}\n{note}", *error.args[1:])
        elif hasattr(error, "add_note"):
            error.add_note(note)


def _argument(fun, argnum):
    return f"argument {argnum}{parameter_name(fun, argnum)}"


def _described(value):
    concrete = unbox_all(value)
    if isinstance(concrete, onp.ndarray | onp.generic | float | complex):
        return f"{onp.result_type(concrete)} of shape {onp.shape(concrete)}"
    return type(concrete).__name__


class DebugVJPNode(VJPNode):
    """A node of reverse mode that checks the cotangents that its rules return."""

    __slots__ = ("call", "spaces")

    def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
        self.call = _Call(fun, value, args, parent_argnums)
        self.spaces = [_space(args[i]) for i in parent_argnums]
        try:
            super().__init__(value, fun, args, kwargs, parent_argnums, parents)
        except Exception as error:
            self.call.annotate(error, "record")
            raise

    def initialize_root(self):
        super().initialize_root()
        self.call, self.spaces = None, []

    @property
    def vjp(self):
        """callable : takes the cotangent of the value to the tuple of the arguments' cotangents, which it checks."""
        pull = VJPNode.vjp.__get__(self)
        return pull if self.call is None else lambda g: self._checked(pull, g)

    @vjp.setter
    def vjp(self, vjp):
        VJPNode.vjp.__set__(self, vjp)

    def _checked(self, pull, g):
        try:
            given = pull(g)
        except Exception as error:
            self.call.annotate(error, "VJP")
            raise
        clean = not _has_nan(g)
        for argnum, space, cotangent in zip(self.call.argnums, self.spaces, given, strict=True):
            subject = f"the VJP of {self.call.fun.__name__} gave"
            where = f"for {_argument(self.call.fun, argnum)}"
            _check_shape(subject, where, cotangent, space, self.call)
            if clean and _has_nan(cotangent):
                raise FloatingPointError(f"{subject} NaN {where}, of a cotangent without\n{self.call}")
        return given


class DebugJVPNode(JVPNode):
    """A node of forward mode that checks the tangents that its rules return."""

    __slots__ = ()

    def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
        call = _Call(fun, value, args, parent_argnums)
        try:
            super().__init__(value, fun, args, kwargs, parent_argnums, parents)
        except Exception as error:
            call.annotate(error, "JVP")
            raise
        subject = f"the JVP of {fun.__name__} gave"
        _check_shape(subject, "for its value", self.g, (_space(value)[0], True), call)
        if _has_nan(self.g) and not any(_has_nan(parent.g) for parent in parents):
            raise FloatingPointError(f"{subject} NaN, of tangents without\n{call}")


share_constants(DebugVJPNode, VJPNode)
share_constants(DebugJVPNode, JVPNode)
connect(debug_node_types=_node_types)

# ----------------------------------------------------------------------------------------------------------- checks


def _space(value):
    """Return the shape of a value, None if it is no array or number, and whether its cotangents may be complex."""
    concrete = unbox_all(value)
    if not isinstance(concrete, onp.ndarray | onp.generic | float | complex):
        return None, True
    return onp.shape(concrete), onp.iscomplexobj(concrete) or onp.result_type(concrete).kind not in "biuf"


def _check_shape(subject, where, g, space, call):
    shape, may_be_complex = space
    concrete = unbox_all(g)
    if shape is None or concrete is None:
        if concrete is None:
            raise TypeError(f"{subject} None {where}\n{call}")
        return
    if isinstance(concrete, SparseObject):
        have = concrete.vs.shape if isinstance(concrete.vs, ArrayVSpace) else shape
    else:
        have = onp.shape(concrete)
        if not may_be_complex and onp.iscomplexobj(concrete):
            raise TypeError(f"{subject} a complex cotangent {where}, which is real\n{call}")
    if have != shape:
        raise ValueError(f"{subject} shape {have} {where}, not {shape}\n{call}")


def _has_nan(g):
    concrete = unbox_all(g)
    if isinstance(concrete, list | tuple):
        return any(map(_has_nan, concrete))
    if isinstance(concrete, dict):
        return any(map(_has_nan, concrete.values()))
    if isinstance(concrete, onp.ndarray | onp.generic | float | complex) and onp.result_type(concrete).kind in "fc":
        return bool(onp.isnan(concrete).any())
    return False
