"""Checks of derivatives against central differences, in both modes and to any order."""

from itertools import product

from fastgrad._diagnostics.user_code import warn as _warn
from fastgrad.core import make_jvp, make_vjp, vspace
from fastgrad.wrap_util import get_name, unary_to_nary

__all__ = [
    "check_equivalent",
    "check_grads",
    "check_jvp",
    "check_vjp",
    "combo_check",
    "make_numerical_jvp",
    "scalar_close",
]

TOL = 1e-6
RTOL = 1e-6
EPS = 1e-6


def scalar_close(a, b):
    """Return whether two numbers differ by less than 1e-6, absolutely or relative to their sum."""
    return abs(a - b) < TOL or abs(a - b) / abs(a + b) < RTOL


def make_numerical_jvp(f, x):
    """Return the pushforward of ``f`` at ``x``, computed by central differences.

    Parameters
    ----------
    f : callable
        Function of one argument.
    x : object
        Its argument, of any type with a vector space.

    Returns
    -------
    callable
        Takes a tangent of the argument to the tangent of the value.
    """
    x_space, y_space = vspace(x), vspace(f(x))

    def jvp(v):
        step = x_space.scalar_mul(v, EPS / 2)
        forward, backward = f(x_space.add(x, step)), f(x_space.add(x, x_space.scalar_mul(step, -1.0)))
        return y_space.scalar_mul(y_space.add(forward, y_space.scalar_mul(backward, -1.0)), 1.0 / EPS)

    return jvp


def check_equivalent(x, y):
    """Check that two values have the same vector space and agree along a random direction of it.

    Parameters
    ----------
    x, y : object
        Values of any type with a vector space.

    Raises
    ------
    AssertionError
        If they do not.
    """
    x_space, y_space = vspace(x), vspace(y)
    assert x_space == y_space, f"VSpace mismatch:\nx: {x_space}\ny: {y_space}"
    v = x_space.randn()
    assert scalar_close(x_space.inner_prod(x, v), x_space.inner_prod(y, v)), f"Value mismatch:\nx: {x}\ny: {y}"


def check_vjp(f, x):
    """Check the pullback of ``f`` at ``x`` along random directions.

    Parameters
    ----------
    f : callable
        Traced function of one argument.
    x : object
        Its argument, of any type with a vector space.

    Raises
    ------
    AssertionError
        If it disagrees with central differences.
    """
    vjp, y = make_vjp(f, x)
    x_space, y_space = vspace(x), vspace(y)
    x_v, y_v = x_space.randn(), y_space.randn()
    pulled = x_space.covector(vjp(y_space.covector(y_v)))
    assert vspace(pulled) == x_space, f"the pullback gave {vspace(pulled)} for an argument of {x_space}"
    analytic, numeric = x_space.inner_prod(x_v, pulled), y_space.inner_prod(make_numerical_jvp(f, x)(x_v), y_v)
    assert scalar_close(analytic, numeric), (
        f"Derivative (VJP) check of {get_name(f)} failed with arg {x}:\nanalytic: {analytic}\nnumeric:  {numeric}"
    )


def check_jvp(f, x):
    """Check the pushforward of ``f`` at ``x`` along a random direction.

    Parameters
    ----------
    f : callable
        Traced function of one argument.
    x : object
        Its argument, of any type with a vector space.

    Raises
    ------
    AssertionError
        If it disagrees with central differences.
    """
    v = vspace(x).randn()
    check_equivalent(make_jvp(f, x)(v)[1], make_numerical_jvp(f, x)(v))


@unary_to_nary
def check_grads(fun, x, modes=("fwd", "rev"), order=2):
    """Return a function that checks the derivatives of ``fun`` against central differences.

    Parameters
    ----------
    fun : callable
        Any traced function.
    argnum : int or tuple of int, default 0
        The argument to differentiate with respect to.
    modes : sequence of {"fwd", "rev"}
        The modes to check; for higher orders, in all combinations.
    order : int, default 2
        The highest order to check.

    Returns
    -------
    callable
        Takes the arguments of ``fun``. It raises AssertionError if a derivative is wrong, and ValueError if there is no
        such mode.

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad.test_util import check_grads
    >>> check_grads(lambda x, y: np.sin(x) * y, (0, 1))(0.5, np.array([1.0, 2.0]))
    >>> check_grads(np.linalg.inv, modes=["rev"], order=1)(np.array([[2.0, 1.0], [0.0, 1.0]]))
    """
    if set(modes) - {"fwd", "rev"}:
        raise ValueError(f"modes are 'fwd' and 'rev', not {modes!r}")
    if not order:
        return
    if "fwd" in modes:
        check_jvp(fun, x)
        if order > 1:
            v = vspace(x).randn()
            _check_next(lambda x, v: make_jvp(fun, x)(v)[1], f"jvp_{get_name(fun)}", modes, order)(x, v)
    if "rev" in modes:
        check_vjp(fun, x)
        if order > 1:
            v = vspace(fun(x)).randn()
            _check_next(lambda x, v: make_vjp(fun, x)[0](v), f"vjp_{get_name(fun)}", modes, order)(x, v)


def _check_next(derivative, name, modes, order):
    """Return the check of a derivative, which gets a name for messages."""
    derivative.__name__ = name
    return check_grads(derivative, (0, 1), modes=modes, order=order - 1)


def combo_check(fun, *args, **kwargs):
    """Return a function that checks the derivatives of ``fun`` for all combinations of given arguments.

    Parameters
    ----------
    fun : callable
        Any traced function.
    *args, **kwargs
        As for `check_grads`.

    Returns
    -------
    callable
        Takes for each argument of ``fun``, by position or by keyword, a list of values. It raises AssertionError if a
        derivative is wrong.
    """
    check = check_grads(fun, *args, **kwargs)

    def run(*argument_lists, **keyword_lists):
        for arguments in product(*argument_lists):
            for keywords in product(*keyword_lists.values()):
                check(*arguments, **dict(zip(keyword_lists, keywords, strict=True)))

    return run


def quick_grad_check(fun, arg0, extra_args=(), kwargs=None):
    """Check the gradient of a function with respect to its first argument. Deprecated: use `check_grads`.

    Parameters
    ----------
    fun : callable
        Any traced function.
    arg0 : object
        The first argument, of any type with a vector space.
    extra_args : sequence
        The further arguments by position.
    kwargs : dict, optional
        The arguments by keyword.

    Raises
    ------
    AssertionError
        If the gradient is wrong.

    Warns
    -----
    UserWarning
        Always.
    """
    _warn("The quick_grad_check function is deprecated. Use fastgrad.test_util.check_grads instead.")
    check_grads(lambda x: fun(x, *extra_args, **(kwargs or {})), modes=("rev",), order=1)(arg0)
