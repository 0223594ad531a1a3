"""Operators for pullbacks, pushforwards, gradients and derivatives."""

import inspect

import fastgrad.numpy as np
from fastgrad._diagnostics.messages import check_returned, position_of_name
from fastgrad._diagnostics.user_code import warn
from fastgrad._engine.backward import pull_once, value_and_gradient
from fastgrad._engine.core import DerivedFunction
from fastgrad.core import make_jvp as _make_jvp
from fastgrad.core import make_vjp as _make_vjp
from fastgrad.core import vspace
from fastgrad.tracer import isbox
from fastgrad.wrap_util import unary_to_nary, wraps


@unary_to_nary
def make_vjp(fun, x):
    """Return a function that computes the pullback of ``fun`` and its value, by reverse mode.

    Parameters
    ----------
    fun : callable
        Any traced function. It may return an array, a number, or a list, tuple or dict of these.
    argnum : int, tuple or list of int, default 0
        The argument to differentiate with respect to; for several, their tuple.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and returns the pair (pullback, value). The pullback takes a cotangent of the
        value, of its type, shape and dtype, to the cotangent of the argument. It may be called any number of times.

    Raises
    ------
    TypeError
        If the argument or the value is of a type without a vector space.

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad import make_vjp
    >>> pull, value = make_vjp(lambda x: x**2)(np.array([1.0, 2.0]))
    >>> value
    array([1., 4.])
    >>> pull(np.array([1.0, 0.0]))
    array([2., 0.])
    """
    return _make_vjp(fun, x)


@unary_to_nary
def make_jvp(fun, x):
    """Return a function that computes the pushforward of ``fun``, by forward mode.

    Parameters
    ----------
    fun : callable
        Any traced function. It may return an array, a number, or a list, tuple or dict of these.
    argnum : int, tuple or list of int, default 0
        The argument to differentiate with respect to; for several, their tuple.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and returns the pushforward: a function from a tangent of the argument, of its
        type, shape and dtype, to the pair (value, tangent of the value). Each call of it calls ``fun``.

    Raises
    ------
    NotImplementedError
        If a primitive has no JVP, when the pushforward is called.
    TypeError
        If the argument is of a type without a vector space.

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad import make_jvp
    >>> push = make_jvp(lambda x: x**2)(np.array([1.0, 2.0]))
    >>> push(np.array([1.0, 0.0]))
    (array([1., 4.]), array([2., 0.]))
    """
    return _make_jvp(fun, x)


# autograd's tests want the docstring to begin with a line break and these words.
@unary_to_nary
def grad(fun, x):
    """
    Returns a function which computes the gradient of a function with a real scalar value.

    Parameters
    ----------
    fun : callable
        Returns a real scalar: a float, or an array with one element.
    argnum : int, tuple or list of int, default 0
        The argument to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and returns the gradient, of the type, shape and dtype of the argument; for
        several argument numbers, the tuple of gradients. For a complex argument z = x + iy it is du/dx - i du/dy.

    Raises
    ------
    TypeError
        If ``fun`` returns anything but a real scalar, or the argument is of a type without a vector space.

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad import grad
    >>> grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    array([2., 4.])
    >>> grad(lambda x, y: x * y**2, 1)(2.0, 3.0)
    np.float64(12.0)
    >>> grad(lambda p: p["a"] * np.sum(p["b"]))({"a": 2.0, "b": np.ones(3)})
    {'a': array(3.), 'b': array([2., 2., 2.])}
    """
    return value_and_gradient(fun, x, "Grad")[1]


@unary_to_nary
def value_and_grad(fun, x):
    """Return a function that computes both the value and the gradient of ``fun``, at the cost of the gradient.

    Parameters
    ----------
    fun : callable
        Returns a real scalar.
    argnum : int, tuple or list of int, default 0
        The argument to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and returns the pair (value, gradient), as optimisers ask for it. The gradient
        is that of `grad`.

    Raises
    ------
    TypeError
        If ``fun`` returns anything but a real scalar, or the argument is of a type without a vector space.

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad import value_and_grad
    >>> value_and_grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    (np.float64(5.0), array([2., 4.]))
    """
    return value_and_gradient(fun, x, "value_and_grad")


@unary_to_nary
def grad_and_aux(fun, x):
    """Return a function that computes the gradient of the first value of ``fun`` and passes the second one on.

    Parameters
    ----------
    fun : callable
        Returns a pair: a real scalar, and an auxiliary value of any type.
    argnum : int, tuple or list of int, default 0
        The argument to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and returns the pair (gradient, auxiliary value).

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad import grad_and_aux
    >>> grad_and_aux(lambda x: (np.sum(x**2), "done"))(np.array([1.0, 2.0]))
    (array([2., 4.]), 'done')
    """
    kept = []

    def scalar(x):
        ans, aux = fun(x)
        kept.append(_unbox_level(aux, x._trace))
        return ans

    vjp, ans = _make_vjp(scalar, x)
    return pull_once(vjp, vspace(ans).ones()), kept[0]


def _unbox_level(x, level):
    """Return ``x`` without the boxes of one trace level, also inside nested containers."""
    if isbox(x):
        return x._value if x._trace == level else x
    if type(x) in (list, tuple):
        return type(x)(_unbox_level(item, level) for item in x)
    if type(x) is dict:
        return {key: _unbox_level(value, level) for key, value in x.items()}
    return x


def grad_named(fun, argname):
    """Return a function that computes the gradient of ``fun`` with respect to the parameter of a given name.

    Parameters
    ----------
    fun : callable
        Returns a real scalar.
    argname : str
        The name of one of its parameters.

    Returns
    -------
    callable
        Takes the arguments of ``fun``, the named one by position, and returns the gradient as `grad` does.

    Raises
    ------
    ValueError
        If ``fun`` has no such parameter.

    Examples
    --------
    >>> from fastgrad import grad_named
    >>> grad_named(lambda x, y: x * y**2, "y")(2.0, 3.0)
    np.float64(12.0)
    """
    return grad(fun, position_of_name(fun, argname))


def multigrad_dict(fun):
    """Return a function that computes the gradients of ``fun`` with respect to all its arguments.

    Parameters
    ----------
    fun : callable
        Returns a real scalar. It may have ``*args`` and ``**kwargs``.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and returns a dict from parameter names to gradients, including those of
        parameters left at their defaults.

    Raises
    ------
    TypeError
        If ``fun`` returns anything but a real scalar, or an argument is of a type without a vector space.

    Examples
    --------
    >>> from fastgrad import multigrad_dict
    >>> multigrad_dict(lambda x, y: x * y**2)(2.0, y=3.0)
    {'x': array(9.), 'y': array(12.)}
    """
    signature = inspect.signature(fun)

    def call(arguments):
        args, kwargs = [], {}
        for name, value in arguments.items():
            kind = signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                args.extend(value)
            elif kind is inspect.Parameter.VAR_KEYWORD:
                kwargs.update(value.items())
            elif kind is inspect.Parameter.KEYWORD_ONLY:
                kwargs[name] = value
            else:
                args.append(value)
        return fun(*args, **kwargs)

    def gradients(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return grad(call)(dict(bound.arguments))

    gradients.__wrapped__ = fun
    wraps(fun, namestr="multigrad_dict_of_{fun}")(gradients)
    return DerivedFunction(gradients, multigrad_dict, (fun,))


@unary_to_nary
def elementwise_grad(fun, x):
    """Return a function that computes the gradient of the sum of all elements of the value of ``fun``.

    For a function that works element by element this is its derivative at each element, in one backward pass.

    Parameters
    ----------
    fun : callable
        Returns a real array.
    argnum : int, tuple or list of int, default 0
        The argument to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and returns an array of the argument's shape and dtype.

    Raises
    ------
    TypeError
        If ``fun`` returns a complex value.

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad import elementwise_grad
    >>> elementwise_grad(lambda x: x**3)(np.array([1.0, 2.0]))
    array([ 3., 12.])
    """
    vjp, ans = _make_vjp(fun, x)
    if vspace(ans).iscomplex:
        raise TypeError("Elementwise_grad only applies to real-output functions. Try holomorphic_grad or jacobian.")
    return pull_once(vjp, vspace(ans).ones())


@unary_to_nary
def deriv(fun, x):
    """Return a function that computes the derivative of ``fun`` with respect to one real number, by forward mode.

    Parameters
    ----------
    fun : callable
        Returns an array of any shape, or another value with a vector space.
    argnum : int, default 0
        The argument to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and returns the derivative, of the shape of the value. For an array as argument
        it is the sum of the derivatives with respect to all elements.

    Raises
    ------
    NotImplementedError
        If a primitive has no JVP.

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad import deriv
    >>> deriv(lambda t: np.array([t, t**2]))(3.0)
    array([1., 6.])
    """
    return _make_jvp(fun, x)(vspace(x).ones())[1]


@unary_to_nary
def holomorphic_grad(fun, x):
    """Return a function that computes the complex derivative of a holomorphic function with a scalar value.

    Parameters
    ----------
    fun : callable
        Holomorphic in the argument; returns a complex scalar.
    argnum : int, default 0
        The argument to differentiate with respect to; it should be complex.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and returns f'(z), of the shape and dtype of the argument.

    Warns
    -----
    UserWarning
        If the argument is not complex.

    Notes
    -----
    By the Cauchy-Riemann equations f' = d Re(f)/dx - i d Re(f)/dy: the gradient of the real part.

    Examples
    --------
    >>> from fastgrad import holomorphic_grad
    >>> holomorphic_grad(lambda z: z**2)(3.0 + 4.0j)
    np.complex128(6+8j)
    """
    if not vspace(x).iscomplex:
        warn("Input to holomorphic_grad is not complex")

    def real_part(x):
        ans = fun(x)
        if not isbox(ans):
            check_returned(fun, ans, x._trace)
        return ans if isinstance(ans, dict) else np.real(ans)

    return grad(real_part)(x)
