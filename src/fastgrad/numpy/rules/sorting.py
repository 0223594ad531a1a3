"""Sorting: a permutation along an axis, which the transpose undoes."""

import numpy as onp

from fastgrad._rules.direct import def_direct
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.tracer import getval, primitive


@primitive
def permute(x, order, axis):
    """Give ``numpy.take_along_axis(x, order, axis)`` for permutations: no element is taken twice."""
    return x[order] if order.ndim == 1 else onp.take_along_axis(x, order, axis)


def _inverse(order, axis):
    """Give the inverse of permutations along an axis."""
    inverse = onp.empty_like(order)
    shape = [1] * order.ndim
    shape[axis] = -1
    places = onp.arange(order.shape[axis]).reshape(shape)
    onp.put_along_axis(inverse, order, places, axis)
    return inverse


def_direct(
    permute,
    vjps=(lambda g, _ans, _x, order, axis: permute(g, _inverse(order, axis), axis),),
    jvps=("same",),
)


def _line(x, axis):
    """Give an array as a sort sees it, flat if there is no axis, and the axis."""
    return (anp.ravel(x), 0) if axis is None else (x, axis)


def _refuse_order(name, order):
    if order is not None:
        raise NotImplementedError(f"{name} of a traced value takes no keyword 'order': a traced array has no fields")


def _sort_order(a, axis, kind, stable):
    a, axis = _line(getval(a), axis)
    return onp.argsort(a, axis, kind="stable" if stable else kind), axis


def _sort_vjp(g, _ans, a, axis=-1, kind=None, order=None, stable=None):
    _refuse_order("sort", order)
    places, line = _sort_order(a, axis, kind, stable)
    return anp.reshape(permute(g, _inverse(places, line), line), anp.shape(a))


def _sort_jvp(g, _ans, a, axis=-1, kind=None, order=None, stable=None):
    _refuse_order("sort", order)
    places, line = _sort_order(a, axis, kind, stable)
    return permute(_line(g, axis)[0], places, line)


def _partition_order(ans, a, axis):
    # argpartition need not order equal or unordered elements as partition did: match both by their ranks.
    a, axis = _line(getval(a), axis)
    by_rank, ranks = onp.argsort(a, axis), _inverse(onp.argsort(getval(ans), axis), axis)
    return onp.take_along_axis(by_rank, ranks, axis), axis


def _partition_vjp(g, ans, a, kth, axis=-1, kind="introselect", order=None):
    _refuse_order("partition", order)
    places, line = _partition_order(ans, a, axis)
    return anp.reshape(permute(g, _inverse(places, line), line), anp.shape(a))


def _partition_jvp(g, ans, a, kth, axis=-1, kind="introselect", order=None):
    _refuse_order("partition", order)
    places, line = _partition_order(ans, a, axis)
    return permute(_line(g, axis)[0], places, line)


if hasattr(anp, "msort"):  # NumPy 1.26: sort along the first axis
    def_direct(
        anp.msort,
        vjps=(lambda g, ans, a: _sort_vjp(g, ans, a, 0),),
        jvps=(lambda g, ans, a: _sort_jvp(g, ans, a, 0),),
    )
def_direct(anp.sort, vjps=(_sort_vjp,), jvps=(_sort_jvp,))
def_direct(anp.partition, vjps=(_partition_vjp,), jvps=(_partition_jvp,))
