"""Show which path a call takes through the engine: ``python -m fastgrad.paths "np.sum(B, axis=0)"``.

The row that is printed has the columns of the table at the head of `_engine/values/dispatch.pxi`: what recorded the
call, what computed its value, how its node is laid out, and what computed the cotangent.
"""

import sys

import numpy as onp

import fastgrad.numpy as np
from fastgrad._engine.core import layout_of, watch_paths
from fastgrad.core import make_vjp, vspace
from fastgrad.extend import defvjp, primitive

COLUMNS = ("recorded by", "value computed by", "node", "cotangent by")
USAGE = """usage: python -m fastgrad.paths EXPRESSION

EXPRESSION is one call of a function of np (fastgrad.numpy), or one operation, on these values:
b, a traced float64; B, a traced array of shape (3, 3); M, an array of that shape; p, a traced dict with the array
p["w"]; user_sin, a user's primitive."""
COTANGENTS = {
    "fused derivative",
    "compiled rule",
    "Python rule",
    "added to the array's total",
    "put into the container",
    "user's pullback",
}


@primitive
def user_sin(x):
    """Return the sine of x, as a user's primitive."""
    return onp.sin(x)


defvjp(user_sin, lambda _ans, x: lambda g: g * onp.cos(x))


def path_of(expression):
    """Return the path that a call takes.

    Parameters
    ----------
    expression : str
        One call on the values that `USAGE` lists, for example ``"np.sin(B)"``. It is evaluated as Python code.

    Returns
    -------
    dict of str
        What took part in each of `COLUMNS`.

    Raises
    ------
    ValueError
        If the expression uses no traced value, or records more than one call.
    """
    matrix = onp.arange(1.0, 10.0).reshape(3, 3)
    values = {"b": 0.5, "B": matrix / 9.0, "p": {"w": matrix}}
    code = compile(expression, "<expression>", "eval")
    traced = [name for name in code.co_names if name in values]
    if len(traced) != 1:
        raise ValueError(f"{expression!r} must use exactly one of the traced values b, B and p; it uses {traced}")
    seen, node = [], None

    def fun(x):
        nonlocal node
        watch_paths(seen)
        ans = eval(code, {"np": np, "M": matrix, "user_sin": user_sin, traced[0]: x})
        watch_paths(None)
        node = ans._node
        return ans

    try:
        pull, ans = make_vjp(fun, values[traced[0]])
        calls = list(seen)
        pull(vspace(ans).ones())  # the first call may record a fused derivative
        watch_paths(seen := [])
        pull(vspace(ans).ones())
    finally:
        watch_paths(None)
    if len(calls) != 2:
        raise ValueError(f"{expression!r} makes more than one traced call; give one: {calls}")
    value, recorder = calls if calls[0] != "ContainerBox.take" else calls[::-1]
    cotangent = next((part for part in seen if part in COTANGENTS), "passed on as it is")
    return dict(zip(COLUMNS, (recorder, value, layout_of(node), cotangent), strict=True))


def main(arguments):
    """Print the path of the expression that the command line gives, and return the exit status."""
    if len(arguments) != 1 or arguments[0] in ("-h", "--help"):
        print(USAGE)
        return 0 if arguments and arguments[0] in ("-h", "--help") else 2
    for column, what in path_of(arguments[0]).items():
        print(f"{column:18} {what}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
