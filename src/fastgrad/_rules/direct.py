"""The direct form of rules: what fastgrad's own functions use.

A direct rule is called in the backward pass only, so the forward pass runs no Python; autograd's staged form
(`fastgrad.core.defvjp`) stays the public one. What a node keeps for a rule is read off the rule's parameters:

=================  ====================================================================
``ans``, ``x``     the answer, an argument: kept as it is
``_ans``, ``_x``   not used, not kept: the rule is given None
``vs_x``           only the vector space of the argument is kept: its shape and dtype
=================  ====================================================================

Rules are made of primitives, so that they can be differentiated again.
"""

import warnings
import weakref
from collections.abc import Callable
from itertools import zip_longest
from typing import NamedTuple

from fastgrad._engine.core import Primitive, Rule, Rules, compiled_rules, node_layouts, rule_forms

# Every primitive that has a rule or is not traced, by its id, for the registries to list.
_registered = weakref.WeakValueDictionary()

_VARARGS = 0x04
_ALL = 0xFFFFFFFE

_KEPT = {"ans": 1, "arg0": 2, "arg1": 4}


def register(fun):
    """Let the registries list a primitive."""
    _registered[id(fun)] = fun


def registered():
    """Give the primitives that the registries list, while other threads may register more."""
    return [fun for fun in (reference() for reference in _registered.valuerefs()) if fun is not None]


def _bit(argnum):
    return 1 << min(argnum + 1, 31)


def _needs(rule, n_leading):
    """Read off a rule's parameters what it needs: masks of what to keep and of whose vspace to keep."""
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


def _rule(kind, argnum, fun, plain=None):
    """Make a Rule from one entry of a table."""
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
    keeps, spaces = _needs(fun, 0 if kind == "deriv" else 1)
    n_args = fun.__code__.co_argcount - 1 if kind == "deriv" else 0
    if callable(plain):
        return Rule(rule_forms[kind], fun, keeps, spaces, n_args, real_deriv=plain)
    return Rule(rule_forms[kind], fun, keeps, spaces, n_args, for_numbers, compiled_rules[plain])


def _set(fun, vjps=None, jvps=None):
    if not isinstance(fun, Primitive):
        # Libraries do it (ceviche), and autograd takes it; no trace ever meets these rules.
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


def _table(kind, fun, rules, broadcasts, plain=()):
    table = tuple(_rule(kind, i, rule, name) for i, (rule, name) in enumerate(zip_longest(rules, plain)))
    return Rules(fun, node_layouts["direct"], table, broadcasts=broadcasts)


class ByExponent(NamedTuple):
    """The derivative of a power by its base: in general, and for exponents that are numbers, None standing for any."""

    general: Callable
    for_numbers: dict


def def_elementwise(fun, *derivs):
    """Give both modes of an elementwise function from its derivatives, one per argument.

    Parameters
    ----------
    fun : Primitive
        Elementwise and broadcasting; holomorphic in the arguments that may be complex.
    *derivs : callable, ByExponent, "identity", "negate", "ans", "arg0", "arg1", "over arg0", "over arg1" or None
        ``deriv(ans, *args)``, the derivative with respect to one argument, each element at its own place. The names
        stand for the derivatives 1 and -1, those that are the answer or an argument itself, and 1 / arg; None for 0.
        A straight line of ufuncs runs without Python on plain values: see `values/fused_derivatives.pxi`.
    """
    rules = _table("deriv", fun, derivs, True)
    _set(fun, rules, rules)


def def_direct(fun, vjps=None, jvps=None, broadcasts=False, plain=()):
    """Give rules per argument.

    Parameters
    ----------
    fun : Primitive
        What the rules are for.
    vjps, jvps : sequence of callable, None, "identity", "negate" or "same"
        ``rule(g, ans, *args, **kwargs)`` gives the cotangent of the argument, or the tangent of the answer. None is
        the zero; "same", in `jvps`, is ``fun`` itself called on the tangent, right where it is linear in the argument.
    broadcasts : bool
        Whether the answer is the broadcast of the arguments; the rules need not then sum or broadcast themselves.
    plain : sequence of str, callable or None
        Names of routines in C that do on plain values what ``vjps`` do, for calls without keywords: see
        `apply_compiled_rule` in `values/compiled_rules.pxi`. A callable is the derivative where the one argument is
        real, as `def_elementwise` has it.
    """
    _set(
        fun,
        None if vjps is None else _table("call", fun, vjps, broadcasts, plain),
        None if jvps is None else _table("call", fun, jvps, broadcasts),
    )


def def_whole(fun, vjp=None, jvp=None, closures=False):
    """Give one rule for all arguments of a call at once.

    Parameters
    ----------
    fun : Primitive
        What the rules are for.
    vjp : callable
        ``vjp(argnums, g, ans, args, kwargs)`` -> a cotangent per entry of ``argnums``. If its fourth parameter is named
        ``vs_args``, arrays among the arguments are given as their vector spaces.
    jvp : callable
        ``jvp(argnums, gs, ans, args, kwargs)`` -> the tangent of the answer.
    closures : bool
        Whether the rules close over a function of a user's. Nodes that have them are then left to the garbage
        collector, and the rules do not hold the primitive, so that it goes with the last reference.
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
    _set(fun, vjps, jvps)


def set_staged_vjp(fun, stage, whole=False, argnums=None):
    """Set ``stage(argnums, ans, args, kwargs)``, called in the forward pass, which gives a pullback per argument
    or, with ``whole``, one for all; ``argnums`` are the arguments it is for, if that is known."""
    _set(fun, vjps=Rules(fun, node_layouts["staged whole" if whole else "staged"], whole=stage, argnums=argnums))


def set_whole_jvp(fun, jvp, argnums=None):
    """Set ``jvp(argnums, gs, ans, args, kwargs)``."""
    _set(fun, jvps=Rules(fun, node_layouts["whole"], whole=jvp, argnums=argnums, opaque=True))
