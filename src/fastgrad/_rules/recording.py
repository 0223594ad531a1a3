"""Recording the derivatives of elementwise functions as formulas, which the engine runs on plain values without Python.

A derivative is called once on traced numbers, in a trace whose nodes write down the ufuncs it is made of.
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
    """The derivative is more than a straight line of ufuncs on its arguments and numbers."""


class _Operand(Node):
    """What a ufunc of the line is called on: an input, or the answer of an earlier step."""

    def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
        if kwargs or not (isinstance(fun.fun, np.ufunc) and fun.fun.nin == len(args) and fun.fun.nout == 1):
            raise _NotRecordable
        operands = list(args)
        for argnum, parent in zip(parent_argnums, parents, strict=True):
            operands[argnum] = parent
        self.line = parents[0].line
        self.line.append((fun, operands, self))

    def initialize_root(self, line, register):
        self.line, self.register = line, register


def _branches(fun):
    """Say whether a derivative decides anything, which a recording of one call would not show."""
    return any("JUMP" in instruction.opname for instruction in dis.get_instructions(fun))


def _record(deriv, n_args):
    """Give the steps of a derivative of ``ans`` and arguments, and its result: an operand, or a number."""
    line = []
    with trace_stack.new_trace() as level, np.errstate(all="ignore"):
        inputs = [new_box(0.5, level, _Operand.new_root(line, _ANS + i)) for i in range(1 + n_args)]
        result = deriv(*inputs)
    return line, getattr(result, "_node", result)


def _assemble(line):
    """Give the fused of a line of steps, the last of which gives the result."""
    constants, steps = [], []
    if len(line) > fused_derivative_limits["steps"]:
        raise _NotRecordable

    def register(operand):
        if isinstance(operand, _Operand):
            return operand.register
        if type(operand) not in (int, float):
            raise _NotRecordable
        if float(operand) not in constants:
            constants.append(float(operand))
        return fused_derivative_limits["first constant"] + constants.index(float(operand))

    for k, (fun, operands, answer) in enumerate(line):
        x, *y = [register(operand) for operand in operands]
        # Each answer has a register of its own: a loop may go another way where it writes to what it reads.
        answer.register = (
            fused_derivative_limits["first between"] + k if k + 1 < len(line) else fused_derivative_limits["result"]
        )
        steps.append((fun, x, y[0] if y else -1, answer.register))
    if len(constants) > fused_derivative_limits["constants"]:
        raise _NotRecordable
    return FusedDerivative(steps, constants)


def record_derivative(deriv, n_args, multiply: Primitive):
    """Make the fused of ``g * deriv(ans, *args)``.

    Parameters
    ----------
    deriv : callable
        The derivative: a function of the answer and ``n_args`` arguments, made of primitives.
    n_args : int
        How many arguments it takes.
    multiply : Primitive
        The product.

    Returns
    -------
    FusedDerivative or None
        None if the derivative decides something by its arguments, or calls anything but ufuncs.
    """
    try:
        if _branches(deriv):
            return None
        line, result = _record(deriv, n_args)
        cotangent = _Operand.new_root(line, _G)
        line.append((multiply, [cotangent, result], _Operand.new_root(line, None)))
        return _assemble(line)
    except (_NotRecordable, TypeError):  # a TypeError: an argument is of integers, or of another kind than numbers
        return None


connect(record_derivative=record_derivative)
