"""Ordinary differential equations, differentiable with respect to the initial state, the times and the arguments.

Reverse mode solves the adjoint equation da/dt = -a df/dy from each output time back to the one before, together with
the state and the integral of a df/dargs (Chen, Rubanova, Bettencourt and Duvenaud 2018, appendices B and C). Forward
mode solves the sensitivity equation dv/dt = df/dy v + df/dargs u together with the state, which comes from
differentiating the equation.
"""

import inspect

import numpy as onp
import scipy.integrate as _integrate

import fastgrad.numpy as np
from fastgrad._engine.core import contains_box
from fastgrad._rules.direct import def_whole, refuse_keywords
from fastgrad.builtins import tuple as traced_tuple
from fastgrad.core import make_jvp, make_vjp, vspace
from fastgrad.misc.flatten import _flatten, flatten
from fastgrad.numpy._namespace.arrays import traced_array
from fastgrad.tracer import getval, isbox, primitive

__all__ = ["argnums_unpack", "grad_odeint", "odeint"]

_OPTIONS = tuple(inspect.signature(_integrate.odeint).parameters)[4:]
# Options that have the same meaning for the larger systems of the derivatives.
_KEPT = ("rtol", "atol", "tcrit", "h0", "hmax", "hmin", "mxstep", "mxhnil", "mxordn", "mxords")


@primitive
def _odeint(func, y0, t, args, options):
    try:
        return _integrate.odeint(func, y0, t, args, **options)
    except (TypeError, ValueError) as error:
        slope = func(t[0], y0, *args) if options.get("tfirst") else func(y0, t[0], *args)
        if not (isbox(slope) or contains_box(slope)):
            raise
        raise NotImplementedError(
            "func of odeint returned a traced value for concrete arguments: the solver cannot trace values from its "
            "closure; pass them in 'args'"
        ) from error


_odeint.__name__ = "odeint"


def odeint(func, y0, t, args=(), *more, **options):
    """Integrate a system of ordinary differential equations, as ``scipy.integrate.odeint`` does.

    Parameters
    ----------
    func : callable
        ``func(y, t, *args)`` returns dy/dt, of the shape of ``y``. For derivatives it must be made of traced functions,
        and depend on variables that are differentiated only through its arguments: the solver cannot trace values
        from its closure.
    y0 : array_like, shape (n,)
        The state at ``t[0]``; real.
    t : array_like, shape (m,)
        The times of the output; real.
    args : tuple
        Further arguments of ``func``.
    *more, **options
        As for ``scipy.integrate.odeint``. Tolerances and step sizes also apply to the equations of the derivatives.

    Returns
    -------
    ndarray, shape (m, n)
        The state at each time.

    Raises
    ------
    NotImplementedError
        If ``func`` uses a traced value from its closure, or for a traced call with ``full_output``.

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad import grad
    >>> from fastgrad.scipy.integrate import odeint
    >>> def end(rate):
    ...     path = odeint(lambda y, t, rate: -rate * y, np.array([1.0]), np.array([0.0, 2.0]), (rate,))
    ...     return path[-1, 0]
    >>> print(round(float(end(0.5)), 4), round(float(grad(end)(0.5)), 4))
    0.3679 -0.7358
    """
    options = {**dict(zip(_OPTIONS, more, strict=False)), **options}
    if not isbox(args):
        args = args if isinstance(args, tuple) else (args,)
        if contains_box(args):
            # All items of a traced tuple need a vector space, which Python's int does not have.
            args = traced_tuple([float(x) if type(x) is int else x for x in args])
    return _odeint(func, traced_array(y0), traced_array(t), args, options)


def _prepared(func, options):
    """Return ``func`` with arguments (y, t, *args), whichever order it has, and the options for the derivatives."""
    refuse_keywords("odeint", "integrate without it", full_output=options.get("full_output") or None)
    kept = {name: options[name] for name in _KEPT if options.get(name) is not None}
    # A tolerance for each component of the state has no counterpart in the larger systems.
    for name in ("rtol", "atol"):
        if name in kept:
            kept[name] = float(onp.min(kept[name]))
    if options.get("tfirst"):
        return lambda y, t, *args: np.array(func(t, y, *args)), kept
    return lambda y, t, *args: np.array(func(y, t, *args)), kept


def _slopes(field, states, t, args):
    """Return the slope dy/dt at each output time."""
    return [field(states[i], t[i], *_items(args)) for i in range(len(getval(t)))]


def _items(args):
    return [args[i] for i in range(len(args))]


def _as(x, like):
    space = vspace(getval(like))
    return np.reshape(x, space.shape)


def _adjoint_field(field, n, with_args):
    """Return the field of the state, the adjoint and minus the integral that is the cotangent of the arguments."""

    def augmented(packed, t, *args):
        y, adjoint = packed[:n], packed[n : 2 * n]
        if not with_args:
            pull, slope = make_vjp(lambda y: field(y, t, *args), y)
            return np.concatenate([slope, -pull(adjoint)])
        joint = traced_tuple((y, traced_tuple(args)))
        pull, slope = make_vjp(lambda joint: field(joint[0], t, *_items(joint[1])), joint)
        return np.concatenate([slope, -_flatten(pull(adjoint))])

    return augmented


def _vjp(argnums, g, ans, args, kwargs):
    func, y0, t, func_args, options = args
    field, kept = _prepared(func, options)
    n, with_args = np.shape(ans)[1], 3 in argnums
    backward = _adjoint_field(field, n, with_args)
    unflatten = n_args = None
    if with_args:
        flat, unflatten = flatten(func_args)
        n_args = len(flat)
    total = np.zeros(n_args or 0)
    adjoint = g[-1]
    slopes = _slopes(field, ans, t, func_args) if 2 in argnums else None
    for i in range(len(getval(t)) - 1, 0, -1):
        packed = np.concatenate([ans[i], adjoint, total])
        packed = odeint(backward, packed, np.array([t[i], t[i - 1]]), func_args, **kept)[1]
        adjoint, total = packed[n : 2 * n] + g[i - 1], packed[2 * n :]
    cotangents = {1: lambda: _as(adjoint, y0), 3: lambda: unflatten(total)}
    cotangents[2] = lambda: _times_vjp(g, slopes, adjoint)
    return [cotangents[i]() for i in argnums]


def _times_vjp(g, slopes, adjoint):
    """Return the cotangent of the times.

    Each output moves along its slope, and a later start moves all outputs back along the first slope.
    """
    moves = [np.dot(g[i], slope) for i, slope in enumerate(slopes)]
    moves[0] = moves[0] - np.dot(adjoint, slopes[0])
    return np.array(moves)


def _sensitivity_field(field, n):
    """Return the field of the state and its tangent."""

    def augmented(packed, t, args, args_tangent):
        push = make_jvp(lambda joint: field(joint[0], t, *_items(joint[1])), traced_tuple((packed[:n], args)))
        slope, change = push(traced_tuple((packed[n:], args_tangent)))
        return np.concatenate([slope, change])

    return augmented


def _state_sensitivity_field(field, n):
    """Return the field of the state and its tangent for arguments of any type that have no tangents."""

    def augmented(packed, t, *args):
        slope, change = make_jvp(lambda y: field(y, t, *args), packed[:n])(packed[n:])
        return np.concatenate([slope, change])

    return augmented


def _jvp(argnums, gs, ans, args, kwargs):
    func, y0, t, func_args, options = args
    field, kept = _prepared(func, options)
    n, given = np.shape(ans)[1], dict(zip(argnums, gs, strict=True))
    tangent = np.reshape(given[1], (-1,)) if 1 in given else onp.zeros(n)
    slopes = _slopes(field, ans, t, func_args) if 2 in given else None
    if slopes:
        tangent = tangent - given[2][0] * slopes[0]
    packed = np.concatenate([np.reshape(y0, (-1,)), tangent])
    if 3 in given:
        sensitivity, more = _sensitivity_field(field, n), traced_tuple((func_args, given[3]))
    else:
        sensitivity, more = _state_sensitivity_field(field, n), func_args
    path = odeint(sensitivity, packed, t, more, **kept)
    moved = path[:, n:]
    if slopes:
        moved = moved + np.array([given[2][i] * slope for i, slope in enumerate(slopes)])
    return moved


def_whole(_odeint, _vjp, _jvp)


def grad_odeint(yt, func, y0, t, func_args, **kwargs):
    """Return the pullback of `odeint`.

    Parameters
    ----------
    yt : ndarray, shape (m, n)
        The states that odeint returned.
    func, y0, t, func_args, **kwargs
        The arguments of the call, as for `odeint`.

    Returns
    -------
    callable
        Takes the cotangent of ``yt`` to the tuple of None and the cotangents of ``y0``, ``t`` and ``func_args``.
    """
    args = (func, y0, t, func_args, kwargs)
    return lambda g: (None, *_vjp((1, 2, 3), g, yt, args, {}))


def argnums_unpack(all_vjp_builder):
    """Return a rule for `fastgrad.extend.defvjp_argnums`, made from one that returns the cotangents of all arguments.

    Parameters
    ----------
    all_vjp_builder : callable
        ``all_vjp_builder(ans, *args, **kwargs)`` returns a pullback to the sequence of all arguments' cotangents.

    Returns
    -------
    callable
        ``rule(argnums, ans, args, kwargs)`` returns a pullback to the cotangents at ``argnums``.
    """

    def stage(argnums, ans, args, kwargs):
        pull = all_vjp_builder(ans, *args, **kwargs)

        def vjp(g):
            cotangents = pull(g)
            return tuple(cotangents[i] for i in argnums)

        return vjp

    return stage
