"""The direct form of rules, which fastgrad's own functions use, and the rules that refuse to differentiate.

A direct rule is called in the backward pass only, so the forward pass runs no Python code for it; the public form,
`fastgrad.core.defvjp`, is autograd's staged one. The parameters of a rule say what a node keeps for it:

=================  ====================================================================
``ans``, ``x``     the answer, an argument: kept as they are
``_ans``, ``_x``   not used and not kept: the rule is given None
``vs_x``           only the vector space of the argument is kept: its shape and dtype
=================  ====================================================================

All modes of a primitive stand in one call: its VJPs, its JVPs and, where a primitive is called on many cotangents or
tangents at once, its batch rule. Rules are made of primitives, so that they can be differentiated again.
"""

import warnings
import weakref
from collections.abc import Callable
from itertools import zip_longest
from typing import NamedTuple

from numpy import _NoValue

from fastgrad._engine.core import Primitive, Rule, Rules, compiled_rules, node_layouts, rule_forms

# Every primitive that has a rule or is not traced, by its id, for the registries to list.
_registered = weakref.WeakValueDictionary()

_VARARGS = 0x04
_ALL = 0xFFFFFFFE

_KEPT = {"ans": 1, "arg0": 2, "arg1": 4}


def register(fun):
    """Add a primitive to those that the registries list."""
    _registered[id(fun)] = fun


def registered():
    """Return the list of the registered primitives; other threads may register more meanwhile."""
    return [fun for fun in (reference() for reference in _registered.valuerefs()) if fun is not None]


def _bit(argnum):
    return 1 << min(argnum + 1, 31)


def _needs(rule, n_leading):
    """Return two bit masks read from a rule's parameters: which values to keep, and of which the vector space alone."""
    code = getattr(rule, "__code__", None)
    if code is None:
        return 1 | _ALL, 0
    names = code.co_varnames[: code.co_argcount]
    keeps = 0 if names[n_leading].startswith("_") else 1
    spaces = 0
    for argnum, name in enumerate(names[n_leading + 1 :]):
        if name.startswith("vs_"):
            spaces |= _bit(argnum)
        elif not name.startswith("_"):
            keeps |= _bit(argnum)
    if code.co_flags & _VARARGS:
        n_named = len(names) - n_leading - 1
        keeps |= _ALL & ~(_bit(n_named) - 1)
    return keeps, spaces


def _rule(form, argnum, fun, compiled=None):
    """Return the Rule that one entry of a table stands for."""
    for_numbers = None
    if isinstance(fun, ByExponent):
        for_numbers, fun = fun.for_numbers, fun.general
    if fun is None:
        return Rule(rule_forms["zero"], None, 0, _bit(argnum))
    if fun == "same":
        return Rule(rule_forms["same"], None, 0, 0)
    if fun in ("identity", "negate"):
        return Rule(rule_forms[fun], None, 0, 0)
    if fun in ("over arg0", "over arg1"):
        return Rule(rule_forms["over"], None, _KEPT[fun[5:]], 0)
    if fun in _KEPT:
        return Rule(rule_forms["kept"], None, _KEPT[fun], 0)
    keeps, spaces = _needs(fun, 0 if form == "deriv" else 1)
    n_args = fun.__code__.co_argcount - 1 if form == "deriv" else 0
    if callable(compiled):
        return Rule(rule_forms[form], fun, keeps, spaces, n_args, real_deriv=compiled)
    return Rule(rule_forms[form], fun, keeps, spaces, n_args, for_numbers, compiled_rules[compiled])


def _set(fun, vjps=None, jvps=None, batch=None):
    if not isinstance(fun, Primitive):
        # Libraries do this (ceviche) and autograd accepts it, though no trace ever uses these rules.
        message = (
            f"{fun!r} is not a primitive, its rules are never used: decorate it with fastgrad.extend.primitive first"
        )
        warnings.warn(message, stacklevel=5)
        return
    register(fun)
    if vjps is not None:
        fun.vjp_rules = vjps
    if jvps is not None:
        fun.jvp_rules = jvps
    if batch is not None:
        def_batch(fun, batch)


def _table(form, fun, rules, broadcasts, compiled=()):
    table = tuple(_rule(form, i, rule, name) for i, (rule, name) in enumerate(zip_longest(rules, compiled)))
    return Rules(fun, node_layouts["direct"], table, broadcasts=broadcasts)


class ByExponent(NamedTuple):
    """The derivative of a power with respect to its base, with shorter forms for exponents that are numbers.

    Parameters
    ----------
    general : callable
        The derivative for any exponent, ``deriv(ans, x, y)``.
    for_numbers : dict
        Maps a number to the derivative for that exponent, and None to the one for all other numbers.
    """

    general: Callable
    for_numbers: dict


def def_elementwise(fun, *derivs):
    """Set the VJPs and JVPs of an elementwise function from its derivatives, one per argument.

    It needs no batch rule: a ufunc broadcasts over batches by itself.

    Parameters
    ----------
    fun : Primitive
        Elementwise and broadcasting; holomorphic in the arguments that may be complex.
    *derivs : callable, ByExponent, "identity", "negate", "ans", "arg0", "arg1", "over arg0", "over arg1" or None
        ``deriv(ans, *args)``, the derivative with respect to one argument, element by element. The names stand for the
        derivatives 1 and -1, for the answer or an argument itself, and for 1 / argument; None for 0. A derivative
        that is a sequence of ufuncs runs without Python on concrete values: see `values/fused_derivatives.pxi`.
    """
    rules = _table("deriv", fun, derivs, True)
    _set(fun, rules, rules)


def def_direct(fun, vjps=None, jvps=None, broadcasts=False, compiled=(), batch=None):
    """Set the rules of a primitive, one per argument.

    Parameters
    ----------
    fun : Primitive
        The function that the rules belong to.
    vjps, jvps : sequence of callable, None, "identity", "negate" or "same"
        ``rule(g, ans, *args, **kwargs)`` returns the cotangent of the argument, or the tangent of the answer. None
        stands for zero; "same", in `jvps`, for ``fun`` itself called with the tangent in the argument's place, which is
        right if ``fun`` is linear in that argument.
    broadcasts : bool
        Whether the answer has the shape to which the arguments broadcast; the rules need not sum or broadcast then.
    compiled : sequence of str, callable or None
        Names of C routines that compute on concrete values what ``vjps`` do, for calls without keywords: see
        `values/compiled_rules.pxi`. A callable is the derivative where the one argument is real, in the form that
        `def_elementwise` takes.
    batch : callable, optional
        The batch rule, see `def_batch`.
    """
    _set(
        fun,
        None if vjps is None else _table("call", fun, vjps, broadcasts, compiled),
        None if jvps is None else _table("call", fun, jvps, broadcasts),
        batch,
    )


def def_whole(fun, vjp=None, jvp=None, closures=False, batch=None):
    """Set the rules of a primitive, one for all arguments of a call together.

    Parameters
    ----------
    fun : Primitive
        The function that the rules belong to.
    vjp : callable, optional
        ``vjp(argnums, g, ans, args, kwargs)`` returns a cotangent for each of ``argnums``. If its fourth parameter is
        named ``vs_args``, it is given the vector spaces of the arrays among the arguments in their place.
    jvp : callable, optional
        ``jvp(argnums, gs, ans, args, kwargs)`` returns the tangent of the answer.
    closures : bool
        Whether the rules close over a function of the user's. The nodes are then tracked by the garbage collector, and
        the rules do not hold the primitive, so that it is freed with the last reference to it.
    batch : callable, optional
        The batch rule, see `def_batch`.
    """
    vjps = jvps = None
    holder = fun.fun if closures else fun
    if vjp is not None:
        _, _, ans, args, *_ = vjp.__code__.co_varnames
        only_spaces = args.startswith("vs_")
        keeps = (0 if ans.startswith("_") else 1) | (0 if only_spaces else _ALL)
        needs = Rule(rule_forms["call"], vjp, keeps, _ALL if only_spaces else 0)
        vjps = Rules(holder, node_layouts["whole"], (needs,), whole=vjp, closures=closures)
    if jvp is not None:
        jvps = Rules(holder, node_layouts["whole"], (), whole=jvp, closures=closures)
    _set(fun, vjps, jvps, batch)


def def_batch(fun, rule):
    """Set the batch rule of a primitive that has its other rules elsewhere.

    Parameters
    ----------
    fun : Primitive
        The function that the rule belongs to.
    rule : callable
        ``rule(rows, ans, argnums, *args, **kwargs)`` returns the answers for ``rows`` rows: see
        `fastgrad.numpy.batching`.
    """
    fun.batch_rule = rule


def set_staged_vjp(fun, stage, whole=False, argnums=None):
    """Set the VJPs of a primitive in autograd's staged form.

    Parameters
    ----------
    fun : Primitive
        The function that the rule belongs to.
    stage : callable
        ``stage(argnums, ans, args, kwargs)`` is called in the forward pass. It returns a pullback per argument or, with
        ``whole``, one that returns all cotangents.
    whole : bool
        Whether ``stage`` returns one pullback for all arguments.
    argnums : frozenset of int, optional
        The arguments that the rule covers; by default it may cover any.
    """
    _set(fun, vjps=Rules(fun, node_layouts["staged whole" if whole else "staged"], whole=stage, argnums=argnums))


def set_whole_jvp(fun, jvp, argnums=None):
    """Set ``jvp(argnums, gs, ans, args, kwargs)`` as the JVP of a primitive; ``argnums`` as in `set_staged_vjp`."""
    _set(fun, jvps=Rules(fun, node_layouts["whole"], whole=jvp, argnums=argnums, opaque=True))


# ------------------------------------------------------------------------------------------------------------- refusals


def no_rule(fun_name, argument, instead="take a plain value of it with fastgrad.tracer.getval"):
    """Return a rule, of either mode, that refuses to differentiate with respect to one argument.

    Parameters
    ----------
    fun_name, argument : str
        The names in the message.
    instead : str
        The remedy in the message.

    Returns
    -------
    callable
        Raises NotImplementedError when it is called.
    """

    def refuse(_g, _ans, *_args, **_kwargs):
        raise NotImplementedError(f"{fun_name} has no derivative with respect to {argument!r}; {instead}")

    return refuse


def refuse_keywords(fun_name, instead=None, **keywords):
    """Raise if one of these keywords was given.

    Parameters
    ----------
    fun_name : str
        The name of the function in the message.
    instead : str, optional
        The remedy in the message; by default to leave the keyword out or, for ``out``, to use the returned array.
    **keywords
        The keyword arguments that the rules of the function do not support.

    Raises
    ------
    NotImplementedError
        If a value is neither None, nor False, nor NumPy's own mark for a keyword that was not given.
    """
    for name, value in keywords.items():
        if value is not None and value is not False and value is not _NoValue:
            instead = instead or ("use the returned array" if name == "out" else "leave it out")
            raise NotImplementedError(f"{fun_name} of a traced value has no derivative with {name!r} given; {instead}")
