"""Operators that multiply vectors by Jacobians, Hessians and Gauss-Newton matrices without forming these."""

import inspect

import fastgrad.numpy as np
from fastgrad._engine.core import DerivedFunction
from fastgrad._operators.gradients import grad
from fastgrad._operators.jacobians import jacobian
from fastgrad.core import make_vjp as _make_vjp
from fastgrad.core import vspace
from fastgrad.wrap_util import unary_to_nary, wraps


@unary_to_nary
def make_hvp(fun, x):
    """Return a function that prepares products of the Hessian of ``fun`` with vectors.

    Parameters
    ----------
    fun : callable
        Returns a real scalar.
    argnum : int, tuple or list of int, default 0
        The argument to differentiate with respect to, of any type with a vector space.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and returns the pair (hvp, gradient). ``hvp`` takes a vector of the argument's
        type, shape and dtype to the product of the Hessian with it, of the same type; it may be called any number of
        times, and the graph is recorded only once.

    Raises
    ------
    TypeError
        If ``fun`` returns anything but a real scalar.

    Notes
    -----
    The product is the pullback of the gradient (Pearlmutter 1994), in reverse over reverse mode.

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad import make_hvp
    >>> hvp, gradient = make_hvp(lambda x: x[0] * x[1] ** 2)(np.array([1.0, 2.0]))
    >>> hvp(np.array([1.0, 0.0]))
    array([0., 4.])
    """
    return _make_vjp(grad(fun), x)


def _contracted(fun):
    """Return a function of the arguments of ``fun`` and a tensor, which it contracts with the leading axes of fun."""

    def contraction(*args, **kwargs):
        *args, tensor = args
        return np.tensordot(tensor, fun(*args, **kwargs), np.ndim(tensor))

    _append_tensor_to_signature(contraction, fun)
    return DerivedFunction(wraps(fun)(contraction), _contracted, (fun,))


def _append_tensor_to_signature(contraction, fun):
    """Set the signature of ``contraction`` to that of ``fun`` with a tensor after its arguments, if one can say so."""
    parameter = inspect.Parameter
    try:
        signature = inspect.signature(fun)
    except (TypeError, ValueError):
        return
    by_position = [p for p in signature.parameters.values() if p.kind <= parameter.VAR_POSITIONAL]
    # The tensor comes after however many arguments are given, which a signature can't say if their number varies.
    if any(p.kind is parameter.VAR_POSITIONAL or p.default is not p.empty for p in by_position):
        return
    by_name = list(signature.parameters.values())[len(by_position) :]
    if "tensor" not in signature.parameters:
        before = [p.replace(kind=parameter.POSITIONAL_ONLY) for p in by_position]
        tensor = parameter("tensor", parameter.POSITIONAL_ONLY)
        contraction.__signature__ = signature.replace(parameters=[*before, tensor, *by_name])


def hessian_tensor_product(fun, argnum=0):
    """Return a function that multiplies a tensor by the Hessian of ``fun`` without forming the Hessian.

    Parameters
    ----------
    fun : callable
        Returns a real scalar.
    argnum : int, default 0
        The argument to differentiate with respect to, an array or a number.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and then a tensor of the argument's shape, all by position, and returns an array
        of the argument's shape and dtype. Also offered as `hessian_vector_product`.

    Raises
    ------
    TypeError
        If ``fun`` returns anything but a real scalar.

    Notes
    -----
    The product is the gradient of the inner product of the gradient with the tensor (Pearlmutter 1994).

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad import hessian_vector_product
    >>> hessian_vector_product(lambda x: x[0] * x[1] ** 2)(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    array([0., 4.])
    """
    return grad(_contracted(grad(fun, argnum)), argnum)


hessian_vector_product = hessian_tensor_product


def tensor_jacobian_product(fun, argnum=0):
    """Return a function that computes the product of a tensor with the Jacobian of ``fun``, without the Jacobian.

    Parameters
    ----------
    fun : callable
        Returns an array.
    argnum : int, default 0
        The argument to differentiate with respect to, an array or a number.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and then a tensor, all by position. The tensor has the shape of the value of
        ``fun``, or of its leading axes; these are summed over. For a tensor of the whole shape the product has the
        shape of the argument. Also offered as `vector_jacobian_product`.

    Raises
    ------
    TypeError
        If the argument or the value is a list, tuple or dict.

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad import vector_jacobian_product
    >>> vector_jacobian_product(np.cumsum)(np.ones(3), np.array([0.0, 1.0, 1.0]))
    array([2., 2., 1.])
    """
    return jacobian(_contracted(fun), argnum)


vector_jacobian_product = tensor_jacobian_product


@unary_to_nary
def make_jvp_reversemode(fun, x):
    """Return a function that prepares products of the Jacobian of ``fun`` with tangents, by two reverse passes.

    Parameters
    ----------
    fun : callable
        Returns a value of any type with a vector space. Its primitives need no JVPs.
    argnum : int, tuple or list of int, default 0
        The argument to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and returns the pushforward: a function from a tangent of the argument to the
        tangent of the value, alone.

    Notes
    -----
    A pullback is linear in the cotangent, so that its own pullback, at any cotangent, is the pushforward.
    """
    vjp, ans = _make_vjp(fun, x)
    transposed, _ = _make_vjp(vjp, vspace(ans).zeros())
    return transposed


def _half_sum_of_squares(x):
    return np.sum(x**2, axis=-1) / 2


def make_ggnvp(f, g=_half_sum_of_squares, f_argnum=0):
    """Return a function that prepares products of the generalised Gauss-Newton matrix of ``g(f(x))`` with vectors.

    Parameters
    ----------
    f : callable
        The model: takes and returns arrays.
    g : callable, optional
        The loss, a real scalar function of the model's output; by default half the sum of squares.
    f_argnum : int, default 0
        The argument of ``f`` to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``f`` and returns a function of a vector v of the argument's shape and dtype, which
        returns J' H J v for the Jacobian J of ``f`` and the Hessian H of ``g`` (Schraudolph 2002).

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad import make_ggnvp
    >>> product = make_ggnvp(lambda x: np.array([x[0], x[0] * x[1]]))(np.array([1.0, 2.0]))
    >>> product(np.array([1.0, 0.0]))
    array([5., 2.])
    """
    return ggnvp_maker(f, f_argnum, g)


@unary_to_nary
def ggnvp_maker(model, x, loss):
    """Return the function that multiplies a vector by the generalised Gauss-Newton matrix at ``x``."""
    pull, output = _make_vjp(model, x)
    push = make_jvp_reversemode(model)(x)
    loss_hvp, _ = make_hvp(loss)(output)
    return lambda v: pull(loss_hvp(push(v)))
