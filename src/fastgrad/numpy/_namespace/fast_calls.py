"""The primitives that take a path of their own on concrete values: operations, reductions and shortcuts.

A shortcut is what NumPy's function calls itself once it knows that its first argument is an array. It is taken for
calls with the given least and most positional arguments, and no keywords but those listed. The paths are described in
`_engine/values/dispatch.pxi`.
"""

from operator import attrgetter

import numpy as np

from fastgrad._engine.core import Primitive, array_mean, array_sum, set_path
from fastgrad.numpy._namespace.arrays import getitem
from fastgrad.numpy._namespace.wrapping import primitives as p

_reduce_max, _reduce_min, _reduce_prod = np.maximum.reduce, np.minimum.reduce, np.multiply.reduce


def _max(a, axis=None, *, keepdims=False):
    return _reduce_max(a, axis, None, None, keepdims)


def _min(a, axis=None, *, keepdims=False):
    return _reduce_min(a, axis, None, None, keepdims)


def _prod(a, axis=None, *, keepdims=False):
    return _reduce_prod(a, axis, None, None, keepdims)


def _expand_dims(a, axis):
    if type(axis) is not int or not -a.ndim - 1 <= axis <= a.ndim:
        return np.expand_dims(a, axis)
    axis += a.ndim + 1 if axis < 0 else 0
    return a.reshape(*a.shape[:axis], 1, *a.shape[axis:])


_AXIS, _REDUCTION = ("axis",), ("axis", "keepdims")

SHORTCUTS = {
    p.sum: (array_sum, 1, 2, _REDUCTION),
    p.mean: (array_mean, 1, 2, _REDUCTION),
    p.max: (_max, 1, 2, _REDUCTION),
    p.min: (_min, 1, 2, _REDUCTION),
    p.prod: (_prod, 1, 2, _REDUCTION),
    p.var: (np.ndarray.var, 1, 2, ("axis", "ddof", "keepdims")),
    p.std: (np.ndarray.std, 1, 2, ("axis", "ddof", "keepdims")),
    p.cumsum: (np.ndarray.cumsum, 1, 2, _AXIS),
    p.cumprod: (np.ndarray.cumprod, 1, 2, _AXIS),
    p.argmax: (np.ndarray.argmax, 1, 2, _AXIS),
    p.argmin: (np.ndarray.argmin, 1, 2, _AXIS),
    p.argsort: (np.ndarray.argsort, 1, 2, _AXIS),
    p.reshape: (np.ndarray.reshape, 2, 2, ("order",)),
    p.ravel: (np.ndarray.ravel, 1, 2, ("order",)),
    p.transpose: (np.ndarray.transpose, 1, 2, ()),
    p.swapaxes: (np.ndarray.swapaxes, 3, 3, ()),
    p.squeeze: (np.ndarray.squeeze, 1, 2, _AXIS),
    p.expand_dims: (_expand_dims, 2, 2, _AXIS),
    p.diagonal: (np.ndarray.diagonal, 1, 4, ()),
    p.trace: (np.ndarray.trace, 1, 4, ()),
    p.take: (np.ndarray.take, 2, 3, ("axis", "mode")),
    p.repeat: (np.ndarray.repeat, 2, 3, _AXIS),
    p.clip: (np.ndarray.clip, 3, 3, ()),
    p.real: (attrgetter("real"), 1, 1, ()),
    p.imag: (attrgetter("imag"), 1, 1, ()),
    p.nonzero: (np.ndarray.nonzero, 1, 1, ()),
    p.shape: (attrgetter("shape"), 1, 1, ()),
    p.ndim: (attrgetter("ndim"), 1, 1, ()),
    p.size: (attrgetter("size"), 1, 1, ()),
}

for _fun in vars(p).values():
    if isinstance(_fun, Primitive) and isinstance(_fun.fun, np.ufunc):
        set_path(_fun)  # the inner loops of every ufunc
for _name in ("add", "subtract", "multiply", "divide", "negative", "dot"):
    set_path(getattr(p, _name), operation=_name)
set_path(getitem, operation="index")
for _name in ("sum", "mean", "max", "min"):
    set_path(getattr(p, _name), reduction=_name)
for _fun, _shortcut in SHORTCUTS.items():
    set_path(_fun, shortcut=_shortcut)
