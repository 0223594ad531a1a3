# Indexing of concrete arrays, and what is known of an index without applying it. How cotangents of items are added is
# in nodes/indexing.pxi.

cdef extern from *:
    """
    /* Return a pointer to one element of a one-dimensional float64 array; NULL, without an error, for all else. */
    static inline double *fastgrad_element(PyObject *x, PyObject *index) {
        PyArrayObject *array = (PyArrayObject *)x;
        int overflow;
        npy_intp n, i;
        if (!PyLong_CheckExact(index) || PyArray_NDIM(array) != 1 || PyArray_TYPE(array) != NPY_DOUBLE
            || !PyArray_ISBEHAVED_RO(array)) return NULL;
        n = PyArray_DIM(array, 0);
        i = PyLong_AsLongAndOverflow(index, &overflow);
        if (i < 0) i += n;
        if (overflow || i < 0 || i >= n) return NULL;
        return (double *)(PyArray_BYTES(array) + i * PyArray_STRIDE(array, 0));
    }
    """
    double *fastgrad_element(object, object)


cdef inline object item_of(object x, object index):
    """Return x[index] for any object."""
    cdef double *element
    if Py_TYPE(x) is &PyArray_Type:
        element = fastgrad_element(x, index)
        if element != NULL:
            return fastgrad_float64(element[0])
    return x[index]


cdef bint is_basic_index(object index):
    """Return whether an index selects a view, so that it selects no element twice."""
    if type(index) is tuple:
        for item in index:
            if type(item) is tuple or not is_basic_index(item):
                return False
        return True
    return (PyLong_CheckExact(index) or type(index) is slice or index is None or index is Ellipsis
            or isinstance(index, np.integer) or (isinstance(index, int) and not isinstance(index, bool)))


def is_basic(index):
    """Return whether an index selects a view, so that it selects no element twice."""
    return is_basic_index(index)


def meets_once(index, shape):
    """Return whether an advanced index is known to select no element twice.

    Parameters
    ----------
    index : object
        An index of an array that is not basic: a mask, or integers, alone or beside basic indices in a tuple.
    shape : tuple of int
        The shape of the array.

    Returns
    -------
    bool
        True for a mask, and for integers that differ; False also where it is not known.
    """
    if type(index) is tuple:
        arrays = []
        for item in index:
            if type(item) is tuple or not is_basic_index(item):  # inside a tuple, a tuple is an array
                arrays.append(item)
        if len(arrays) != 1:
            return False
        position = 0
        for item in index:
            if item is Ellipsis or item is None:
                return False
            if item is arrays[0]:
                break
            position += 1
        index, shape = arrays[0], shape[position:]
    index = np.asarray(index)
    if index.dtype == bool:
        return True
    if index.dtype.kind not in "iu" or not shape:
        return False
    # Marking what was selected is faster than sorting, unless the axis is much longer than the index.
    index = index.astype(np.intp).ravel()
    index = np.where(index < 0, index + shape[0], index)
    if shape[0] > 16 * len(index) + 1024:
        return len(np.unique(index)) == len(index)
    seen = np.zeros(shape[0], bool)
    seen[index] = True
    return np.count_nonzero(seen) == len(index)
