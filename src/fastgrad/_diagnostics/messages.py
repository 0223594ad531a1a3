"""What is wrong with a value that a user's function or rule gives, and what to do about it.

The engine compares shapes and dtypes itself, and asks here only where they differ. What has the same numbers in another
form is brought to the right one; all else is an error.
"""

import inspect
import numbers
import operator

import numpy as onp

from fastgrad._engine.core import (
    SparseObject,
    Structure,
    VSpace,
    connect,
    has_structure,
    is_over,
    isbox,
    parameter_name,
    peel,
)

# ------------------------------------------------------------------------------------ arguments and values of functions

_ADVICE = {
    "NoneType": "pass a value, or choose another argument with argnum",
    "MaskedArray": "pass the array without its mask, x.filled(...), and use fastgrad.numpy.where",
    "matrix": "pass numpy.asarray of it",
    "Series": "pass x.to_numpy()",
    "DataFrame": "pass x.to_numpy()",
}


def advice(value):
    """Say what to pass instead of a value that can't be traced."""
    if isinstance(value, numbers.Integral | onp.integer | onp.bool_):
        return "integers and booleans have no derivative; use a float, 3.0 instead of 3"
    for kind in type(value).__mro__:
        if kind.__name__ in _ADVICE:
            return _ADVICE[kind.__name__]
    return (
        "values that are traced are floats, complex numbers, NumPy arrays of them, and lists, tuples and dicts of "
        "those; register other types with fastgrad.extend.Box and VSpace"
    )


def name_of(fun):
    """Name a function for a message."""
    return getattr(fun, "__name__", None) or type(fun).__name__


def check_returned(fun, value):
    """Refuse what a function returned, if that is no value that could have depended on its argument.

    Parameters
    ----------
    fun : callable
        The function.
    value : object
        What it returned, which is not traced.
    """
    name = name_of(fun)
    if value is None:
        raise TypeError(f"{name} returned None; it needs a return statement with the value to differentiate")
    if isinstance(value, onp.ndarray):
        if value.dtype.kind == "O" and holds_boxes(value.flat):
            raise TypeError(
                f"{name} returned an array of objects with traced values in it, which loses their derivatives; make "
                "arrays of traced values with fastgrad.numpy.array or stack"
            )
        if value.dtype.kind not in "biufcO":
            raise TypeError(f"{name} returned an array of dtype {value.dtype}, which has no derivative")
        if type(value) not in VSpace.mappings:
            raise TypeError(f"{name} returned a {type(value).__name__}, which has no derivative; {advice(value)}")
        return
    if isinstance(value, set | frozenset) and holds_boxes(value):
        raise TypeError(f"{name} returned a {type(value).__name__} of traced values; return a list or tuple of them")
    number = isinstance(value, numbers.Number | onp.generic) and not isinstance(value, onp.flexible)
    if not (number or isbox(value) or type(value) in VSpace.mappings):
        raise TypeError(
            f"{name} returned a {type(value).__name__}, which can't be differentiated; return a float, an array, or a "
            "list, tuple or dict of these"
        )


def holds_boxes(values):
    """Say whether boxes of a trace that is over, such as the function's own, are among some values."""
    return any(isbox(value) and is_over(value._trace) for value in values)


# ---------------------------------------------------------------------------------------------- cotangents and tangents


def fitted(g, shape, real, subject):
    """Give a cotangent or tangent as an inexact array or number of a shape, or refuse it.

    Parameters
    ----------
    g : object
        May be traced.
    shape : tuple of int
        Of the value that it belongs to.
    real : bool
        Whether an imaginary part has no place in it.
    subject : str
        What gave it, and for what: the beginning of a message.

    Returns
    -------
    array_like
        A number in another form, such as an int, a list or an array with axes of length 1 more or less, is brought
        to the shape; zero is the zero of any shape.

    Raises
    ------
    TypeError
        If it is not numeric.
    ValueError
        If it has another shape.
    """
    import fastgrad.numpy as np

    plain = peel(g)
    if isinstance(plain, SparseObject):
        return g
    if isinstance(plain, onp.ndarray) and type(plain) not in VSpace.mappings:
        g = plain = _without_subclass(plain, subject)
    if isinstance(plain, list | tuple):
        try:
            g = np.array(g)
        except (TypeError, ValueError):
            raise TypeError(f"{subject}, not a {type(plain).__name__} that makes no array") from None
        plain = peel(g)
    if isinstance(plain, numbers.Number) and not isinstance(plain, onp.generic):
        plain = onp.asarray(plain)[()]
        g = g if isbox(g) else plain
    if not isinstance(plain, onp.ndarray | onp.generic):
        if type(plain) in VSpace.mappings and not isinstance(plain, dict):
            return g  # of a type of the user's
        raise TypeError(
            f"{subject}, not {_described(plain)}; it is an array or a number, zeros where there is no derivative"
        )
    g = _inexact(g, plain, subject)
    have = onp.shape(peel(g))
    if have != shape:
        g = _reshaped(g, have, shape, subject)
    return np.real(g) if real and np.iscomplexobj(g) else g


def _without_subclass(array, subject):
    if onp.ma.is_masked(array):
        raise TypeError(f"{subject}, not an array with masked elements; fill them, array.filled(0.0)")
    return onp.asarray(array)


def _described(value):
    return repr(value) if value is None or isinstance(value, str | bytes) else f"a {type(value).__name__}"


def _inexact(g, plain, subject):
    if plain.dtype.kind in "fc":
        return g
    if plain.dtype.kind in "biu":
        return g * 1.0
    if plain.dtype.kind == "O" and not isbox(g) and all(isinstance(x, numbers.Real) for x in onp.ravel(plain)):
        return onp.asarray(plain, float)
    objects = "; make arrays of traced values with fastgrad.numpy.array" if plain.dtype.kind == "O" else ""
    raise TypeError(f"{subject}, not an array of dtype {plain.dtype}{objects}")


def _reshaped(g, have, shape, subject):
    import fastgrad.numpy as np

    if [n for n in have if n != 1] == [n for n in shape if n != 1]:
        return np.reshape(g, shape)
    if not isbox(g) and onp.size(g) == 1 and not onp.any(g):
        return onp.zeros(shape)
    if len(have) > len(shape) or onp.prod(have) > onp.prod(shape):
        what = "sum over the axes that were broadcast: fastgrad.numpy.numpy_vjps.unbroadcast_f does it"
    else:
        what = "give each element its own, with fastgrad.numpy.broadcast_to if they are the same"
    raise ValueError(f"{subject} of shape {shape}, not of shape {have}; {what}")


def _fitted_form(g, form, real, subject, fit=fitted, path=""):
    """Fit what belongs to an array or number by `fit`, what belongs to a container item by item."""
    here = f"{subject} with, at {path}, one" if path else subject
    if not isinstance(form, Structure):
        return g if form is None else fit(g, form, real, here)
    plain = peel(g)
    if isinstance(plain, SparseObject) or has_structure(plain, form):
        return g
    if isinstance(g, numbers.Number) and g == 0:
        g = plain = dict.fromkeys(form.items, 0.0)
    elif form.container_type is dict:
        _check_keys(plain, form.items, here)
    else:
        _check_length(plain, len(form.items), form.container_type, here)
    items = {}
    for key, item_form in form.items.items():
        # A string, say, among numbers has no cotangent, and needs none.
        if item_form is not None or not isinstance(plain, dict) or key in plain:
            wanted, real = item_form if isinstance(item_form, tuple) else (item_form, False)
            items[key] = _fitted_form(g[key], wanted, real, subject, fit, f"{path}[{key!r}]")
    return _container_of(items, form.container_type, isbox(g))


def _container_of(items, kind, traced):
    from fastgrad.builtins import traced_container

    container = items if kind is dict else kind(items.values())
    return traced_container(container) if traced else container


def _check_keys(plain, forms, subject):
    if not isinstance(plain, dict):
        raise TypeError(f"{subject}, a dict with the keys {list(forms)}, not {_described(plain)}")
    for key, form in forms.items():
        if key not in plain and form is not None:
            raise ValueError(f"{subject} with the key {key!r} too; zeros where there is no derivative")
    for key in plain:
        if key not in forms:
            raise ValueError(f"{subject} without the key {key!r}; its keys are {list(forms)}")


def _check_length(plain, length, kind, subject):
    if not isinstance(plain, list | tuple) and onp.ndim(plain) == 0:
        raise TypeError(f"{subject}, a {kind.__name__} of length {length}, not {_described(plain)}")
    if len(plain) != length:
        raise ValueError(
            f"{subject} of length {length}, not of length {len(plain)}; zeros where there is no derivative"
        )


def cotangent_of_rule(g, form, real, fun, argnum):
    """Fit what a user's VJP gave for an argument."""
    where = f"argument {argnum}{parameter_name(fun, argnum)}"
    return _fitted_form(g, form, real, f"the VJP of {name_of(fun)} should give for {where} a cotangent")


def tangent_of_rule(g, form, real, fun):
    """Fit what a user's JVP gave for the value."""

    def fit(g, shape, real, subject):
        if real and onp.iscomplexobj(peel(g)) and onp.any(onp.imag(peel(g))):
            raise TypeError(
                f"the JVP of {name_of(fun)} gave a complex tangent of a real value; give its derivative, a real one"
            )
        return fitted(g, shape, real, subject)

    return _fitted_form(g, form, real, f"the JVP of {name_of(fun)} should give a tangent", fit)


def seed(g, form, backward):
    """Fit what a pullback or pushforward was called with."""

    def fit(g, shape, _real, subject):
        return fitted(g, shape, False, subject)

    subject = "vjp takes a cotangent of the value" if backward else "jvp takes a tangent of the argument"
    return _fitted_form(g, form, False, subject, fit)


# -------------------------------------------------------------------------------------------------------------- argnums


def check_argnum(argnum):
    """Give an argnum as an int or a tuple or list of ints, or refuse it."""
    try:
        if type(argnum) not in (tuple, list):
            return operator.index(argnum) if not isinstance(argnum, bool) else _refuse_argnum(argnum)
        places = type(argnum)(operator.index(i) for i in argnum)
    except TypeError:
        _refuse_argnum(argnum)
    check_distinct(places, argnum)
    return places


def _refuse_argnum(argnum):
    raise TypeError(f"argnum is a position, or a tuple or list of positions, not {argnum!r}")


def check_distinct(places, argnum):
    """Refuse positions of which two are one."""
    if len(set(places)) < len(places):
        raise ValueError(f"argnum {argnum!r} names an argument twice; name each once")


def place_of_name(fun, name):
    """Give the position of the parameter of this name."""
    names = list(inspect.signature(fun).parameters)
    if name not in names:
        raise ValueError(f"{name_of(fun)} has no parameter {name!r}; it has {', '.join(names)}")
    return names.index(name)


connect(advice=advice, check_returned=check_returned)
connect(seed=seed, cotangent_of_rule=cotangent_of_rule, tangent_of_rule=tangent_of_rule)
