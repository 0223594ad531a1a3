from typing import Any

def func(f: Any) -> Any: ...
def quick_grad_check(
    fun: Any,
    arg0: Any,
    extra_args: Any = (),
    kwargs: Any = ...,
    verbose: Any = True,
    eps: Any = 0.0001,
    rtol: Any = 0.0001,
    atol: Any = 1e-06,
    rs: Any = None,
) -> Any: ...
def subval(x: Any, i: Any, v: Any) -> Any: ...
def subvals(x: Any, ivs: Any) -> Any: ...
def toposort(end_node: Any, parents: Any = ...) -> Any: ...
