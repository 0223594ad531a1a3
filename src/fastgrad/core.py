"""Reverse and forward mode: rules, vector spaces and the two passes. The passes are compiled, in `_engine/`."""

from itertools import count

import numpy as onp

from fastgrad._diagnostics.user_code import warn as _warn
from fastgrad._engine.backward import (
    add_outgrads,
    backward_pass,
    make_jvp,
    make_vjp,
    sparse_object_types,
    sum_outgrads,
    toposort,
)
from fastgrad._engine.core import (
    JVPNode,
    SparseObject,
    VJPNode,
    VSpace,
    connect,
    find_function,
    make_function,
    missing_rule,
    space_of,
    vspace,
)
from fastgrad._rules import registries as _registries
from fastgrad._rules.arguments import func, subval
from fastgrad._rules.direct import def_direct, set_staged_vjp, set_whole_jvp
from fastgrad.tracer import Box, Node, getval, isbox, primitive, trace

__all__ = [
    "Box",
    "JVPNode",
    "Node",
    "SparseBox",
    "SparseObject",
    "VJPNode",
    "VSpace",
    "add_outgrads",
    "backward_pass",
    "def_linear",
    "defjvp",
    "defjvp_argnum",
    "defjvp_argnums",
    "defvjp",
    "defvjp_argnum",
    "defvjp_argnums",
    "func",
    "getval",
    "identity_jvp",
    "identity_vjp",
    "isbox",
    "make_jvp",
    "make_vjp",
    "primitive",
    "primitive_jvps",
    "primitive_vjps",
    "sparse_add",
    "sparse_object_types",
    "sum_outgrads",
    "toposort",
    "trace",
    "translate_jvp",
    "translate_vjp",
    "vspace",
]

primitive_vjps = _registries.PrimitiveVJPs()
primitive_jvps = _registries.PrimitiveJVPs()


# --------------------------------------------------------------------------------------------------------- reverse mode


def _check_rules(fun, mode, rules, names=()):
    """Raise TypeError for rules that can't be called, where they are given rather than in the pass that calls them."""
    for rule in rules:
        if not (rule is None or callable(rule) or isinstance(rule, str) and rule in names):
            raise TypeError(f"Bad {mode} {rule!r} for {fun.__name__!r}: a rule is a function or None")


def defvjp_argnums(fun, vjpmaker):
    """Set the VJPs of a primitive by one rule for all traced arguments of a call.

    Parameters
    ----------
    fun : Primitive
        The primitive that the rule is for.
    vjpmaker : callable
        ``vjpmaker(argnums, ans, args, kwargs)`` is called in the forward pass and returns the pullback: a function from
        the cotangent of the answer to a sequence of cotangents, one for each entry of ``argnums``.

    Examples
    --------
    >>> from fastgrad import grad
    >>> from fastgrad.extend import defvjp_argnums, primitive
    >>> @primitive
    ... def product(*factors):
    ...     return factors[0] * factors[1]
    >>> def rule(argnums, ans, args, kwargs):
    ...     return lambda g: [g * args[1 - argnum] for argnum in argnums]
    >>> defvjp_argnums(product, rule)
    >>> grad(product, (0, 1))(2.0, 3.0)
    (array(3.), array(2.))
    """
    primitive_vjps[fun] = vjpmaker


def defvjp_argnum(fun, vjpmaker):
    """Set the VJPs of a primitive by one rule that takes the position of the argument.

    Parameters
    ----------
    fun : Primitive
        The primitive that the rule is for.
    vjpmaker : callable
        ``vjpmaker(argnum, ans, args, kwargs)`` is called in the forward pass and returns the pullback: a function from
        the cotangent of the answer to that of the argument at ``argnum``.
    """
    _set_vjpmaker(fun, vjpmaker)


def _set_vjpmaker(fun, vjpmaker, argnums=None):
    def stage(argnums, ans, args, kwargs):
        return tuple(vjpmaker(argnum, ans, args, kwargs) for argnum in argnums)

    set_staged_vjp(fun, stage, argnums=argnums)


def translate_vjp(vjpfun, fun, argnum):
    """Return the staged rule for an entry of `defvjp`.

    Parameters
    ----------
    vjpfun : callable or None
        The entry; None stands for a zero cotangent.
    fun : Primitive
        The primitive that the rule is for.
    argnum : int
        The position of the argument.

    Returns
    -------
    callable
        ``rule(ans, *args, **kwargs)`` returns the pullback.

    Raises
    ------
    TypeError
        If the entry is neither callable nor None.
    """
    _check_rules(fun, "VJP", [vjpfun])
    if vjpfun is not None:
        return vjpfun

    def zero(ans, *args, **kwargs):
        space = vspace(args[argnum])
        return lambda g: space.zeros()

    return zero


def translate_jvp(jvpfun, fun, argnum):
    """Return the rule for an entry of `defjvp`.

    Parameters
    ----------
    jvpfun : callable, "same" or None
        The entry; None stands for a zero tangent, "same" for ``fun`` itself, called with the tangent as the argument.
    fun : Primitive
        The primitive that the rule is for.
    argnum : int
        The position of the argument.

    Returns
    -------
    callable
        ``rule(g, ans, *args, **kwargs)`` returns the tangent of the answer.

    Raises
    ------
    TypeError
        If the entry is neither callable, "same" nor None.
    """
    _check_rules(fun, "JVP", [jvpfun], ("same",))
    if jvpfun is None:
        return lambda g, ans, *args, **kwargs: vspace(ans).zeros()
    if jvpfun == "same":
        return lambda g, ans, *args, **kwargs: fun(*subval(args, argnum, g), **kwargs)
    return jvpfun


def defvjp(fun, *vjpmakers, **kwargs):
    """Set the VJPs of a primitive by one rule for each argument.

    Parameters
    ----------
    fun : Primitive
        The primitive that the rules are for.
    *vjpmakers : callable or None
        ``vjpmaker(ans, *args, **kwargs)`` is called in the forward pass and returns the pullback: a function from the
        cotangent of the answer to that of the argument. None stands for a zero cotangent.
    **kwargs
        ``argnums``, a sequence of int: the positions of the arguments that the rules are for, by default 0, 1, 2, ...

    Raises
    ------
    TypeError
        If a rule is neither callable nor None, or for any other keyword.

    Examples
    --------
    >>> from fastgrad import grad
    >>> from fastgrad.extend import defvjp, primitive
    >>> @primitive
    ... def cube(x):
    ...     return x**3
    >>> defvjp(cube, lambda ans, x: lambda g: g * 3 * x**2)
    >>> grad(cube)(2.0)
    np.float64(12.0)
    """
    argnums = kwargs.pop("argnums", count())
    if kwargs:
        raise TypeError(f"defvjp got the unknown keyword {next(iter(kwargs))!r}; it takes argnums alone")
    makers = {n: translate_vjp(maker, fun, n) for n, maker in zip(argnums, vjpmakers, strict=False)}

    def stage(argnum, ans, args, kwargs):
        if argnum not in makers:
            raise missing_rule(fun, "VJP", argnum)
        return makers[argnum](ans, *args, **kwargs)

    _set_vjpmaker(fun, stage, frozenset(makers))


# --------------------------------------------------------------------------------------------------------- forward mode


def defjvp_argnums(fun, jvpmaker):
    """Set the JVPs of a primitive by one rule for all traced arguments of a call.

    Parameters
    ----------
    fun : Primitive
        The primitive that the rule is for.
    jvpmaker : callable
        ``jvpmaker(argnums, gs, ans, args, kwargs)`` returns the tangent of the answer for the tangents ``gs`` of the
        arguments at ``argnums``.
    """
    primitive_jvps[fun] = jvpmaker


def defjvp_argnum(fun, jvpmaker):
    """Set the JVPs of a primitive by one rule that takes the position of the argument.

    Parameters
    ----------
    fun : Primitive
        The primitive that the rule is for.
    jvpmaker : callable
        ``jvpmaker(argnum, g, ans, args, kwargs)`` returns the tangent of the answer for the tangent ``g`` of the
        argument at ``argnum``. The tangents for several arguments are added.
    """
    _set_jvpmaker(fun, jvpmaker)


def _set_jvpmaker(fun, jvpmaker, argnums=None):
    def push(argnums, gs, ans, args, kwargs):
        return sum_outgrads(jvpmaker(argnum, g, ans, args, kwargs) for argnum, g in zip(argnums, gs, strict=True))

    set_whole_jvp(fun, push, argnums)


def defjvp(fun, *jvpfuns, **kwargs):
    """Set the JVPs of a primitive by one rule for each argument.

    Parameters
    ----------
    fun : Primitive
        The primitive that the rules are for.
    *jvpfuns : callable, "same" or None
        ``jvpfun(g, ans, *args, **kwargs)`` returns the tangent of the answer for the tangent ``g`` of the argument.
        "same" is for an argument that ``fun`` is linear in; None stands for a zero tangent.
    **kwargs
        ``argnums``, a sequence of int: the positions of the arguments that the rules are for, by default 0, 1, 2, ...

    Raises
    ------
    TypeError
        If a rule is neither callable, "same" nor None, or for any other keyword.

    Examples
    --------
    >>> from fastgrad import make_jvp
    >>> from fastgrad.extend import defjvp, primitive
    >>> @primitive
    ... def cube(x):
    ...     return x**3
    >>> defjvp(cube, lambda g, ans, x: g * 3 * x**2)
    >>> make_jvp(cube)(2.0)(1.0)
    (8.0, 12.0)
    """
    argnums = kwargs.pop("argnums", count())
    if kwargs:
        raise TypeError(f"defjvp got the unknown keyword {next(iter(kwargs))!r}; it takes argnums alone")
    rules = {n: translate_jvp(rule, fun, n) for n, rule in zip(argnums, jvpfuns, strict=False)}

    def push(argnum, g, ans, args, kwargs):
        if argnum not in rules:
            raise missing_rule(fun, "JVP", argnum)
        return rules[argnum](g, ans, *args, **kwargs)

    _set_jvpmaker(fun, push, frozenset(rules))


def def_linear(fun):
    """Set the JVPs of a primitive that is linear in each of its arguments.

    Parameters
    ----------
    fun : Primitive
        Its JVP is ``fun`` itself, called with the tangent instead of the argument.
    """
    defjvp_argnum(fun, lambda argnum, g, ans, args, kwargs: fun(*subval(args, argnum, g), **kwargs))


# ------------------------------------------------------------------------------------- deprecated methods of primitives


def _warn_deprecated(name, replacement):
    _warn(f"The {name} is deprecated. Use {replacement} instead.")


def _add_vjpmakers(fun, vjpmakers):
    # Each call of these methods sets the rule of one argument; the rules of earlier calls stay.
    known = fun.__dict__.setdefault("_makers_by_method", {})
    known.update(vjpmakers)
    defvjp(fun, *known.values(), argnums=tuple(known))


def _defgrad(fun, gradfun, argnum):
    """Set the VJP of one argument, given as `defvjp` takes it."""
    _warn_deprecated("defgrad method", "fastgrad.extend.defvjp")
    _add_vjpmakers(fun, {argnum: gradfun})


def _defvjp_method(fun, vjpmaker, argnum):
    """Set the VJP of one argument, given as ``vjp(g, ans, vs, gvs, *args, **kwargs)``.

    ``vs`` and ``gvs`` are the vector spaces of the argument and of the answer.
    """
    _warn_deprecated("defvjp method", "fastgrad.extend.defvjp")

    def stage(ans, *args, **kwargs):
        return lambda g: vjpmaker(g, ans, vspace(args[argnum]), vspace(ans), *args, **kwargs)

    _add_vjpmakers(fun, {argnum: stage})


def _defvjp_is_zero(fun, argnums):
    """Set the cotangents of some arguments to zero."""
    _warn_deprecated("defvjp_is_zero method", "fastgrad.extend.defvjp with None")
    _add_vjpmakers(fun, dict.fromkeys(argnums))


connect(defgrad=_defgrad, defvjp_method=_defvjp_method, defvjp_is_zero=_defvjp_is_zero)


# -------------------------------------------------------------------------------------------------------- vector spaces


def identity_vjp(argnums, *args):
    """Return the pullback of a sum, which takes a cotangent to the same cotangent for each of ``argnums``."""
    return lambda g: (g,) * len(argnums)


def identity_jvp(g, *args, **kwargs):
    """Return the tangent of a sum for the tangent ``g`` of one term, which is ``g``."""
    return g


def _as_primitive(name, raw):
    fun = primitive(raw)
    fun.__name__, fun.__qualname__ = name, f"VSpace.{name}"
    fun.__module__ = __name__
    return fun


def _mut_add(space, x_prev, x_new):
    if x_prev is None:
        x_prev = space.zeros()
        if isinstance(x_prev, onp.ndarray) and x_prev.dtype.kind in "biu":
            # The cotangents of integers are floats, which can't be added in place to zeros of an integer dtype.
            x_prev = x_prev.astype(onp.result_type(x_prev, x_new))
    return space._mut_add(x_prev, x_new)


# Arguments of all of these: the space, then the vectors.
VSpace.add = _as_primitive("add", lambda space, x, y: space._add(x, y))
VSpace.mut_add = _as_primitive("mut_add", _mut_add)
VSpace.scalar_mul = _as_primitive("scalar_mul", lambda space, x, a: space._scalar_mul(x, a))
VSpace.inner_prod = _as_primitive("inner_prod", lambda space, x, y: space._inner_prod(x, y))
VSpace.covector = _as_primitive("covector", lambda space, x: space._covector(x))

# By differentiating. Cotangents pair with tangents by Re sum(g * v), the inner product is Re sum(conj(x) * y) and
# covector is conj.
def_direct(VSpace.add, vjps=(None, "identity", "identity"), jvps=(None, "identity", "identity"))
def_direct(VSpace.mut_add, vjps=(None, "identity", "identity"), jvps=(None, "identity", "identity"))
def_direct(
    VSpace.scalar_mul,
    vjps=(
        None,
        lambda g, _ans, space, _x, a: space.scalar_mul(g, a),
        lambda g, _ans, space, x, _a: space.inner_prod(space.covector(x), g),
    ),
    jvps=(
        None,
        lambda g, _ans, space, _x, a: space.scalar_mul(g, a),
        lambda g, _ans, space, x, _a: space.scalar_mul(x, g),
    ),
)
def_direct(
    VSpace.inner_prod,
    vjps=(
        None,
        lambda g, _ans, space, _x, y: space.scalar_mul(space.covector(y), g),
        lambda g, _ans, space, x, _y: space.scalar_mul(space.covector(x), g),
    ),
    jvps=(
        None,
        lambda g, _ans, space, _x, y: space.inner_prod(g, y),
        lambda g, _ans, space, x, _y: space.inner_prod(x, g),
    ),
)
_covector_rule = (None, lambda g, _ans, space, _x: space.covector(g))
def_direct(VSpace.covector, vjps=_covector_rule, jvps=_covector_rule)


# ---------------------------------------------------------------------------------------------------- sparse cotangents


class SparseBox(Box):
    """A traced `SparseObject`."""

    __slots__ = ()


SparseBox.register(SparseObject)
sparse_object_types.add(SparseBox)
VSpace.register(SparseObject, lambda sparse: sparse.vs)


@primitive
def sparse_add(vs, x_prev, x_new):
    """Add the sparse cotangent ``x_new`` to ``x_prev`` in place, or to zeros if that is None, and return the sum."""
    return x_new.mut_add(vs.zeros() if x_prev is None else x_prev)


def_direct(
    sparse_add,
    vjps=(None, "identity", "identity"),
    jvps=(None, "identity", lambda g, _ans, vs, _x_prev, _x_new: sparse_add(vs, None, g)),
)
connect(sparse_add=sparse_add, core_namespace=globals())

# Pickles refer to these by this path, which stays the same wherever the engine defines them: the functions themselves,
# and what derived functions and vector spaces are unpickled by.
for _function in (
    *(add_outgrads, backward_pass, make_jvp, make_vjp, sum_outgrads, vspace),
    *(find_function, make_function, space_of),
):
    _function.__module__ = __name__
