"""A typical call of every primitive that has rules; see ``primitives``.

The calls are those of the table of rules, in ``tests/rules``: a new function has its benchmark with its row there. What
no row stands for follows here: other calls of a function that has several paths, containers, and parts of rules.

A case is named by its path below ``fastgrad``, which is also the path of NumPy's or SciPy's own function, and a label
where a function has several cases.
"""

import importlib
import sys
import zlib
from functools import partial
from pathlib import Path

import numpy

import fastgrad.numpy
from fastgrad import builtins
from fastgrad.core import SparseObject, VJPNode, make_vjp, vspace
from fastgrad.scipy.rules import special
from fastgrad.tracer import new_box

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "rules"))
from table import TABLES  # noqa: E402


class Case:
    """One call of a function.

    Parameters
    ----------
    name : str
        The path of the function, and a label.
    function : callable
        fastgrad's function.
    value : object
        The variable to differentiate with respect to: an array, a number, or a container of them.
    arguments : callable
        ``arguments(value)`` returns the tuple of positional arguments for a value of the variable.
    kwargs : dict
        Constant keywords.
    original : callable, optional
        NumPy's or SciPy's own function, if they have one.
    order : {1, 2}
        1 if the second derivative does not depend on the variable, or the answer is no vector.
    """

    def __init__(self, name, function, value, arguments, kwargs, original=None, order=2):
        self.name, self.function, self.original, self.order = name, function, original, order
        self.value, self.arguments, self.kwargs = value, arguments, kwargs

    @property
    def modes(self):
        """list of str : the methods that return what can be timed of this call."""
        raw = ["raw"] if self.original is not None else []
        return [*raw, "unboxed", "boxed", "backward", *(["second_order"] if self.order == 2 else [])]

    def bind(self, function, value):
        """Return the call of a function with the variable at a value, to be called without arguments."""
        return partial(function, *self.arguments(value), **self.kwargs)

    def raw(self):
        """Return the call of the original function."""
        return self.bind(self.original, self.value)

    def unboxed(self):
        """Return the call of fastgrad's function on values that are not traced."""
        return self.bind(self.function, self.value)

    def boxed(self):
        """Return the call that records a node in reverse mode, outside any trace."""
        return self.bind(self.function, new_box(self.value, 0, VJPNode.new_root()))

    def backward(self):
        """Return a call that pulls a cotangent back through the recorded graph.

        Most often it has one node, or one more for each of several variables.
        """
        pull, answer = make_vjp(self, self.value)
        return partial(pull, vspace(answer).ones())

    def second_order(self):
        """Return a call that computes the Hessian of half the square of the answer, times a vector, from the start.

        So the cotangent is the answer itself, and a linear function has derivatives of second order too.
        """
        direction = vspace(self.value).ones()

        def pulled(x):
            pull, answer = make_vjp(self, x)
            return pull(answer)

        def call():
            pull, _ = make_vjp(pulled, self.value)
            return pull(direction)

        return call

    def __call__(self, x):
        return self.bind(self.function, x)()


# --------------------------------------------------------------------------------------------------- the table of rules


def case_of_row(package, row):
    """Return the case of a row of the table of rules, None if it has no derivative or the function is missing."""
    call = row.typical
    if call is None or not row.exists:
        return None
    try:
        function = row.function(fastgrad.numpy)
    except AttributeError:  # an older version of fastgrad, measured by asv
        return None
    rng = numpy.random.default_rng(zlib.crc32(row.name.encode()))
    variables = call.draw(rng, "d" if "d" in call.dtypes else call.dtypes[0])
    several = len(variables) > 1

    def arguments(value):
        return call.arguments([value[i] for i in range(len(variables))] if several else [value])

    value = tuple(variables) if several else variables[0]
    original = row.function(numpy) if row.ref is None else None
    return Case(f"{package}.{row.name}", function, value, arguments, call.kwargs, original, call.order)


def cases_of_table():
    """Return the cases of all rows of the table of rules."""
    packages = {name: "scipy" if name.startswith("table_scipy_") else "numpy" for name in TABLES}
    cases = [case_of_row(packages[name], row) for name, rows in TABLES.items() for row in rows]
    return [case for case in cases if case is not None]


# ----------------------------------------------------------------------------------------------------- what has no row


class Traced:
    """Stands for the variable of a case among its arguments, at any depth of lists and tuples."""

    def __init__(self, value):
        self.value = value


def _leaves(tree):
    if isinstance(tree, (list, tuple)):
        return [leaf for item in tree for leaf in _leaves(item)]
    return [tree]


def _fill(tree, value):
    if isinstance(tree, Traced):
        return value
    if isinstance(tree, (list, tuple)) and any(isinstance(leaf, Traced) for leaf in _leaves(tree)):
        return type(tree)([_fill(item, value) for item in tree])
    return tree


def look_up(path):
    """Return the object at a dotted path that begins with a module; None if there is none."""
    module, *names = path.split(".")
    found = importlib.import_module(module)
    for name in names:
        # fastgrad.numpy also has the names that NumPy dropped, but does not list them.
        found = getattr(found, name) if name in dir(found) else None
    return found


def case(path, *args, label="", fun=None, order=2, **kwargs):
    """Return the case of a call that no row of the table stands for.

    Parameters
    ----------
    path : str
        Where the function is in ``fastgrad`` and, if it is theirs, in NumPy or SciPy.
    *args
        Its arguments, with `Traced` among them. A `Traced` that occurs several times is one variable.
    label : str
        Tells apart cases of one function.
    fun : callable, optional
        What to call instead of what is found at ``path``, which then only names the case.
    order : {1, 2}
        See `Case`.
    **kwargs
        Constant keywords of the function.
    """
    value = next(leaf.value for leaf in _leaves(args) if isinstance(leaf, Traced))
    original = look_up(path) if fun is None and path.startswith("numpy.") else None
    function = fun or look_up(f"fastgrad.{path}")
    return Case(f"{path} {label}".rstrip(), function, value, lambda x: _fill(args, x), kwargs, original, order)


VECTOR = numpy.linspace(0.1, 0.9, 10)
MATRIX = numpy.array([[4.0, 1.0, 0.5, 0.2], [1.0, 3.0, 0.4, 0.1], [0.5, 0.4, 2.0, 0.3], [0.2, 0.1, 0.3, 1.0]])
COLUMN = numpy.linspace(-1.0, 1.0, 4)
ORDER = numpy.array([3, 1, 4, 0, 9, 2, 6, 5, 8, 7])

x, scalar, a = Traced(VECTOR), Traced(0.5), Traced(MATRIX)

# Calls for which a function has a path of its own.
FURTHER_PATHS = [
    case("numpy.sum", a, label="by rows", axis=1),
    case("numpy.array", [[scalar, 1.0], [scalar, 2.0]], label="of scalars"),
    case("numpy.array", x, label="of a vector"),
    case("numpy.getitem", x, 3, label="at an integer"),
    case("numpy.getitem", x, slice(2, 5), label="at a slice"),
    case("numpy.getitem", x, ORDER, label="at integers"),
    case("numpy.dot", a, a, label="of matrices"),
    case("numpy.dot", a, COLUMN, label="of a matrix and a constant vector"),
    case("numpy.linalg.solve", a, COLUMN, label="of a constant vector"),
]

parameters = Traced({"weights": VECTOR, "bias": 0.5})
pair = Traced((VECTOR, 0.5))
CONTAINERS = [
    case("builtins.container_take", parameters, "weights"),
    case("builtins.tuple", (x, x)),
    case("builtins.list", [x, x]),
    case("builtins.dict", x, fun=lambda x: builtins.dict(weights=x, bias=x)),
    case("builtins.sequence_extend_right", pair, x.value),
    case("builtins.sequence_extend_left", pair, x.value),
]

SPACE = vspace(VECTOR)
# What rules are made of: users call none of these, a derivative of second order may call any.
PARTS_OF_RULES = [
    case("core.VSpace.add", SPACE, x, x),
    case("core.VSpace.inner_prod", SPACE, x, x),
    case("core.VSpace.mut_add", SPACE, None, x),
    case("core.VSpace.scalar_mul", SPACE, x, 0.5),
    case("core.VSpace.covector", SPACE, x),
    case("core.sparse_add", SPACE, x, SparseObject(SPACE, lambda array: array)),
    case("builtins.container_untake", x, 0, vspace(pair.value), order=1),
    case("builtins._assemble", vspace(pair.value), x, scalar),
    case("numpy.rules.indexing.untake", x, slice(0, 10), SPACE, order=1),
    case("numpy.rules.reductions.repeat_reduced", scalar, SPACE),
    case("numpy.rules.shapes.undiagonal", x, (10, 10)),
    case("numpy.rules.sorting.permute", x, ORDER, 0),
    case("scipy.rules.partial_means.partial_mean", special._gamma_score, special._GAMMA_LAW, x, 1.5),
]

CASES = {
    case.name: case
    for case in [*cases_of_table(), *FURTHER_PATHS, *CONTAINERS, *PARTS_OF_RULES]
    if case.function is not None  # not every version of fastgrad has all of these
}
