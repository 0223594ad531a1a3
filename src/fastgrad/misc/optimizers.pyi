from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

_T = TypeVar("_T")
_Callback: TypeAlias = Callable[[_T, int, _T], object]

def sgd(
    grad: Callable[[_T, int], _T],
    x0: _T,
    callback: _Callback[_T] | None = None,
    num_iters: int = 200,
    step_size: float = 0.1,
    mass: float = 0.9,
) -> _T: ...
def rmsprop(
    grad: Callable[[_T, int], _T],
    x0: _T,
    callback: _Callback[_T] | None = None,
    num_iters: int = 100,
    step_size: float = 0.1,
    gamma: float = 0.9,
    eps: float = ...,
) -> _T: ...
def adam(
    grad: Callable[[_T, int], _T],
    x0: _T,
    callback: _Callback[_T] | None = None,
    num_iters: int = 100,
    step_size: float = 0.001,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = ...,
) -> _T: ...
def unflatten_optimizer(optimize: Callable[..., Any]) -> Callable[..., Any]: ...
