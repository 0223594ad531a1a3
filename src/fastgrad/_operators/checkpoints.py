"""Checkpointing: the backward pass evaluates a function again instead of storing its intermediate values."""

from fastgrad._engine.core import ClosedOverTrace, DerivedFunction, contains_box
from fastgrad._operators.gradients import make_jvp, make_vjp
from fastgrad._rules.direct import def_whole
from fastgrad.core import sum_outgrads
from fastgrad.tracer import getval, isbox, primitive
from fastgrad.wrap_util import wraps


def checkpoint(fun):
    """Return a function that stores no intermediate values and is evaluated again in the backward pass.

    Parameters
    ----------
    fun : callable
        Any traced function; it must return the same value each time it is called with the same arguments.

    Returns
    -------
    callable
        Takes the arguments of ``fun``, returns what it returns and has its derivatives of any order. Calls in which
        ``fun`` closes over a traced value are recorded as if it were not checkpointed, and save no memory.

    Raises
    ------
    TypeError
        If ``fun`` is not callable.

    Notes
    -----
    The memory for the intermediate values of ``fun`` is saved at the price of one more evaluation of it (Griewank and
    Walther, *Evaluating Derivatives*, 2nd ed. 2008, chapter 12).

    Examples
    --------
    >>> import fastgrad.numpy as np
    >>> from fastgrad import checkpoint, grad
    >>> layer = checkpoint(lambda x: np.tanh(x) * np.exp(-(x**2)))
    >>> grad(lambda x: np.sum(layer(layer(x))))(np.zeros(2))
    array([1., 1.])
    """
    if not callable(fun):
        raise TypeError(f"checkpoint takes a function, not {fun!r}")

    @primitive
    @wraps(fun)
    def evaluate(*args, **kwargs):
        return fun(*args, **kwargs)

    @wraps(fun)
    def checkpointed(*args, **kwargs):
        # As a primitive, `fun` has derivatives with respect to its arguments alone. If it also uses a traced value of
        # a surrounding function, its own operations have to be recorded.
        try:
            ans = evaluate(*args, **kwargs)
        except ClosedOverTrace:
            return fun(*args, **kwargs)
        value = getval(ans) if isbox(ans) else None
        if isinstance(value, dict | list | tuple) and contains_box(value, ans._trace):
            return fun(*args, **kwargs)
        return ans

    checkpointed.__wrapped__ = fun

    def vjp(argnums, g, _ans, args, kwargs):
        return [make_vjp(fun, argnum)(*args, **kwargs)[0](g) for argnum in argnums]

    def jvp(argnums, gs, _ans, args, kwargs):
        pairs = zip(argnums, gs, strict=True)
        return sum_outgrads(make_jvp(fun, argnum)(*args, **kwargs)(g)[1] for argnum, g in pairs)

    def_whole(evaluate, vjp, jvp, closures=True)
    return DerivedFunction(checkpointed, checkpoint, (fun,))
