"""Operators that return whole Jacobians and Hessians."""

import math

from fastgrad._jacobians.jacobians import by_columns, by_columns_at_once, by_rows, is_tall
from fastgrad.core import make_vjp as _make_vjp
from fastgrad.core import vspace
from fastgrad.wrap_util import unary_to_nary


@unary_to_nary
def jacobian(fun, x):
    """Return a function that computes the Jacobian of ``fun``, in the mode that suits the shapes.

    Parameters
    ----------
    fun : callable
        Returns an array or a number.
    argnum : int, default 0
        The argument to differentiate with respect to, an array or a number.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and returns an array of shape ``fun(x).shape + x.shape``, of the dtype of the
        argument, or of its complex counterpart if the value is complex.

    Raises
    ------
    TypeError
        If the argument or the value is a list, tuple or dict.

    See Also
    --------
    jacfwd, jacrev : compute the Jacobian by one of the two modes.

    Notes
    -----
    Reverse mode is used unless the argument has at most half as many elements as the value and all primitives have a
    JVP. In that case forward mode is used: ``fun`` is called a second time, and the Jacobian is that of this call. As
    many basis vectors as possible go through the graph together, as rows of one batch, if the rules allow it.

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad import jacobian
    >>> jacobian(np.cumsum)(np.ones(3))
    array([[1., 0., 0.],
           [1., 1., 0.],
           [1., 1., 1.]])
    """
    vjp, ans = _make_vjp(fun, x)
    space, x_space = vspace(ans), vspace(x)
    forward = by_columns_at_once(fun, x, x_space, math.prod(space.shape)) if is_tall(space, x_space) else None
    return by_rows(vjp, space, x_space) if forward is None else forward


@unary_to_nary
def jacrev(fun, x):
    """Return a function that computes the Jacobian of ``fun`` by reverse mode.

    Parameters
    ----------
    fun : callable
        Returns an array or a number.
    argnum : int, default 0
        The argument to differentiate with respect to, an array or a number.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and returns an array of shape ``fun(x).shape + x.shape``.

    Raises
    ------
    TypeError
        If the argument or the value is a list, tuple or dict.

    See Also
    --------
    jacobian : chooses the mode that suits the shapes.

    Notes
    -----
    ``fun`` is called once, and there is one backward pass for each batch of elements of its value.
    """
    vjp, ans = _make_vjp(fun, x)
    return by_rows(vjp, vspace(ans), vspace(x))


@unary_to_nary
def jacfwd(fun, x):
    """Return a function that computes the Jacobian of ``fun`` by forward mode.

    Parameters
    ----------
    fun : callable
        Returns an array or a number, the same each time it is called.
    argnum : int, default 0
        The argument to differentiate with respect to, an array or a number.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and returns an array of shape ``fun(x).shape + x.shape``.

    Raises
    ------
    NotImplementedError
        If a primitive has no JVP.
    TypeError
        If the argument or the value is a list, tuple or dict.

    See Also
    --------
    jacobian : chooses the mode that suits the shapes.

    Notes
    -----
    ``fun`` is called once for each batch of elements of the argument.
    """
    return by_columns(fun, x, vspace(x))


@unary_to_nary
def hessian(fun, x):
    """Return a function that computes the Hessian of a function with a real scalar value.

    Parameters
    ----------
    fun : callable
        Returns a real scalar.
    argnum : int, default 0
        The argument to differentiate with respect to, an array or a number.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and returns an array of shape ``fun(x).shape + x.shape + x.shape``. For an
        array-valued ``fun`` it holds the Hessian of each element.

    Raises
    ------
    TypeError
        If the argument or the value is a list, tuple or dict.

    Notes
    -----
    Computed as the Jacobian of the Jacobian: ``fun`` is called once, the backward pass of its gradient is traced, and
    batches of basis vectors go back through that graph.

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad import hessian
    >>> hessian(lambda x: x[0] * x[1] ** 2)(np.array([1.0, 2.0]))
    array([[0., 4.],
           [4., 2.]])
    """
    return jacobian(jacobian(fun))(x)
