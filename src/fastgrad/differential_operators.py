"""Operators on functions: gradients, Jacobians, Hessians and products with them."""

import inspect
import math

import fastgrad.numpy as np
from fastgrad._diagnostics.messages import check_returned, place_of_name
from fastgrad._diagnostics.user_code import warn
from fastgrad._engine.backward import pull_once, value_and_gradient
from fastgrad._engine.core import ClosedOverTrace, DerivedFunction, contains_box
from fastgrad._jacobians.jacobians import by_columns, by_columns_at_once, by_rows, is_tall
from fastgrad._rules.direct import def_whole
from fastgrad.core import make_jvp as _make_jvp
from fastgrad.core import make_vjp as _make_vjp
from fastgrad.core import sum_outgrads, vspace
from fastgrad.tracer import getval, isbox, primitive
from fastgrad.wrap_util import unary_to_nary, wraps

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


@unary_to_nary
def make_vjp(fun, x):
    """Give the pullback of a function, and its value: what reverse mode is made of.

    Parameters
    ----------
    fun : callable
        Any traced function; it may return an array, a list, a tuple or a dict.
    argnum : int, tuple or list of int, default 0
        Which argument to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and gives the pair (pullback, value). The pullback takes a cotangent of the
        value, of its shape, to that of the argument. It may be called any number of times.

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
    """Give the pushforward of a function: forward mode.

    Parameters
    ----------
    fun : callable
        Any traced function; it may return an array, a list, a tuple or a dict.
    argnum : int, tuple or list of int, default 0
        Which argument to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and gives the pushforward: a function from a tangent of the argument to the pair
        (value, tangent of the value). Each call of it calls ``fun``.

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad import make_jvp
    >>> push = make_jvp(lambda x: x**2)(np.array([1.0, 2.0]))
    >>> push(np.array([1.0, 0.0]))
    (array([1., 4.]), array([2., 0.]))
    """
    return _make_jvp(fun, x)


@unary_to_nary
def grad(fun, x):
    """
    Returns a function which gives the gradient of a function of real scalar value.

    Parameters
    ----------
    fun : callable
        Returns a real scalar: a float, or an array with one element.
    argnum : int, tuple or list of int, default 0
        Which argument to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and gives the gradient, of the type and shape of the argument; a tuple of
        gradients for a tuple of argument numbers. For a complex argument z = x + iy it is du/dx - i du/dy.

    Raises
    ------
    TypeError
        If ``fun`` returns anything but a real scalar, or the argument is of a type that can't be traced.

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
def elementwise_grad(fun, x):
    """Give the sum over all outputs of the gradients of a real function.

    For a function that works element by element this is its derivative at each element, in one backward pass.

    Parameters
    ----------
    fun : callable
        Returns a real array.
    argnum : int, tuple or list of int, default 0
        Which argument to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and gives an array of the argument's shape.

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
    """Give the derivative of a function of one real number, in forward mode.

    Parameters
    ----------
    fun : callable
        Returns a value of any shape, which the derivative then has.
    argnum : int, default 0
        Which argument to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and gives the derivative.

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad import deriv
    >>> deriv(lambda t: np.array([t, t**2]))(3.0)
    array([1., 6.])
    """
    return _make_jvp(fun, x)(vspace(x).ones())[1]


@unary_to_nary
def jacobian(fun, x):
    """Give the Jacobian of a function from arrays to arrays.

    Parameters
    ----------
    fun : callable
        Returns an array.
    argnum : int, default 0
        Which argument to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and gives an array of shape ``fun(x).shape + x.shape``.

    See Also
    --------
    jacfwd, jacrev : the same by one of the two modes.

    Notes
    -----
    By reverse mode; or by forward mode, if the argument has at most half as many elements as the value and all
    primitives have a JVP. ``fun`` is then called a second time, and the Jacobian is that of this call. Basis vectors go
    through in batches where the rules allow it, else one by one.

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
    """Give the Jacobian of a function from arrays to arrays, by reverse mode.

    Parameters
    ----------
    fun : callable
        Returns an array.
    argnum : int, default 0
        Which argument to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and gives an array of shape ``fun(x).shape + x.shape``.

    See Also
    --------
    jacobian : the same by the mode that suits the shapes.

    Notes
    -----
    One call of ``fun``, and one backward pass per batch of elements of its value.
    """
    vjp, ans = _make_vjp(fun, x)
    return by_rows(vjp, vspace(ans), vspace(x))


@unary_to_nary
def jacfwd(fun, x):
    """Give the Jacobian of a function from arrays to arrays, by forward mode.

    Parameters
    ----------
    fun : callable
        Returns an array.
    argnum : int, default 0
        Which argument to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and gives an array of shape ``fun(x).shape + x.shape``.

    Raises
    ------
    NotImplementedError
        If a primitive has no JVP.

    See Also
    --------
    jacobian : the same by the mode that suits the shapes.

    Notes
    -----
    One call of ``fun`` per batch of elements of the argument: it must give the same value each time.
    """
    return by_columns(fun, x, vspace(x))


@unary_to_nary
def holomorphic_grad(fun, x):
    """Give the derivative of a holomorphic function of complex scalar value.

    Parameters
    ----------
    fun : callable
        Holomorphic in the argument, which should be complex.
    argnum : int, default 0
        Which argument to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and gives f'(z), of the shape of the argument.

    Warns
    -----
    UserWarning
        If the argument is not complex.

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

    # f' = d Re(f)/dx - i d Re(f)/dy by the Cauchy-Riemann equations: the gradient of the real part.
    return grad(real_part)(x)


@unary_to_nary
def hessian(fun, x):
    """Give the Hessian of a function of real scalar value.

    Parameters
    ----------
    fun : callable
        Returns a real scalar.
    argnum : int, default 0
        Which argument to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and gives an array of shape ``fun(x).shape + x.shape + x.shape``.

    Notes
    -----
    Reverse over reverse: ``fun`` is called once, its gradient is traced, and batches of basis vectors go back through
    that graph. Of a function that is not scalar it is the Jacobian of the Jacobian.

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad import hessian
    >>> hessian(lambda x: x[0] * x[1] ** 2)(np.array([1.0, 2.0]))
    array([[0., 4.],
           [4., 2.]])
    """
    return jacobian(jacobian(fun))(x)


@unary_to_nary
def value_and_grad(fun, x):
    """Give both the value and the gradient of a function of real scalar value, for the price of the gradient.

    Parameters
    ----------
    fun : callable
        Returns a real scalar.
    argnum : int, tuple or list of int, default 0
        Which argument to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and gives the pair (value, gradient): what optimisers ask for.

    Raises
    ------
    TypeError
        If ``fun`` returns anything but a real scalar.

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
    """Give the gradient of the first of two values that a function returns, and the second as it is.

    Parameters
    ----------
    fun : callable
        Returns a pair: a real scalar, and anything else.
    argnum : int, tuple or list of int, default 0
        Which argument to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and gives the pair (gradient, auxiliary value).

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
        kept.append(_out_of_trace(aux, x._trace))
        return ans

    vjp, ans = _make_vjp(scalar, x)
    return pull_once(vjp, vspace(ans).ones()), kept[0]


def _out_of_trace(x, level):
    """Take the boxes of one trace level off the values in nested containers."""
    if isbox(x):
        return x._value if x._trace == level else x
    if type(x) in (list, tuple):
        return type(x)(_out_of_trace(item, level) for item in x)
    if type(x) is dict:
        return {key: _out_of_trace(value, level) for key, value in x.items()}
    return x


def grad_named(fun, argname):
    """Give the gradient with respect to the argument of this name.

    Parameters
    ----------
    fun : callable
        Returns a real scalar.
    argname : str
        One of its parameters.

    Returns
    -------
    callable
        Takes the arguments of ``fun``, that one by position, and gives the gradient.

    Raises
    ------
    ValueError
        If there is no such parameter.

    Examples
    --------
    >>> from fastgrad import grad_named
    >>> grad_named(lambda x, y: x * y**2, "y")(2.0, 3.0)
    np.float64(12.0)
    """
    return grad(fun, place_of_name(fun, argname))


def multigrad_dict(fun):
    """Give the gradients with respect to all arguments, by name.

    Parameters
    ----------
    fun : callable
        Returns a real scalar. May have ``*args`` and ``**kwargs``.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and gives a dict from parameter names to gradients, those of parameters left to
        their defaults included.

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
def make_hvp(fun, x):
    """Give the function that multiplies vectors by the Hessian of ``fun`` at ``x``.

    Parameters
    ----------
    fun : callable
        Returns a real scalar.
    argnum : int, default 0
        Which argument to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and gives the pair (product, gradient): a function of a vector, and the
        gradient there. The graph is made once for all products.

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
    """Make a function of the arguments of ``fun`` and a tensor: the tensor contracted with the leading axes of fun."""

    def contraction(*args, **kwargs):
        *args, tensor = args
        return np.tensordot(tensor, fun(*args, **kwargs), np.ndim(tensor))

    _sign_with_tensor(contraction, fun)
    return DerivedFunction(wraps(fun)(contraction), _contracted, (fun,))


def _sign_with_tensor(contraction, fun):
    """Give a function the signature of another, with a tensor after the arguments by position, where that can be."""
    parameter = inspect.Parameter
    try:
        signature = inspect.signature(fun)
    except (TypeError, ValueError):
        return
    by_position = [p for p in signature.parameters.values() if p.kind <= parameter.VAR_POSITIONAL]
    # The tensor comes after all that are given, be it few or many: no signature says so.
    if any(p.kind is parameter.VAR_POSITIONAL or p.default is not p.empty for p in by_position):
        return
    by_name = list(signature.parameters.values())[len(by_position) :]
    if "tensor" not in signature.parameters:
        before = [p.replace(kind=parameter.POSITIONAL_ONLY) for p in by_position]
        tensor = parameter("tensor", parameter.POSITIONAL_ONLY)
        contraction.__signature__ = signature.replace(parameters=[*before, tensor, *by_name])


def hessian_tensor_product(fun, argnum=0):
    """Give the product of the Hessian with a tensor, without the Hessian.

    Parameters
    ----------
    fun : callable
        Returns a real scalar.
    argnum : int, default 0
        Which argument to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and then a tensor of the argument's shape.

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
    """Give the product of a tensor with the Jacobian, from the left, without the Jacobian.

    Parameters
    ----------
    fun : callable
        Returns an array.
    argnum : int, default 0
        Which argument to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``fun`` and then a tensor of the output's shape, or of its leading axes.

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
    """Give the function that multiplies tangents by the Jacobian, made of two reverse passes.

    Parameters
    ----------
    fun : callable
        All its primitives need VJPs alone.
    argnum : int, default 0
        Which argument to differentiate with respect to.

    Notes
    -----
    A pullback is linear in the cotangent, and its own pullback is the pushforward.
    """
    vjp, ans = _make_vjp(fun, x)
    transposed, _ = _make_vjp(vjp, vspace(ans).zeros())
    return transposed


def _half_sum_of_squares(x):
    return np.sum(x**2, axis=-1) / 2


def make_ggnvp(f, g=_half_sum_of_squares, f_argnum=0):
    """Give the function that multiplies vectors by the generalised Gauss-Newton matrix of ``g`` after ``f``.

    Parameters
    ----------
    f : callable
        The model: arrays to arrays.
    g : callable, optional
        The loss of the model's output; by default half the sum of squares.
    f_argnum : int, default 0
        Which argument of ``f`` to differentiate with respect to.

    Returns
    -------
    callable
        Takes the arguments of ``f`` and gives a function of a vector v: J' H J v with the Jacobian J of ``f`` and the
        Hessian H of ``g`` (Schraudolph 2002).

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
    """Give the function that `make_ggnvp` is for, at one point."""
    pull, output = _make_vjp(model, x)
    push = make_jvp_reversemode(model)(x)
    curve, _ = make_hvp(loss)(output)
    return lambda v: pull(curve(push(v)))


def checkpoint(fun):
    """Make a function that is computed again in the backward pass instead of keeping what it computed.

    Parameters
    ----------
    fun : callable
        Any traced function.

    Returns
    -------
    callable
        As ``fun``, to any order of derivative: less memory, at the price of a second evaluation. Where ``fun`` closes
        over a value that is traced, nothing is saved.

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad import checkpoint, grad
    >>> layer = checkpoint(lambda x: np.tanh(x) * np.exp(-(x**2)))
    >>> grad(lambda x: np.sum(layer(layer(x))))(np.zeros(2))
    array([1., 1.])
    """
    if not callable(fun):
        raise TypeError(f"checkpoint takes a function, not {fun!r}")

    @primitive
    @wraps(fun)
    def evaluate(*args, **kwargs):
        return fun(*args, **kwargs)

    @wraps(fun)
    def checkpointed(*args, **kwargs):
        # If it uses a traced value of a surrounding function, it is right only if every step of it is traced.
        try:
            ans = evaluate(*args, **kwargs)
        except ClosedOverTrace:
            return fun(*args, **kwargs)
        value = getval(ans) if isbox(ans) else None
        if isinstance(value, dict | list | tuple) and contains_box(value, ans._trace):
            return fun(*args, **kwargs)
        return ans

    checkpointed.__wrapped__ = fun

    def vjp(argnums, g, _ans, args, kwargs):
        return [make_vjp(fun, argnum)(*args, **kwargs)[0](g) for argnum in argnums]

    def jvp(argnums, gs, _ans, args, kwargs):
        pairs = zip(argnums, gs, strict=True)
        return sum_outgrads(make_jvp(fun, argnum)(*args, **kwargs)(g)[1] for argnum, g in pairs)

    def_whole(evaluate, vjp, jvp, closures=True)
    return DerivedFunction(checkpointed, checkpoint, (fun,))
