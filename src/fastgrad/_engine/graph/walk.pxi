# The backward pass over an ordered graph.

cdef inline bint is_ours_alone(Order order, unsigned int *uses, size_t k):
    # Return whether only this order and its children in the graph refer to node k, so that nobody can use it again.
    # The order has one reference to it; a Pullback has one more to the end.
    return fastgrad_has_refs(order.nodes[k], <Py_ssize_t>uses[k] + 1 + (k == 0))


cdef int accumulate_into_parents(PyObject **pulled, unsigned int *edges, size_t n, PyObject **totals,
                                 bint *mutable) except -1:
    """Add n cotangents to the totals of the parents at these positions, and take over the references in `pulled`."""
    cdef size_t i, index
    cdef PyObject *given
    cdef PyObject *before
    for i in range(n):
        index = edges[i]
        given = pulled[i]
        before = totals[index]
        if before == NULL and not is_sparse(<object>given):
            totals[index], mutable[index] = given, False
            pulled[i] = NULL
            continue
        if before != NULL and Py_TYPE(<object>before) is <PyTypeObject *>Assembly:
            (<Assembly>before).add_whole(<object>given)
        else:
            if before != NULL and owns_memory_alone(before, 1, False):
                mutable[index] = True
            total = None if before == NULL else <object>before
            total = accumulate(total, before != NULL, &mutable[index], <object>given)
            Py_INCREF(total)
            totals[index] = <PyObject *>total
            Py_XDECREF(before)
        pulled[i] = NULL
        Py_XDECREF(given)
    return 0


cdef object run_pass(Order order, object seed, bint once):
    """Return the cotangent of the root, given that of the end.

    With `once` nobody will use the graph again, so each node releases what it keeps as soon as it has run, unless the
    user still has a traced value that the node, or a descendant of it, belongs to.
    """
    cdef size_t n = order.n
    # How many times a node is a parent, and whether it must not be released; only with `once`.
    cdef unsigned int *uses = <unsigned int *>PyMem_Calloc(n, sizeof(unsigned int)) if once else NULL
    cdef bint *kept = <bint *>PyMem_Calloc(n, sizeof(bint)) if once else NULL
    # The pass owns the references in `totals` and `pulled`; NULL stands for none.
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
            # Node and cotangent are used by pointer: `totals` has the only reference to a cotangent that may be
            # overwritten.
            node = order.nodes[k]
            reuse = 0
            if Py_TYPE(<object>totals[k]) is <PyTypeObject *>Assembly:
                finish(&totals[k], &mutable[k])
            n_parents = order.starts[k + 1] - order.starts[k]
            edges = order.edges + order.starts[k]
            if is_item(<VJPNode>node):
                add_item_cotangent(&totals[edges[0]], &mutable[edges[0]], <VJPNode>node, <object>totals[k], mutable[k])
            elif not ((<VJPNode>node).layout == NODE_INDEX and n_parents == 1
                      and add_indexed(<VJPNode>node, <object>totals[k], &totals[edges[0]], &mutable[edges[0]])):
                reuse = REUSE_COTANGENT if k + 1 < n else 0
                if once and not kept[k] and is_ours_alone(order, uses, k):
                    reuse |= REUSE_KEPT
                (<VJPNode>node).pull(<object>totals[k], reuse, pulled, n_parents)
                if k + 1 < n:
                    # Dropped before the parents' cotangents are added, so that its memory can be used for these.
                    given = totals[k]
                    totals[k] = NULL
                    Py_XDECREF(given)
                accumulate_into_parents(pulled, edges, n_parents, totals, mutable)
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
        return materialize(<object>totals[n - 1])
    finally:
        if reuse & REUSE_KEPT:
            (<VJPNode>node).release()  # its pullback failed, and may have overwritten a part of what it keeps
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


cdef object run_pass_by_attributes(object end_node, object seed, object add):
    # The pass for nodes of a user's class, or with a user's add_outgrads: it uses public attributes only.
    outgrads = {end_node: (seed, False)}
    for node in toposort(end_node):
        g = outgrads.pop(node)[0]
        for parent, given in zip(node.parents, node.vjp(g), strict=True):
            outgrads[parent] = add(outgrads.get(parent), given)
    return materialize(g)


cdef object replaced_add_outgrads():
    # Users instrument the pass by setting core.add_outgrads, so the name is looked up once per pass.
    add = hooks.core_namespace["add_outgrads"]
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
        return run_pass_by_attributes(end_node, g, add_outgrads if add is None else add)
    return run_pass(order, g, False)
