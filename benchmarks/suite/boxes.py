"""What a traced value is made of: a box, its node, its vector space."""

from fastgrad.core import VJPNode, vspace
from fastgrad.tracer import new_box

from .common import CALLS, OPERANDS

NODE = VJPNode.new_root()


class NewBox:
    params = list(OPERANDS)
    param_names = ["operand"]

    def time_1000_new_box(self, operand):
        x, node = OPERANDS[operand], NODE
        for _ in CALLS:
            new_box(x, 0, node)


class NewNode:
    def time_1000_new_root(self):
        new_root = VJPNode.new_root
        for _ in CALLS:
            new_root()


class VSpaceOf:
    VALUES = {**OPERANDS, "dict": {"w": OPERANDS["vector10"], "b": 0.5}}
    params = list(VALUES)
    param_names = ["value"]

    def time_1000_vspace(self, value):
        x = self.VALUES[value]
        for _ in CALLS:
            vspace(x)

    def time_1000_zeros(self, value):
        zeros = vspace(self.VALUES[value]).zeros
        for _ in CALLS:
            zeros()
