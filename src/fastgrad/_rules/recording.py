"""The recording of derivatives of elementwise functions, so that the engine can run them without Python.

A derivative is called once on traced numbers, in a trace whose nodes record the ufuncs that it calls. If it is a
sequence of ufuncs without branches, that record is a fused derivative, which the engine runs on concrete values.
"""

import dis

import numpy as np

from fastgrad._engine.core import (
    FusedDerivative,
    Node,
    Primitive,
    connect,
    fused_derivative_limits,
    new_box,
    trace_stack,
)

_G, _ANS = 0, 1


class _NotRecordable(Exception):
    """The derivative is more than a sequence of ufuncs of its arguments and numbers."""


class _Operand(Node):
    """A node of the recording: an input of the derivative, or the answer of a step.

    The list ``steps`` is shared by all operands of one recording.
    """

    def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
        if kwargs or not (isinstance(fun.fun, np.ufunc) and fun.fun.nin == len(args) and fun.fun.nout == 1):
            raise _NotRecordable
        operands = list(args)
        for argnum, parent in zip(parent_argnums, parents, strict=True):
            operands[argnum] = parent
        self.steps = parents[0].steps
        self.steps.append((fun, operands, self))

    def initialize_root(self, steps, register):
        self.steps, self.register = steps, register


def _has_branches(fun):
    """Return whether a function has branches, of which one call would record only those that it took."""
    return any("JUMP" in instruction.opname for instruction in dis.get_instructions(fun))


def _record(deriv, n_args):
    """Return the steps of a derivative that takes ``ans`` and arguments, and its result: an operand or a number."""
    steps = []
    with trace_stack.new_trace() as level, np.errstate(all="ignore"):
        inputs = [new_box(0.5, level, _Operand.new_root(steps, _ANS + i)) for i in range(1 + n_args)]
        result = deriv(*inputs)
    return steps, getattr(result, "_node", result)


def _assemble(recorded):
    """Return the fused derivative of recorded steps, the last of which computes the result."""
    constants, steps = [], []
    if len(recorded) > fused_derivative_limits["steps"]:
        raise _NotRecordable

    def register(operand):
        if isinstance(operand, _Operand):
            return operand.register
        if type(operand) not in (int, float):
            raise _NotRecordable
        if float(operand) not in constants:
            constants.append(float(operand))
        return fused_derivative_limits["first constant"] + constants.index(float(operand))

    for k, (fun, operands, answer) in enumerate(recorded):
        x, *y = [register(operand) for operand in operands]
        # Each answer has its own register, since NumPy's loops may compute differently when they write to an input.
        answer.register = (
            fused_derivative_limits["first between"] + k if k + 1 < len(recorded) else fused_derivative_limits["result"]
        )
        steps.append((fun, x, y[0] if y else -1, answer.register))
    if len(constants) > fused_derivative_limits["constants"]:
        raise _NotRecordable
    return FusedDerivative(steps, constants)


def record_derivative(deriv, n_args, multiply: Primitive):
    """Return ``g * deriv(ans, *args)`` as a fused derivative.

    Parameters
    ----------
    deriv : callable
        The derivative: a function of the answer and the arguments, made of primitives.
    n_args : int
        The number of arguments.
    multiply : Primitive
        The primitive of ``numpy.multiply``.

    Returns
    -------
    FusedDerivative or None
        None if the derivative has branches, calls anything but ufuncs, or has too many steps or constants.
    """
    try:
        if _has_branches(deriv):
            return None
        steps, result = _record(deriv, n_args)
        cotangent = _Operand.new_root(steps, _G)
        steps.append((multiply, [cotangent, result], _Operand.new_root(steps, None)))
        return _assemble(steps)
    except (_NotRecordable, TypeError):  # a TypeError if the derivative takes integers or something other than numbers
        return None


connect(record_derivative=record_derivative)
