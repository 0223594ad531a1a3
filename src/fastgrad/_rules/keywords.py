"""Traced values given by keyword: moved to their positions, where the tracer and the rules find them."""

import inspect

import numpy as np

from fastgrad._engine.core import connect, isbox

# NumPy's functions written in C have a signature only since NumPy 2.4.
_SIGNATURES = {
    np.asanyarray: lambda a, dtype=None, order=None: None,
    np.asarray: lambda a, dtype=None, order=None: None,
    np.ascontiguousarray: lambda a, dtype=None: None,
    np.asfortranarray: lambda a, dtype=None: None,
    np.bincount: lambda x, weights=None, minlength=0: None,
    np.dot: lambda a, b, out=None: None,
    np.inner: lambda a, b: None,
    np.vdot: lambda a, b: None,
}
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def as_positional(fun, args, kwargs):
    """Bring the traced keyword arguments of a primitive's call to their positions, with those around them.

    Parameters
    ----------
    fun : Primitive
        What is called.
    args : tuple
    kwargs : dict
        With a box among its values.

    Returns
    -------
    args : tuple
    kwargs : dict or None
        The same call.
    placed : bool
        Whether no box is left in ``kwargs``. If not, there is none in ``args`` either, and the function is a user's
        that traces what it does with it: it is to be called with the box.

    Raises
    ------
    TypeError
        If the position of a traced keyword is not known, and calling the function with the box would lose its trace.
    """
    parameters = _parameters(fun.fun)
    places = {p.name: i for i, p in enumerate(parameters) if p.kind in _POSITIONAL and i >= len(args)}
    traced = [name for name, value in kwargs.items() if isbox(value)]
    unplaced = [name for name in traced if name not in places or not _has_rule(fun, places[name])]
    if unplaced:
        if not (fun.is_array_function or any(isbox(x) for x in args)):
            return args, kwargs, False
        if unplaced[0] not in places:
            raise TypeError(
                f"{fun.__name__} was given a traced value by the keyword {unplaced[0]!r}, which has no position; "
                "pass it by position, or take the plain value first with fastgrad.tracer.getval"
            )
    args, kwargs = list(args), dict(kwargs)
    last = max(places[name] for name in traced)
    for place, parameter in enumerate(parameters[len(args) :], len(args)):
        if parameter.name in kwargs:
            args.append(kwargs.pop(parameter.name))
        elif place > last:
            break
        elif parameter.default is inspect.Parameter.empty:
            raise TypeError(f"{fun.__name__} is missing its argument {parameter.name!r}")
        else:
            args.append(parameter.default)
    return tuple(args), kwargs or None, True


def position_of(fun, name):
    """Give the position of a parameter, -1 where there is none of that name."""
    names = [parameter.name for parameter in _parameters(fun) if parameter.kind in _POSITIONAL]
    return names.index(name) if name in names else -1


def _parameters(fun):
    try:
        signature = inspect.signature(fun)
    except (TypeError, ValueError):
        signature = inspect.signature(_SIGNATURES.get(fun, lambda: None))
    return list(signature.parameters.values())


def _has_rule(fun, argnum):
    """Say whether either mode may have a rule for an argument."""
    return any(rules is not None and rules.covers(argnum) for rules in (fun.vjp_rules, fun.jvp_rules))


connect(as_positional=as_positional, position_of=position_of)
