# Which nodes the garbage collector need not track.
#
# The graph of a trace has no reference cycle unless an object of the user's makes one. Nodes that cannot be part of a
# cycle are untracked, so that the collector does not traverse the graph again and again while it is alive.

cdef inline void track(object x) noexcept:
    if not PyObject_GC_IsTracked(x):
        PyObject_GC_Track(x)


# Types, beside those tested below, whose values hold no other objects.
cdef frozenset acyclic_types = frozenset([
    bool, str, complex, type(Ellipsis), np.float32, np.complex128, np.complex64, np.int64, np.bool_])


cdef inline bint is_acyclic(PyObject *x):
    """Return whether x refers to no tracked node, directly or indirectly; only then may its holder be untracked."""
    cdef PyTypeObject *t = type_of(x)
    if x == <PyObject *>None or t is &PyDoubleArrType_Type or t is &PyFloat_Type or t is &PyLong_Type:
        return True
    if t is &PyArray_Type:
        return cnp.PyArray_TYPE(<ndarray>x) != cnp.NPY_OBJECT
    if t is <PyTypeObject *>VJPNode or t is <PyTypeObject *>ArrayBox:
        return not is_tracked(x)
    return is_acyclic_inside(<object>x)


cdef bint is_acyclic_inside(object x):
    # Return the same for the less frequent types.
    if type(x) is tuple:
        for item in x:
            if not is_acyclic(<PyObject *>item):
                return False
        return True
    if type(x) is slice:
        return is_acyclic_inside((x.start, x.stop, x.step))
    return type(x) is ArrayVSpace or type(x) is ComplexArrayVSpace or type(x) in acyclic_types


cdef inline int untrack(VJPNode node) except -1:
    # Untrack a node if all its fields are acyclic; it may hold a node that is untracked itself.
    if (Py_TYPE(node) is <PyTypeObject *>VJPNode and is_acyclic(<PyObject *>node.parent0)
            and is_acyclic(<PyObject *>node.parent1) and is_acyclic(<PyObject *>node.arg1)
            and is_acyclic(<PyObject *>node.ans)):
        if node.layout == NODE_CALL or node.layout == NODE_WHOLE:
            args, kwargs, _ = node.arg0
            if is_acyclic_inside(args) and is_acyclic_inside(tuple(kwargs.values())):
                PyObject_GC_UnTrack(node)
        elif is_acyclic(<PyObject *>node.arg0):
            PyObject_GC_UnTrack(node)
    return 0
