# Accumulation: how the cotangents that several children contribute to one node are added.

# The types whose cotangents add themselves: SparseObject and its box. Users may add others, as to autograd's set.
sparse_object_types = {SparseObject}

cdef inline bint is_sparse(object g):
    cdef PyTypeObject *t = Py_TYPE(g)
    if t is &PyArray_Type or t is <PyTypeObject *>ArrayBox or t is &PyDoubleArrType_Type or t is &PyFloat_Type:
        return False
    return t is <PyTypeObject *>SparseObject or type(g) in sparse_object_types


cdef inline object add_in_place(object total, object g):
    # Return total + g, in place if that has the same result; `total` belongs to the engine alone.
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
    # Return the total with one more contribution to a node: the first is kept as it is, the second is added to it in a
    # new array, later ones are added in place.
    if is_sparse(g):
        space = vspace(g)
        if have and (not mutable[0] or not getattr(unbox_all(total), "ndim", 1)):
            total = space.mut_add(None, total)  # as an array that can be changed in place, which a float cannot
        total = hooks.sparse_add(space, total if have else None, g)
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
    """Return the sum of an iterable of cotangents, None if it is empty."""
    flagged = None
    for g in gs:
        flagged = add_outgrads(flagged, g)
    return None if flagged is None else flagged[0]
