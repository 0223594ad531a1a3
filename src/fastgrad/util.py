"""Small helpers at autograd's import path."""

from fastgrad._backward import toposort

__all__ = ["func", "subval", "subvals", "toposort"]


def subvals(x, ivs):
    """Give ``x`` as a tuple with the values ``v`` put at the places ``i`` for ``(i, v)`` in ``ivs``."""
    changed = list(x)
    for i, v in ivs:
        changed[i] = v
    return tuple(changed)


def subval(x, i, v):
    """Give ``x`` as a tuple with ``v`` at place ``i``."""
    return subvals(x, ((i, v),))


def func(f):
    """Give ``f`` itself; Python 2's unbound methods needed more."""
    return f
