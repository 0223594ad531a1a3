from contextlib import ContextDecorator
from typing import Any

from typing_extensions import Self

from fastgrad._engine.core import JVPNode, VJPNode

class debug(ContextDecorator):
    def __enter__(self) -> Self: ...
    def __exit__(self, *exc: object) -> None: ...

class DebugVJPNode(VJPNode):
    call: Any
    root: DebugVJPNode
    spaces: list[Any]

class DebugJVPNode(JVPNode): ...
