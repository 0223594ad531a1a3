"""Traced values given by keyword: moved to their positions, where the tracer and the rules find them."""

import inspect

from fastgrad._core import isbox

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def as_positional(fun, args, kwargs):
    """Bring every traced keyword argument of a primitive's call to its position.

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
        The same call, no box in ``kwargs``.

    Raises
    ------
    TypeError
        If the position of a traced keyword is not known.
    """
    try:
        parameters = list(inspect.signature(fun.fun).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind in _POSITIONAL]
    traced = {name for name, value in kwargs.items() if isbox(value)}
    unplaced = traced.difference(names[len(args) :])
    if unplaced:
        raise TypeError(
            f"{fun.__name__} was given a traced value by the keyword {sorted(unplaced)[0]!r}, which has no position; "
            "pass it by position, or take the plain value first with fastgrad.tracer.getval"
        )
    args, kwargs = list(args), dict(kwargs)
    for parameter in parameters[len(args) :]:
        if traced.isdisjoint(kwargs):
            break
        if parameter.name not in kwargs and parameter.default is inspect.Parameter.empty:
            raise TypeError(f"{fun.__name__} is missing its argument {parameter.name!r}")
        args.append(kwargs.pop(parameter.name, parameter.default))
    return tuple(args), kwargs or None
