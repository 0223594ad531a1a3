# Rules, vector spaces and the two passes.
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any, Literal, TypeAlias, TypeVar

from fastgrad._engine.backward import add_outgrads as add_outgrads
from fastgrad._engine.backward import backward_pass as backward_pass
from fastgrad._engine.backward import make_jvp as make_jvp
from fastgrad._engine.backward import make_vjp as make_vjp
from fastgrad._engine.backward import sparse_object_types as sparse_object_types
from fastgrad._engine.backward import sum_outgrads as sum_outgrads
from fastgrad._engine.core import JVPNode as JVPNode
from fastgrad._engine.core import SparseObject as SparseObject
from fastgrad._engine.core import VJPNode as VJPNode
from fastgrad._engine.core import VSpace as VSpace
from fastgrad._engine.core import vspace as vspace
from fastgrad.tracer import Box as Box
from fastgrad.tracer import Node as Node
from fastgrad.tracer import getval as getval
from fastgrad.tracer import isbox as isbox
from fastgrad.tracer import primitive as primitive
from fastgrad.tracer import toposort as toposort
from fastgrad.tracer import trace as trace

_T = TypeVar("_T")
_Function: TypeAlias = Callable[..., Any]

primitive_vjps: MutableMapping[_Function, _Function]
primitive_jvps: MutableMapping[_Function, _Function]
sparse_add: _Function

class SparseBox(Box): ...

def defvjp(fun: _Function, *vjpmakers: _Function | None, argnums: Sequence[int] = ...) -> None: ...
def defvjp_argnum(fun: _Function, vjpmaker: Callable[[int, Any, Any, Any], _Function]) -> None: ...
def defvjp_argnums(fun: _Function, vjpmaker: Callable[[Sequence[int], Any, Any, Any], _Function]) -> None: ...
def defjvp(fun: _Function, *jvpfuns: _Function | Literal["same"] | None, argnums: Sequence[int] = ...) -> None: ...
def defjvp_argnum(fun: _Function, jvpmaker: Callable[[int, Any, Any, Any, Any], Any]) -> None: ...
def defjvp_argnums(fun: _Function, jvpmaker: Callable[[Sequence[int], Any, Any, Any, Any], Any]) -> None: ...
def def_linear(fun: _Function) -> None: ...
def translate_vjp(vjpfun: _Function | None, fun: _Function, argnum: int) -> _Function: ...
def translate_jvp(jvpfun: _Function | Literal["same"] | None, fun: _Function, argnum: int) -> _Function: ...
def identity_vjp(argnums: Sequence[int], *args: Any) -> Callable[[_T], tuple[_T, ...]]: ...
def identity_jvp(g: _T, *args: Any, **kwargs: Any) -> _T: ...
def func(f: _T) -> _T: ...
