"""Tracers other than the two modes: one replays a graph on new arguments, one keeps every value and call."""

from fastgrad._engine.backward import toposort
from fastgrad._engine.core import DerivedFunction
from fastgrad._rules.arguments import subvals
from fastgrad.tracer import Node, trace
from fastgrad.wrap_util import wraps

__all__ = ["ConstGraphNode", "FullGraphNode", "const_graph", "const_graph_unary", "full_graph"]


class ConstGraphNode(Node):
    """A node that can repeat its call on other values of its parents.

    Attributes
    ----------
    parents : list of ConstGraphNode
        The nodes of the traced arguments.
    partial_fun : callable
        Takes the list of the parents' values to the value of the call.
    """

    __slots__ = ["parents", "partial_fun"]

    def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
        self.parents = parents
        # The traced arguments are replaced, or the graph would keep all values of the first call alive.
        constants = subvals(args, [(argnum, None) for argnum in parent_argnums])
        self.partial_fun = lambda values: fun(*subvals(constants, zip(parent_argnums, values, strict=True)), **kwargs)

    def initialize_root(self):
        self.parents = []


def _record(fun, x):
    """Return the value of ``fun`` at ``x`` and its graph: for each call, a function and the indices of its inputs."""
    value, end_node = trace(ConstGraphNode.new_root(), fun, x)
    if end_node is None:
        raise ValueError("Output is independent of input, so there is no graph to replay")
    nodes = list(toposort(end_node))[::-1]
    indices = {node: index for index, node in enumerate(nodes)}
    return value, [(node.partial_fun, [indices[parent] for parent in node.parents]) for node in nodes[1:]]


def const_graph_unary(fun):
    """Return a function of one argument that records its graph in the first call and replays it in later ones.

    Parameters
    ----------
    fun : callable
        Must call the same primitives in the same order for every argument.

    Returns
    -------
    callable
        Takes one argument, and can be differentiated as ``fun`` can.

    Raises
    ------
    ValueError
        If the value of ``fun`` does not depend on its argument, in the first call.
    """
    graph = None

    @wraps(fun)
    def replay(x):
        nonlocal graph
        if graph is None:
            value, graph = _record(fun, x)
            return value
        values = [x]
        for call, indices in graph:
            values.append(call([values[index] for index in indices]))
        return values[-1]

    return DerivedFunction(replay, const_graph_unary, (fun,))


def const_graph(fun, *args, **kwargs):
    """Return a function that records its graph in the first call and replays it in later ones.

    Later calls run the recorded primitives only. Control flow and all other Python code is skipped, so that it must not
    depend on the arguments.

    Parameters
    ----------
    fun : callable
        Must call the same primitives in the same order for all arguments.
    *args, **kwargs
        The first arguments and the keywords of every call, which are constants.

    Returns
    -------
    callable
        Takes the other arguments by position, and can be differentiated as ``fun`` can.

    Raises
    ------
    ValueError
        If the value of ``fun`` does not depend on its arguments, in the first call.

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
    """A node that keeps its value and the call that returned it.

    Attributes
    ----------
    value : object
        The value that the call returned; None at the root.
    recipe : tuple
        The primitive, its arguments, its keywords, and for each traced argument the pair of its position and its node.
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
        """list of FullGraphNode : the nodes of the traced arguments."""
        return [parent for _, parent in self.recipe[3]]


def full_graph(fun, *args, **kwargs):
    """Call a function and return the graph of the call.

    Parameters
    ----------
    fun : callable
        Any traced function.
    *args, **kwargs
        Its arguments. Those given by position are traced, those given by keyword are constants.

    Returns
    -------
    FullGraphNode or None
        The node of the value; None if the value does not depend on the traced arguments.
    """
    _, end_node = trace(FullGraphNode.new_root(), lambda variables: fun(*variables, **kwargs), args)
    return end_node
