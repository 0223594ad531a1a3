# Calls of NumPy's functions on plain values. Many of them are Python that looks at its arguments and calls a method: a
# shortcut is that method, for calls whose first argument is just an array.

# What NumPy passes for a keyword that was not given; some people pass it too.
cdef PyObject *not_given = <PyObject *>np._NoValue


cdef inline bint starts_shortcut(Primitive fun, PyObject *first, Py_ssize_t n):
    return (fun.shortcut is not None and Py_TYPE(<object>first) is &PyArray_Type
            and fun.shortcut_least <= n <= fun.shortcut_most)


cdef inline object compute_vectorcall(Primitive fun, PyObject **args, size_t nargsf, PyObject *keywords):
    """The function itself, on plain values, by vectorcall."""
    cdef Py_ssize_t n = PyVectorcall_NARGS(nargsf), i
    if n == 0 or not starts_shortcut(fun, args[0], n):
        return PyObject_Vectorcall(fun.fun, args, nargsf, keywords)
    if keywords != NULL:
        for i in range(PyTuple_GET_SIZE_(keywords)):
            name = <object>PyTuple_GET_ITEM_(keywords, i)
            if args[n + i] == not_given or name not in fun.shortcut_keywords:
                return PyObject_Vectorcall(fun.fun, args, nargsf, keywords)
    return PyObject_Vectorcall(fun.shortcut, args, nargsf, keywords)


cdef object compute_call(Primitive fun, tuple args, dict kwargs):
    """The function itself, on plain values."""
    cdef Py_ssize_t n = PyTuple_GET_SIZE_(<PyObject *>args)
    cdef bint short = n > 0 and starts_shortcut(fun, PyTuple_GET_ITEM_(<PyObject *>args, 0), n)
    if kwargs is None:
        if n == 2:
            return compute_binary(fun, args[0], args[1])
        return PyObject_Call(fun.shortcut if short else fun.fun, args, {})
    for name, value in kwargs.items():
        short = short and <PyObject *>value != not_given and name in fun.shortcut_keywords
    return PyObject_Call(fun.shortcut if short else fun.fun, args, kwargs)


def set_shortcut(Primitive fun not None, shortcut, Py_ssize_t least, Py_ssize_t most, keywords=()):
    """Let calls on arrays go another way.

    Parameters
    ----------
    fun : Primitive
        The function.
    shortcut : callable
        Does the same where its first argument is an array, no subclass, for so many positional arguments and no
        keywords but these.
    least, most : int
        How many arguments may be given by position.
    keywords : iterable of str
        Which keywords may be given.
    """
    fun.shortcut, fun.shortcut_least, fun.shortcut_most = shortcut, least, most
    fun.shortcut_keywords = frozenset(keywords)


cdef inline object compute_unary(Primitive fun, object x):
    """fun on a plain value."""
    cdef double a
    cdef fastgrad_call_info *loop
    cdef PyObject *args[2]
    if fun.n_inputs == 1:
        ans = None
        if Py_TYPE(x) is &PyDoubleArrType_Type or Py_TYPE(x) is &PyFloat_Type:
            as_double(x, &a)
            if fun.operation == OPERATION_NEGATIVE:
                return fastgrad_float64(-a)
            if fun.loops[DTYPE_DOUBLE] != NULL:
                ans = loop_on_scalars(<fastgrad_call_info *>fun.loops[DTYPE_DOUBLE], a, NULL)
        else:
            loop = loop_for(fun, x)
            if loop != NULL:
                ans = loop_on_arrays(loop, x, cnp.PyArray_BYTES(<ndarray>x), cnp.PyArray_ITEMSIZE(<ndarray>x), NULL, 0)
        if ans is not None:
            return ans
    elif fun.reduction:
        ans = reduce_all(fun, x)
        if ans is not None:
            return ans
    args[0] = NULL
    args[1] = <PyObject *>x
    return compute_vectorcall(fun, args + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL)


cdef inline object binary_by_loop(Primitive fun, object x, object y):
    # None where NumPy must do it.
    cdef fastgrad_call_info *loop
    cdef double a, b, r
    cdef int x_is_number = as_double(x, &a), y_is_number = as_double(y, &b)
    if x_is_number and y_is_number:
        if x_is_number + y_is_number < 3 and not (Py_TYPE(x) is &PyFloat_Type or Py_TYPE(y) is &PyFloat_Type):
            return None
        if fun.operation != OPERATION_NONE:
            return fastgrad_float64(r) if compute_scalar(fun.operation, a, b, &r) else None
        loop = <fastgrad_call_info *>fun.loops[DTYPE_DOUBLE]
        return None if loop == NULL else loop_on_scalars(loop, a, &b)
    if x_is_number or y_is_number:
        array = y if x_is_number else x
        loop = loop_for(fun, array)
        if loop == NULL or loop != <fastgrad_call_info *>fun.loops[DTYPE_DOUBLE]:
            return None
        if x_is_number:
            return loop_on_arrays(loop, array, <char *>&a, 0, <char *>cnp.PyArray_DATA(<ndarray>array), sizeof(double))
        return loop_on_arrays(loop, array, <char *>cnp.PyArray_DATA(<ndarray>array), sizeof(double), <char *>&b, 0)
    loop = loop_for(fun, x)
    if loop == NULL or loop != loop_for(fun, y) or not cnp.PyArray_SAMESHAPE(<ndarray>x, <ndarray>y):
        return None
    item = cnp.PyArray_ITEMSIZE(<ndarray>x)
    return loop_on_arrays(loop, x, cnp.PyArray_BYTES(<ndarray>x), item, cnp.PyArray_BYTES(<ndarray>y), item)


cdef inline object compute_binary(Primitive fun, object x, object y):
    """fun on two plain values."""
    cdef PyObject *args[3]
    if fun.operation >= OPERATION_INDEX:
        if fun.operation == OPERATION_INDEX:
            return item_of(x, y)
        if Py_TYPE(x) is &PyArray_Type and Py_TYPE(y) is &PyArray_Type:
            # What numpy.dot is, once it knows that nobody else wants the call.
            ans = cnp.PyArray_MatrixProduct(x, y)
            return ans[()] if Py_TYPE(ans) is &PyArray_Type and cnp.PyArray_NDIM(<ndarray>ans) == 0 else ans
    elif fun.n_inputs == 2:
        ans = binary_by_loop(fun, x, y)
        if ans is not None:
            return ans
    args[0] = NULL
    args[1] = <PyObject *>x
    args[2] = <PyObject *>y
    return compute_vectorcall(fun, args + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL)


cdef inline object multiply_values(object x, object y):
    """x * y, boxed or not."""
    return p_multiply.call(x, y)


cdef inline bint adds_as_array(object x):
    # A value whose vector space is that of arrays for certain, boxed or not, so that `+` adds it.
    cdef PyTypeObject *t
    while Py_TYPE(x) is <PyTypeObject *>ArrayBox:
        x = (<Box>x)._value
    t = Py_TYPE(x)
    return (t is &PyArray_Type or t is &PyDoubleArrType_Type or t is &PyFloat_Type or t is &PyFloatArrType_Type
            or t is &PyCDoubleArrType_Type or t is &PyComplex_Type)


cdef object add_values(object x, object y):
    """x + y in their vector space, as a new value."""
    if adds_as_array(x) and adds_as_array(y):
        return p_add.call(x, y)
    return vspace(y).add(x, y)
