"""What autograd deprecated and still has: rules given by methods of a primitive, and the old check of gradients."""

import warnings

from fastgrad._engine.core import connect
from fastgrad.core import defvjp, vspace
from fastgrad.test_util import check_grads


def _warn(name, instead):
    warnings.warn(f"The {name} is deprecated. Use {instead} instead.", stacklevel=4)


def _add_makers(fun, makers):
    # One call of these methods is for one argument; the rules of earlier calls stay.
    known = fun.__dict__.setdefault("_makers_by_method", {})
    known.update(makers)
    defvjp(fun, *known.values(), argnums=tuple(known))


def defgrad(fun, gradfun, argnum):
    """Give the VJP of one argument in the staged form."""
    _warn("defgrad method", "fastgrad.extend.defvjp")
    _add_makers(fun, {argnum: gradfun})


def defvjp_method(fun, vjpmaker, argnum):
    """Give the VJP of one argument as ``vjp(g, ans, vs, gvs, *args, **kwargs)``, with its vspace and the answer's."""
    _warn("defvjp method", "fastgrad.extend.defvjp")

    def maker(ans, *args, **kwargs):
        return lambda g: vjpmaker(g, ans, vspace(args[argnum]), vspace(ans), *args, **kwargs)

    _add_makers(fun, {argnum: maker})


def defvjp_is_zero(fun, argnums):
    """Say that the cotangents of some arguments are zero."""
    _warn("defvjp_is_zero method", "fastgrad.extend.defvjp with None")
    _add_makers(fun, dict.fromkeys(argnums))


def quick_grad_check(fun, arg0, extra_args=(), kwargs=None):
    """Check the gradient of a function against central differences."""
    _warn("quick_grad_check function", "fastgrad.test_util.check_grads")
    check_grads(lambda x: fun(x, *extra_args, **(kwargs or {})), modes=("rev",), order=1)(arg0)


connect(defgrad=defgrad, defvjp_method=defvjp_method, defvjp_is_zero=defvjp_is_zero)
