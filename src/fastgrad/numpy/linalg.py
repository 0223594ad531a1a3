"""numpy.linalg, its functions as primitives; those that are compositions of other primitives are defined here."""

import inspect as _inspect
import math as _math

import numpy as _np
import numpy.linalg as _npla

from fastgrad._engine.core import contains_box as _contains_box
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy._namespace.arrays import traced_array as _traced_array
from fastgrad.numpy.numpy_wrapper import wrap_namespace
from fastgrad.tracer import getval as _getval
from fastgrad.tracer import isbox as _isbox

wrap_namespace(_npla.__dict__, globals())


def T(x):
    """Return the transposes of a stack of matrices."""
    return anp.swapaxes(x, -1, -2)


def _dot(a, b):  # autograd has a helper of this name
    return anp.einsum("...ij,...jk->...ik", a, b)


@anp.primitive
def multi_dot_args(*arrays):
    """Return the product of matrices, given one by one, multiplied in the cheapest order."""
    return _npla.multi_dot(arrays)


def multi_dot(arrays, *, out=None):
    """Return the product of two or more matrices, multiplied in the cheapest order, as ``numpy.linalg.multi_dot`` does.

    Parameters
    ----------
    arrays : sequence of array_like
        Matrices; the first and the last may be vectors.
    out : ndarray, optional
        An array for the product; not with traced values.

    Raises
    ------
    NotImplementedError
        If ``out`` is given with traced values.
    """
    arrays = [_traced_array(x) for x in arrays]
    if out is None:
        return multi_dot_args(*arrays)
    if _contains_box(arrays):
        raise NotImplementedError("multi_dot of traced values does not take 'out'; use the returned array")
    return _npla.multi_dot(arrays, out=out)


# The default is None or, before NumPy 2, "warn", which means -1.
_LSTSQ_RCOND = _inspect.signature(_npla.lstsq).parameters["rcond"].default


@anp.primitive
def lstsq_parts(a, b, rcond=None):
    """Return what of ``numpy.linalg.lstsq`` has derivatives: solution, squared residuals and singular values."""
    x, squares, _, s = _npla.lstsq(a, b, rcond)
    return x, squares, s


def lstsq(a, b, rcond=_LSTSQ_RCOND):
    """Return the solution of a least-squares problem as ``numpy.linalg.lstsq`` does.

    Parameters
    ----------
    a : array_like
        Shape (m, n).
    b : array_like
        Shape (m,) or (m, k).
    rcond : float, optional
        Singular values up to this fraction of the largest are treated as zero.

    Returns
    -------
    x, squares, rank, s
        The solution, the sums of squared residuals (empty if the rank is below n, or m at most n), the rank, and the
        singular values. The derivatives are those at constant rank.
    """
    a, b = _traced_array(a), _traced_array(b)
    if not (_isbox(a) or _isbox(b)):
        return _npla.lstsq(a, b, rcond)
    x, squares, s = lstsq_parts(a, b, rcond)
    return x, squares, _lstsq_rank(_getval(s), max(anp.shape(a)), rcond), s


def _lstsq_rank(s, size, rcond):
    cutoff = _lstsq_cutoff(s, size, rcond) * s.max(initial=0)
    return _np.int32(_np.count_nonzero(s > cutoff))


def _lstsq_cutoff(s, size, rcond):
    """Return the ``rcond`` that NumPy passes to LAPACK."""
    eps = _np.finfo(s.dtype).eps
    return eps * size if rcond is None else eps if rcond == "warn" or rcond < 0 else rcond


def tensorinv(a, ind=2):
    """Return the inverse of an array as a linear map between its first ``ind`` axes and the others.

    Parameters
    ----------
    a : array_like
        The product of the first ``ind`` lengths equals that of the others.
    ind : int
        The number of axes on one side, as in ``numpy.linalg.tensorinv``.

    Raises
    ------
    ValueError
        If ``ind`` is not positive.
    """
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = anp.shape(a)
    matrix = anp.reshape(a, (_math.prod(shape[:ind]), -1))
    return anp.reshape(inv(matrix), shape[ind:] + shape[:ind])  # noqa: F821


def tensorsolve(a, b, axes=None):
    """Return the solution x of ``tensordot(a, x, x.ndim) == b``, as ``numpy.linalg.tensorsolve`` does.

    Parameters
    ----------
    a : array_like
        Of shape ``b.shape + x.shape``, after the moves of ``axes``.
    b : array_like
    axes : tuple of int, optional
        Axes of ``a`` that are moved to its end first.
    """
    n = anp.ndim(a)
    last = [axis % n for axis in axes or ()]
    a = anp.transpose(a, [axis for axis in range(n) if axis not in last] + last)
    shape = anp.shape(a)[anp.ndim(b) - n :]
    matrix = anp.reshape(a, (-1, _math.prod(shape)))
    return anp.reshape(solve(matrix, anp.ravel(b)), shape)  # noqa: F821


if hasattr(_npla, "matrix_transpose"):  # NumPy 2
    matmul, matrix_transpose, tensordot = anp.matmul, anp.matrix_transpose, anp.tensordot

    def trace(x, /, *, offset=0, dtype=None):
        """Return the sum of the diagonal of the last two axes, as ``numpy.linalg.trace`` does."""
        return anp.trace(x, offset, -2, -1, dtype)

    def diagonal(x, /, *, offset=0):
        """Return the diagonal of the last two axes, as ``numpy.linalg.diagonal`` does."""
        return anp.diagonal(x, offset, -2, -1)

    def outer(x1, x2, /):
        """Return the outer product of two vectors, as ``numpy.linalg.outer`` does; ValueError for others."""
        if anp.ndim(x1) != 1 or anp.ndim(x2) != 1:
            raise ValueError(
                f"Input arrays must be one-dimensional, but they are x1.ndim={anp.ndim(x1)} and x2.ndim={anp.ndim(x2)}."
            )
        return anp.outer(x1, x2)

    def cross(x1, x2, /, *, axis=-1):
        """Return the cross product of vectors of length 3, as ``numpy.linalg.cross`` does; ValueError for others."""
        if anp.shape(x1)[axis] != 3 or anp.shape(x2)[axis] != 3:
            raise ValueError(
                "Both input arrays must be (arrays of) 3-dimensional vectors, "
                f"but they are {anp.shape(x1)[axis]} and {anp.shape(x2)[axis]} dimensional instead."
            )
        return anp.cross(x1, x2, axis=axis)
