"""einsum: its VJP, JVP and batch rule.

The cotangent of one operand is an einsum again, of the answer's cotangent in the place of that operand and with the
labels of the two exchanged; it follows by differentiating the sum that einsum stands for. Three cases need more:

- an axis of length 1 is summed and restored by a reshape;
- a label that neither another operand nor the answer has comes with a vector of ones;
- a label that the operand repeats is put on the diagonal by an identity matrix for each repetition.
"""

from functools import lru_cache

import numpy as onp

from fastgrad._engine.core import vspace
from fastgrad._rules.arguments import subvals
from fastgrad._rules.direct import def_whole
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import like

# In the order of the integers that stand for labels in sublists.
_LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _read_einsum(args):
    """Return the subscripts, the operands, and the step between operands in ``args`` and the index of the first."""
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
    """Return the labels of each operand and of the answer, with labels for ellipses and for an implicit answer."""
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
    """Return the einsum that is the cotangent of operand ``k``.

    Parameters
    ----------
    subscripts : str
        The subscripts of the call.
    shapes : tuple of tuple of int
        The shapes of its operands.
    k : int

    Returns
    -------
    subscripts : str
        The subscripts of an einsum of the answer's cotangent, the other operands in turn, and the constants.
    constants : tuple of (callable, int)
        The function that makes each constant, ``numpy.ones`` or ``numpy.eye``, and its size.
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
    # A path that the user gave is one for the operands of the call, not for these.
    optimize = optimize if isinstance(optimize, (bool, str)) else True
    cotangents = []
    for argnum in argnums:
        k = (argnum - first) // step
        plan, constants, has_all_axes = _einsum_plan(subscripts, shapes, k)
        others = [*operands[:k], *operands[k + 1 :], *[make(n) for make, n in constants]]
        cotangent = anp.einsum(plan, g, *others, optimize=optimize)
        if not has_all_axes:
            cotangent = anp.reshape(cotangent, shapes[k])
        cotangents.append(like(cotangent, vspace(operands[k])))
    return cotangents


def _einsum_jvp(argnums, gs, _ans, args, kwargs):
    terms = [anp.einsum(*subvals(args, [(argnum, g)]), **kwargs) for argnum, g in zip(argnums, gs, strict=True)]
    return sum(terms[1:], terms[0])


def _einsum_batch(_rows, _ans, argnums, *args, **kwargs):
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


def_whole(anp.einsum, vjp=_einsum_vjp, jvp=_einsum_jvp, batch=_einsum_batch)
