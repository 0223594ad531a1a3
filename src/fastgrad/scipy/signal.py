"""Convolution in any number of dimensions.

Convolution is bilinear: each JVP is the convolution of the tangent with the other array, and each VJP, by
differentiating, the correlation of the cotangent with the other array.
"""

import math

import numpy as onp

from fastgrad._engine.core import Primitive
from fastgrad._rules.direct import def_direct
from fastgrad.core import vspace
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import fit
from fastgrad.tracer import getval

__all__ = ["compute_conv_size", "convolve", "flipped_idxs", "grad_convolve", "parse_axes"]


def compute_conv_size(A_size, B_size, mode):
    """Return the length of a convolution along one axis.

    Parameters
    ----------
    A_size, B_size : int
        The lengths of the two arrays.
    mode : {"full", "same", "valid"}
        As for `convolve`.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If there is no such mode.
    """
    if mode == "full":
        return A_size + B_size - 1
    if mode == "same":
        return A_size
    if mode == "valid":
        return abs(A_size - B_size) + 1
    raise ValueError(f"mode must be 'full', 'same' or 'valid', not {mode!r}")


def flipped_idxs(ndim, axes):
    """Return the index that reverses some of the axes of an array.

    Parameters
    ----------
    ndim : int
        The number of axes.
    axes : container of int
        The axes to reverse.

    Returns
    -------
    tuple of slice
    """
    return tuple(slice(None, None, -1 if i in axes else None) for i in range(ndim))


def parse_axes(A_shape, B_shape, conv_axes, dot_axes, mode):
    """Return the axes of the arrays and of the answer of a convolution, by their roles.

    Parameters
    ----------
    A_shape, B_shape : tuple of int
        The shapes of the arrays.
    conv_axes, dot_axes : pair of sequences of int, or None
        As ``axes`` and ``dot_axes`` of `convolve`.
    mode : {"full", "same", "valid"}
        As for `convolve`.

    Returns
    -------
    axes : dict
        ``axes["A"]`` and ``axes["B"]`` map "conv", "dot" and "ignore" to tuples of axes; ``axes["out"]`` maps
        "ignore_A", "ignore_B" and "conv" to axes of the answer.
    shapes : dict
        The lengths of these axes, under the same keys.

    Raises
    ------
    ValueError
        If there is no such mode, or in mode "valid" neither array is at least as large as the other.
    """
    shapes = {"A": tuple(A_shape), "B": tuple(B_shape)}
    if conv_axes is None:
        conv_axes = (range(len(A_shape)),) * 2
    axes = {
        name: _sorted_axes(len(shapes[name]), conv, dot)
        for name, conv, dot in zip("AB", conv_axes, dot_axes, strict=True)
    }
    lengths = {name: {k: tuple(shapes[name][i] for i in v) for k, v in axes[name].items()} for name in "AB"}
    sizes = list(zip(lengths["A"]["conv"], lengths["B"]["conv"], strict=True))
    if mode == "valid" and not (all(a >= b for a, b in sizes) or all(a <= b for a, b in sizes)):
        raise ValueError("in mode 'valid' one array must be at least as large as the other along all convolved axes")
    lengths["out"] = {
        "ignore_A": lengths["A"]["ignore"],
        "ignore_B": lengths["B"]["ignore"],
        "conv": tuple(compute_conv_size(a, b, mode) for a, b in sizes),
    }
    axes["out"], start = {}, 0
    for name, part in lengths["out"].items():
        axes["out"][name] = tuple(range(start, start + len(part)))
        start += len(part)
    return axes, lengths


def _sorted_axes(ndim, conv, dot):
    conv = tuple(int(i) % ndim for i in conv)
    # An axis that is in both lists is convolved.
    dot = tuple(i for i in (int(i) % ndim for i in dot) if i not in conv)
    return {"conv": conv, "dot": dot, "ignore": tuple(i for i in range(ndim) if i not in conv and i not in dot)}


def _padding(a, b, mode):
    """Return the padding of both sides along an axis that makes the answer the valid part of the convolution."""
    if mode == "full":
        return (b - 1, b - 1)
    return (b // 2, (b - 1) // 2) if mode == "same" else (0, 0)


def _convolve(A, B, of_A, of_B, mode):
    """Return the convolution; in mode "valid" A must be at least as large as B along the convolved axes."""
    size = {name: math.prod(A.shape[i] for i in axes) for name, axes in of_A.items()}
    n_out = math.prod(compute_conv_size(A.shape[i], B.shape[j], mode) for i, j in _pairs(of_A, of_B))
    n_window = math.prod(B.shape[j] for j in of_B["conv"])
    scattered = size["conv"] * math.prod(B.shape[j] for j in of_B["ignore"])
    # The choice is the one with the smaller intermediate array.
    if n_window <= 1024 and scattered < size["dot"] * n_out:
        return _scatter(A, B, of_A, of_B, mode)
    return _gather(A, B, of_A, of_B, mode)


def _pairs(of_A, of_B):
    return zip(of_A["conv"], of_B["conv"], strict=True)


def _gather(A, B, of_A, of_B, mode):
    """Return the convolution as the products of B with each window of A."""
    widths = [(0, 0)] * A.ndim
    for i, j in _pairs(of_A, of_B):
        widths[i] = _padding(A.shape[i], B.shape[j], mode)
    views = onp.pad(A, widths) if widths else A
    if of_A["conv"]:
        window = tuple(B.shape[j] for j in of_B["conv"])
        views = onp.lib.stride_tricks.sliding_window_view(views, window, of_A["conv"])
    behind = tuple(range(A.ndim, views.ndim))
    flipped = B[flipped_idxs(B.ndim, of_B["conv"])]
    answer = onp.tensordot(views, flipped, (of_A["dot"] + behind, of_B["dot"] + of_B["conv"]))
    # The remaining axes of the views come first in the product, in the order of A's axes.
    left = [i for i in range(A.ndim) if i not in of_A["dot"]]
    order = [left.index(i) for i in of_A["ignore"]]
    order += [*range(len(left), answer.ndim), *[left.index(i) for i in of_A["conv"]]]
    return onp.ascontiguousarray(onp.transpose(answer, order))


def _scatter(A, B, of_A, of_B, mode):
    """Return the convolution as the sum of all products of elements of A and B, each added at its index."""
    left_A, left_B = ([i for i in range(x.ndim) if i not in of["dot"]] for x, of in ((A, of_A), (B, of_B)))
    positions = {name: [left_A.index(i) for i in of_A[name]] for name in ("ignore", "conv")}
    positions_B = {name: [len(left_A) + left_B.index(i) for i in of_B[name]] for name in ("ignore", "conv")}
    products = onp.tensordot(A, B, (of_A["dot"], of_B["dot"]))
    order = positions["ignore"] + positions_B["ignore"] + positions["conv"] + positions_B["conv"]
    products = onp.transpose(products, order)
    n_conv = len(positions["conv"])
    lead, ends = products.shape[: products.ndim - 2 * n_conv], products.shape[products.ndim - 2 * n_conv :]
    sizes, window = ends[:n_conv], ends[n_conv:]
    full = onp.zeros((*lead, *[a + b - 1 for a, b in zip(sizes, window, strict=True)]), products.dtype)
    for index in onp.ndindex(*window):
        part = tuple(slice(k, k + a) for k, a in zip(index, sizes, strict=True))
        full[(..., *part)] += products[(..., *index)]
    if mode == "full":
        return full
    starts = [(b - 1) // 2 if mode == "same" else b - 1 for b in window]
    lengths = [compute_conv_size(a, b, mode) for a, b in zip(sizes, window, strict=True)]
    return onp.ascontiguousarray(full[(..., *[slice(k, k + n) for k, n in zip(starts, lengths, strict=True)])])


def convolve(A, B, axes=None, dot_axes=((), ()), mode="full"):
    """Convolve two arrays along some of their axes.

    Parameters
    ----------
    A, B : array_like
        The arrays, of any shapes; real or complex.
    axes : pair of sequences of int, optional
        The axes of A and the axes of B to convolve with each other. By default all, in order.
    dot_axes : pair of sequences of int
        The axes of A and of B to sum products over, as `numpy.tensordot` does.
    mode : {"full", "same", "valid"}
        The whole convolution; its central part, of the lengths of A; or the part where the smaller array lies entirely
        inside the larger one.

    Returns
    -------
    ndarray
        The convolution. Its axes are those of A that are in neither list, those of B that are in neither list, and the
        convolved ones.

    Raises
    ------
    ValueError
        If there is no such mode, or in mode "valid" neither array is at least as large as the other.
    """
    A, B = onp.asarray(A), onp.asarray(B)
    sorted_axes, shapes = parse_axes(A.shape, B.shape, axes, dot_axes, mode)
    if mode != "valid" or _is_larger(shapes["A"], shapes["B"]):
        return _convolve(A, B, sorted_axes["A"], sorted_axes["B"], mode)
    swapped = _convolve(B, A, sorted_axes["B"], sorted_axes["A"], mode)
    n_A, n_B = (len(shapes[name]["ignore"]) for name in "AB")
    order = (*range(n_B, n_B + n_A), *range(n_B), *range(n_A + n_B, swapped.ndim))
    return onp.ascontiguousarray(onp.transpose(swapped, order))


convolve = Primitive(convolve, array_like=True)


def _is_larger(mine, theirs):
    return all(a >= b for a, b in zip(mine["conv"], theirs["conv"], strict=True))


def _widened(g, lead, B_sizes):
    """Return the cotangent of the central part, padded with zeros to the size of the full convolution."""
    return anp.pad(g, [(0, 0)] * lead + [((b - 1) // 2, b // 2) for b in B_sizes], "constant")


def _pull(g, other, argnum, A_shape, B_shape, axes, dot_axes, mode):
    """Return the cotangent of A (argnum 0) or B (1): the convolution of g with the flipped other array."""
    sorted_axes, shapes = parse_axes(A_shape, B_shape, axes, dot_axes, mode)
    mine, theirs = "AB"[argnum], "BA"[argnum]
    my_axes, their_axes, out_axes = sorted_axes[mine], sorted_axes[theirs], sorted_axes["out"]
    if mode == "same":
        g, mode = _widened(g, len(out_axes["ignore_A"] + out_axes["ignore_B"]), shapes["B"]["conv"]), "full"
    pulled = convolve(
        g,
        other[flipped_idxs(len((A_shape, B_shape)[1 - argnum]), their_axes["conv"])],
        axes=(out_axes["conv"], their_axes["conv"]),
        dot_axes=(out_axes[f"ignore_{theirs}"], their_axes["ignore"]),
        mode="full" if mode == "valid" and _is_larger(shapes[mine], shapes[theirs]) else "valid",
    )
    # Its axes are the ignored ones of mine, the summed ones in the order of the other array's axes, the convolved ones.
    dots = [my_axes["dot"][k] for k in onp.argsort(their_axes["dot"])]
    order = [*my_axes["ignore"], *dots, *my_axes["conv"]]
    return anp.transpose(pulled, tuple(onp.argsort(order).tolist()))


def grad_convolve(argnum, ans, A, B, axes=None, dot_axes=((), ()), mode="full"):
    """Return the pullback of `convolve`.

    Parameters
    ----------
    argnum : {0, 1}
        0 for A, 1 for B.
    ans : ndarray
        The convolution.
    A, B, axes, dot_axes, mode
        The arguments, as for `convolve`.

    Returns
    -------
    callable
        Takes the cotangent of the convolution to that of the array.
    """
    return lambda g: _rule(argnum)(g, ans, A, B, axes, dot_axes, mode)


def _rule(argnum):
    def rule(g, _ans, A, B, axes=None, dot_axes=((), ()), mode="full"):
        arrays = [x if hasattr(x, "ndim") else onp.asarray(x) for x in (A, B)]
        pulled = _pull(g, arrays[1 - argnum], argnum, *map(anp.shape, arrays), axes, dot_axes, mode)
        return fit(pulled, vspace(getval(arrays[argnum])))

    return rule


def_direct(convolve, vjps=(_rule(0), _rule(1)), jvps=("same", "same"))
