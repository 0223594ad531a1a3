"""Operators on functions of any arguments, made from operators on functions of one argument."""

import inspect

from fastgrad._diagnostics.messages import check_argnum, check_distinct
from fastgrad._engine.core import DerivedFunction
from fastgrad._rules.arguments import subvals

__all__ = ["get_doc", "get_name", "subvals", "take_place", "unary_to_nary", "wrap_nary_f", "wraps"]


def get_name(f):
    """Return the name of a function, or "[unknown name]" if it has none."""
    return getattr(f, "__name__", "[unknown name]")


def get_doc(f):
    """Return the docstring of a function, or "" if it has none."""
    return getattr(f, "__doc__", None) or ""


def wraps(fun, namestr="{fun}", docstr="{doc}", **kwargs):
    """Return a decorator that sets the name and docstring of a function by those of ``fun``.

    Parameters
    ----------
    fun : callable
        The function that the decorated one is derived from.
    namestr, docstr : str
        Formats of the name and docstring, in which ``{fun}`` is the name of ``fun`` and ``{doc}`` its docstring.
    **kwargs
        Values of further fields of the formats.
    """

    def decorate(f):
        fields = {"fun": get_name(fun), "doc": get_doc(fun), **kwargs}
        try:
            f.__name__ = namestr.format(**fields)
            f.__doc__ = docstr.format(**fields)
        except (AttributeError, KeyError, ValueError, IndexError):
            # The function works without its name and docstring, which cannot be set if a user's docstring has braces
            # in it or the callable takes no attributes.
            pass
        return f

    return decorate


def take_place(f, fun):
    """Set the module and qualified name of ``f``, by which pickle finds it, to those of ``fun``, which it replaces."""
    for name in ("__module__", "__qualname__"):
        setattr(f, name, getattr(fun, name, getattr(f, name)))


def wrap_nary_f(fun, op, argnum):
    """Return a decorator that names a function "op of fun with respect to argnum", with the signature of ``fun``."""
    named = wraps(
        fun,
        namestr="{op}_of_{fun}_wrt_argnum_{argnum}",
        docstr="    {op} of function {fun} with respect to argument number {argnum}; takes its arguments.\n\n{doc}",
        op=get_name(op),
        argnum=argnum,
    )

    def decorate(f):
        # `inspect.signature` follows this attribute; computing the signature here would slow down every operator.
        f.__wrapped__ = fun
        return named(f)

    return decorate


def _nary_signature(unary_operator):
    """Return the signature of an operator after `unary_to_nary`, or None if there is no such signature."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    try:
        _fun, _x, *others = inspect.signature(unary_operator).parameters.values()
        first = [inspect.Parameter("fun", kind), inspect.Parameter("argnum", kind, default=0)]
        return inspect.Signature([*first, *others])
    except (TypeError, ValueError):  # it has no signature, or parameters that can't follow one with a default
        return None


def _pick(args, argnum):
    """Return the argument that ``argnum`` selects, or the tuple of several."""
    return args[argnum] if isinstance(argnum, int) else tuple(args[i] for i in argnum)


def _by_position(fun, args, kwargs, argnum):
    """Return the arguments of a call by position, including defaults and those given by keyword."""
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
    """Return an operator on functions of any arguments, made from one on functions of one argument.

    Parameters
    ----------
    unary_operator : callable
        ``unary_operator(fun, x, *op_args, **op_kwargs)`` for ``fun`` of one argument.

    Returns
    -------
    callable
        ``nary_operator(fun, argnum=0, *op_args, **op_kwargs)`` returns a function of the arguments of ``fun``.
        ``argnum`` is the position of the argument that the operator works on, or a tuple or list of positions, whose
        arguments it sees as one tuple.

    Notes
    -----
    The operator raises TypeError if ``fun`` is not callable or ``argnum`` is not an integer or several. The function it
    returns raises TypeError if ``fun`` has no such argument.
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
