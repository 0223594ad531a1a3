"""The parts of a gradient, and the whole: forward trace, backward pass on a graph that stands, `grad`."""

from functools import cache

import fastgrad.numpy as fnp
from fastgrad import grad
from fastgrad.core import VJPNode, make_vjp
from fastgrad.tracer import trace

from .common import INPUTS, PROGRAMS, program


@cache
def prebuilt_vjp(name, kind):
    vjp, _ = make_vjp(program(name, kind, fnp), INPUTS[kind])
    return vjp


class _EachProgram:
    params = [list(PROGRAMS), list(INPUTS)]
    param_names = ["program", "kind"]


class Forward(_EachProgram):
    def time_trace(self, name, kind):
        trace(VJPNode.new_root(), program(name, kind, fnp), INPUTS[kind])


class Backward(_EachProgram):
    def time_vjp(self, name, kind):
        prebuilt_vjp(name, kind)(1.0)


class Whole(_EachProgram):
    def time_grad(self, name, kind):
        grad(program(name, kind, fnp))(INPUTS[kind])
