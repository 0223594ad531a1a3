"""From operators on functions of one argument to operators on any function."""

import inspect

from fastgrad._diagnostics.messages import check_argnum, check_distinct
from fastgrad._engine.core import DerivedFunction
from fastgrad._rules.arguments import subvals

__all__ = ["get_doc", "get_name", "subvals", "take_place", "unary_to_nary", "wrap_nary_f", "wraps"]


def get_name(f):
    """Give a function's name, "[unknown name]" where it has none."""
    return getattr(f, "__name__", "[unknown name]")


def get_doc(f):
    """Give a function's docstring, "" where it has none."""
    return getattr(f, "__doc__", None) or ""


def wraps(fun, namestr="{fun}", docstr="{doc}", **kwargs):
    """Make a decorator that names and documents a function after ``fun``.

    Parameters
    ----------
    fun : callable
        The function that the decorated one is derived from.
    namestr, docstr : str
        Formats of the name and docstring, in which ``{fun}``, ``{doc}`` and the keywords stand for their values.
    """

    def decorate(f):
        fields = {"fun": get_name(fun), "doc": get_doc(fun), **kwargs}
        try:
            f.__name__ = namestr.format(**fields)
            f.__doc__ = docstr.format(**fields)
        except (AttributeError, KeyError, ValueError, IndexError):
            # A name or docstring is a nicety: braces in a user's docstring, or a callable that takes no attributes,
            # must not keep the function from being made.
            pass
        return f

    return decorate


def take_place(f, fun):
    """Say where a function is found that takes the place of the one it is made from: pickle goes by that."""
    for name in ("__module__", "__qualname__"):
        setattr(f, name, getattr(fun, name, getattr(f, name)))


def wrap_nary_f(fun, op, argnum):
    """Make a decorator that names ``op`` of ``fun`` with respect to ``argnum``, with the signature of ``fun``."""
    named = wraps(
        fun,
        namestr="{op}_of_{fun}_wrt_argnum_{argnum}",
        docstr="    {op} of function {fun} with respect to argument number {argnum}; takes its arguments.\n\n{doc}",
        op=get_name(op),
        argnum=argnum,
    )

    def decorate(f):
        # `inspect.signature` follows this when it is asked: to work the signature out here would cost every operator.
        f.__wrapped__ = fun
        return named(f)

    return decorate


def _nary_signature(unary_operator):
    """Give the signature that an operator has after `unary_to_nary`, None where no signature says it."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    try:
        _fun, _x, *others = inspect.signature(unary_operator).parameters.values()
        first = [inspect.Parameter("fun", kind), inspect.Parameter("argnum", kind, default=0)]
        return inspect.Signature([*first, *others])
    except (TypeError, ValueError):  # it has none, or parameters that can't stand after one with a default
        return None


def _pick(args, argnum):
    """Give the arguments that ``argnum`` names, as one value."""
    return args[argnum] if isinstance(argnum, int) else tuple(args[i] for i in argnum)


def _by_position(fun, args, kwargs, argnum):
    """Give a call's arguments by position, those given by keyword and defaults included."""
    try:
        bound = inspect.signature(fun).bind(*args, **kwargs)
    except ValueError:
        raise TypeError(
            f"argnum {argnum} names an argument of {get_name(fun)} that was not given by position, and where it stands "
            "is not known"
        ) from None
    bound.apply_defaults()
    positions = argnum if isinstance(argnum, tuple | list) else (argnum,)
    if not all(-len(bound.args) <= position < len(bound.args) for position in positions):
        raise TypeError(
            f"argnum {argnum} names an argument that {get_name(fun)} does not have: it has {len(bound.args)}"
        )
    return bound.args, bound.kwargs


def unary_to_nary(unary_operator):
    """Make an operator on functions of one argument take any function and an ``argnum``.

    Parameters
    ----------
    unary_operator : callable
        ``unary_operator(fun, x, *op_args, **op_kwargs)`` for ``fun`` of one argument.

    Returns
    -------
    callable
        ``nary_operator(fun, argnum=0, *op_args, **op_kwargs)``, which gives a function of the arguments of ``fun``.
        ``argnum`` is the position of the argument that the operator works on, or a tuple or list of positions, whose
        arguments it then sees as one tuple.
    """

    @wraps(unary_operator)
    def nary_operator(fun, argnum=0, *nary_op_args, **nary_op_kwargs):
        if not callable(fun):
            raise TypeError(f"{get_name(unary_operator)} takes a function, not {fun!r}")
        if type(argnum) is not int:
            argnum = check_argnum(argnum)

        single = type(argnum) is int
        first_only = argnum == 0 and not (nary_op_args or nary_op_kwargs)

        @wrap_nary_f(fun, unary_operator, argnum)
        def nary_f(*args, **kwargs):
            try:
                x = args[argnum] if single else _pick(args, argnum)
            except IndexError:
                args, kwargs = _by_position(fun, args, kwargs, argnum)
                x = _pick(args, argnum)
            if single and len(args) == 1 and not kwargs:
                return unary_operator(fun, x, *nary_op_args, **nary_op_kwargs)

            if not single:
                check_distinct([i % len(args) for i in argnum], argnum)

            def unary_f(x):
                changed = list(args)
                if single:
                    changed[argnum] = x
                else:
                    for i, value in zip(argnum, x, strict=True):
                        changed[i] = value
                return fun(*changed, **kwargs)

            unary_f.__name__ = get_name(fun)
            return unary_operator(unary_f, x, *nary_op_args, **nary_op_kwargs)

        given = (fun,) if first_only else (fun, argnum, *nary_op_args)
        return DerivedFunction(nary_f, nary_operator, given, nary_op_kwargs, unary_operator if first_only else None)

    take_place(nary_operator, unary_operator)
    signature = _nary_signature(unary_operator)
    if signature is not None:
        nary_operator.__signature__ = signature
    return nary_operator
