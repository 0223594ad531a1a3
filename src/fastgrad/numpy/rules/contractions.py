"""Products that sum over shared axes: dot, matmul, inner, outer, vdot, tensordot, kron, cross, vecdot, matvec, vecmat.

All are linear in each argument (`vdot` over the reals), so that a tangent passes through the function itself. The
cotangent of an argument is the product of the answer's cotangent with the other argument, by differentiating the sum
that defines the function. In a batch rule one argument is a batch; both are made matrices, so that one call of BLAS
serves all rows. einsum has a file of its own.
"""

import math
import operator

from fastgrad._rules.direct import def_direct
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.batching import broadcasting, flatten_rows, with_rank
from fastgrad.numpy.broadcasting import as_array, fit, is_complex, unbroadcast
from fastgrad.numpy.composing import def_composed_name


def _like(cotangent, space):
    """Return a cotangent of the right shape in the dtype of a space; `fit` is called only if it differs."""
    return cotangent if cotangent.dtype is space.dtype else fit(cotangent, space)


# The routines in C for products of concrete vectors and matrices.
_COMPILED = ("dot left", "dot right")


_multiply_batch = broadcasting(anp.multiply)


def _all_but_second_last(ndim):
    return (*range(ndim - 2), ndim - 1)


# ------------------------------------------------------------------------------------------------------------------ dot
# n and m are the numbers of axes of a and b. Products of matrices go to BLAS as they are, those of higher rank through
# tensordot, which makes matrices of them: numpy.dot of arrays with more than two axes does not use BLAS.


def _dot_vjp_a(g, _ans, vs_a, b):
    b = as_array(b)
    n, m = vs_a.ndim, b.ndim
    if n == 0 or m == 0:
        return fit(anp.multiply(g, b), vs_a)
    if m == 1:
        cotangent = g * b if n == 1 else g[..., None] * b
    elif m == 2 and n <= 2:
        cotangent = anp.dot(g, b.T)
    else:
        cotangent = anp.tensordot(g, b, (range(n - 1, n + m - 2), _all_but_second_last(m)))
    return _like(cotangent, vs_a)


def _dot_vjp_b(g, _ans, a, vs_b):
    a = as_array(a)
    n, m = a.ndim, vs_b.ndim
    if n == 0 or m == 0:
        return fit(anp.multiply(g, a), vs_b)
    if n == 1:
        cotangent = g * a if m == 1 else a[:, None] * g[..., None, :]
    elif n == 2 and m <= 2:
        cotangent = anp.dot(a.T, g) if m == 2 else anp.dot(g, a)
    else:
        cotangent = anp.tensordot(a, g, (range(n - 1), range(n - 1)))
        if m > 2:
            cotangent = anp.moveaxis(cotangent, 0, -2)
    return _like(cotangent, vs_b)


def _rows_ndims(argnums, a, b):
    """Return the numbers of axes of a row of ``a`` and of ``b``."""
    return anp.ndim(a) - (0 in argnums), anp.ndim(b) - (1 in argnums)


def _contract_rows(argnums, a, b, axes_a, axes_b):
    """Return the tensordot of a batch with an array, over axes counted in a row."""
    if argnums == (0,):
        return anp.tensordot(a, b, ([i + 1 for i in axes_a], axes_b))
    product = anp.tensordot(b, a, ([i + 1 for i in axes_b], axes_a))
    n_rest = anp.ndim(b) - 1 - len(axes_b)
    n = anp.ndim(product)
    if n_rest == 0 or n_rest == n - 1:
        return product
    return anp.transpose(product, (0, *range(n_rest + 1, n), *range(1, n_rest + 1)))


def _dot_batch(rows, ans, argnums, a, b):
    n, m = _rows_ndims(argnums, a, b)
    if len(argnums) != 1:
        return NotImplemented
    if n == 0 or m == 0:
        return _multiply_batch(rows, ans, argnums, a, b)
    if argnums == (0,) and n == 1 and m <= 2:
        return anp.dot(a, b)
    if argnums == (1,) and m == 1 and n <= 2:
        return anp.dot(b, anp.transpose(a))
    return _contract_rows(argnums, a, b, [n - 1], [max(m - 2, 0)])


def_direct(anp.dot, vjps=(_dot_vjp_a, _dot_vjp_b), jvps=("same", "same"), compiled=_COMPILED, batch=_dot_batch)


# --------------------------------------------------------------------------------------------------------------- matmul


def _matmul_vjp_a(g, _ans, vs_a, b):
    b = as_array(b)
    n, m = vs_a.ndim, b.ndim
    if m == 2:
        cotangent = anp.dot(g, b.T) if n <= 2 else anp.matmul(g, b.T)
    elif m == 1:
        cotangent = g * b if n == 1 else g[..., None] * b
    elif n == 1:
        cotangent = anp.tensordot(b, g, (_all_but_second_last(m), range(m - 1)))
    else:
        return fit(anp.matmul(g, anp.swapaxes(b, -1, -2)), vs_a)
    return _like(cotangent, vs_a)


def _matmul_vjp_b(g, _ans, a, vs_b):
    a = as_array(a)
    n, m = a.ndim, vs_b.ndim
    if n == 1:
        cotangent = g * a if m == 1 else a[:, None] * g[..., None, :]
    elif m > 2:
        return fit(anp.matmul(anp.swapaxes(a, -1, -2), g), vs_b)
    elif n == 2:
        cotangent = anp.dot(a.T, g) if m == 2 else anp.dot(g, a)
    else:
        cotangent = anp.tensordot(a, g, (range(n - 1), range(n - 1)))
    return _like(cotangent, vs_b)


def _matmul_batch(rows, ans, argnums, a, b):
    n, m = _rows_ndims(argnums, a, b)
    if len(argnums) != 1:
        return NotImplemented
    if argnums == (0,) and m <= 2 or argnums == (1,) and n <= 2 and m <= 2:
        return _dot_batch(rows, ans, argnums, a, b)
    # A vector is a matrix of one row, or of one column.
    a = anp.expand_dims(a, -2) if n == 1 else a
    b = anp.expand_dims(b, -1) if m == 1 else b
    rank = max(n, m, 2)
    a, b = (with_rank(x, rank) if i in argnums else x for i, x in enumerate((a, b)))
    return anp.reshape(anp.matmul(a, b), (rows, *anp.shape(ans)))


def_direct(
    anp.matmul, vjps=(_matmul_vjp_a, _matmul_vjp_b), jvps=("same", "same"), compiled=_COMPILED, batch=_matmul_batch
)


# ---------------------------------------------------------------------------------------------------------------- inner


def _inner_vjp_a(g, _ans, vs_a, b):
    b = as_array(b)
    n, m = vs_a.ndim, b.ndim
    if n == 0 or m == 0:
        return fit(anp.multiply(g, b), vs_a)
    if m == 1:
        cotangent = g * b if n == 1 else g[..., None] * b
    elif m == 2 and n <= 2:
        cotangent = anp.dot(g, b)
    else:
        cotangent = anp.tensordot(g, b, (range(n - 1, n + m - 2), range(m - 1)))
    return _like(cotangent, vs_a)


def _inner_vjp_b(g, _ans, a, vs_b):
    a = as_array(a)
    n, m = a.ndim, vs_b.ndim
    if n == 0 or m == 0:
        return fit(anp.multiply(g, a), vs_b)
    if n == 1:
        cotangent = g * a if m == 1 else g[..., None] * a
    elif n == 2 and m <= 2:
        cotangent = anp.dot(g.T, a) if m == 2 else anp.dot(g, a)
    else:
        cotangent = anp.tensordot(g, a, (range(n - 1), range(n - 1)))
    return _like(cotangent, vs_b)


def _inner_batch(rows, ans, argnums, a, b):
    n, m = _rows_ndims(argnums, a, b)
    if len(argnums) != 1:
        return NotImplemented
    if n == 0 or m == 0:
        return _multiply_batch(rows, ans, argnums, a, b)
    return _contract_rows(argnums, a, b, [n - 1], [m - 1])


def_direct(anp.inner, vjps=(_inner_vjp_a, _inner_vjp_b), jvps=("same", "same"), batch=_inner_batch)


# ------------------------------------------------------------------------------------------------------- outer and vdot
# Both flatten their arguments.


def _outer_vjp_a(g, _ans, vs_a, b):
    cotangent = anp.dot(g, b if anp.ndim(b) == 1 else anp.ravel(b))
    return _like(cotangent if vs_a.ndim == 1 else anp.reshape(cotangent, vs_a.shape), vs_a)


def _outer_vjp_b(g, _ans, a, vs_b):
    cotangent = anp.dot(a if anp.ndim(a) == 1 else anp.ravel(a), g)
    return _like(cotangent if vs_b.ndim == 1 else anp.reshape(cotangent, vs_b.shape), vs_b)


def _outer_batch(_rows, _ans, argnums, a, b):
    a, b = (flatten_rows(x) if i in argnums else anp.ravel(x) for i, x in enumerate((a, b)))
    return anp.multiply(a[..., None], b[:, None, :] if 1 in argnums else b)


def_direct(anp.outer, vjps=(_outer_vjp_a, _outer_vjp_b), jvps=("same", "same"), batch=_outer_batch)


def _conj(a):
    return anp.conj(a) if is_complex(a) else a


def _vdot_vjp_a(g, _ans, vs_a, b):
    return _like(anp.reshape(_conj(anp.multiply(g, b)), vs_a.shape), vs_a)


def _vdot_vjp_b(g, _ans, a, vs_b):
    return _like(anp.reshape(anp.multiply(g, _conj(a)), vs_b.shape), vs_b)


def_direct(anp.vdot, vjps=(_vdot_vjp_a, _vdot_vjp_b), jvps=("same", "same"))


# ------------------------------------------------------------------------------------------------------------ tensordot


def _contracted(axes, n, m):
    """Return tensordot's ``axes`` as two lists of non-negative axes, of arrays with ``n`` and ``m`` axes."""
    try:
        axes_a, axes_b = axes
    except TypeError:
        count = operator.index(axes)
        return list(range(n - count, n)), list(range(count))
    return _non_negative(axes_a, n), _non_negative(axes_b, m)


def _non_negative(axes, ndim):
    axes = axes if hasattr(axes, "__iter__") else (axes,)
    return [operator.index(axis) % ndim for axis in axes]


def _in_order_of_argument(cotangent, free, paired, paired_with):
    """Return the product of the answer's cotangent with the other argument with its axes in this argument's order.

    The product has this argument's ``free`` axes first, then its ``paired`` ones in the order of the axes
    ``paired_with`` of the other argument.
    """
    order = free + [axis for _, axis in sorted(zip(paired_with, paired, strict=True))]
    if order == sorted(order):
        return cotangent
    return anp.transpose(cotangent, [order.index(axis) for axis in range(len(order))])


def _as_matrix(x, n_rows):
    """Return an array as a matrix: the first ``n_rows`` axes joined, and the others."""
    shape = anp.shape(x)
    return anp.reshape(x, (math.prod(shape[:n_rows]), math.prod(shape[n_rows:])))


def _tensordot_vjp_a(g, _ans, vs_a, b, axes=2):
    b = as_array(b)
    n, m = vs_a.ndim, b.ndim
    if isinstance(axes, int):
        product = anp.dot(_as_matrix(g, n - axes), _as_matrix(b, axes).T)
        return _like(anp.reshape(product, vs_a.shape), vs_a)
    axes_a, axes_b = _contracted(axes, n, m)
    free_a, free_b = [i for i in range(n) if i not in axes_a], [i for i in range(m) if i not in axes_b]
    cotangent = anp.tensordot(g, b, (range(len(free_a), len(free_a) + len(free_b)), free_b))
    return _like(_in_order_of_argument(cotangent, free_a, axes_a, axes_b), vs_a)


def _tensordot_vjp_b(g, _ans, a, vs_b, axes=2):
    a = as_array(a)
    n, m = a.ndim, vs_b.ndim
    if isinstance(axes, int):
        product = anp.dot(_as_matrix(a, n - axes).T, _as_matrix(g, n - axes))
        return _like(anp.reshape(product, vs_b.shape), vs_b)
    axes_a, axes_b = _contracted(axes, n, m)
    free_a, free_b = [i for i in range(n) if i not in axes_a], [i for i in range(m) if i not in axes_b]
    cotangent = anp.tensordot(g, a, (range(len(free_a)), free_a))
    return _like(_in_order_of_argument(cotangent, free_b, axes_b, axes_a), vs_b)


def _tensordot_batch(_rows, _ans, argnums, a, b, axes=2):
    if len(argnums) != 1:
        return NotImplemented
    return _contract_rows(argnums, a, b, *_contracted(axes, *_rows_ndims(argnums, a, b)))


def_direct(anp.tensordot, vjps=(_tensordot_vjp_a, _tensordot_vjp_b), jvps=("same", "same"), batch=_tensordot_batch)


# ----------------------------------------------------------------------------------------------------------------- kron
# kron(a, b) is the outer product with the axes of a and b interleaved, then joined in pairs.


def _kron_vjp(g, space, other, own_first):
    n = max(space.ndim, anp.ndim(other))
    own = (1,) * (n - space.ndim) + space.shape
    other = anp.reshape(other, (1,) * (n - anp.ndim(other)) + anp.shape(other))
    pairs = zip(own, anp.shape(other), strict=True) if own_first else zip(anp.shape(other), own, strict=True)
    g = anp.reshape(g, tuple(length for pair in pairs for length in pair))
    cotangent = anp.tensordot(g, other, (range(1 if own_first else 0, 2 * n, 2), range(n)))
    return _like(anp.reshape(cotangent, space.shape), space)


def _kron_vjp_a(g, _ans, vs_a, b):
    return _kron_vjp(g, vs_a, b, True)


def _kron_vjp_b(g, _ans, a, vs_b):
    return _kron_vjp(g, vs_b, a, False)


def_direct(anp.kron, vjps=(_kron_vjp_a, _kron_vjp_b), jvps=("same", "same"))


# ---------------------------------------------------------------------------------------------------------------- cross
# g . (v x b) = v . (b x g) and g . (a x v) = v . (g x a); vectors of length 2 stand for ones whose third entry is 0.


def _as_3_vectors(x):
    return x if anp.shape(x)[-1] == 3 else anp.concatenate((x, anp.zeros_like(x[..., :1])), -1)


def _moved(x, source, destination):
    return x if source == destination else anp.moveaxis(x, source, destination)


def _cross_vjp(g, space, axis, other, other_axis, axisc, own_first):
    other = _moved(as_array(other), other_axis, -1)
    length = space.shape[axis]
    if length == 2 and anp.shape(other)[-1] == 2:
        third = anp.reshape(g, (*anp.shape(g), 1))
        zero = anp.zeros_like(third)
        g = anp.concatenate((zero, zero, third), -1)
    else:
        g = _moved(g, axisc, -1)
    other = _as_3_vectors(other)
    cotangent = anp.cross(other, g) if own_first else anp.cross(g, other)
    if length == 2:
        cotangent = cotangent[..., :2]
    moved_shape = list(space.shape)
    moved_shape.append(moved_shape.pop(axis))
    cotangent = unbroadcast(cotangent, (tuple(moved_shape), space.ndim, space.dtype, space.iscomplex))
    return _like(_moved(cotangent, -1, axis), space)


def _cross_vjp_a(g, _ans, vs_a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa = axisb = axisc = axis
    return _cross_vjp(g, vs_a, axisa, b, axisb, axisc, True)


def _cross_vjp_b(g, _ans, a, vs_b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa = axisb = axisc = axis
    return _cross_vjp(g, vs_b, axisb, a, axisa, axisc, False)


def_direct(anp.cross, vjps=(_cross_vjp_a, _cross_vjp_b), jvps=("same", "same"))


# -------------------------------------------------------------------------------------------- vecdot, matvec and vecmat


def _vecdot(x1, x2, _out=None, axis=-1):
    x1, x2 = (x if axis == -1 else anp.moveaxis(x, axis, -1) for x in (as_array(x1), as_array(x2)))
    return anp.sum((anp.conj(x1) if is_complex(x1) else x1) * x2, axis=-1)


def _matvec(x1, x2, _out=None):
    return anp.matmul(x1, anp.expand_dims(x2, -1))[..., 0]


def _vecmat(x1, x2, _out=None):
    x1 = anp.conj(x1) if is_complex(x1) else x1
    return anp.matmul(anp.expand_dims(x1, -2), x2)[..., 0, :]


def_composed_name("vecdot", _vecdot)
def_composed_name("matvec", _matvec)
def_composed_name("vecmat", _vecmat)
