"""Changes of argument lists, which rules make."""


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
