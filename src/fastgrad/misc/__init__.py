"""Tools built on the operators: flattening, optimizers, fixed points and other tracers."""

from fastgrad.misc import tracers
from fastgrad.misc.flatten import flatten
from fastgrad.misc.tracers import const_graph

__all__ = ["const_graph", "flatten", "tracers"]
