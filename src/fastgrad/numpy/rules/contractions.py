"""Products that sum over shared axes: dot and its kin, einsum, kron and cross.

All are linear in each argument (`vdot` over the reals), so a tangent goes through the function itself, and a cotangent
is a product of the answer's cotangent with the other argument.
"""

import math
import operator
from functools import lru_cache

import numpy as onp

from fastgrad._engine.core import vspace
from fastgrad._rules.arguments import subvals
from fastgrad._rules.direct import def_direct, def_whole
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import as_array, fit, is_complex, unbroadcast


def _like(cotangent, space):
    """`fit`, with a short way out, for a cotangent of the right shape."""
    return cotangent if cotangent.dtype is space.dtype else fit(cotangent, space)


# What is done in C for products of vectors and matrices.
_COMPILED = ("dot left", "dot right")


def _all_but_second_last(ndim):
    return (*range(ndim - 2), ndim - 1)


# ----------------------------------------------------------------------------------------------------------------- dot
# n and m are the numbers of axes of a and b. The products of matrices go to BLAS as they are, those of higher rank
# through tensordot, which makes matrices of them: numpy.dot of more than two axes does not use BLAS.


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


def_direct(anp.dot, vjps=(_dot_vjp_a, _dot_vjp_b), jvps=("same", "same"), compiled=_COMPILED)


# -------------------------------------------------------------------------------------------------------------- matmul


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


def_direct(anp.matmul, vjps=(_matmul_vjp_a, _matmul_vjp_b), jvps=("same", "same"), compiled=_COMPILED)


# --------------------------------------------------------------------------------------------------------------- inner


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


def_direct(anp.inner, vjps=(_inner_vjp_a, _inner_vjp_b), jvps=("same", "same"))


# ------------------------------------------------------------------------------------------------------ outer and vdot
# Both flatten their arguments.


def _outer_vjp_a(g, _ans, vs_a, b):
    cotangent = anp.dot(g, b if anp.ndim(b) == 1 else anp.ravel(b))
    return _like(cotangent if vs_a.ndim == 1 else anp.reshape(cotangent, vs_a.shape), vs_a)


def _outer_vjp_b(g, _ans, a, vs_b):
    cotangent = anp.dot(a if anp.ndim(a) == 1 else anp.ravel(a), g)
    return _like(cotangent if vs_b.ndim == 1 else anp.reshape(cotangent, vs_b.shape), vs_b)


def_direct(anp.outer, vjps=(_outer_vjp_a, _outer_vjp_b), jvps=("same", "same"))


def _conj(a):
    return anp.conj(a) if is_complex(a) else a


def _vdot_vjp_a(g, _ans, vs_a, b):
    return _like(anp.reshape(_conj(anp.multiply(g, b)), vs_a.shape), vs_a)


def _vdot_vjp_b(g, _ans, a, vs_b):
    return _like(anp.reshape(anp.multiply(g, _conj(a)), vs_b.shape), vs_b)


def_direct(anp.vdot, vjps=(_vdot_vjp_a, _vdot_vjp_b), jvps=("same", "same"))


# ----------------------------------------------------------------------------------------------------------- tensordot


def _contracted(axes, n, m):
    """Read tensordot's ``axes`` as two lists of non-negative axes, of arrays of ``n`` and ``m`` axes."""
    try:
        axes_a, axes_b = axes
    except TypeError:
        count = operator.index(axes)
        return list(range(n - count, n)), list(range(count))
    return _non_negative(axes_a, n), _non_negative(axes_b, m)


def _non_negative(axes, ndim):
    axes = axes if hasattr(axes, "__iter__") else (axes,)
    return [operator.index(axis) % ndim for axis in axes]


def _back_in_place(cotangent, free, paired, paired_with):
    """Order the axes of a product of the answer's cotangent and the other argument as those of this argument.

    They come as this argument's ``free`` axes, then its ``paired`` ones in the order of their partners ``paired_with``
    in the other argument.
    """
    order = free + [axis for _, axis in sorted(zip(paired_with, paired, strict=True))]
    if order == sorted(order):
        return cotangent
    return anp.transpose(cotangent, [order.index(axis) for axis in range(len(order))])


def _as_matrix(x, n_rows):
    """Join the first ``n_rows`` axes, and the others."""
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
    return _like(_back_in_place(cotangent, free_a, axes_a, axes_b), vs_a)


def _tensordot_vjp_b(g, _ans, a, vs_b, axes=2):
    a = as_array(a)
    n, m = a.ndim, vs_b.ndim
    if isinstance(axes, int):
        product = anp.dot(_as_matrix(a, n - axes).T, _as_matrix(g, n - axes))
        return _like(anp.reshape(product, vs_b.shape), vs_b)
    axes_a, axes_b = _contracted(axes, n, m)
    free_a, free_b = [i for i in range(n) if i not in axes_a], [i for i in range(m) if i not in axes_b]
    cotangent = anp.tensordot(g, a, (range(len(free_a)), free_a))
    return _like(_back_in_place(cotangent, free_b, axes_b, axes_a), vs_b)


def_direct(anp.tensordot, vjps=(_tensordot_vjp_a, _tensordot_vjp_b), jvps=("same", "same"))


# ---------------------------------------------------------------------------------------------------------------- kron
# kron(a, b) is the outer product with the axes of a and b interleaved, then joined in pairs.


def _kron_vjp(g, space, other, own_first):
    n = max(space.ndim, anp.ndim(other))
    own = (1,) * (n - space.ndim) + space.shape
    other = anp.reshape(other, (1,) * (n - anp.ndim(other)) + anp.shape(other))
    pairs = zip(own, anp.shape(other), strict=True) if own_first else zip(anp.shape(other), own, strict=True)
    g = anp.reshape(g, tuple(length for pair in pairs for length in pair))
    cotangent = anp.tensordot(g, other, (range(1 if own_first else 0, 2 * n, 2), range(n)))
    return _like(anp.reshape(cotangent, space.shape), space)


def_direct(
    anp.kron,
    vjps=(
        lambda g, _ans, vs_a, b: _kron_vjp(g, vs_a, b, True),
        lambda g, _ans, a, vs_b: _kron_vjp(g, vs_b, a, False),
    ),
    jvps=("same", "same"),
)


# --------------------------------------------------------------------------------------------------------------- cross
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


# -------------------------------------------------------------------------------------------------------------- einsum
# The cotangent of one operand is an einsum again: the answer's cotangent in the place of that operand, its labels and
# the answer's changed over. What that cannot say is added: an axis of length 1 is summed and put back by a reshape,
# a label that stands nowhere else comes with a vector of ones, and a label that the operand repeats is put on the
# diagonal by one identity matrix for each repetition.

# In the order of the integers that stand for them in sublists.
_LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _read_einsum(args):
    """Give subscripts, operands, and the distance between and place of the first operand among ``args``."""
    if isinstance(args[0], str):
        return args[0], args[1:], 1, 1
    n = len(args) // 2
    subscripts = ",".join(_subscript(sublist) for sublist in args[1 : 2 * n : 2])
    if len(args) % 2:
        subscripts += "->" + _subscript(args[-1])
    return subscripts, args[: 2 * n : 2], 2, 0


def _subscript(sublist):
    return "".join("..." if label is Ellipsis else _LABELS[label] for label in sublist)


def _explicit(subscripts, shapes):
    """Give the labels of every operand and of the answer, those of an ellipsis and of an implicit answer included."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    if not arrow:
        output = "..." if "..." in inputs else ""
        output += "".join(sorted(label for label in inputs if label.isalpha() and inputs.count(label) == 1))
    inputs = inputs.split(",")
    widths = [len(shape) - len(labels.replace("...", "")) for labels, shape in zip(inputs, shapes, strict=True)]
    dots = "".join(label for label in _LABELS if label not in subscripts)[: max(widths)]
    inputs = [labels.replace("...", dots[len(dots) - n :]) for labels, n in zip(inputs, widths, strict=True)]
    return inputs, output.replace("...", dots)


@lru_cache(maxsize=1024)
def _einsum_plan(subscripts, shapes, k):
    """Plan the cotangent of operand ``k``.

    Returns
    -------
    subscripts : str
        Of an einsum of the answer's cotangent, the other operands in turn, and the constants.
    constants : tuple of (callable, int)
        How to make each of these: ``numpy.ones`` or ``numpy.eye``, and of what size.
    has_all_axes : bool
        Whether the result has all axes of the operand; if not, those missing have length 1.
    """
    inputs, output = _explicit(subscripts, shapes)
    others = [pair for i, pair in enumerate(zip(inputs, shapes, strict=True)) if i != k]
    known = set(output).union(*({a for a, n in zip(*pair, strict=True) if n != 1} for pair in others))
    unused = iter([label for label in _LABELS if label not in "".join(inputs)])
    result, extra, constants = "", [], []
    for label, n in zip(inputs[k], shapes[k], strict=True):
        if n == 1:
            continue
        if label in result:
            copy = next(unused)
            constants.append((onp.eye, n))
            extra.append(label + copy)
            label = copy
        elif label not in known:
            constants.append((onp.ones, n))
            extra.append(label)
        result += label
    operands = ",".join([output, *(labels for labels, _ in others), *extra])
    return f"{operands}->{result}", tuple(constants), len(result) == len(shapes[k])


def _einsum_vjp(argnums, g, _ans, args, kwargs):
    subscripts, operands, step, first = _read_einsum(args)
    shapes = tuple([anp.shape(operand) for operand in operands])
    optimize = kwargs.get("optimize", False)
    # A path of the user's was made for the operands of the call, not for these.
    optimize = optimize if isinstance(optimize, (bool, str)) else True
    cotangents = []
    for argnum in argnums:
        k = (argnum - first) // step
        plan, constants, has_all_axes = _einsum_plan(subscripts, shapes, k)
        others = [*operands[:k], *operands[k + 1 :], *[make(n) for make, n in constants]]
        cotangent = anp.einsum(plan, g, *others, optimize=optimize)
        if not has_all_axes:
            cotangent = anp.reshape(cotangent, shapes[k])
        cotangents.append(_like(cotangent, vspace(operands[k])))
    return cotangents


def _einsum_jvp(argnums, gs, _ans, args, kwargs):
    terms = [anp.einsum(*subvals(args, [(argnum, g)]), **kwargs) for argnum, g in zip(argnums, gs, strict=True)]
    return sum(terms[1:], terms[0])


def_whole(anp.einsum, vjp=_einsum_vjp, jvp=_einsum_jvp)
