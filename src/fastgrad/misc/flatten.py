"""Conversion of nested containers of parameters to one vector and back."""

import fastgrad.numpy as np
from fastgrad._engine.backward import make_vjp
from fastgrad._engine.core import DerivedFunction
from fastgrad.tracer import getval

__all__ = ["flatten", "flatten_func"]


def flatten(value):
    """Return the elements of nested lists, tuples and dicts of arrays and scalars as one vector.

    Parameters
    ----------
    value : object
        A container, array or scalar, of any shapes and of float or complex dtypes; may be traced. The items of a dict
        are taken in the order of its sorted keys.

    Returns
    -------
    vector : ndarray, shape (n,)
        All elements in order, in the common dtype of the parts.
    unflatten : callable
        Takes such a vector to a container of the structure of ``value``. Both directions can be differentiated.

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad.misc.flatten import flatten
    >>> vector, unflatten = flatten({"a": 1.0, "b": [np.array([2.0, 3.0]), 4.0]})
    >>> vector
    array([1., 2., 3., 4.])
    >>> unflatten(2 * vector)
    {'a': array(2.), 'b': [array([4., 6.]), array(8.)]}
    """
    # Flattening is a permutation, a linear map whose transpose, which is its pullback, is its inverse.
    pull, vector = make_vjp(_flatten, value)
    return vector, Unflatten(pull, len(vector))


class Unflatten:
    """Inverse of `flatten` for one structure; it is pickled as an example of that structure."""

    __slots__ = ("__weakref__", "_length", "_pull")
    __name__ = "unflatten"

    def __init__(self, pull, length):
        self._pull, self._length = pull, length

    def __call__(self, vector):
        return self._pull(vector)

    def __reduce__(self):
        return _unflatten_like, (self(np.zeros(self._length)),)


def _unflatten_like(example):
    return flatten(example)[1]


def _flatten(value):
    parts = list(_parts(value))
    return np.concatenate(parts) if parts else np.array([])


def _parts(value):
    concrete = getval(value)
    if isinstance(concrete, dict):
        for key in _ordered(concrete):
            yield from _parts(value[key])
    elif isinstance(concrete, list | tuple):
        for i in range(len(concrete)):
            yield from _parts(value[i])
    else:
        yield np.ravel(value)


def _ordered(keys):
    try:
        return sorted(keys)
    except TypeError:  # keys of types that have no order
        return sorted(keys, key=str)


def flatten_func(func, example):
    """Return a function of a vector, made from a function of a container.

    Parameters
    ----------
    func : callable
        Function whose first argument is a container.
    example : object
        A container of the structure that ``func`` takes.

    Returns
    -------
    flat_func : callable
        Takes a vector instead of the container and the other arguments of ``func``, and returns the flattened value.
    unflatten : callable
        Takes a vector to a container.
    vector : ndarray, shape (n,)
        The flattened example.
    """
    vector, unflatten = flatten(example)
    return _flat_func(func, unflatten), unflatten, vector


def _flat_func(func, unflatten):
    def flat_func(x, *args, **kwargs):
        return flatten(func(unflatten(x), *args, **kwargs))[0]

    return DerivedFunction(flat_func, _flat_func, (func, unflatten))
