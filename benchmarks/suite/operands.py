"""One call on three kinds of operand: NumPy's own function, the primitive on plain values, the primitive on boxes."""

import numpy

import fastgrad.numpy as fnp

from .common import CALLS, OPERANDS, boxed

BOXES = {kind: boxed(value) for kind, value in OPERANDS.items()}


class _EachKind:
    params = list(OPERANDS)
    param_names = ["operand"]


class RawNumpy(_EachKind):
    def time_1000_sin(self, operand):
        sin, x = numpy.sin, OPERANDS[operand]
        for _ in CALLS:
            sin(x)

    def time_1000_multiply(self, operand):
        multiply, x = numpy.multiply, OPERANDS[operand]
        for _ in CALLS:
            multiply(x, x)


class UnboxedPrimitive(_EachKind):
    def time_1000_sin(self, operand):
        sin, x = fnp.sin, OPERANDS[operand]
        for _ in CALLS:
            sin(x)

    def time_1000_multiply(self, operand):
        multiply, x = fnp.multiply, OPERANDS[operand]
        for _ in CALLS:
            multiply(x, x)


class BoxedPrimitive(_EachKind):
    def time_1000_sin(self, operand):
        sin, b = fnp.sin, BOXES[operand]
        for _ in CALLS:
            sin(b)

    def time_1000_multiply(self, operand):
        multiply, b = fnp.multiply, BOXES[operand]
        for _ in CALLS:
            multiply(b, b)

    def time_1000_multiply_by_plain(self, operand):
        multiply, b, x = fnp.multiply, BOXES[operand], OPERANDS[operand]
        for _ in CALLS:
            multiply(b, x)


class BoxedOperator(_EachKind):
    def time_1000_multiply(self, operand):
        b = BOXES[operand]
        for _ in CALLS:
            b * b

    def time_1000_multiply_by_constant(self, operand):
        b = BOXES[operand]
        for _ in CALLS:
            2.0 * b

    def time_1000_negative(self, operand):
        b = BOXES[operand]
        for _ in CALLS:
            _ = -b

    def time_1000_comparison(self, operand):
        b = BOXES[operand]
        for _ in CALLS:
            _ = b > 0.5
