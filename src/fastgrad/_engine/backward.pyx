# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, binding=True, auto_pickle=False
"""The backward pass: ordering a graph, accumulating cotangents, walking back.

A graph is ordered once per `vjp` closure into an `Order`, which no pass changes: any number of passes, in any number
of threads, may use one at once. What a pass accumulates lives in arrays of its own.
"""

import inspect
import operator

import numpy as np

from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.object cimport PyObject, PyTypeObject, Py_TYPE
from cpython.ref cimport Py_INCREF, Py_XDECREF

from fastgrad._engine.core cimport FORM_INDEX, REUSE_COTANGENT, REUSE_KEPT
from fastgrad._engine.core cimport ArrayBox, ArrayVSpace, JVPNode, SparseObject, VJPNode
from fastgrad._engine.core cimport add_indexed, add_into, add_values, fits_space, is_batched, is_free_array, is_item, peel
from fastgrad._engine.core cimport fit_seed, shape_for_seeds, solid, vspace

from fastgrad._engine.threads cimport fastgrad_has_refs, fastgrad_lock, fastgrad_mutex, fastgrad_unlock

from fastgrad._engine.core import NotBatchable, VSpace, getval, isbox, trace

cimport numpy as cnp
from numpy cimport ndarray

cnp.import_array()

cdef extern from "Python.h":
    object PyNumber_InPlaceAdd(object, object)
    PyObject *PyDict_GetItemWithError(object, object) except? NULL

    bint is_tracked "PyObject_GC_IsTracked"(PyObject *)
    ctypedef int (*visitproc)(PyObject *, void *) noexcept
    ctypedef int (*traverseproc)(PyObject *, visitproc, void *) noexcept
    PyTypeObject PyFloat_Type

cdef extern from *:
    """
    static traverseproc fastgrad_replace_traverse(PyObject *type, traverseproc traverse) {
        traverseproc before = ((PyTypeObject *)type)->tp_traverse;
        ((PyTypeObject *)type)->tp_traverse = traverse;
        return before;
    }
    """
    traverseproc fastgrad_replace_traverse(object, traverseproc)

cdef extern from "numpy/arrayobject.h":
    PyTypeObject PyArray_Type
    PyTypeObject PyDoubleArrType_Type


# --------------------------------------------------------------------------------------------------------- accumulation

# The types whose cotangents add themselves: SparseObject and its box. Live, as autograd's is.
sparse_object_types = {SparseObject}

# sparse_add(vspace, array or None, sparse) -> array, a primitive; set by fastgrad.core.
cdef object sparse_add = None


def bind_sparse_add(fun):
    """Set the primitive that adds a sparse cotangent to an array."""
    global sparse_add
    sparse_add = fun


cdef inline bint is_sparse(object g):
    cdef PyTypeObject *t = Py_TYPE(g)
    if t is &PyArray_Type or t is <PyTypeObject *>ArrayBox or t is &PyDoubleArrType_Type or t is &PyFloat_Type:
        return False
    return t is <PyTypeObject *>SparseObject or type(g) in sparse_object_types


cdef inline object add_in_place(object total, object g):
    # `total` belongs to the engine alone. Where adding in place would not give total + g, a new array does.
    if Py_TYPE(total) is &PyArray_Type and Py_TYPE(g) is &PyArray_Type:
        if add_into(total, g):
            return total
        if (cnp.PyArray_TYPE(<ndarray>total) == cnp.PyArray_TYPE(<ndarray>g)
                and cnp.PyArray_SAMESHAPE(<ndarray>total, <ndarray>g)):
            return PyNumber_InPlaceAdd(total, g)
        return total + g
    if Py_TYPE(total) is <PyTypeObject *>ArrayBox or Py_TYPE(g) is <PyTypeObject *>ArrayBox:
        return add_values(total, g)
    return vspace(g).mut_add(total, g)


cdef object accumulate(object total, bint have, bint *mutable, object g):
    # One more contribution to a node: the first is kept as it is, the second added out of place, later ones in place.
    if is_sparse(g):
        space = vspace(g)
        if have and (not mutable[0] or not getattr(peel(total), "ndim", 1)):
            total = space.mut_add(None, total)  # into something that can be changed in place: a float cannot
        total = sparse_add(space, total if have else None, g)
        mutable[0] = True
    elif not have:
        total, mutable[0] = g, False
    elif mutable[0]:
        total = add_in_place(total, g)
    else:
        total, mutable[0] = add_values(total, g), True
    return total


def add_outgrads(prev_g_flagged, g):
    """Add a contribution to a node's cotangent.

    Parameters
    ----------
    prev_g_flagged : tuple of (cotangent, bool) or None
        The sum so far, and whether it belongs to the backward pass, which may then change it in place.
    g : object
        The contribution.

    Returns
    -------
    tuple of (cotangent, bool)
        The new sum, flagged likewise.
    """
    cdef bint mutable = False
    if prev_g_flagged is None:
        total = accumulate(None, False, &mutable, g)
    else:
        total, flag = prev_g_flagged
        mutable = flag
        total = accumulate(total, True, &mutable, g)
    return total, mutable


cdef object own_add_outgrads = add_outgrads


def sum_outgrads(gs):
    """Sum an iterable of cotangents; None if it is empty."""
    flagged = None
    for g in gs:
        flagged = add_outgrads(flagged, g)
    return None if flagged is None else flagged[0]


include "graph/containers.pxi"


# ------------------------------------------------------------------------------------------------------------- ordering

def toposort(end_node, parents=operator.attrgetter("parents")):
    """Yield the nodes behind ``end_node``, every node before its parents, the root last.

    Parameters
    ----------
    end_node : object
        Where to start.
    parents : callable, optional
        Gives the parents of a node.
    """
    counts = {end_node: 0}
    stack = [end_node]
    while stack:
        for parent in parents(stack.pop()):
            if parent in counts:
                counts[parent] += 1
            else:
                counts[parent] = 1
                stack.append(parent)
    ready = [end_node]
    while ready:
        node = ready.pop()
        yield node
        for parent in parents(node):
            counts[parent] -= 1
            if not counts[parent]:
                ready.append(parent)


cdef class Order:
    # The nodes of one graph, each before its parents; nodes[i] is a reference of its own.
    # Node i's parents are at positions edges[starts[i]] ... edges[starts[i + 1] - 1].
    cdef unsigned int n, widest
    cdef PyObject **nodes
    cdef unsigned int *starts
    cdef unsigned int *edges

    def __dealloc__(self):
        cdef unsigned int k
        for k in range(self.n):
            Py_XDECREF(self.nodes[k])
        PyMem_Free(self.nodes)
        PyMem_Free(self.starts)
        PyMem_Free(self.edges)


cdef struct Found:
    PyObject **nodes
    unsigned int *counts
    unsigned int n
    unsigned int size
    size_t edges


cdef int find(Found *found, PyObject *node) except -1:
    # Append a node not met before.
    cdef PyObject **nodes
    cdef unsigned int *counts
    if found.n == found.size:
        nodes = <PyObject **>PyMem_Realloc(found.nodes, 2 * <size_t>found.size * sizeof(PyObject *))
        if nodes == NULL:
            raise MemoryError("no memory to order the graph")
        found.nodes = nodes
        counts = <unsigned int *>PyMem_Realloc(found.counts, 2 * <size_t>found.size * sizeof(unsigned int))
        if counts == NULL:
            raise MemoryError("no memory to order the graph")
        found.counts = counts
        found.size *= 2
    found.nodes[found.n] = node
    found.counts[found.n] = 0
    (<VJPNode>node).index = found.n
    found.n += 1
    return 0


cdef inline bint met(Found *found, PyObject *node):
    # A node's index is its own only if the list says so too: stale numbers of other orderings do no harm.
    cdef unsigned int i = (<VJPNode>node).index
    return i < found.n and found.nodes[i] == node


cdef int discover(Found *found, VJPNode end) except -1:
    # List all nodes and count each one's children. 0: done; 1: a node of a user's class, whose parents only it knows.
    cdef unsigned int next_ = 0
    cdef Py_ssize_t i, n_parents
    cdef PyObject *node
    cdef PyObject *parent
    find(found, <PyObject *>end)
    while next_ < found.n:
        node = found.nodes[next_]
        n_parents = (<VJPNode>node).n_parents()
        found.edges += n_parents
        for i in range(n_parents):
            parent = (<VJPNode>node).parent(i)
            if Py_TYPE(<object>parent) is not <PyTypeObject *>VJPNode:
                return 1
            if not met(found, parent):
                find(found, parent)
            found.counts[(<VJPNode>parent).index] += 1
        next_ += 1
    return 0


cdef int emit(Order order, Found *found) except -1:
    # Place each node once all its children are placed; its index becomes its place.
    cdef unsigned int n = found.n, k = 0, i
    cdef unsigned int n_ready = found.counts[0] == 0  # else the end is in a cycle, and would be placed twice
    cdef size_t edge = 0
    cdef Py_ssize_t j, n_parents
    cdef PyObject *node
    cdef unsigned int *ready = <unsigned int *>PyMem_Malloc(n * sizeof(unsigned int))
    order.nodes = <PyObject **>PyMem_Malloc(n * sizeof(PyObject *))
    order.starts = <unsigned int *>PyMem_Malloc((<size_t>n + 1) * sizeof(unsigned int))
    order.edges = <unsigned int *>PyMem_Malloc((found.edges + 1) * sizeof(unsigned int))
    if ready == NULL or order.nodes == NULL or order.starts == NULL or order.edges == NULL:
        PyMem_Free(ready)
        raise MemoryError("no memory to order the graph")
    ready[0] = 0
    while n_ready:
        n_ready -= 1
        node = found.nodes[ready[n_ready]]
        order.nodes[k] = node
        order.starts[k] = edge
        k += 1
        n_parents = (<VJPNode>node).n_parents()
        order.widest = max(order.widest, <unsigned int>n_parents)
        for j in range(n_parents):
            i = (<VJPNode>(<VJPNode>node).parent(j)).index
            order.edges[edge] = i
            edge += 1
            found.counts[i] -= 1
            if found.counts[i] == 0:
                ready[n_ready] = i
                n_ready += 1
    order.starts[k] = edge
    if k != n:
        PyMem_Free(ready)
        raise ValueError("the graph has a cycle: a node is among its own ancestors")
    # The edges name the parents by their number of discovery; now that all have a place, by that.
    for k in range(n):
        i = (<VJPNode>order.nodes[k]).index
        ready[i] = k
    for edge in range(found.edges):
        order.edges[edge] = ready[order.edges[edge]]
    PyMem_Free(ready)
    for k in range(n):
        Py_INCREF(<object>order.nodes[k])
    order.n = n
    return 0


cdef fastgrad_mutex numbering


cdef Order order_graph(VJPNode end):
    """The order of the graph behind end; None where a node of a user's class is in it."""
    # No Python code runs in here, so that with the GIL no other thread can number the same nodes meanwhile; without it
    # the lock sees to that.
    cdef Found found
    cdef Order order = Order.__new__(Order)
    found.n, found.size, found.edges = 0, 64, 0
    found.nodes = <PyObject **>PyMem_Malloc(64 * sizeof(PyObject *))
    found.counts = <unsigned int *>PyMem_Malloc(64 * sizeof(unsigned int))
    fastgrad_lock(&numbering)
    try:
        if found.nodes == NULL or found.counts == NULL:
            raise MemoryError("no memory to order the graph")
        if type(end) is not VJPNode or discover(&found, end):
            return None
        emit(order, &found)
        return order
    finally:
        fastgrad_unlock(&numbering)
        PyMem_Free(found.nodes)
        PyMem_Free(found.counts)


# ---------------------------------------------------------------------------------------------------------- the walk

cdef inline bint is_ours_alone(Order order, unsigned int *uses, size_t k):
    # Is node k held by this order and its children in the graph alone, so that nobody can ask it again?
    # One more reference is the order's own; the end is held by its Pullback too.
    return fastgrad_has_refs(order.nodes[k], <Py_ssize_t>uses[k] + 1 + (k == 0))


cdef int deliver(PyObject **pulled, unsigned int *edges, size_t n, PyObject **totals, bint *mutable) except -1:
    """Add n cotangents to those of the nodes at these places; takes over the references in `pulled`."""
    cdef size_t i, place
    cdef PyObject *given
    cdef PyObject *before
    for i in range(n):
        place = edges[i]
        given = pulled[i]
        before = totals[place]
        if before == NULL and not is_sparse(<object>given):
            totals[place], mutable[place] = given, False
            pulled[i] = NULL
            continue
        if before != NULL and Py_TYPE(<object>before) is <PyTypeObject *>Assembly:
            (<Assembly>before).add_whole(<object>given)
        else:
            if before != NULL and is_free_array(before):
                mutable[place] = True
            total = None if before == NULL else <object>before
            total = accumulate(total, before != NULL, &mutable[place], <object>given)
            Py_INCREF(total)
            totals[place] = <PyObject *>total
            Py_XDECREF(before)
        pulled[i] = NULL
        Py_XDECREF(given)
    return 0


cdef object walk(Order order, object seed, bint once):
    """Pull the seed back from the end to the root.

    `once`: nobody will walk the graph again, so what a node kept is released as soon as it has run, unless a traced
    value was kept that the node, or one it came from, belongs to.
    """
    cdef size_t n = order.n
    # How many times a node is a parent, and whether it must be kept; in use with `once` alone.
    cdef unsigned int *uses = <unsigned int *>PyMem_Calloc(n, sizeof(unsigned int)) if once else NULL
    cdef bint *kept = <bint *>PyMem_Calloc(n, sizeof(bint)) if once else NULL
    # All three hold references that this pass owns; NULL says that there is none.
    cdef PyObject **totals = <PyObject **>PyMem_Calloc(n, sizeof(PyObject *))
    cdef PyObject **pulled = <PyObject **>PyMem_Calloc(order.widest + 2, sizeof(PyObject *))
    cdef bint *mutable = <bint *>PyMem_Calloc(n, sizeof(bint))
    cdef size_t k, edge, n_parents
    cdef unsigned int *edges
    cdef int reuse = 0
    cdef PyObject *node = NULL
    cdef PyObject *given
    try:
        if totals == NULL or pulled == NULL or mutable == NULL or (once and (uses == NULL or kept == NULL)):
            raise MemoryError("no memory for the backward pass")
        if once:
            for edge in range(order.starts[n]):
                uses[order.edges[edge]] += 1
        Py_INCREF(seed)
        totals[0] = <PyObject *>seed
        for k in range(n):
            # Both by pointer: the order holds the node, and `totals` the cotangent until it is pulled back, alone if
            # it may be overwritten.
            node = order.nodes[k]
            reuse = 0
            if Py_TYPE(<object>totals[k]) is <PyTypeObject *>Assembly:
                finish(&totals[k], &mutable[k])
            n_parents = order.starts[k + 1] - order.starts[k]
            edges = order.edges + order.starts[k]
            if is_item(<VJPNode>node):
                give_item(&totals[edges[0]], &mutable[edges[0]], <VJPNode>node, <object>totals[k], mutable[k])
            elif not ((<VJPNode>node).form == FORM_INDEX and n_parents == 1
                      and add_indexed(<VJPNode>node, <object>totals[k], &totals[edges[0]], &mutable[edges[0]])):
                reuse = REUSE_COTANGENT if k + 1 < n else 0
                if once and not kept[k] and is_ours_alone(order, uses, k):
                    reuse |= REUSE_KEPT
                (<VJPNode>node).pull(<object>totals[k], reuse, pulled, n_parents)
                if k + 1 < n:
                    # Before what was pulled is handed on, so that what comes after may be written over it.
                    given = totals[k]
                    totals[k] = NULL
                    Py_XDECREF(given)
                deliver(pulled, edges, n_parents, totals, mutable)
            if k + 1 < n:
                given = totals[k]
                totals[k] = NULL
                Py_XDECREF(given)
            if once:
                if kept[k] or not is_ours_alone(order, uses, k):
                    for edge in range(n_parents):
                        kept[edges[edge]] = True
                else:
                    (<VJPNode>node).release()
        reuse = 0
        return solid(<object>totals[n - 1])
    finally:
        if reuse & REUSE_KEPT:
            (<VJPNode>node).release()  # it failed: what it kept may be overwritten in part
        if totals != NULL:
            for k in range(n):
                Py_XDECREF(totals[k])
        if pulled != NULL:
            for k in range(<size_t>order.widest + 2):
                Py_XDECREF(pulled[k])
        PyMem_Free(totals)
        PyMem_Free(pulled)
        PyMem_Free(mutable)
        PyMem_Free(uses)
        PyMem_Free(kept)


cdef object walk_any(object end_node, object seed, object add):
    # Nodes of any class, or an add_outgrads of the user's: by the public attributes alone.
    outgrads = {end_node: (seed, False)}
    for node in toposort(end_node):
        g = outgrads.pop(node)[0]
        for parent, given in zip(node.parents, node.vjp(g), strict=True):
            outgrads[parent] = add(outgrads.get(parent), given)
    return solid(g)


cdef object core = None


cdef object replaced_add_outgrads():
    # People instrument the pass by setting core.add_outgrads: looked at once per pass.
    global core
    if core is None:
        import fastgrad.core
        core = fastgrad.core
    add = core.add_outgrads
    return None if add is own_add_outgrads else add


def backward_pass(g, end_node):
    """Pull a cotangent back through a graph.

    Parameters
    ----------
    g : object
        Cotangent of the value that ``end_node`` records; may be a box.
    end_node : Node
        The end of the graph. The graph may be walked again.

    Returns
    -------
    object
        Cotangent of the root's value.
    """
    add = replaced_add_outgrads()
    order = order_graph(end_node) if add is None and type(end_node) is VJPNode else None
    if order is None:
        return walk_any(end_node, g, add_outgrads if add is None else add)
    return walk(order, g, False)


cdef class Pullback:
    """The function that `make_vjp` returns: cotangent of the answer -> cotangent of the input."""

    cdef object end
    cdef object x
    cdef object ans
    # The shape of the value, None where it has none or nobody will ask.
    cdef object shape
    cdef Order order
    cdef bint ordered

    __name__ = "vjp"
    __signature__ = inspect.Signature([inspect.Parameter("g", inspect.Parameter.POSITIONAL_ONLY)])

    def __call__(self, g):
        return self.run(g if self.end is None else fit_seed(g, self.shape, True), False)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        raise TypeError(
            "a vjp cannot be pickled: it holds the graph of one call; send the function and its arguments, and call "
            "make_vjp in the other process"
        )

    cdef object run(self, object g, bint once):
        if self.end is None:
            return vspace(self.x).zeros()
        add = replaced_add_outgrads()
        self.put_in_order()
        if add is not None or self.order is None:
            if is_batched(g):
                raise NotBatchable("the backward pass, or a node in it, is not fastgrad's own")
            return walk_any(self.end, g, add_outgrads if add is None else add)
        return walk(self.order, g, once)

    cdef int put_in_order(self) except -1:
        cdef Order order
        if not self.ordered:
            order = order_graph(self.end) if type(self.end) is VJPNode else None
            fastgrad_lock(&numbering)
            if not self.ordered:
                self.order, self.ordered = order, True
            fastgrad_unlock(&numbering)
        return 0

    @property
    def index_share(self):
        """float : the share of the graph's nodes that record an index, 0 where the graph is not known."""
        cdef unsigned int k, n = 0
        self.put_in_order()
        if self.order is None:
            return 0.0
        for k in range(self.order.n):
            n += (<VJPNode>self.order.nodes[k]).form == FORM_INDEX
        return n / <double>self.order.n


cdef int traverse_pullback(PyObject *self, visitproc visit, void *arg) noexcept:
    # An order holds its nodes where Cython does not see them. It is held by its pullback alone, which hence tells the
    # garbage collector of them, if there are any that it looks after: if so, the end is one.
    cdef PyObject *order = <PyObject *>(<Pullback>self).order
    cdef unsigned int k
    cdef int code
    if order != <PyObject *>None and is_tracked(<PyObject *>(<Pullback>self).end):
        for k in range((<Order>order).n):
            code = visit((<Order>order).nodes[k], arg)
            if code:
                return code
    return traverse_fields(self, visit, arg)


cdef traverseproc traverse_fields = fastgrad_replace_traverse(Pullback, traverse_pullback)

cdef object float64 = np.float64
cdef object one = np.float64(1.0)


# In how many blocks of fastgrad.debug some thread is, and a function that gives the kinds of nodes to start traces from
# in this one, None for those above; set by fastgrad._diagnostics.debug.
cdef Py_ssize_t debuggers = 0
cdef object debug_kinds = None


def bind_debug_kinds(kinds):
    """Set the function that says whether this thread debugs, and with which kinds of nodes."""
    global debug_kinds
    debug_kinds = kinds


def count_debuggers(Py_ssize_t change):
    """Count threads that enter and leave blocks of `fastgrad.debug`."""
    global debuggers
    debuggers += change


cdef Pullback trace_reverse(fun, x):
    cdef Pullback vjp = Pullback.__new__(Pullback)
    cdef VJPNode root
    kinds = debug_kinds() if debuggers else None
    root = VJPNode.__new__(VJPNode) if kinds is None else kinds[0].__new__(kinds[0])
    root.initialize_root()
    vjp.ans, vjp.end = trace(root, fun, x)
    if vjp.end is None:
        vjp.x = x
        check_returned(fun, vjp.ans)
    return vjp


cdef int check_returned(fun, value) except -1:
    from fastgrad._diagnostics.messages import check_returned
    check_returned(fun, value)
    return 0


def make_vjp(fun, x):
    """Trace ``fun`` at ``x`` in reverse mode.

    Parameters
    ----------
    fun : callable
        Function of one argument.
    x : object
        Where to trace it.

    Returns
    -------
    vjp : callable
        Cotangent of ``fun(x)`` -> cotangent of ``x``; may be called any number of times.
    ans : object
        ``fun(x)``.
    """
    cdef Pullback vjp = trace_reverse(fun, x)
    ans, vjp.ans = vjp.ans, None
    vjp.shape = shape_for_seeds(ans)
    return vjp, ans


def pull_once(Pullback vjp not None, g):
    """Call a pullback from `make_vjp` for the last time: nodes release what they keep as soon as they have run."""
    return vjp.run(g, True)


def value_and_gradient(fun, x, caller):
    """Give the value of a function of real scalar value, and its gradient.

    Parameters
    ----------
    fun : callable
        Function of one argument.
    x : object
        Where.
    caller : str
        Name of the operator, for the error.

    Raises
    ------
    TypeError
        If the value is anything but a real scalar; a list or tuple of one is none.
    """
    cdef Pullback vjp = trace_reverse(fun, x)
    ans, vjp.ans = vjp.ans, None
    if (type(ans) is float64 or type(ans) is float) and VSpace.mappings.get(type(ans)) is ArrayVSpace:
        gradient = vjp.run(one, True)
        return ans, np.ones(()) if gradient is one else gradient  # the kind that the ones of its space are
    value = getval(ans)
    known = type(value) in VSpace.mappings
    space = vspace(ans) if known and not isinstance(value, (list, tuple, dict)) else None
    if space is None or space.size != 1 or space.iscomplex:
        constant = "" if known else ", which has no derivative; return a float"
        raise TypeError(
            f"{caller} only applies to real scalar-output functions. Try jacobian, elementwise_grad or "
            f"holomorphic_grad. The function returned a {type(value).__name__}{constant}"
        )
    return ans, vjp.run(space.ones(), True)


cdef class Pushforward:
    """The function that `make_jvp` returns: tangent of the input -> value and tangent of it."""

    cdef object fun
    cdef object x
    cdef object __weakref__

    __name__ = "jvp"
    __signature__ = Pullback.__signature__

    def __init__(self, fun, x):
        self.fun, self.x = fun, x

    def __call__(self, g):
        kinds = debug_kinds() if debuggers else None
        cdef JVPNode root = (JVPNode if kinds is None else kinds[1]).new_root(
            fit_seed(g, shape_for_seeds(self.x), False))
        ans, end = trace(root, self.fun, self.x)
        if end is None:
            check_returned(self.fun, ans)
            return ans, vspace(ans).zeros()
        return ans, (<JVPNode>end).g

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return Pushforward, (self.fun, self.x)


def make_jvp(fun, x):
    """Trace ``fun`` at ``x`` in forward mode.

    Parameters
    ----------
    fun : callable
        Function of one argument.
    x : object
        Where to trace it.

    Returns
    -------
    jvp : callable
        Tangent of ``x`` -> (``fun(x)``, tangent of ``fun(x)``).
    """
    return Pushforward(fun, x)
