"""Whole programs, those of ``benchmarks/programs.py``: the function in NumPy, its gradient, autograd's gradient."""

from functools import cache

import numpy
from programs import PROGRAMS

import fastgrad
import fastgrad.numpy as fnp

from .timing import fastest

try:
    import autograd
    import autograd.numpy as anp
except ImportError:
    autograd = None

BY_NAME = {program.name: program for program in PROGRAMS}


@cache
def prepared(name, np):
    program = BY_NAME[name]
    return program.build(np), program.make_input()


class WholeProgram:
    params = list(BY_NAME)
    param_names = ["program"]

    def time_numpy_function(self, name):
        fun, x = prepared(name, numpy)
        fun(x)

    def time_grad(self, name):
        fun, x = prepared(name, fnp)
        fastgrad.grad(fun)(x)


class AgainstAutograd:
    params = list(BY_NAME)
    param_names = ["program"]
    unit = "autograd's time / fastgrad's"

    def setup(self, name):
        if autograd is None:
            raise NotImplementedError("autograd is not installed")

    def track_grad_speedup(self, name):
        calls = []
        for package, np in ((autograd, anp), (fastgrad, fnp)):
            fun, x = prepared(name, np)
            calls.append(("gradient(x)", {"gradient": package.grad(fun), "x": x}))
        theirs, ours = fastest(*calls, rounds=3)
        return theirs / ours
