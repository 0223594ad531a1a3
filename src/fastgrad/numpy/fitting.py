"""Cotangents and tangents that users give, brought to the shape of the value they belong to, or refused.

The engine compares shapes and dtypes itself and calls these functions only where they differ. What has the same numbers
in another form, such as a list for an array, is converted; anything else is an error that names the rule and a remedy.
"""

import numbers

import numpy as onp

from fastgrad._diagnostics.messages import name_of
from fastgrad._engine.core import (
    SparseObject,
    Structure,
    VSpace,
    connect,
    has_structure,
    isbox,
    parameter_name,
    unbox_all,
)
from fastgrad.builtins import traced_container
from fastgrad.numpy import numpy_wrapper as anp

# --------------------------------------------------------------------------------------------------------------- arrays


def fitted(g, shape, real, subject):
    """Return a cotangent or tangent as an inexact array or number of a shape.

    Parameters
    ----------
    g : object
        The cotangent or tangent; it may be traced.
    shape : tuple of int
        The shape of the value that it belongs to.
    real : bool
        Whether its imaginary part is dropped.
    subject : str
        What gave it, and for what: the beginning of a message.

    Returns
    -------
    array_like
        A number in another form, such as an int, a list, or an array with axes of length 1 more or less, is brought
        to the shape; zero becomes zeros of the shape. Sparse cotangents and values of types that users registered are
        returned as they are.

    Raises
    ------
    TypeError
        If it is not numeric.
    ValueError
        If it has another shape.
    """
    concrete = unbox_all(g)
    if isinstance(concrete, SparseObject):
        return g
    if isinstance(concrete, onp.ndarray) and type(concrete) not in VSpace.mappings:
        g = concrete = _without_subclass(concrete, subject)
    if isinstance(concrete, list | tuple):
        try:
            g = anp.array(g)
        except (TypeError, ValueError):
            raise TypeError(f"{subject}, not a {type(concrete).__name__} that makes no array") from None
        concrete = unbox_all(g)
    if isinstance(concrete, numbers.Number) and not isinstance(concrete, onp.generic):
        concrete = onp.asarray(concrete)[()]
        g = g if isbox(g) else concrete
    if not isinstance(concrete, onp.ndarray | onp.generic):
        if type(concrete) in VSpace.mappings and not isinstance(concrete, dict):
            return g
        raise TypeError(
            f"{subject}, not {_described(concrete)}; it is an array or a number, zeros where there is no derivative"
        )
    g = _inexact(g, concrete, subject)
    own_shape = onp.shape(unbox_all(g))
    if own_shape != shape:
        g = _reshaped(g, own_shape, shape, subject)
    return anp.real(g) if real and anp.iscomplexobj(g) else g


def _without_subclass(array, subject):
    if onp.ma.is_masked(array):
        raise TypeError(f"{subject}, not an array with masked elements; fill them, array.filled(0.0)")
    return onp.asarray(array)


def _described(value):
    return repr(value) if value is None or isinstance(value, str | bytes) else f"a {type(value).__name__}"


def _inexact(g, concrete, subject):
    """Return ``g``, whose concrete value is given, in an inexact dtype; raise TypeError if it is not numeric."""
    if concrete.dtype.kind in "fc":
        return g
    if concrete.dtype.kind in "biu":
        return g * 1.0
    if concrete.dtype.kind == "O" and not isbox(g) and all(isinstance(x, numbers.Real) for x in onp.ravel(concrete)):
        return onp.asarray(concrete, float)
    objects = "; make arrays of traced values with fastgrad.numpy.array" if concrete.dtype.kind == "O" else ""
    raise TypeError(f"{subject}, not an array of dtype {concrete.dtype}{objects}")


def _reshaped(g, own_shape, shape, subject):
    """Return ``g`` in a shape that differs by axes of length 1, or zeros of the shape for zero; raise otherwise."""
    if [n for n in own_shape if n != 1] == [n for n in shape if n != 1]:
        return anp.reshape(g, shape)
    if not isbox(g) and onp.size(g) == 1 and not onp.any(g):
        return onp.zeros(shape)
    if len(own_shape) > len(shape) or onp.prod(own_shape) > onp.prod(shape):
        what = "sum over the axes that were broadcast: fastgrad.numpy.numpy_vjps.unbroadcast_f does it"
    else:
        what = "give each element its own, with fastgrad.numpy.broadcast_to if they are the same"
    raise ValueError(f"{subject} of shape {shape}, not of shape {own_shape}; {what}")


# ----------------------------------------------------------------------------------------------------------- containers


def _fitted_structure(g, structure, real, subject, fit=fitted, path=""):
    """Return a cotangent or tangent fitted to the structure of the value it belongs to.

    Parameters
    ----------
    g : object
        The cotangent or tangent; it may be traced.
    structure : Structure, tuple of int or None
        The structure of a container, the shape of an array or number, or None for a value that has no derivative.
    real, subject
        As for `fitted`.
    fit : callable
        Fits what belongs to an array or number; called as `fitted` is.
    path : str
        The keys that lead to ``g`` from the whole, for messages.
    """
    here = f"{subject} with, at {path}, one" if path else subject
    if not isinstance(structure, Structure):
        return g if structure is None else fit(g, structure, real, here)
    concrete = unbox_all(g)
    if isinstance(concrete, SparseObject) or has_structure(concrete, structure):
        return g
    if isinstance(g, numbers.Number) and g == 0:
        g = concrete = dict.fromkeys(structure.items, 0.0)
    elif structure.container_type is dict:
        _check_keys(concrete, structure.items, here)
    else:
        _check_length(concrete, len(structure.items), structure.container_type, here)
    items = {}
    for key, item in structure.items.items():
        # A value without a derivative, such as a string among numbers, needs no cotangent.
        if item is not None or not isinstance(concrete, dict) or key in concrete:
            wanted, real = item if isinstance(item, tuple) else (item, False)
            items[key] = _fitted_structure(g[key], wanted, real, subject, fit, f"{path}[{key!r}]")
    return _container_of(items, structure.container_type, isbox(g))


def _container_of(items, container_type, traced):
    container = items if container_type is dict else container_type(items.values())
    return traced_container(container) if traced else container


def _check_keys(concrete, structures, subject):
    """Raise if a value is not a dict with the keys of ``structures``."""
    if not isinstance(concrete, dict):
        raise TypeError(f"{subject}, a dict with the keys {list(structures)}, not {_described(concrete)}")
    for key, structure in structures.items():
        if key not in concrete and structure is not None:
            raise ValueError(f"{subject} with the key {key!r} too; zeros where there is no derivative")
    for key in concrete:
        if key not in structures:
            raise ValueError(f"{subject} without the key {key!r}; its keys are {list(structures)}")


def _check_length(concrete, length, container_type, subject):
    """Raise if a value is not a sequence of this length."""
    if not isinstance(concrete, list | tuple) and onp.ndim(concrete) == 0:
        raise TypeError(f"{subject}, a {container_type.__name__} of length {length}, not {_described(concrete)}")
    if len(concrete) != length:
        raise ValueError(
            f"{subject} of length {length}, not of length {len(concrete)}; zeros where there is no derivative"
        )


# -------------------------------------------------------------------------------------------------- calls by the engine


def cotangent_of_rule(g, structure, real, fun, argnum):
    """Return what a user's VJP of ``fun`` returned, fitted to the structure of the argument at ``argnum``.

    Raises TypeError or ValueError, as `fitted` does, if it is no cotangent of that argument.
    """
    where = f"argument {argnum}{parameter_name(fun, argnum)}"
    return _fitted_structure(g, structure, real, f"the VJP of {name_of(fun)} should give for {where} a cotangent")


def tangent_of_rule(g, structure, real, fun):
    """Return what a user's JVP of ``fun`` returned, fitted to the structure of the value of ``fun``.

    Raises TypeError or ValueError, as `fitted` does, if it is no tangent of that value; TypeError also if it is complex
    and the value is real.
    """

    def fit(g, shape, real, subject):
        if real and onp.iscomplexobj(unbox_all(g)) and onp.any(onp.imag(unbox_all(g))):
            raise TypeError(
                f"the JVP of {name_of(fun)} gave a complex tangent of a real value; give its derivative, a real one"
            )
        return fitted(g, shape, real, subject)

    return _fitted_structure(g, structure, real, f"the JVP of {name_of(fun)} should give a tangent", fit)


def seed(g, structure, backward):
    """Return what a user passed to a pullback (``backward``) or pushforward, fitted to the structure it should have.

    Raises TypeError or ValueError, as `fitted` does, if it does not fit.
    """

    def fit(g, shape, _real, subject):
        return fitted(g, shape, False, subject)

    subject = "vjp takes a cotangent of the value" if backward else "jvp takes a tangent of the argument"
    return _fitted_structure(g, structure, False, subject, fit)


connect(seed=seed, cotangent_of_rule=cotangent_of_rule, tangent_of_rule=tangent_of_rule)
