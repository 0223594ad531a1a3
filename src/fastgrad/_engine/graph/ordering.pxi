# Ordering: the nodes of a graph, each before its parents.

def toposort(end_node, parents=operator.attrgetter("parents")):
    """Yield ``end_node`` and its ancestors, every node before its parents, the root last.

    Parameters
    ----------
    end_node : object
        Where to start.
    parents : callable, optional
        Returns the parents of a node.
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
    # The nodes of one graph, each before its parents; it owns a reference to each.
    # The parents of node i are at the positions edges[starts[i]], ..., edges[starts[i + 1] - 1].
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


cdef int append_node(Found *found, PyObject *node) except -1:
    # Append a node that was not discovered before.
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


cdef inline bint is_discovered(Found *found, PyObject *node):
    # The index of a node may stem from another ordering, so it counts only if the list has the node there.
    cdef unsigned int i = (<VJPNode>node).index
    return i < found.n and found.nodes[i] == node


cdef int discover(Found *found, VJPNode end) except -1:
    # List all nodes and count the children of each. Return 1 if one is of a user's class, whose parents are not known
    # here, else 0.
    cdef unsigned int next_ = 0
    cdef Py_ssize_t i, n_parents
    cdef PyObject *node
    cdef PyObject *parent
    append_node(found, <PyObject *>end)
    while next_ < found.n:
        node = found.nodes[next_]
        n_parents = (<VJPNode>node).n_parents()
        found.edges += n_parents
        for i in range(n_parents):
            parent = (<VJPNode>node).parent(i)
            if Py_TYPE(<object>parent) is not <PyTypeObject *>VJPNode:
                return 1
            if not is_discovered(found, parent):
                append_node(found, parent)
            found.counts[(<VJPNode>parent).index] += 1
        next_ += 1
    return 0


cdef int place_nodes(Order order, Found *found) except -1:
    # Put each node into the order once all its children are in it.
    cdef unsigned int n = found.n, k = 0, i
    cdef unsigned int n_ready = found.counts[0] == 0  # otherwise the end is in a cycle, and would be placed twice
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
    # Until here the edges hold positions in the list of discovery; they are replaced by positions in the order.
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
    """Return the order of a graph, given its end; None if a node of a user's class is in it."""
    # No Python code runs here, so no other thread can number the same nodes meanwhile; without the GIL the lock sees to
    # that.
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
        place_nodes(order, &found)
        return order
    finally:
        fastgrad_unlock(&numbering)
        PyMem_Free(found.nodes)
        PyMem_Free(found.counts)
