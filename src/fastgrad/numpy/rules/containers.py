"""Batch rules: how a primitive is called on many rows at once, which stand on an axis in front.

``rule(rows, ans, argnums, *args, **kwargs)`` gives the answers for ``rows`` rows. Of its arguments those at ``argnums``
are batches; ``ans`` is the answer to one row. A rule that does not know the call gives NotImplemented: the primitive is
then called row by row, as one without a rule is. Ufuncs need none. Only what is linear in a cotangent or tangent is
ever called on a batch, so there is no rule for, say, sorting.
"""

import math
import operator

import numpy as onp

from fastgrad._engine.core import ArrayVSpace, ComplexArrayVSpace, VSpace, peel
from fastgrad.builtins import ContainerVSpace, _assemble, _make_dict, container_take, container_untake, make_sequence
from fastgrad.core import sparse_add
from fastgrad.numpy import fft, linalg
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import normalize_axes
from fastgrad.numpy.rules.contractions import _LABELS, _contracted, _explicit, _read_einsum
from fastgrad.numpy.rules.indexing import untake
from fastgrad.numpy.rules.reductions import repeat_reduced
from fastgrad.numpy.rules.shapes import undiagonal
from fastgrad.numpy.rules.sorting import permute

# -------------------------------------------------------------------------------------------------------- common ground


def _def(fun, rule):
    """Set the batch rule ``rule(rows, ans, argnums, *args, **kwargs)``."""
    fun.batch_rule = rule


def _def_first(fun, rule):
    """Set ``rule(x, *args, **kwargs)`` for a batch ``x`` of the first argument, where the others are no batches."""

    def first_only(rows, ans, argnums, *args, **kwargs):
        return rule(*args, **kwargs) if argnums == (0,) else NotImplemented

    fun.batch_rule = first_only


def _behind(axis):
    """Give where an axis of a row, or each of several, stands in a batch."""
    if isinstance(axis, tuple | list | range):
        return tuple(_behind(i) for i in axis)
    axis = operator.index(axis)
    return axis if axis < 0 else axis + 1


def _rows_axes(x, axis):
    """Do `_behind`, with all axes of the rows for None."""
    return tuple(range(1, anp.ndim(x))) if axis is None else _behind(axis)


def _flat(x):
    """Flatten each row."""
    shape = anp.shape(x)
    return anp.reshape(x, (shape[0], math.prod(shape[1:])))


def _full(x, rows):
    """Make a batch of equal rows, of a container too."""
    kind = type(peel(x))
    if issubclass(kind, dict):
        keys = tuple(x)
        return _make_dict(keys, make_sequence(list, *[_full(x[key], rows) for key in keys]))
    if issubclass(kind, list | tuple):
        return make_sequence(kind, *[_full(x[i], rows) for i in range(len(x))])
    return anp.broadcast_to(x, (rows, *anp.shape(x)))


def _with_rank(x, rank):
    """Put axes of length 1 in front of those of the rows, so that these have ``rank``."""
    missing = rank + 1 - anp.ndim(x)
    return x[(slice(None),) + (None,) * missing] if missing > 0 else x


def _space(space, rows):
    """Give the space of batches of arrays of a space, or of containers of them; None if it is neither."""
    batches = type(space).__new__(type(space))
    if type(space) in (ArrayVSpace, ComplexArrayVSpace):
        batches.shape, batches.dtype = (rows, *space.shape), space.dtype
        return batches
    if not isinstance(space, ContainerVSpace):
        return None
    batches.shape = space._map(lambda item: _space(item, rows), space.shape)
    return None if None in [item for _, item in space._items(batches.shape)] else batches


# ---------------------------------------------------------------------------------------------------------- elementwise


def _broadcasting(fun):
    """Make the rule of a function that broadcasts its arguments."""

    def rule(rows, ans, argnums, *args, **kwargs):
        rank = anp.ndim(ans)
        return fun(*[_with_rank(x, rank) if i in argnums else x for i, x in enumerate(args)], **kwargs)

    return rule


for _fun in (anp.real, anp.imag, anp.copy):
    _def_first(_fun, _fun)
_def(anp._original_where, _broadcasting(anp._original_where))
_def_first(anp._astype, lambda x, dtype, *args, **kwargs: anp._astype(x, dtype, *args, **kwargs))


def _in_space(fun):
    def rule(rows, ans, argnums, space, *args):
        batches = _space(space, rows)
        if batches is None:
            return NotImplemented
        args = [x if x is None or i in argnums else _full(x, rows) for i, x in enumerate(args, 1)]
        return fun(batches, *args)

    return rule


_add = _in_space(VSpace.add)
_add_in_place = _in_space(VSpace.mut_add)
_def(VSpace.add, _add)
_def(VSpace.covector, _in_space(VSpace.covector))


def _mut_add(rows, ans, argnums, space, total, x):
    """Add in place, but not to equal rows, which share their memory."""
    in_place = total is None or 1 in argnums
    return (_add_in_place if in_place else _add)(rows, ans, argnums, space, total, x)


_def(VSpace.mut_add, _mut_add)

# ----------------------------------------------------------------------------------------------------------- reductions

_def_first(anp.sum, lambda x, axis=None, *args, **kwargs: anp.sum(x, _rows_axes(x, axis), *args, **kwargs))
_def_first(anp.mean, lambda x, axis=None, *args, **kwargs: anp.mean(x, _rows_axes(x, axis), *args, **kwargs))


def _accumulation(fun):
    def rule(x, axis=None, *args, **kwargs):
        if axis is None or anp.ndim(x) == 1:
            x, axis = _flat(x), 0
        return fun(x, _behind(axis), *args, **kwargs)

    return rule


_def_first(anp.cumsum, _accumulation(anp.cumsum))


def _repeat_reduced(g, space, axis=None):
    batches = _space(space, anp.shape(g)[0])
    # Axes that were kept and those that were dropped look alike once they are put back.
    axes = tuple(range(len(space.shape))) if axis is None else normalize_axes(axis, len(space.shape))
    return repeat_reduced(g, batches, tuple(i + 1 for i in axes))


_def_first(repeat_reduced, _repeat_reduced)

# --------------------------------------------------------------------------------------------------------------- shapes


def _reshape(rows, ans, argnums, x, shape=None, order="C", **kwargs):
    if order != "C" or kwargs or argnums != (0,):
        return NotImplemented
    return anp.reshape(x, (rows, *anp.shape(ans)))


def _broadcast_to(rows, ans, argnums, x, *args, **kwargs):
    shape = anp.shape(ans)
    return anp.broadcast_to(_with_rank(x, len(shape)), (rows, *shape))


_def(anp.reshape, _reshape)
_def(anp.ravel, lambda rows, ans, argnums, x, order="C": _reshape(rows, ans, argnums, x, None, order))
for _fun in (anp.expand_dims, anp.squeeze, anp.atleast_1d, anp.atleast_2d, anp.atleast_3d):
    _def(_fun, lambda rows, ans, argnums, x, *args, **_: _reshape(rows, ans, argnums, x, None))
_def(anp.broadcast_to, _broadcast_to)


def _transpose(x, axes=None):
    n = anp.ndim(x) - 1
    axes = range(n)[::-1] if axes is None else [operator.index(axis) % n for axis in axes]
    return anp.transpose(x, (0, *[axis + 1 for axis in axes]))


_def_first(anp.transpose, _transpose)
_def_first(anp.swapaxes, lambda x, axis1, axis2: anp.swapaxes(x, _behind(axis1), _behind(axis2)))
_def_first(anp.moveaxis, lambda x, source, destination: anp.moveaxis(x, _behind(source), _behind(destination)))
if hasattr(anp, "matrix_transpose"):
    _def_first(anp.matrix_transpose, anp.matrix_transpose)


def _roll(x, shift, axis=None):
    return NotImplemented if axis is None else anp.roll(x, shift, _behind(axis))


def _tile(x, reps):
    reps = (reps,) if onp.isscalar(reps) else tuple(reps)
    rank = max(len(reps), anp.ndim(x) - 1)
    return anp.tile(_with_rank(x, rank), (1, *(1,) * (rank - len(reps)), *reps))


def _repeat(x, repeats, axis=None):
    return anp.repeat(_flat(x), repeats, 1) if axis is None else anp.repeat(x, repeats, _behind(axis))


_def_first(anp.flip, lambda x, axis=None: anp.flip(x, _rows_axes(x, axis)))
_def_first(anp.rot90, lambda x, k=1, axes=(0, 1): anp.rot90(x, k, _behind(axes)))
_def_first(anp.roll, _roll)
_def_first(anp.tile, _tile)
_def_first(anp.repeat, _repeat)
_def_first(
    permute,
    lambda x, order, axis: x[:, order] if order.ndim == 1 else permute(x, order[None], _behind(axis)),
)

# ------------------------------------------------------------------------------------------------------------ diagonals


def _diagonal(x, offset=0, axis1=0, axis2=1):
    return anp.diagonal(x, offset, _behind(axis1), _behind(axis2))


def _undiagonal(x, shape, offset=0, axis1=0, axis2=1):
    return undiagonal(x, (anp.shape(x)[0], *shape), offset, _behind(axis1), _behind(axis2))


def _make_diagonal(x, offset=0, axis1=0, axis2=1):
    return anp.make_diagonal(x, offset, _behind(axis1), _behind(axis2))


def _trace(x, offset=0, axis1=0, axis2=1, dtype=None):
    return anp.trace(x, offset, _behind(axis1), _behind(axis2), dtype)


def _diag(x, k=0):
    return anp.make_diagonal(x, k, 1, 2) if anp.ndim(x) == 2 else anp.diagonal(x, k, 1, 2)


_def_first(anp.diagonal, _diagonal)
_def_first(undiagonal, _undiagonal)
_def_first(anp.make_diagonal, _make_diagonal)
_def_first(anp.trace, _trace)
_def_first(anp.diag, _diag)
_def_first(anp.tril, lambda x, k=0: anp.tril(x, k) if anp.ndim(x) > 2 else NotImplemented)
_def_first(anp.triu, lambda x, k=0: anp.triu(x, k) if anp.ndim(x) > 2 else NotImplemented)

# ------------------------------------------------------------------------------------------------------------- indexing


def _is_array_index(item):
    return not (item is None or item is Ellipsis or isinstance(item, slice))


def _index(index):
    """Give the index that takes from each row what ``index`` takes from one; None where that is in doubt.

    Arrays of indices that stand apart put their axes in front, before that of the rows.
    """
    items = index if type(index) is tuple else (index,)
    arrays = [i for i, item in enumerate(items) if _is_array_index(item)]
    if any(not isinstance(items[i], int | onp.integer | onp.ndarray | list) for i in arrays):
        return None
    plain = all(isinstance(items[i], int | onp.integer) and not isinstance(items[i], bool) for i in arrays)
    if plain or not arrays or arrays[-1] - arrays[0] == len(arrays) - 1:
        return (slice(None), *items)
    return None


def _getitem(x, index):
    index = (slice(None), index) if type(index) in (slice, int) else _index(index)
    return NotImplemented if index is None else x[index]


def _untake(x, index, space):
    batches = _space(space, anp.shape(x)[0])
    index = (slice(None), index) if type(index) in (slice, int) else _index(index)
    return NotImplemented if batches is None or index is None else untake(x, index, batches)


def _sparse_add(rows, ans, argnums, space, total, sparse):
    batches = _space(space, rows)
    if batches is None or 2 not in argnums:
        return NotImplemented
    if total is not None and 1 not in argnums:
        # Into an array that can be changed in place.
        total = VSpace.mut_add(batches, None, _full(total, rows))
    return sparse_add(batches, total, sparse)


def _take(x, indices, axis=None, out=None, mode="raise"):
    x, axis = (_flat(x), 1) if axis is None else (x, _behind(axis))
    return anp.take(x, indices, axis, out, mode)


_def_first(anp.getitem, _getitem)
_def_first(anp.take, _take)
_def_first(untake, _untake)
_def(sparse_add, _sparse_add)

# -------------------------------------------------------------------------------------------------------------- joining


def _concatenate(rows, ans, argnums, axis, *args):
    parts = [x if i in argnums else _full(x, rows) for i, x in enumerate(args, 1)]
    return anp.concatenate_args(_behind(axis), *parts)


def _from_args(rows, ans, argnums, array_args, array_kwargs, *args):
    if array_args or array_kwargs:
        return NotImplemented
    parts = [x if i in argnums else _full(x, rows) for i, x in enumerate(args, 2)]
    return anp.swapaxes(anp.array_from_args((), {}, *parts), 0, 1)


_def(anp.concatenate_args, _concatenate)
_def(anp.array_from_args, _from_args)


def _pad(x, pad_width, *args, **kwargs):
    if isinstance(pad_width, dict):
        return NotImplemented
    widths = onp.broadcast_to(onp.asarray(pad_width), (anp.ndim(x) - 1, 2)).tolist()
    return anp.pad(x, [(0, 0), *widths], *args, **kwargs) if not kwargs else NotImplemented


_def_first(anp.pad, _pad)

# ----------------------------------------------------------------------------------------------------------- containers
# A batch of containers is a container of batches.


def _make(fun):
    """Make the rule of a function that puts its arguments but the first into a container."""

    def rule(rows, ans, argnums, kind, *values):
        return fun(kind, *[x if i in argnums else _full(x, rows) for i, x in enumerate(values, 1)])

    return rule


def _container_untake(rows, ans, argnums, x, index, space):
    batches = _space(space, rows)
    return NotImplemented if batches is None or argnums != (0,) else container_untake(x, index, batches)


def _assembled(rows, ans, argnums, space, *leaves):
    batches = _space(space, rows)
    if batches is None:
        return NotImplemented
    return _assemble(batches, *[x if i in argnums else _full(x, rows) for i, x in enumerate(leaves, 1)])


_def(_assemble, _assembled)
_def(make_sequence, _make(make_sequence))
_def(_make_dict, lambda rows, ans, argnums, keys, values: _make_dict(keys, values))
_def_first(container_take, container_take)
_def(container_untake, _container_untake)

# --------------------------------------------------------------------------------------------------------- contractions
# Bilinear functions have a batch on one side. Both sides are made matrices, whose product is one call of BLAS.


def _tensordot(rows, argnums, a, b, axes_a, axes_b):
    """Contract axes, counted in a row, of a batch on one side."""
    if argnums == (0,):
        return anp.tensordot(a, b, ([i + 1 for i in axes_a], axes_b))
    product = anp.tensordot(b, a, ([i + 1 for i in axes_b], axes_a))
    n_rest = anp.ndim(b) - 1 - len(axes_b)
    n = anp.ndim(product)
    if n_rest == 0 or n_rest == n - 1:
        return product
    return anp.transpose(product, (0, *range(n_rest + 1, n), *range(1, n_rest + 1)))


def _ndims(argnums, a, b):
    return anp.ndim(a) - (0 in argnums), anp.ndim(b) - (1 in argnums)


def _dot(rows, ans, argnums, a, b):
    n, m = _ndims(argnums, a, b)
    if len(argnums) != 1:
        return NotImplemented
    if n == 0 or m == 0:
        return _broadcasting(anp.multiply)(rows, ans, argnums, a, b)
    if argnums == (0,) and n == 1 and m <= 2:
        return anp.dot(a, b)
    if argnums == (1,) and m == 1 and n <= 2:
        return anp.dot(b, anp.transpose(a))
    return _tensordot(rows, argnums, a, b, [n - 1], [max(m - 2, 0)])


def _matmul(rows, ans, argnums, a, b):
    n, m = _ndims(argnums, a, b)
    if len(argnums) != 1:
        return NotImplemented
    if argnums == (0,) and m <= 2 or argnums == (1,) and n <= 2 and m <= 2:
        return _dot(rows, ans, argnums, a, b)
    # A vector is a matrix of one row, or of one column.
    a = anp.expand_dims(a, -2) if n == 1 else a
    b = anp.expand_dims(b, -1) if m == 1 else b
    rank = max(n, m, 2)
    a, b = (_with_rank(x, rank) if i in argnums else x for i, x in enumerate((a, b)))
    return anp.reshape(anp.matmul(a, b), (rows, *anp.shape(ans)))


def _inner(rows, ans, argnums, a, b):
    n, m = _ndims(argnums, a, b)
    if len(argnums) != 1:
        return NotImplemented
    if n == 0 or m == 0:
        return _broadcasting(anp.multiply)(rows, ans, argnums, a, b)
    return _tensordot(rows, argnums, a, b, [n - 1], [m - 1])


def _outer(rows, ans, argnums, a, b):
    a, b = (_flat(x) if i in argnums else anp.ravel(x) for i, x in enumerate((a, b)))
    return anp.multiply(a[..., None], b[:, None, :] if 1 in argnums else b)


def _tensordot_rule(rows, ans, argnums, a, b, axes=2):
    if len(argnums) != 1:
        return NotImplemented
    return _tensordot(rows, argnums, a, b, *_contracted(axes, *_ndims(argnums, a, b)))


def _einsum(rows, ans, argnums, *args, **kwargs):
    subscripts, operands, step, first = _read_einsum(args)
    batched = {(argnum - first) // step for argnum in argnums}
    shapes = [anp.shape(x)[1:] if k in batched else anp.shape(x) for k, x in enumerate(operands)]
    inputs, output = _explicit(subscripts, shapes)
    label = next((label for label in _LABELS if label not in subscripts and label not in "".join(inputs)), None)
    if label is None:
        return NotImplemented
    inputs = [label + labels if k in batched else labels for k, labels in enumerate(inputs)]
    optimize = kwargs.pop("optimize", False)
    kwargs["optimize"] = optimize if isinstance(optimize, (bool, str)) else True
    return anp.einsum(f"{','.join(inputs)}->{label}{output}", *operands, **kwargs)


_def(anp.dot, _dot)
_def(anp.matmul, _matmul)
_def(anp.inner, _inner)
_def(anp.outer, _outer)
_def(anp.tensordot, _tensordot_rule)
_def(anp.einsum, _einsum)

# ------------------------------------------------------------------------------------------------------- linear algebra


def _solve(rows, ans, argnums, a, b):
    if argnums != (1,) or anp.ndim(a) != 2 or anp.ndim(b) > 3:
        return NotImplemented
    # All right sides side by side, so that the matrix is factored once.
    columns = anp.moveaxis(b, 1, 0)
    shape = anp.shape(columns)
    solved = linalg.solve(a, anp.reshape(columns, (shape[0], math.prod(shape[1:]))))
    return anp.moveaxis(anp.reshape(solved, shape), 0, 1)


_def(linalg.solve, _solve)

# -------------------------------------------------------------------------------------------------- Fourier transforms


def _transform(fun):
    return lambda x, n=None, axis=-1, *args, **kwargs: fun(x, n, _behind(axis), *args, **kwargs)


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _def_first(getattr(fft, _name), _transform(getattr(fft, _name)))
