"""Functions that are compositions of others: their rules are those of the same composition, made of primitives.

NumPy computes the value; the pass that wants the derivative traces the composition. A parameter that a composition has
no place for is refused by name.
"""

import functools
import inspect
import math
import operator

import numpy as onp

from fastgrad._rules.arguments import subvals
from fastgrad._rules.direct import def_direct, def_elementwise, def_whole
from fastgrad.builtins import list as alist
from fastgrad.builtins import tuple as atuple
from fastgrad.core import make_jvp, make_vjp, vspace
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import (
    as_array,
    dtype_of,
    fit_dtype,
    is_complex,
    kept_shape,
    like,
    normalize_axes,
)
from fastgrad.tracer import getval

_VERSION = tuple(int(part) for part in onp.__version__.split(".")[:2])

# ---------------------------------------------------------------------------------------------------------- mechanism


def _of_variables(composition, argnums, args, kwargs):
    """Make a function of the traced arguments alone, one or a tuple of them, and give it with their values."""
    if len(argnums) == 1:
        i = argnums[0]
        return lambda x: composition(*args[:i], x, *args[i + 1 :], **kwargs), args[i]

    def fun(variables):
        return composition(*subvals(args, [(i, variables[k]) for k, i in enumerate(argnums)]), **kwargs)

    return fun, atuple([args[i] for i in argnums])


def _default(value):
    """Say whether a keyword has the value that stands for "not given"."""
    return value is None or value is False or value is onp._NoValue


def def_composed(fun, composition, constant=()):
    """Give both modes of a function by a composition of primitives.

    Parameters
    ----------
    fun : Primitive
        What the rules are for.
    composition : callable
        Equal to ``fun``, of the same parameters as far as it has them, in the same order. The value is not used.
        A parameter whose name starts with an underscore stands for one of ``fun`` that must not be given.
    constant : tuple of str
        Parameters that it may be given, but not traced.
    """
    name = fun.__name__

    @functools.cache  # not at import: signatures are slow to read
    def read_parameters():
        parameters = inspect.signature(composition).parameters
        names = [name.lstrip("_") for name in parameters]
        refused = {name[1:] for name in parameters if name.startswith("_")}
        return names, refused, any(p.kind is p.VAR_POSITIONAL for p in parameters.values())

    def known(argnums, args, kwargs):
        """Refuse what the composition does not honour, and give the keywords that it does."""
        names, refused, variadic = read_parameters()
        positional = {} if variadic else dict(zip(names, args, strict=False))
        for key, value in [*positional.items(), *kwargs.items()]:
            if (key in refused or key not in names) and not _default(value):
                hint = "use the returned array" if key == "out" else "leave it out"
                raise NotImplementedError(f"{name} of a traced value has no derivative with {key!r} given; {hint}")
        for i in argnums:
            if not variadic and names[i] in constant:
                raise NotImplementedError(f"{name} has no derivative with respect to {names[i]!r}; give a plain value")
        return {key: value for key, value in kwargs.items() if key in names and key not in refused}

    def vjp(argnums, g, _ans, args, kwargs):
        of_variables, x = _of_variables(composition, argnums, args, known(argnums, args, kwargs))
        # NumPy has warned of the value already.
        with onp.errstate(all="ignore"):
            pull, _ = make_vjp(of_variables, x)
        cotangent = pull(g)
        cotangents = [cotangent] if len(argnums) == 1 else [cotangent[k] for k in range(len(argnums))]
        return [like(c, args[i]) for c, i in zip(cotangents, argnums, strict=True)]

    def jvp(argnums, gs, ans, args, kwargs):
        of_variables, x = _of_variables(composition, argnums, args, known(argnums, args, kwargs))
        with onp.errstate(all="ignore"):
            tangent = make_jvp(of_variables, x)(gs[0] if len(argnums) == 1 else atuple(gs))[1]
        return like(tangent, ans)

    def_whole(fun, vjp, jvp)


def _def(name, composition, constant=()):
    """Do `def_composed` for a function that not every NumPy has."""
    if hasattr(anp, name):
        def_composed(getattr(anp, name), composition, constant)


# ------------------------------------------------------------------------------------------------------ moved elements


def _take_along_axis(arr, indices, axis=-1):
    indices = onp.asarray(indices)
    if axis is None:
        return anp.ravel(arr)[indices]
    axis = operator.index(axis) % anp.ndim(arr)
    shape = anp.shape(arr)
    places = [onp.arange(n).reshape((n,) + (1,) * (len(shape) - i - 1)) for i, n in enumerate(shape)]
    places[axis] = indices
    return arr[tuple(places)]


def _delete(arr, obj, axis=None):
    if axis is None:
        arr, axis = anp.ravel(arr), 0
    kept = onp.delete(onp.arange(anp.shape(arr)[axis]), obj)
    return anp.take(arr, kept, axis)


def _insert(arr, obj, values, axis=None):
    shape, values = anp.shape(arr), as_array(values)
    size, more = math.prod(shape), math.prod(anp.shape(values))
    places = onp.insert(
        onp.arange(size).reshape(shape), obj, onp.arange(size, size + more).reshape(anp.shape(values)), axis
    )
    # The values take the dtype of the array, as in NumPy.
    values = fit_dtype(anp.ravel(values), vspace(arr))
    return anp.concatenate([anp.ravel(arr), values])[places]


def _resize(a, new_shape):
    new_shape = (new_shape,) if onp.ndim(new_shape) == 0 else tuple(new_shape)
    size, n = math.prod(new_shape), math.prod(anp.shape(a))
    if n == 0:
        return anp.reshape(onp.zeros(size, dtype_of(a)) + anp.sum(a), new_shape)
    return anp.reshape(anp.ravel(a)[onp.arange(size) % n], new_shape)


def _choose(a, choices, _out=None, mode="raise"):
    a, shape = onp.asarray(a), anp.shape(choices)
    n, rank = shape[0], max(onp.ndim(a), len(shape) - 1)
    a = a % n if mode == "wrap" else onp.clip(a, 0, n - 1)
    full = onp.broadcast_shapes(a.shape, shape[1:])
    choices = anp.reshape(choices, (n, *(1,) * (rank - len(shape) + 1), *shape[1:]))
    choices = anp.broadcast_to(choices, (n, *full))
    return choices[(onp.broadcast_to(a, full), *onp.indices(full, sparse=True))]


def _diagflat(v, k=0):
    return anp.diag(anp.ravel(v), k)


_def("take_along_axis", _take_along_axis)
_def("delete", _delete)
_def("insert", _insert)
_def("resize", _resize)
_def("choose", _choose)
_def("diagflat", _diagflat)

# NumPy 1 gives lists where NumPy 2 gives tuples.
_several = alist if _VERSION < (2, 0) else atuple


def _broadcast_arrays(*args, _subok=False):
    shape = onp.broadcast_shapes(*map(anp.shape, args))
    return _several([anp.broadcast_to(x, shape) for x in args])


def _meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    axes = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        axes[:2] = 1, 0
    grids = [anp.reshape(x, [-1 if i == axis else 1 for i in range(len(xi))]) for axis, x in zip(axes, xi, strict=True)]
    if not sparse:
        shape = onp.broadcast_shapes(*map(anp.shape, grids))
        grids = [anp.broadcast_to(grid, shape) for grid in grids]
    return _several(grids)


_def("broadcast_arrays", _broadcast_arrays)
_def("meshgrid", _meshgrid)

# ------------------------------------------------------------------------------------------------------- accumulations


def _nancumsum(a, axis=None, dtype=None, _out=None):
    return anp.cumsum(anp.where(onp.isnan(getval(a)), 0, a), axis, dtype)


def _nancumprod(a, axis=None, dtype=None, _out=None):
    return anp.cumprod(anp.where(onp.isnan(getval(a)), 1, a), axis, dtype)


def _accumulated(accumulate, first):
    def composition(x, axis=None, dtype=None, _out=None, include_initial=False):
        x = anp.atleast_1d(x)
        axis = 0 if axis is None else axis
        total = accumulate(x, axis, dtype)
        if not include_initial:
            return total
        shape = list(anp.shape(total))
        shape[axis] = 1
        return anp.concatenate([onp.full(shape, first, dtype_of(total)), total], axis)

    return composition


def _ediff1d(ary, to_end=None, to_begin=None):
    differences = anp.diff(anp.ravel(ary))
    ends = [None if end is None else fit_dtype(anp.ravel(end), vspace(differences)) for end in (to_begin, to_end)]
    return anp.concatenate([part for part in (ends[0], differences, ends[1]) if part is not None])


_def("nancumsum", _nancumsum)
_def("nancumprod", _nancumprod)
_def("cumulative_sum", _accumulated(anp.cumsum, 0))
_def("cumulative_prod", _accumulated(anp.cumprod, 1))
_def("ediff1d", _ediff1d)

# Whole periods are added, and between the places where their number changes it is constant.
def_direct(anp.unwrap, vjps=("identity",), jvps=("identity",))

# ------------------------------------------------------------------------------------------------------------ products


def _vecdot(x1, x2, _out=None, axis=-1):
    x1, x2 = (x if axis == -1 else anp.moveaxis(x, axis, -1) for x in (as_array(x1), as_array(x2)))
    return anp.sum((anp.conj(x1) if is_complex(x1) else x1) * x2, axis=-1)


def _matvec(x1, x2, _out=None):
    return anp.matmul(x1, anp.expand_dims(x2, -1))[..., 0]


def _vecmat(x1, x2, _out=None):
    x1 = anp.conj(x1) if is_complex(x1) else x1
    return anp.matmul(anp.expand_dims(x1, -2), x2)[..., 0, :]


_def("vecdot", _vecdot)
_def("matvec", _matvec)
_def("vecmat", _vecmat)

# --------------------------------------------------------------------------------------------------- covariance matrix


def _variables_in_rows(x, rowvar, dtype):
    """Give the observations of a covariance matrix as a matrix, a variable a row."""
    is_row = anp.ndim(x) < 2 or (anp.shape(x)[0] == 1 and _VERSION < (2, 2))
    x = anp._astype(x, dtype)
    matrix = x if anp.ndim(x) == 2 else anp.reshape(x, (1, -1))
    return matrix if rowvar or is_row else matrix.T


def _weights(fweights, aweights):
    weights = None if fweights is None else onp.asarray(fweights, float)
    if aweights is None:
        return weights
    return aweights if weights is None else weights * aweights


def _cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None):
    if dtype is None:
        dtype = onp.result_type(float, *[dtype_of(x) for x in (m, y) if x is not None])
    x = _variables_in_rows(as_array(m), rowvar, dtype)
    if y is not None:
        x = anp.concatenate([x, _variables_in_rows(as_array(y), rowvar, dtype)], 0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    w, aweights = _weights(fweights, aweights), None if aweights is None else as_array(aweights)
    if w is None:
        total = freedom = anp.shape(x)[1]
    else:
        w = as_array(w)
        total = freedom = anp.sum(w)
    if ddof:
        freedom = total - ddof * (1 if aweights is None else anp.sum(w * aweights) / total)
    distance = x - anp.sum(x if w is None else x * w, axis=1, keepdims=True) / total
    other = (distance if w is None else distance * w).T
    return anp.squeeze(anp.dot(distance, anp.conj(other) if is_complex(other) else other) / freedom)


def _corrcoef(x, y=None, rowvar=True, bias=None, ddof=None, dtype=None):
    c = _cov(x, y, rowvar, dtype=dtype)
    if anp.ndim(c) == 0:
        return c / c
    deviation = anp.sqrt(anp.real(anp.diag(c)))
    return c / deviation[:, None] / deviation


_def("cov", _cov, ("fweights",))
_def("corrcoef", _corrcoef)

# ----------------------------------------------------------------------------------------------------------- quantiles


def _in_front(a, axis):
    """Join the axes that are reduced and put them in front."""
    if axis is None:
        return anp.reshape(a, (-1,))
    axes = normalize_axes(axis, anp.ndim(a))
    a = anp.moveaxis(a, axes, range(len(axes)))
    return anp.reshape(a, (-1, *anp.shape(a)[len(axes) :]))


def _quantile_of(a, q, axis, method, keepdims):
    """Give quantiles as mixtures of neighbours among the sorted elements.

    Where they stand is what NumPy says is the quantile of the places 0, 1, 2 ...: right for each of its methods.
    """
    ordered = anp.sort(_in_front(a, axis), axis=0)
    n = anp.shape(ordered)[0]
    place = onp.asarray(onp.quantile(onp.arange(float(n)), q, method=method))
    low = place.astype(int)
    share = (place - low).reshape(place.shape + (1,) * (anp.ndim(ordered) - 1)).astype(dtype_of(a))
    below, above = ordered[low], ordered[onp.minimum(low + 1, n - 1)]
    result = below * (1 - share) + above * share
    return anp.reshape(result, place.shape + kept_shape(anp.shape(a), axis)) if keepdims else result


def _quantile(
    a,
    q,
    axis=None,
    _out=None,
    _overwrite_input=False,
    method="linear",
    keepdims=False,
    _weights=None,
    _interpolation=None,
):
    return _quantile_of(a, q, axis, method, keepdims)


def _percentile(
    a,
    q,
    axis=None,
    _out=None,
    _overwrite_input=False,
    method="linear",
    keepdims=False,
    _weights=None,
    _interpolation=None,
):
    return _quantile_of(a, onp.true_divide(q, 100), axis, method, keepdims)


def _median(a, axis=None, _out=None, _overwrite_input=False, keepdims=False):
    return _quantile_of(a, 0.5, axis, "linear", keepdims)


_def("quantile", _quantile, ("q",))
_def("percentile", _percentile, ("q",))
_def("median", _median)

# ------------------------------------------------------------------------------------------------------- interpolation


def _one_period(x, xp, fp, period):
    """Bring places into one period, and give a known point beyond each end of it."""
    xp = anp.mod(xp, period)
    order = onp.argsort(getval(xp))
    xp, fp = xp[order], fp[order]
    xp = anp.concatenate([xp[-1:] - period, xp, xp[:1] + period])
    return anp.mod(x, period), xp, anp.concatenate([fp[-1:], fp, fp[:1]])


def _interp(x, xp, fp, left=None, right=None, period=None):
    x, xp, fp = as_array(x), as_array(xp), as_array(fp)
    if period is not None:
        x, xp, fp = _one_period(x, xp, fp, abs(period))
        left = right = None
    places, known = onp.asarray(getval(x)), onp.asarray(getval(xp))
    last = len(known) - 1
    i = onp.clip(onp.searchsorted(known, places, "right") - 1, 0, max(last - 1, 0))
    j = onp.minimum(i + 1, last)
    value = fp[i] if last == 0 else fp[i] + (x - xp[i]) / (xp[j] - xp[i]) * (fp[j] - fp[i])
    value = anp.where(places > known[-1], fp[-1] if right is None else right, value)
    return anp.where(places < known[0], fp[0] if left is None else left, value)


_def("interp", _interp, ("period",))

# --------------------------------------------------------------------------------------------------------- polynomials


def _polyval(p, x):
    p, x = as_array(p), as_array(x)
    y = onp.zeros(anp.shape(x), dtype_of(x))
    for k in range(anp.shape(p)[0]):
        y = y * x + p[k]
    return y


def _polyder(p, m=1):
    p = as_array(p)
    for _ in range(operator.index(m)):
        p = p[:-1] * onp.arange(anp.shape(p)[0] - 1, 0, -1)
    return p


def _polyint(p, m=1, k=None):
    p, m = as_array(p), operator.index(m)
    constants = onp.zeros(m) if k is None else anp.broadcast_to(anp.atleast_1d(k), (m,))
    for i in range(m):
        p = anp.concatenate([p / onp.arange(anp.shape(p)[0], 0, -1), constants[i : i + 1]])
    return p


def _padded_sum(add):
    def composition(a1, a2):
        a1, a2 = anp.atleast_1d(a1), anp.atleast_1d(a2)
        n = max(anp.shape(a1)[0], anp.shape(a2)[0])
        return add(anp.pad(a1, (n - anp.shape(a1)[0], 0)), anp.pad(a2, (n - anp.shape(a2)[0], 0)))

    return composition


def _vander(x, N=None, increasing=False):
    powers = onp.arange(anp.shape(x)[0] if N is None else operator.index(N))
    return anp.expand_dims(x, 1) ** (powers if increasing else powers[::-1])


_def("polyval", _polyval)
_def("polyder", _polyder)
_def("polyint", _polyint)
_def("polyadd", _padded_sum(anp.add))
_def("polysub", _padded_sum(anp.subtract))
_def("vander", _vander)

# ------------------------------------------------------------------------------------------- points of even proportion


def _with_axis(x, rank, axis):
    """Give an array ``rank`` axes, and one more."""
    return anp.expand_dims(anp.reshape(x, (1,) * (rank - anp.ndim(x)) + anp.shape(x)), axis)


def _logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    rank = max(map(anp.ndim, (start, stop, base)))
    share = onp.linspace(0.0, 1.0, num, endpoint).reshape((-1,) + (1,) * rank)
    share = onp.moveaxis(share, 0, axis)
    start, stop, base = (_with_axis(x, rank, axis) for x in (start, stop, base))
    points = base ** (start * (1.0 - share) + stop * share)
    return points if dtype is None else anp._astype(points, dtype)


def _geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    rank = max(map(anp.ndim, (start, stop)))
    share = onp.linspace(0.0, 1.0, num, endpoint).reshape((-1,) + (1,) * rank)
    share = onp.moveaxis(share, 0, axis)
    start, stop = (_with_axis(x, rank, axis) for x in (start, stop))
    points = start * (stop / start) ** share
    return points if dtype is None else anp._astype(points, dtype)


_def("logspace", _logspace)
_def("geomspace", _geomspace)

# -------------------------------------------------------------------------------------------------- elementwise, counts

def_elementwise(anp.heaviside, None, lambda _ans, x, _h: x == 0)
def_elementwise(anp.ldexp, lambda _ans, x, exponent: onp.ldexp(onp.ones((), dtype_of(x)), exponent), None)
def_direct(
    anp.bincount,
    vjps=(None, lambda g, _ans, x, vs_weights, minlength=0: fit_dtype(g[onp.asarray(x)], vs_weights)),
    jvps=(None, "same"),
)
