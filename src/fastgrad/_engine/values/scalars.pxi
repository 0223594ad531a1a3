# Arithmetic on scalars without NumPy, bit for bit what NumPy gives.

cdef inline int as_double(object x, double *value):
    # 2: a float64, 1: a Python number that NumPy turns into that very double, 0: anything else. An array of no axes
    # counts as its element: so it does for NumPy.
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
    # IEEE-exact, as NumPy's loops are. False where a floating-point flag may have been raised, so that NumPy itself
    # computes it and np.errstate and the warnings are NumPy's.
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
