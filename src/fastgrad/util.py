"""Small helpers at autograd's import path."""

from fastgrad._engine.backward import toposort

__all__ = ["func", "quick_grad_check", "subval", "subvals", "toposort"]


def subvals(x, ivs):
    """Give ``x`` as a tuple with the values ``v`` put at the places ``i`` for ``(i, v)`` in ``ivs``."""
    changed = list(x)
    for i, v in ivs:
        changed[i] = v
    return tuple(changed)


def subval(x, i, v):
    """Give ``x`` as a tuple with ``v`` at place ``i``."""
    return subvals(x, ((i, v),))


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
        Function to check.
    arg0 : object
        Where, in its first argument.
    extra_args, kwargs
        The other arguments.
    verbose, eps, rtol, atol, rs
        Without effect.
    """
    from fastgrad._deprecated import quick_grad_check as check

    check(fun, arg0, extra_args, kwargs)


def func(f):
    """Give ``f`` itself; Python 2's unbound methods needed more."""
    return f
