# Boxes, nodes and primitives.
from collections.abc import Callable, Iterable, MutableMapping
from typing import Any, ParamSpec, TypeVar

import numpy as np

from fastgrad._engine.backward import toposort as toposort
from fastgrad._engine.core import Box as Box
from fastgrad._engine.core import BoxMakers, Primitive
from fastgrad._engine.core import Node as Node
from fastgrad._engine.core import TraceStack as TraceStack
from fastgrad._engine.core import find_top_boxed_args as find_top_boxed_args
from fastgrad._engine.core import getval as getval
from fastgrad._engine.core import isbox as isbox
from fastgrad._engine.core import new_box as new_box
from fastgrad._engine.core import trace as trace
from fastgrad._engine.core import trace_stack as trace_stack

_P = ParamSpec("_P")
_R = TypeVar("_R")
_F = TypeVar("_F", bound=Callable[..., Any])

box_type_mappings: BoxMakers
box_types: set[type]
trace_primitives_map: dict[np.ufunc, Primitive[..., Any]]
notrace_primitives: MutableMapping[type[Node], Any]

def primitive(f_raw: Callable[_P, _R]) -> Primitive[_P, _R]: ...
def notrace_primitive(f_raw: Callable[_P, _R]) -> Primitive[_P, _R]: ...
def register_notrace(trace_type: type[Node], primitive_fun: Primitive[..., Any]) -> None: ...
def subvals(x: Iterable[Any], ivs: Iterable[tuple[int, Any]]) -> tuple[Any, ...]: ...
def wraps(
    fun: Callable[..., Any], namestr: str = "{fun}", docstr: str = "{doc}", **kwargs: Any
) -> Callable[[_F], _F]: ...
