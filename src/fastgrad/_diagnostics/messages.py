"""Checks of what users pass and what their functions return, with errors that name the value and the remedy.

`fastgrad.numpy.fitting` checks cotangents and tangents, and brings them to the right shape.
"""

import inspect
import numbers
import operator

import numpy as onp

from fastgrad._engine.core import VSpace, connect, is_over, isbox

# ------------------------------------------------------------------------------------ arguments and values of functions

_ADVICE = {
    "NoneType": "pass a value, or choose another argument with argnum",
    "MaskedArray": "pass the array without its mask, x.filled(...), and use fastgrad.numpy.where",
    "matrix": "pass numpy.asarray of it",
    "Series": "pass x.to_numpy()",
    "DataFrame": "pass x.to_numpy()",
}


def advice(value):
    """Return what to pass instead of a value that cannot be traced, as the end of a message."""
    if isinstance(value, numbers.Integral | onp.integer | onp.bool_):
        return "integers and booleans have no derivative; use a float, 3.0 instead of 3"
    for cls in type(value).__mro__:
        if cls.__name__ in _ADVICE:
            return _ADVICE[cls.__name__]
    return (
        "values that are traced are floats, complex numbers, NumPy arrays of them, and lists, tuples and dicts of "
        "those; register other types with fastgrad.extend.Box and VSpace"
    )


def name_of(fun):
    """Return the name of a function for a message; that of its type if it has none."""
    return getattr(fun, "__name__", None) or type(fun).__name__


def check_returned(fun, value):
    """Raise if a function returned what has no derivative with respect to its argument.

    Parameters
    ----------
    fun : callable
        The function.
    value : object
        What it returned, which is not traced.

    Raises
    ------
    TypeError
        If the value is of a type without a vector space, such as None or a string, or if it is an array or set that
        holds traced values.
    """
    name = name_of(fun)
    if value is None:
        raise TypeError(f"{name} returned None; it needs a return statement with the value to differentiate")
    if isinstance(value, onp.ndarray):
        if value.dtype.kind == "O" and _contains_own_box(value.flat):
            raise TypeError(
                f"{name} returned an array of objects with traced values in it, which loses their derivatives; make "
                "arrays of traced values with fastgrad.numpy.array or stack"
            )
        if value.dtype.kind not in "biufcO":
            raise TypeError(f"{name} returned an array of dtype {value.dtype}, which has no derivative")
        if type(value) not in VSpace.mappings:
            raise TypeError(f"{name} returned a {type(value).__name__}, which has no derivative; {advice(value)}")
        return
    if isinstance(value, set | frozenset) and _contains_own_box(value):
        raise TypeError(f"{name} returned a {type(value).__name__} of traced values; return a list or tuple of them")
    number = isinstance(value, numbers.Number | onp.generic) and not isinstance(value, onp.flexible)
    if not (number or isbox(value) or type(value) in VSpace.mappings):
        raise TypeError(
            f"{name} returned a {type(value).__name__}, which can't be differentiated; return a float, an array, or a "
            "list, tuple or dict of these"
        )


def _contains_own_box(values):
    """Return whether a box of a trace that is over, such as that of the function itself, is among the values."""
    return any(isbox(value) and is_over(value._trace) for value in values)


# -------------------------------------------------------------------------------------------------------------- argnums


def check_argnum(argnum):
    """Return an argnum as an int, or as a tuple or list of ints.

    Raises
    ------
    TypeError
        If it is anything else.
    ValueError
        If it names an argument twice.
    """
    try:
        if type(argnum) not in (tuple, list):
            return operator.index(argnum) if not isinstance(argnum, bool) else _refuse_argnum(argnum)
        positions = type(argnum)(operator.index(i) for i in argnum)
    except TypeError:
        _refuse_argnum(argnum)
    check_distinct(positions, argnum)
    return positions


def _refuse_argnum(argnum):
    raise TypeError(f"argnum is a position, or a tuple or list of positions, not {argnum!r}")


def check_distinct(positions, argnum):
    """Raise ValueError if two of the positions, which ``argnum`` stands for, are the same."""
    if len(set(positions)) < len(positions):
        raise ValueError(f"argnum {argnum!r} names an argument twice; name each once")


def position_of_name(fun, name):
    """Return the position of the parameter of this name; raise ValueError if the function has none."""
    names = list(inspect.signature(fun).parameters)
    if name not in names:
        raise ValueError(f"{name_of(fun)} has no parameter {name!r}; it has {', '.join(names)}")
    return names.index(name)


connect(advice=advice, check_returned=check_returned)
