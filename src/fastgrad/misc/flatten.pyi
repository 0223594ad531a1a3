from collections.abc import Callable
from typing import Any, TypeVar

from numpy.typing import NDArray

_T = TypeVar("_T")

def flatten(value: _T) -> tuple[NDArray[Any], Callable[[NDArray[Any]], _T]]: ...
def flatten_func(
    func: Callable[..., Any], example: _T
) -> tuple[Callable[..., NDArray[Any]], Callable[[NDArray[Any]], _T], NDArray[Any]]: ...
