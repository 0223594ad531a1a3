"""Other tracers than the two modes: one that replays a graph, one that keeps all of it."""

from fastgrad._engine.backward import toposort
from fastgrad._engine.core import DerivedFunction
from fastgrad._rules.arguments import subvals
from fastgrad.tracer import Node, trace
from fastgrad.wrap_util import wraps

__all__ = ["ConstGraphNode", "FullGraphNode", "const_graph", "const_graph_unary", "full_graph"]


class ConstGraphNode(Node):
    """A node that can make its call again on other values of its parents."""

    __slots__ = ["parents", "partial_fun"]

    def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
        self.parents = parents
        # The values of the first call are let go: the graph would keep every one of them alive.
        kept = subvals(args, [(argnum, None) for argnum in parent_argnums])
        self.partial_fun = lambda values: fun(*subvals(kept, zip(parent_argnums, values, strict=True)), **kwargs)

    def initialize_root(self):
        self.parents = []


def _record(fun, x):
    """Call a function and give what it returns and its graph: of each call how to make it and the places it reads."""
    value, end_node = trace(ConstGraphNode.new_root(), fun, x)
    if end_node is None:
        raise ValueError("Output is independent of input, so there is no graph to replay")
    nodes = list(toposort(end_node))[::-1]
    places = {node: place for place, node in enumerate(nodes)}
    return value, [(node.partial_fun, [places[parent] for parent in node.parents]) for node in nodes[1:]]


def const_graph_unary(fun):
    """Make a function of one argument that records its graph at the first call and replays it at the later ones.

    Parameters
    ----------
    fun : callable
        Calls the same primitives in the same order, whatever its argument.

    Returns
    -------
    callable
        Takes one argument, and can be differentiated as ``fun`` can.

    Raises
    ------
    ValueError
        If what ``fun`` returns does not depend on its argument.
    """
    graph = None

    @wraps(fun)
    def replay(x):
        nonlocal graph
        if graph is None:
            value, graph = _record(fun, x)
            return value
        values = [x]
        for call, places in graph:
            values.append(call([values[place] for place in places]))
        return values[-1]

    return DerivedFunction(replay, const_graph_unary, (fun,))


def const_graph(fun, *args, **kwargs):
    """Make a function that records its graph at the first call and replays it at the later ones.

    Control flow and everything else that is not a primitive then costs nothing; it must not depend on the arguments.

    Parameters
    ----------
    fun : callable
        Calls the same primitives in the same order, whatever its arguments.
    *args, **kwargs
        First arguments and keywords of every call, constant.

    Returns
    -------
    callable
        Takes the other arguments by position, and can be differentiated as ``fun`` can.

    Examples
    --------
    >>> from fastgrad import grad
    >>> from fastgrad.misc import const_graph
    >>> power = const_graph(lambda x: x**2 * x)
    >>> print(power(1.0), power(2.0), grad(power)(2.0))
    1.0 8.0 12.0
    """
    replay = const_graph_unary(lambda variables: fun(*args, *variables, **kwargs))

    @wraps(fun)
    def const_fun(*variables):
        return replay(variables)

    return DerivedFunction(const_fun, const_graph, (fun, *args), kwargs)


class FullGraphNode(Node):
    """A node that keeps the value and how it was made.

    Attributes
    ----------
    value : object
        What the call returned; None at the root.
    recipe : tuple
        The primitive, its arguments, its keywords, and pairs of an argument's position and the node it came from.
    """

    __slots__ = ["value", "recipe"]

    def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
        self.value = value
        self.recipe = (fun, args, kwargs, list(zip(parent_argnums, parents, strict=True)))

    def initialize_root(self):
        self.value = None
        self.recipe = (lambda x: x, (), {}, [])

    @property
    def parents(self):
        """The nodes of the traced arguments."""
        return [parent for _, parent in self.recipe[3]]


def full_graph(fun, *args, **kwargs):
    """Call a function and give the graph of the call.

    Parameters
    ----------
    fun : callable
        The function.
    *args, **kwargs
        Its arguments, those by position traced.

    Returns
    -------
    FullGraphNode or None
        The node of what the function returned; None if that does not depend on the arguments.
    """
    _, end_node = trace(FullGraphNode.new_root(), lambda variables: fun(*variables, **kwargs), args)
    return end_node
