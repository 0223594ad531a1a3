# Arrays that are built of traced values: the scalars in nested lists, and arrays filled with them.

cdef inline bint is_traced_sequence(object x):
    # Return whether x is a traced list or tuple, or one with traced values in it.
    cdef PyTypeObject *t = Py_TYPE(x)
    if t is <PyTypeObject *>ArrayBox or t is &PyArray_Type or t is &PyDoubleArrType_Type or t is &PyFloat_Type:
        return False
    if t is &PyList_Type or t is &PyTuple_Type:
        return contains_box(x)
    return is_box(x) and isinstance(unbox_all(x), (list, tuple))


def traced_sequence(x):
    """Return whether ``x`` is a traced list or tuple, or one with traced values in it."""
    return is_traced_sequence(x)


def traced_items(sequence):
    """Return the items of a sequence as a list, traced lists and tuples among them as traced arrays."""
    cdef list items = list(sequence)
    cdef Py_ssize_t i
    for i in range(len(items)):
        if is_traced_sequence(items[i]):
            items[i] = hooks.traced_array(items[i])
    return items


cdef bint is_real_scalar(object x):
    # Return whether x is a float64, boxed or not, or a number that becomes one in an array.
    cdef double value
    x = unbox_all(x)
    return as_double(x, &value) and Py_TYPE(x) is not &PyArray_Type


cdef int collect_scalars(object x, list shape, Py_ssize_t depth, list flat) except -1:
    # Append the scalars in nested lists to `flat`, in order, and the lists' lengths to `shape`. Return 0 if lists of
    # one depth have unequal lengths, or hold anything else.
    cdef PyTypeObject *t = Py_TYPE(x)
    if t is not &PyList_Type and t is not &PyTuple_Type:
        if depth != len(shape) or not is_real_scalar(x):
            return 0
        flat.append(x)
        return 1
    if depth == 16 or (flat and depth == len(shape)):
        return 0
    if depth == len(shape):
        shape.append(len(x))
    if len(x) != shape[depth]:
        return 0
    for item in x:
        if not collect_scalars(item, shape, depth + 1, flat):
            return 0
    return 1


def scalars_in(x):
    """Return the scalars of an array of real numbers, traced or not, that is given as nested lists.

    Returns
    -------
    tuple of (tuple of int, list) or None
        The array's shape, and the scalars in order; None if ``x`` is anything else.
    """
    cdef list shape = [], flat = []
    return (tuple(shape), flat) if collect_scalars(x, shape, 0, flat) else None


def array_of(tuple shape, tuple values):
    """Return a float64 array of a shape with the given numbers, in C order."""
    cdef cnp.npy_intp dims[16]
    cdef Py_ssize_t i
    cdef double *data
    if len(shape) > 16:
        return np.array(values).reshape(shape)
    for i in range(len(shape)):
        dims[i] = shape[i]
    array = cnp.PyArray_EMPTY(len(shape), dims, cnp.NPY_DOUBLE, 0)
    data = <double *>cnp.PyArray_DATA(<ndarray>array)
    if cnp.PyArray_SIZE(<ndarray>array) != len(values):
        raise ValueError(f"{len(values)} numbers do not make an array of shape {shape}")
    for i in range(len(values)):
        if not as_double(values[i], &data[i]):
            return np.array(values).reshape(shape)
    return array
