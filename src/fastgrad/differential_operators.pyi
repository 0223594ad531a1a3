# An operator keeps the arguments of the function it is given. Where the first argument is the one differentiated, what
# is returned has its type; where argnum says otherwise that can't be told.
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar, overload

_T = TypeVar("_T")
_A = TypeVar("_A")
_P = ParamSpec("_P")
_F = TypeVar("_F", bound=Callable[..., Any])
_Argnum: TypeAlias = int | Sequence[int]
_First: TypeAlias = Callable[Concatenate[_T, _P], Any]

__all__ = [
    "checkpoint",
    "deriv",
    "elementwise_grad",
    "grad",
    "grad_and_aux",
    "grad_named",
    "hessian",
    "hessian_tensor_product",
    "hessian_vector_product",
    "holomorphic_grad",
    "jacfwd",
    "jacobian",
    "jacrev",
    "make_ggnvp",
    "make_hvp",
    "make_jvp",
    "make_jvp_reversemode",
    "make_vjp",
    "multigrad_dict",
    "tensor_jacobian_product",
    "value_and_grad",
    "vector_jacobian_product",
]

@overload
def grad(fun: _First[_T, _P]) -> Callable[Concatenate[_T, _P], _T]: ...
@overload
def grad(fun: Callable[_P, Any], argnum: _Argnum = 0) -> Callable[_P, Any]: ...
@overload
def elementwise_grad(fun: _First[_T, _P]) -> Callable[Concatenate[_T, _P], _T]: ...
@overload
def elementwise_grad(fun: Callable[_P, Any], argnum: _Argnum = 0) -> Callable[_P, Any]: ...
@overload
def holomorphic_grad(fun: _First[_T, _P]) -> Callable[Concatenate[_T, _P], _T]: ...
@overload
def holomorphic_grad(fun: Callable[_P, Any], argnum: int = 0) -> Callable[_P, Any]: ...
@overload
def value_and_grad(fun: Callable[Concatenate[_T, _P], _A]) -> Callable[Concatenate[_T, _P], tuple[_A, _T]]: ...
@overload
def value_and_grad(fun: Callable[_P, _A], argnum: _Argnum = 0) -> Callable[_P, tuple[_A, Any]]: ...
@overload
def grad_and_aux(
    fun: Callable[Concatenate[_T, _P], tuple[Any, _A]],
) -> Callable[Concatenate[_T, _P], tuple[_T, _A]]: ...
@overload
def grad_and_aux(fun: Callable[_P, tuple[Any, _A]], argnum: _Argnum = 0) -> Callable[_P, tuple[Any, _A]]: ...
def deriv(fun: Callable[_P, _A], argnum: int = 0) -> Callable[_P, _A]: ...
def jacobian(fun: Callable[_P, Any], argnum: int = 0) -> Callable[_P, Any]: ...
def jacrev(fun: Callable[_P, Any], argnum: int = 0) -> Callable[_P, Any]: ...
def jacfwd(fun: Callable[_P, Any], argnum: int = 0) -> Callable[_P, Any]: ...
def hessian(fun: Callable[_P, Any], argnum: int = 0) -> Callable[_P, Any]: ...
def grad_named(fun: Callable[_P, Any], argname: str) -> Callable[_P, Any]: ...
def multigrad_dict(fun: Callable[_P, Any]) -> Callable[_P, dict[str, Any]]: ...
@overload
def make_hvp(fun: _First[_T, _P]) -> Callable[Concatenate[_T, _P], tuple[Callable[[_T], _T], _T]]: ...
@overload
def make_hvp(fun: Callable[_P, Any], argnum: _Argnum = 0) -> Callable[_P, tuple[Callable[[Any], Any], Any]]: ...
@overload
def make_vjp(
    fun: Callable[Concatenate[_T, _P], _A],
) -> Callable[Concatenate[_T, _P], tuple[Callable[[_A], _T], _A]]: ...
@overload
def make_vjp(fun: Callable[_P, _A], argnum: _Argnum = 0) -> Callable[_P, tuple[Callable[[_A], Any], _A]]: ...
@overload
def make_jvp(
    fun: Callable[Concatenate[_T, _P], _A],
) -> Callable[Concatenate[_T, _P], Callable[[_T], tuple[_A, _A]]]: ...
@overload
def make_jvp(fun: Callable[_P, _A], argnum: _Argnum = 0) -> Callable[_P, Callable[[Any], tuple[_A, _A]]]: ...
@overload
def make_jvp_reversemode(
    fun: Callable[Concatenate[_T, _P], _A],
) -> Callable[Concatenate[_T, _P], Callable[[_T], _A]]: ...
@overload
def make_jvp_reversemode(fun: Callable[_P, _A], argnum: _Argnum = 0) -> Callable[_P, Callable[[Any], _A]]: ...
def make_ggnvp(
    f: Callable[_P, Any], g: Callable[[Any], Any] = ..., f_argnum: int = 0
) -> Callable[_P, Callable[[Any], Any]]: ...

# The functions these give take a tensor after the arguments, which no type can say.
def hessian_tensor_product(fun: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]: ...
def tensor_jacobian_product(fun: Callable[..., Any], argnum: int = 0) -> Callable[..., Any]: ...

hessian_vector_product = hessian_tensor_product
vector_jacobian_product = tensor_jacobian_product

def checkpoint(fun: _F) -> _F: ...
