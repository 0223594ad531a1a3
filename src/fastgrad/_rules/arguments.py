"""Changes of argument lists, which rules make: values put at positions, and tangents for all arguments of a call."""

import numpy as np

from fastgrad._engine.core import dtype_of, unbox_all, vspace


def subvals(x, ivs):
    """Return ``x`` as a tuple in which the value ``v`` stands at position ``i`` for each ``(i, v)`` in ``ivs``."""
    changed = list(x)
    for i, v in ivs:
        changed[i] = v
    return tuple(changed)


def subval(x, i, v):
    """Return ``x`` as a tuple with ``v`` at position ``i``."""
    return subvals(x, ((i, v),))


def func(f):
    """Return ``f`` itself; in Python 2 autograd had to unwrap unbound methods here."""
    return f


# They are public at autograd's import path, by which pickles find them.
for _fun in (subvals, subval, func):
    _fun.__module__ = "fastgrad.util"


def _zeros_of_space(x):
    return vspace(x).zeros()


def _zeros_of_array(x):
    return np.zeros(np.shape(unbox_all(x)), dtype_of(x))


def tangents_or_zeros(argnums, gs, args, first=0, as_arrays=False):
    """Return a tangent for each of ``args[first:]``: zero where the argument is not traced.

    Parameters
    ----------
    argnums : sequence of int
        The positions of the traced arguments.
    gs : sequence
        Their tangents.
    args : tuple
        All arguments of the call.
    first : int
        The position of the first argument that has a tangent.
    as_arrays : bool
        Whether the function makes arrays of its arguments, so that the zeros are arrays of their shape and dtype; by
        default they are those of the argument's vector space.

    Returns
    -------
    list
    """
    given = dict(zip(argnums, gs, strict=True))
    zeros = _zeros_of_array if as_arrays else _zeros_of_space
    return [given[i] if i in given else zeros(args[i]) for i in range(first, len(args))]
