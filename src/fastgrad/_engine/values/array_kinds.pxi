# Dtypes and shapes of arrays and scalars, and their comparison.

cdef inline ArrayKind kind_of(object value):
    """Return dtype and shape of a value, boxed or not; they are borrowed from it."""
    cdef ArrayKind kind
    cdef PyTypeObject *t
    cdef PyObject *concrete = unbox_borrowed(<PyObject *>value)
    t = type_of(concrete)
    kind.ndim = 0
    kind.dims = NULL
    kind.typenum = -1
    if t is &PyDoubleArrType_Type or t is &PyFloat_Type:
        kind.typenum = cnp.NPY_DOUBLE
    elif cnp.PyArray_Check(<object>concrete):
        kind.typenum = cnp.PyArray_TYPE(<ndarray>concrete)
        kind.ndim = cnp.PyArray_NDIM(<ndarray>concrete)
        kind.dims = cnp.PyArray_DIMS(<ndarray>concrete)
    elif t is &PyCDoubleArrType_Type or t is &PyComplex_Type:
        kind.typenum = cnp.NPY_CDOUBLE
    elif t is &PyFloatArrType_Type:
        kind.typenum = cnp.NPY_FLOAT
    return kind


cdef inline bint same_shape(ArrayKind *a, ArrayKind *b):
    cdef int i
    if a.ndim != b.ndim:
        return False
    for i in range(a.ndim):
        if a.dims[i] != b.dims[i]:
            return False
    return True


cdef inline bint has_shape(ArrayKind *kind, PyObject *shape):
    # The same for a shape that is a tuple of Python's ints.
    cdef int i
    if kind.ndim != PyTuple_GET_SIZE_(shape):
        return False
    for i in range(kind.ndim):
        if kind.dims[i] != PyLong_AsSsize_t_(PyTuple_GET_ITEM_(shape, i)):
            return False
    return True


cdef bint same_space(object x, object ans):
    """Return whether x and ans have the same shape and dtype."""
    cdef ArrayKind a = kind_of(x), b = kind_of(ans)
    return a.typenum == b.typenum and same_shape(&a, &b)


cdef bint fits_space(object g, object space):
    """Return whether g, boxed or not, is an array or NumPy scalar with the shape and dtype of a space of arrays."""
    cdef ArrayKind kind
    if type(space) is not ArrayVSpace and type(space) is not ComplexArrayVSpace:
        return False
    g = unbox_all(g)
    if type(g) is float or type(g) is complex:
        return False
    kind = kind_of(g)
    return (kind.typenum == (<cnp.dtype>(<ArrayVSpace>space).dtype).type_num
            and has_shape(&kind, <PyObject *>(<ArrayVSpace>space).shape))


cdef bint is_batch_of(object batch, ArrayKind kind, Py_ssize_t rows):
    """Return whether a batch has `rows` rows of a given kind, of real or complex floats."""
    cdef ArrayKind row = kind_of(batch)
    if not (cnp.PyTypeNum_ISFLOAT(kind.typenum) or cnp.PyTypeNum_ISCOMPLEX(kind.typenum)):
        return False
    if row.typenum != kind.typenum or row.ndim != kind.ndim + 1 or row.dims[0] != rows:
        return False
    row.dims += 1
    row.ndim -= 1
    return same_shape(&row, &kind)


cdef inline object shape_of(ArrayKind *kind):
    """Return the shape of a numeric value, None for any other."""
    if kind.typenum < 0 or not (cnp.PyTypeNum_ISNUMBER(kind.typenum) or cnp.PyTypeNum_ISBOOL(kind.typenum)):
        return None
    return cnp.PyArray_IntTupleFromIntp(kind.ndim, kind.dims) if kind.ndim else ()


cdef inline bint of_no_subclass(object x):
    # Some subclasses of ndarray, such as np.matrix, multiply in their own way.
    return cnp.PyArray_CheckExact(x) or not cnp.PyArray_Check(x)


cdef inline bint owns_memory_alone(PyObject *x, Py_ssize_t n_refs, bint or_its_base):
    """Return whether x is an array whose memory nobody can reach but the caller, who knows of `n_refs` references.

    With `or_its_base` the memory may belong to an array that x is the only view of.
    """
    cdef PyObject *base
    if not fastgrad_has_refs(x, n_refs) or Py_TYPE(<object>x) is not &PyArray_Type:
        return False
    if not cnp.PyArray_ISWRITEABLE(<ndarray>x) or fastgrad_has_weakrefs(x):
        return False
    base = cnp.PyArray_BASE(<ndarray>x)
    if base == NULL:
        return cnp.PyArray_CHKFLAGS(<ndarray>x, cnp.NPY_ARRAY_OWNDATA)
    return or_its_base and owns_memory_alone(base, 1, False)
