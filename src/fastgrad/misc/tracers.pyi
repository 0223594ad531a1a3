from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from fastgrad._engine.core import Node

_F = TypeVar("_F", bound=Callable[..., Any])

class ConstGraphNode(Node):
    parents: Sequence[Node]
    partial_fun: Callable[[Sequence[Any]], Any]
    def initialize_root(self) -> None: ...

class FullGraphNode(Node):
    value: Any
    recipe: tuple[Callable[..., Any], Sequence[Any], dict[str, Any], list[tuple[int, FullGraphNode]]]
    @property
    def parents(self) -> list[FullGraphNode]: ...
    def initialize_root(self) -> None: ...

def const_graph(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]: ...
def const_graph_unary(fun: _F) -> _F: ...
def full_graph(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> FullGraphNode | None: ...
