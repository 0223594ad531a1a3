"""Traced keyword arguments, moved to their positions, where the tracer and the rules expect them."""

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
    """Return a call of a primitive with its traced keyword arguments moved to their positions.

    Parameters
    ----------
    fun : Primitive
        The primitive that is called.
    args : tuple
        The positional arguments.
    kwargs : dict
        The keyword arguments, at least one of which is traced.

    Returns
    -------
    args : tuple
        The positional arguments, with the traced keyword arguments and those between them.
    kwargs : dict or None
        The keyword arguments that are left.
    moved : bool
        Whether all traced values were moved. If not, no positional argument is traced either, and the primitive wraps a
        function of the user's that traces its own calls: it is to be called with the boxes.

    Raises
    ------
    TypeError
        If a traced keyword has no known position and a call of the function with the box would lose its trace, or if
        a positional argument in front of it is missing.
    """
    parameters = _parameters(fun.fun)
    positions = {p.name: i for i, p in enumerate(parameters) if p.kind in _POSITIONAL and i >= len(args)}
    traced = [name for name, value in kwargs.items() if isbox(value)]
    unmoved = [name for name in traced if name not in positions or not _has_rule(fun, positions[name])]
    if unmoved:
        if not (fun.is_array_function or any(isbox(x) for x in args)):
            return args, kwargs, False
        if unmoved[0] not in positions:
            raise TypeError(
                f"{fun.__name__} was given a traced value by the keyword {unmoved[0]!r}, which has no position; "
                "pass it by position, or take the plain value first with fastgrad.tracer.getval"
            )
    args, kwargs = list(args), dict(kwargs)
    last = max(positions[name] for name in traced)
    for position, parameter in enumerate(parameters[len(args) :], len(args)):
        if parameter.name in kwargs:
            args.append(kwargs.pop(parameter.name))
        elif position > last:
            break
        elif parameter.default is inspect.Parameter.empty:
            raise TypeError(f"{fun.__name__} is missing its argument {parameter.name!r}")
        else:
            args.append(parameter.default)
    return tuple(args), kwargs or None, True


def position_of(fun, name):
    """Return the position of the parameter of this name, -1 if there is none."""
    names = [parameter.name for parameter in _parameters(fun) if parameter.kind in _POSITIONAL]
    return names.index(name) if name in names else -1


def _parameters(fun):
    try:
        signature = inspect.signature(fun)
    except (TypeError, ValueError):
        signature = inspect.signature(_SIGNATURES.get(fun, lambda: None))
    return list(signature.parameters.values())


def _has_rule(fun, argnum):
    """Return whether either mode may have a rule for an argument."""
    return any(rules is not None and rules.covers(argnum) for rules in (fun.vjp_rules, fun.jvp_rules))


connect(as_positional=as_positional, position_of=position_of)
