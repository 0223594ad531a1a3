"""Building arrays from traced values, and casting them."""

from fastgrad._rules.arguments import tangents_or_zeros
from fastgrad._rules.direct import def_direct, def_whole
from fastgrad.core import vspace
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import fit, fit_dtype


def _array_from_args_vjp(argnums, g, _ans, vs_args, kwargs):
    # `ndmin` may have put axes of length 1 in front.
    leading = anp.ndim(g) - 1 - vs_args[argnums[0]].ndim
    if leading:
        g = anp.reshape(g, anp.shape(g)[leading:])
    return [fit_dtype(g[i - 2], vs_args[i]) for i in argnums]


def _array_from_args_jvp(argnums, gs, _ans, args, kwargs):
    return anp.array_from_args(args[0], args[1], *tangents_or_zeros(argnums, gs, args, 2, as_arrays=True))


def_whole(anp.array_from_args, _array_from_args_vjp, _array_from_args_jvp)


def _array_from_scalars_vjp(argnums, g, _ans, _args, kwargs):
    flat = anp.ravel(g)
    return [flat[i - 1] for i in argnums]


def _array_from_scalars_jvp(argnums, gs, _ans, args, kwargs):
    given = dict(zip(argnums, gs, strict=True))
    return anp.array_from_scalars(args[0], *[given.get(i, 0.0) for i in range(1, len(args))])


def_whole(anp.array_from_scalars, _array_from_scalars_vjp, _array_from_scalars_jvp)
def_direct(
    anp._array_from_scalar_or_array,
    vjps=(None, None, lambda g, _ans, _args, _kwargs, vs_x: fit_dtype(anp.reshape(g, vs_x.shape), vs_x)),
    jvps=(None, None, "same"),
)

for _fun in (anp.copy, anp.asarray, anp.asanyarray, anp.ascontiguousarray, anp.asfortranarray):
    def_direct(
        _fun, vjps=(lambda g, _ans, vs_x, *args, **kwargs: fit_dtype(anp.reshape(g, vs_x.shape), vs_x),), jvps=("same",)
    )

def_direct(anp._astype, vjps=(lambda g, _ans, vs_x, *args, **kwargs: fit_dtype(g, vs_x),), jvps=("same",))


def _full_vjp_fill_value(g, _ans, _like, vs_fill_value, *args, **kwargs):
    return fit(g, vs_fill_value)


def_direct(anp.full, vjps=(None, _full_vjp_fill_value), jvps=(None, "same"))
def_direct(
    anp.full_like,
    vjps=(lambda g, _ans, vs_a, *args, **kwargs: vs_a.zeros(), _full_vjp_fill_value),
    jvps=(lambda g, ans, *args, **kwargs: vspace(ans).zeros(), "same"),
)
