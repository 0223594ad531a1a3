# Which nodes the garbage collector need not track.

cdef inline void track(object x) noexcept:
    if not PyObject_GC_IsTracked(x):
        PyObject_GC_Track(x)


cdef frozenset acyclic_types = frozenset([
    bool, str, complex, type(Ellipsis), np.float32, np.complex128, np.complex64, np.int64, np.bool_])


cdef inline bint is_acyclic(PyObject *x):
    """Can x not hold, directly or not, anything that holds a node? Only then may a node that holds x go untracked."""
    cdef PyTypeObject *t = type_of(x)
    if x == <PyObject *>None or t is &PyDoubleArrType_Type or t is &PyFloat_Type or t is &PyLong_Type:
        return True
    if t is &PyArray_Type:
        return cnp.PyArray_TYPE(<ndarray>x) != cnp.NPY_OBJECT
    if t is <PyTypeObject *>VJPNode or t is <PyTypeObject *>ArrayBox:
        return not is_tracked(x)
    return is_acyclic_inside(<object>x)


cdef bint is_acyclic_inside(object x):
    if type(x) is tuple:
        for item in x:
            if not is_acyclic(<PyObject *>item):
                return False
        return True
    if type(x) is slice:
        return is_acyclic_inside((x.start, x.stop, x.step))
    return type(x) is ArrayVSpace or type(x) is ComplexArrayVSpace or type(x) in acyclic_types


cdef inline int untrack(VJPNode node) except -1:
    # The graph of a trace has no cycle unless a user's object makes one: nodes that hold none need not burden the
    # garbage collector, which would walk over all of them again and again while they live.
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
