# Nodes that record the indexing of arrays, and how the cotangents of items are added in place. How an item is read
# stands in values/indexing.pxi.

cdef bint note_space(VJPNode node, object value) except -1:
    """Set the vector space of a node's value.

    Return False if another thread, which traces from the same root, has set it in the meantime.
    """
    space = vspace(value)
    with cython.critical_section(node):
        if node.space is None:
            node.space = space
            return True
    return False


cdef inline VJPNode index_node(object array, object index, VJPNode parent):
    # Return the record of indexing a concrete array. Return None if the parent's space is of another shape or dtype,
    # since it is a root that was used for several traces.
    cdef VJPNode node
    if (parent.space is not None or not note_space(parent, array)) and not fits_space(array, parent.space):
        return None
    node = VJPNode.__new__(VJPNode)
    node.layout = NODE_INDEX
    node.rules = index_rules
    node.arg0 = index
    node.parent0 = parent
    untrack(node)
    return node


cdef int add_indexed(VJPNode node, object g, PyObject **total, bint *mutable) except -1:
    """Add the cotangent of x[index] to that of x, of which the caller holds a reference in `total` (NULL for zero).

    Return 1 if it was added. Return 0 if g or the total is boxed or has another dtype than x; the caller then pulls g
    back by the node's rule.
    """
    cdef double *element
    cdef double number
    cdef bint first = total[0] == NULL
    cdef PyObject *before
    space = (<VJPNode>node.parent0).space
    if type(space) is not ArrayVSpace and type(space) is not ComplexArrayVSpace:
        return 0
    if first or not mutable[0]:
        if is_box(g) or (not first and Py_TYPE(<object>total[0]) is not &PyArray_Type):
            return 0
        if kind_of(g).typenum != (<cnp.dtype>(<ArrayVSpace>space).dtype).num:
            return 0
        array = space.zeros() if first else (<object>total[0]).copy()
        if Py_TYPE(array) is not &PyArray_Type:
            return 0
        before = total[0]
        Py_INCREF(array)
        total[0] = <PyObject *>array
        mutable[0] = True
        Py_XDECREF(before)
    array = <object>total[0]
    if Py_TYPE(array) is not &PyArray_Type or kind_of(g).typenum != cnp.PyArray_TYPE(<ndarray>array) or is_box(g):
        return 0
    note_path("added to the array's total")
    element = fastgrad_element(array, node.arg0)
    if element != NULL and as_double(g, &number):
        element[0] += number
    elif is_basic_index(node.arg0) or meets_once(node.arg0, array.shape):
        if first:
            array[node.arg0] = g
        else:
            array[node.arg0] += g
    else:
        np.add.at(array, node.arg0, g)
    return 1
