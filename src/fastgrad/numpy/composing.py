"""Rules of functions that are compositions of primitives: those of the composition.

NumPy computes the value; the pass that needs the derivative traces the composition. The composition states which
parameters it supports, and the others are refused by name.
"""

import functools
import inspect

import numpy as onp

from fastgrad._rules.arguments import subvals
from fastgrad._rules.direct import def_whole, refuse_keywords
from fastgrad.builtins import tuple as atuple
from fastgrad.core import make_jvp, make_vjp
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import like

NUMPY_VERSION = tuple(int(part) for part in onp.__version__.split(".")[:2])


def _of_variables(composition, argnums, args, kwargs):
    """Return a function of the traced arguments alone, one or a tuple of them, and their values."""
    if len(argnums) == 1:
        i = argnums[0]
        return lambda x: composition(*args[:i], x, *args[i + 1 :], **kwargs), args[i]

    def fun(variables):
        return composition(*subvals(args, [(i, variables[k]) for k, i in enumerate(argnums)]), **kwargs)

    return fun, atuple([args[i] for i in argnums])


def def_composed(fun, composition, constant=()):
    """Set the VJP and JVP of a function by a composition of primitives that equals it.

    Parameters
    ----------
    fun : Primitive
        The function that the rules belong to.
    composition : callable
        Equal to ``fun``, with the same parameters in the same order as far as it supports them; only its derivatives
        are used. A parameter whose name begins with an underscore stands for one of ``fun`` that must not be given.
    constant : tuple of str
        The names of parameters that may be given, but not traced.

    Notes
    -----
    The rules raise NotImplementedError if an unsupported parameter is given or a constant one is traced.
    """
    name = fun.__name__

    @functools.cache  # not at import: signatures are slow to read
    def read_parameters():
        parameters = inspect.signature(composition).parameters
        names = [name.lstrip("_") for name in parameters]
        refused = {name[1:] for name in parameters if name.startswith("_")}
        return names, refused, any(p.kind is p.VAR_POSITIONAL for p in parameters.values())

    def supported(argnums, args, kwargs):
        """Return the keywords that the composition takes; raise if another parameter was given."""
        names, refused, variadic = read_parameters()
        positional = {} if variadic else dict(zip(names, args, strict=False))
        for key, value in [*positional.items(), *kwargs.items()]:
            if key in refused or key not in names:
                refuse_keywords(name, **{key: value})
        for i in argnums:
            if not variadic and names[i] in constant:
                raise NotImplementedError(f"{name} has no derivative with respect to {names[i]!r}; give a plain value")
        return {key: value for key, value in kwargs.items() if key in names and key not in refused}

    def vjp(argnums, g, _ans, args, kwargs):
        of_variables, x = _of_variables(composition, argnums, args, supported(argnums, args, kwargs))
        # NumPy has already warned when it computed the value.
        with onp.errstate(all="ignore"):
            pull, _ = make_vjp(of_variables, x)
        cotangent = pull(g)
        cotangents = [cotangent] if len(argnums) == 1 else [cotangent[k] for k in range(len(argnums))]
        return [like(c, args[i]) for c, i in zip(cotangents, argnums, strict=True)]

    def jvp(argnums, gs, ans, args, kwargs):
        of_variables, x = _of_variables(composition, argnums, args, supported(argnums, args, kwargs))
        with onp.errstate(all="ignore"):
            tangent = make_jvp(of_variables, x)(gs[0] if len(argnums) == 1 else atuple(gs))[1]
        return like(tangent, ans)

    def_whole(fun, vjp, jvp)


def def_composed_name(name, composition, constant=()):
    """Call `def_composed` for the function of this name, if the NumPy that is installed has it."""
    if hasattr(anp, name):
        def_composed(getattr(anp, name), composition, constant)
