"""Nested containers of parameters as one vector, and back."""

import fastgrad.numpy as np
from fastgrad._engine.backward import make_vjp
from fastgrad._engine.core import DerivedFunction
from fastgrad.tracer import getval

__all__ = ["flatten", "flatten_func"]


def flatten(value):
    """Flatten nested lists, tuples and dicts of arrays and scalars into a vector.

    Parameters
    ----------
    value : object
        A container, array or scalar; may be traced. Dicts are taken in the order of their sorted keys.

    Returns
    -------
    vector : ndarray
        All numbers, one after another.
    unflatten : callable
        Gives a container of the same structure from such a vector. Both directions can be differentiated.

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
    # The pullback of a linear map is its transpose, and flattening is a permutation: its transpose undoes it.
    pull, vector = make_vjp(_flatten, value)
    return vector, Unflatten(pull, len(vector))


class Unflatten:
    """The way back from a vector: a pullback, which other processes make anew from an example."""

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
    plain = getval(value)
    if isinstance(plain, dict):
        for key in _ordered(plain):
            yield from _parts(value[key])
    elif isinstance(plain, list | tuple):
        for i in range(len(plain)):
            yield from _parts(value[i])
    else:
        yield np.ravel(value)


def _ordered(keys):
    try:
        return sorted(keys)
    except TypeError:  # keys of types that can't be compared
        return sorted(keys, key=str)


def flatten_func(func, example):
    """Make a function of vectors from a function of containers.

    Parameters
    ----------
    func : callable
        Function whose first argument is a container.
    example : object
        A container of that structure.

    Returns
    -------
    flat_func : callable
        The function of a vector and the other arguments; what it returns is flattened too.
    unflatten : callable
        From a vector to a container.
    vector : ndarray
        The example, flattened.
    """
    vector, unflatten = flatten(example)
    return _flat_func(func, unflatten), unflatten, vector


def _flat_func(func, unflatten):
    def flat_func(x, *args, **kwargs):
        return flatten(func(unflatten(x), *args, **kwargs))[0]

    return DerivedFunction(flat_func, _flat_func, (func, unflatten))
