"""sort and partition: permutations along an axis, which the transpose inverts.

The permutation is constant almost everywhere; where elements tie it is the one that NumPy chose.
"""

import numpy as onp

from fastgrad._rules.direct import def_direct
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.batching import batch_axis, first_argument
from fastgrad.tracer import getval, primitive


@primitive
def permute(x, order, axis):
    """Return ``numpy.take_along_axis(x, order, axis)`` for permutations, which take no element twice.

    Parameters
    ----------
    x : array_like
    order : ndarray of int
        A vector, or an array of the shape of ``x`` with a permutation in each line along ``axis``.
    axis : int
    """
    return x[order] if order.ndim == 1 else onp.take_along_axis(x, order, axis)


def _inverse(order, axis):
    """Return the inverses of permutations along an axis."""
    inverse = onp.empty_like(order)
    shape = [1] * order.ndim
    shape[axis] = -1
    positions = onp.arange(order.shape[axis]).reshape(shape)
    onp.put_along_axis(inverse, order, positions, axis)
    return inverse


def _permute_vjp(g, _ans, _x, order, axis):
    return permute(g, _inverse(order, axis), axis)


def _permute_batch(x, order, axis):
    return x[:, order] if order.ndim == 1 else permute(x, order[None], batch_axis(axis))


def_direct(permute, vjps=(_permute_vjp,), jvps=("same",), batch=first_argument(_permute_batch))


def _line(x, axis):
    """Return an array as a sort reads it, flat if there is no axis, and the axis."""
    return (anp.ravel(x), 0) if axis is None else (x, axis)


def _refuse_order(name, order):
    if order is not None:
        raise NotImplementedError(f"{name} of a traced value takes no keyword 'order': a traced array has no fields")


def _sort_order(a, axis, kind, stable):
    a, axis = _line(getval(a), axis)
    return onp.argsort(a, axis, kind="stable" if stable else kind), axis


def _sort_vjp(g, _ans, a, axis=-1, kind=None, order=None, stable=None):
    _refuse_order("sort", order)
    positions, line = _sort_order(a, axis, kind, stable)
    return anp.reshape(permute(g, _inverse(positions, line), line), anp.shape(a))


def _sort_jvp(g, _ans, a, axis=-1, kind=None, order=None, stable=None):
    _refuse_order("sort", order)
    positions, line = _sort_order(a, axis, kind, stable)
    return permute(_line(g, axis)[0], positions, line)


def _partition_order(ans, a, axis):
    # argpartition may order equal or unordered elements otherwise than partition did: both are matched by rank.
    a, axis = _line(getval(a), axis)
    by_rank, ranks = onp.argsort(a, axis), _inverse(onp.argsort(getval(ans), axis), axis)
    return onp.take_along_axis(by_rank, ranks, axis), axis


def _partition_vjp(g, ans, a, kth, axis=-1, kind="introselect", order=None):
    _refuse_order("partition", order)
    positions, line = _partition_order(ans, a, axis)
    return anp.reshape(permute(g, _inverse(positions, line), line), anp.shape(a))


def _partition_jvp(g, ans, a, kth, axis=-1, kind="introselect", order=None):
    _refuse_order("partition", order)
    positions, line = _partition_order(ans, a, axis)
    return permute(_line(g, axis)[0], positions, line)


def _msort_vjp(g, ans, a):
    return _sort_vjp(g, ans, a, 0)


def _msort_jvp(g, ans, a):
    return _sort_jvp(g, ans, a, 0)


if hasattr(anp, "msort"):  # NumPy 1: sort along the first axis
    def_direct(anp.msort, vjps=(_msort_vjp,), jvps=(_msort_jvp,))
def_direct(anp.sort, vjps=(_sort_vjp,), jvps=(_sort_jvp,))
def_direct(anp.partition, vjps=(_partition_vjp,), jvps=(_partition_jvp,))
