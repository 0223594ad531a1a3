"""Small helpers at autograd's import path."""

from fastgrad._engine.backward import toposort
from fastgrad._rules.arguments import func, subval, subvals
from fastgrad.test_util import quick_grad_check as _quick_grad_check

__all__ = ["func", "quick_grad_check", "subval", "subvals", "toposort"]

toposort.__module__ = __name__  # the path that pickles refer to


def quick_grad_check(
    fun,
    arg0,
    extra_args=(),
    kwargs={},  # noqa: B006  (as autograd's; never changed)
    verbose=True,
    eps=1e-4,
    rtol=1e-4,
    atol=1e-6,
    rs=None,
):
    """Check the gradient of a function. Deprecated: use `fastgrad.test_util.check_grads`.

    Parameters
    ----------
    fun : callable
        Any traced function.
    arg0 : object
        The first argument, with respect to which the gradient is checked.
    extra_args, kwargs
        The other arguments.
    verbose, eps, rtol, atol, rs
        Without effect; autograd has them.

    Raises
    ------
    AssertionError
        If the gradient is wrong.
    """
    _quick_grad_check(fun, arg0, extra_args, kwargs)
