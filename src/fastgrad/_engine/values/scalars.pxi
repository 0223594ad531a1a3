# Arithmetic on scalars in C, with the same bits as NumPy's.

cdef inline int as_double(object x, double *value):
    # Return 2 for a float64, 1 for a Python number that NumPy converts to exactly this double, 0 for anything else. A
    # 0-d array counts as its element, as it does in NumPy's arithmetic.
    cdef PyTypeObject *t = Py_TYPE(x)
    cdef int overflow
    cdef long i
    if t is &PyDoubleArrType_Type:
        value[0] = fastgrad_obval(x)
        return 2
    if t is &PyFloat_Type:
        value[0] = PyFloat_AS_DOUBLE(x)
        return 1
    if t is &PyLong_Type:
        i = PyLong_AsLongAndOverflow(x, &overflow)
        if overflow or i > 1 << 53 or i < -(1 << 53):
            return 0
        value[0] = <double>i
        return 1
    if (t is &PyArray_Type and cnp.PyArray_NDIM(<ndarray>x) == 0 and cnp.PyArray_TYPE(<ndarray>x) == cnp.NPY_DOUBLE
            and cnp.PyArray_ISBEHAVED_RO(<ndarray>x)):
        value[0] = (<double *>cnp.PyArray_DATA(<ndarray>x))[0]
        return 2
    return 0


@cython.cdivision(True)
cdef inline bint compute_scalar(int operation, double x, double y, double *r):
    # Return False where a floating-point flag may have been raised: NumPy then computes it again, so that np.errstate
    # and the warnings are NumPy's. These four operations are exact in IEEE arithmetic, so the bits are NumPy's.
    if operation == OPERATION_ADD:
        r[0] = x + y
    elif operation == OPERATION_SUBTRACT:
        r[0] = x - y
    elif operation == OPERATION_NEGATIVE:
        r[0] = -x
    else:
        r[0] = x * y if operation == OPERATION_MULTIPLY else x / y
        if fabs(r[0]) < DBL_MIN and x != 0 and y != 0:
            return False
    return isfinite(r[0])
