"""Shorter ways to what NumPy's functions do on arrays: what they call themselves, once they know it is an array.

Each is the same function, for calls with so many arguments by position (at least, at most), and no keywords but these.
"""

from operator import attrgetter

import numpy as np

from fastgrad._engine.core import array_mean, array_sum, set_shortcut
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
for _fun, _way in SHORTCUTS.items():
    set_shortcut(_fun, *_way)
