# Arithmetic on scalars without NumPy, bit for bit what NumPy gives.

cdef inline int as_double(object x, double *value):
    # 2: a float64, 1: a Python number that NumPy turns into that very double, 0: anything else.
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
    return 0


@cython.cdivision(True)
cdef inline bint scalar_op(int lane, double x, double y, double *r):
    # IEEE-exact, as NumPy's loops are. False where a floating-point flag may have been raised, so that NumPy itself
    # computes it and np.errstate and the warnings are NumPy's.
    if lane == LANE_ADD:
        r[0] = x + y
    elif lane == LANE_SUBTRACT:
        r[0] = x - y
    else:
        r[0] = x * y if lane == LANE_MULTIPLY else x / y
        if fabs(r[0]) < DBL_MIN and x != 0 and y != 0:
            return False
    return isfinite(r[0])


cdef inline object binary_op(int lane, object fun, object x, object y):
    cdef double a, b, r
    cdef PyObject *args[3]
    if lane != LANE_NONE and as_double(x, &a) and as_double(y, &b) and scalar_op(lane, a, b, &r):
        return fastgrad_float64(r)
    args[0] = NULL
    args[1] = <PyObject *>x
    args[2] = <PyObject *>y
    return PyObject_Vectorcall(fun, args + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL)


cdef inline object multiply_values(object x, object y):
    # x * y as Python has it, with two float64 multiplied here.
    cdef double r
    if Py_TYPE(x) is &PyDoubleArrType_Type and Py_TYPE(y) is &PyDoubleArrType_Type:
        if scalar_op(LANE_MULTIPLY, fastgrad_obval(x), fastgrad_obval(y), &r):
            return fastgrad_float64(r)
    return x * y


cdef inline bint is_plain(object x):
    # A value whose vector space is that of arrays for certain, boxed or not, so that `+` adds it.
    cdef PyTypeObject *t
    while Py_TYPE(x) is <PyTypeObject *>ArrayBox:
        x = (<Box>x)._value
    t = Py_TYPE(x)
    return (t is &PyArray_Type or t is &PyDoubleArrType_Type or t is &PyFloat_Type or t is &PyFloatArrType_Type
            or t is &PyCDoubleArrType_Type or t is &PyComplex_Type)


cdef object add_values(object x, object y):
    """x + y in their vector space, as a new value."""
    cdef double r
    if Py_TYPE(x) is &PyDoubleArrType_Type and Py_TYPE(y) is &PyDoubleArrType_Type:
        if scalar_op(LANE_ADD, fastgrad_obval(x), fastgrad_obval(y), &r):
            return fastgrad_float64(r)
    if is_plain(x) and is_plain(y):
        return x + y
    return vspace(y).add(x, y)
