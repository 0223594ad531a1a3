# Dtypes and shapes of arrays and scalars, and their comparison.

cdef inline ArrayKind kind_of(object value):
    cdef ArrayKind kind
    cdef PyTypeObject *t
    cdef PyObject *plain = inside(<PyObject *>value)
    t = type_of(plain)
    kind.ndim = 0
    kind.dims = NULL
    kind.typenum = -1
    if t is &PyDoubleArrType_Type or t is &PyFloat_Type:
        kind.typenum = cnp.NPY_DOUBLE
    elif cnp.PyArray_Check(<object>plain):
        kind.typenum = cnp.PyArray_TYPE(<ndarray>plain)
        kind.ndim = cnp.PyArray_NDIM(<ndarray>plain)
        kind.dims = cnp.PyArray_DIMS(<ndarray>plain)
    elif t is &PyCDoubleArrType_Type or t is &PyComplex_Type:
        kind.typenum = cnp.NPY_CDOUBLE
    elif t is &PyFloatArrType_Type:
        kind.typenum = cnp.NPY_FLOAT
    return kind


cdef bint same_space(object x, object ans):
    """Do x and ans have one shape and dtype?"""
    cdef ArrayKind a = kind_of(x), b = kind_of(ans)
    return a.typenum == b.typenum and same_shape(&a, &b)


cdef inline bint same_shape(ArrayKind *a, ArrayKind *b):
    cdef int i
    if a.ndim != b.ndim:
        return False
    for i in range(a.ndim):
        if a.dims[i] != b.dims[i]:
            return False
    return True


cdef inline object shape_of(ArrayKind *kind):
    # The shape of what is numeric; None for all else.
    if kind.typenum < 0 or not (cnp.PyTypeNum_ISNUMBER(kind.typenum) or cnp.PyTypeNum_ISBOOL(kind.typenum)):
        return None
    return cnp.PyArray_IntTupleFromIntp(kind.ndim, kind.dims) if kind.ndim else ()


cdef inline bint of_no_subclass(object x):
    # Some of ndarray's multiply in ways of their own: np.matrix.
    return cnp.PyArray_CheckExact(x) or not cnp.PyArray_Check(x)


cdef inline bint has_shape(ArrayKind *kind, PyObject *shape):
    cdef int i
    if kind.ndim != PyTuple_GET_SIZE_(shape):
        return False
    for i in range(kind.ndim):
        if kind.dims[i] != PyLong_AsSsize_t_(PyTuple_GET_ITEM_(shape, i)):
            return False
    return True


cdef bint fits_space(object g, object space):
    """Is g, boxed or not, an array or NumPy scalar of the shape and dtype that space has?"""
    cdef ArrayKind kind
    cdef int i
    if type(space) is not ArrayVSpace and type(space) is not ComplexArrayVSpace:
        return False
    g = peel(g)
    if type(g) is float or type(g) is complex:
        return False
    kind = kind_of(g)
    shape = (<ArrayVSpace>space).shape
    if kind.typenum != (<cnp.dtype>(<ArrayVSpace>space).dtype).type_num or kind.ndim != len(<tuple>shape):
        return False
    for i in range(kind.ndim):
        if kind.dims[i] != <cnp.npy_intp>shape[i]:
            return False
    return True


cdef bint is_batch_of(object batch, ArrayKind kind, Py_ssize_t rows):
    # Is it surely a batch of floats like the one whose kind is given? If not, it may still be.
    cdef ArrayKind have
    cdef int i
    if kind.typenum < 0 or not (cnp.PyTypeNum_ISFLOAT(kind.typenum) or cnp.PyTypeNum_ISCOMPLEX(kind.typenum)):
        return False
    have = kind_of(batch)
    if have.typenum != kind.typenum or have.ndim != kind.ndim + 1 or have.dims[0] != rows:
        return False
    for i in range(kind.ndim):
        if have.dims[i + 1] != kind.dims[i]:
            return False
    return True
