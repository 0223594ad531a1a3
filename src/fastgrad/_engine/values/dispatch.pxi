# How a call is computed: the one place that decides which code runs for a primitive on concrete values.
#
# The path of a call in a trace has four parts. Each row is what one call takes; `python -m fastgrad.paths` prints the
# row that a call took, and a test compares this table with what the engine does. B, M and b are a traced array, an
# array and a traced float64; p is a traced dict, user_sin a user's primitive.
#
# call                    recorded by            value computed by              node    cotangent by
# b * 2.0                 Primitive.call2        C arithmetic                   binary  fused derivative
# np.sin(B)               Primitive.call1        NumPy's inner loop             unary   fused derivative
# np.sum(B)               Primitive.call1        reduction by inner loop        unary   compiled rule
# np.sum(B, axis=0)       Primitive.call_traced  shortcut past NumPy's wrapper  call    Python rule
# B @ M                   Primitive.call2        NumPy                          binary  compiled rule
# np.dot(B, M)            Primitive.call2        PyArray_MatrixProduct          binary  compiled rule
# B[0]                    Primitive.call2        item read                      index   added to the array's total
# p["w"]                  ContainerBox.take      item of the container          index   put into the container
# np.concatenate([B, M])  Primitive.call_traced  NumPy                          whole   Python rule
# user_sin(B)             Primitive.call_traced  NumPy                          staged  user's pullback
#
# Recording is decided in tracing/primitives.pxi, the value here, the node in nodes/reverse.pxi, and the cotangent in
# nodes/apply.pxi and graph/walk.pxi. NumPy's inner loops run for up to LOOP_SIZE elements; beyond, NumPy is called. In
# a batch of rows BatchNode.record calls the primitive's batch rule, or the primitive once for each row.
#
# numpy/_namespace/fast_calls.py has the table of the primitives with a path of their own, and sets it with set_path.
# A function below that finds at run time that its path does not apply returns None, and the next one is tried.

# The operations that a path may name, and what does them.
operations = {"add": OPERATION_ADD, "subtract": OPERATION_SUBTRACT, "multiply": OPERATION_MULTIPLY,
              "divide": OPERATION_DIVIDE, "negative": OPERATION_NEGATIVE, "index": OPERATION_INDEX,
              "dot": OPERATION_DOT, "sum": REDUCE_SUM, "mean": REDUCE_MEAN, "max": REDUCE_MAX, "min": REDUCE_MIN}


def set_path(Primitive fun not None, *, str operation=None, str reduction=None, tuple shortcut=None):
    """Set how calls of a primitive on concrete values are computed, beside calling its function.

    Parameters
    ----------
    fun : Primitive
        The function. The inner loops of a ufunc are looked up too.
    operation : {"add", "subtract", "multiply", "divide", "negative", "index", "dot"}, optional
        The operation that C code does on scalars, on an array and an index, or on two arrays.
    reduction : {"sum", "mean", "max", "min"}, optional
        The reduction to a scalar that inner loops do.
    shortcut : tuple of (callable, int, int, iterable of str), optional
        A function that does the same where the first argument is an array, not of a subclass; the least and the most
        positional arguments it is called with; the keywords it may be called with.
    """
    if fun.is_ufunc:
        find_inner_loops(fun)
    if operation is not None:
        fun.operation = operations[operation]
    if reduction is not None:
        fun.reduction = operations[reduction]
    if shortcut is not None:
        fun.shortcut, fun.shortcut_least, fun.shortcut_most, keywords = shortcut
        fun.shortcut_keywords = frozenset(keywords)


def watch_paths(list seen):
    """Append to `seen` what later calls do, as the columns of the table of paths name it; None ends that."""
    global watched, is_watching
    watched, is_watching = seen, seen is not None


# Where watch_paths has calls noted. The flag is apart, so that a call that nobody watches tests one int and no more.
cdef list watched = None
cdef bint is_watching = False


cdef inline void note_path(str part) noexcept:
    if is_watching:
        append_path(part)


cdef void append_path(str part) noexcept:
    watched.append(part)


# What NumPy takes for a keyword that was not given; some users pass it too.
cdef PyObject *not_given = <PyObject *>np._NoValue


cdef inline bint takes_shortcut(Primitive fun, PyObject *first, Py_ssize_t n):
    return (fun.shortcut is not None and Py_TYPE(<object>first) is &PyArray_Type
            and fun.shortcut_least <= n <= fun.shortcut_most)


cdef inline bint keeps_to_shortcut(Primitive fun, object keyword, PyObject *value):
    return value != not_given and keyword in fun.shortcut_keywords


cdef object compute_vectorcall(Primitive fun, PyObject **args, size_t nargsf, PyObject *keywords):
    """Return the function's value for concrete arguments, given as vectorcall has them."""
    cdef Py_ssize_t n = PyVectorcall_NARGS(nargsf), i
    cdef bint shortcut = n > 0 and takes_shortcut(fun, args[0], n)
    if shortcut and keywords != NULL:
        for i in range(PyTuple_GET_SIZE_(keywords)):
            shortcut = shortcut and keeps_to_shortcut(fun, <object>PyTuple_GET_ITEM_(keywords, i), args[n + i])
    if shortcut:
        note_path("shortcut past NumPy's wrapper")
        return PyObject_Vectorcall(fun.shortcut, args, nargsf, keywords)
    note_path("NumPy")
    return PyObject_Vectorcall(fun.fun, args, nargsf, keywords)


cdef object compute_call(Primitive fun, tuple args, dict kwargs):
    """Return the function's value for concrete arguments."""
    cdef Py_ssize_t n = PyTuple_GET_SIZE_(<PyObject *>args)
    cdef bint shortcut
    if kwargs is None and n == 2:
        return compute_binary(fun, args[0], args[1])
    shortcut = n > 0 and takes_shortcut(fun, PyTuple_GET_ITEM_(<PyObject *>args, 0), n)
    if shortcut and kwargs is not None:
        for name, value in kwargs.items():
            shortcut = shortcut and keeps_to_shortcut(fun, name, <PyObject *>value)
    note_path("shortcut past NumPy's wrapper" if shortcut else "NumPy")
    return PyObject_Call(fun.shortcut if shortcut else fun.fun, args, kwargs if kwargs is not None else {})


cdef inline object compute_unary(Primitive fun, object x):
    """Return the function's value for one concrete argument."""
    cdef double a
    cdef fastgrad_call_info *loop
    cdef PyObject *args[2]
    if fun.n_inputs == 1:
        ans = None
        if Py_TYPE(x) is &PyDoubleArrType_Type or Py_TYPE(x) is &PyFloat_Type:
            as_double(x, &a)
            if fun.operation == OPERATION_NEGATIVE:
                note_path("C arithmetic")
                return fastgrad_float64(-a)
            if fun.loops[DTYPE_DOUBLE] != NULL:
                ans = loop_on_scalars(<fastgrad_call_info *>fun.loops[DTYPE_DOUBLE], a, NULL)
        else:
            loop = loop_for(fun, x)
            if loop != NULL:
                ans = loop_on_arrays(loop, x, cnp.PyArray_BYTES(<ndarray>x), cnp.PyArray_ITEMSIZE(<ndarray>x), NULL, 0)
        if ans is not None:
            note_path("NumPy's inner loop")
            return ans
    elif fun.reduction:
        ans = reduce_all(fun, x)
        if ans is not None:
            note_path("reduction by inner loop")
            return ans
    args[0] = NULL
    args[1] = <PyObject *>x
    return compute_vectorcall(fun, args + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL)


cdef inline object binary_by_loop(Primitive fun, object x, object y):
    # Return the value of a ufunc of two arguments by C arithmetic or an inner loop; None if NumPy must compute it.
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
    """Return the function's value for two concrete arguments."""
    cdef PyObject *args[3]
    cdef bint in_c
    if fun.operation >= OPERATION_INDEX:
        if fun.operation == OPERATION_INDEX:
            note_path("item read")
            return item_of(x, y)
        if Py_TYPE(x) is &PyArray_Type and Py_TYPE(y) is &PyArray_Type:
            # What numpy.dot itself calls once it knows that no argument overrides __array_function__.
            note_path("PyArray_MatrixProduct")
            ans = cnp.PyArray_MatrixProduct(x, y)
            return ans[()] if Py_TYPE(ans) is &PyArray_Type and cnp.PyArray_NDIM(<ndarray>ans) == 0 else ans
    elif fun.n_inputs == 2:
        ans = binary_by_loop(fun, x, y)
        if ans is not None:
            if is_watching:
                in_c = Py_TYPE(ans) is &PyDoubleArrType_Type and fun.operation != OPERATION_NONE
                note_path("C arithmetic" if in_c else "NumPy's inner loop")
            return ans
    args[0] = NULL
    args[1] = <PyObject *>x
    args[2] = <PyObject *>y
    return compute_vectorcall(fun, args + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL)


cdef inline object multiply_values(object x, object y):
    """Return x * y, boxed or not."""
    return p_multiply.call(x, y)


cdef inline bint adds_as_array(object x):
    # Return whether the vector space of a value, boxed or not, is known to be one of arrays, so that `+` adds it.
    cdef PyTypeObject *t
    while Py_TYPE(x) is <PyTypeObject *>ArrayBox:
        x = (<Box>x)._value
    t = Py_TYPE(x)
    return (t is &PyArray_Type or t is &PyDoubleArrType_Type or t is &PyFloat_Type or t is &PyFloatArrType_Type
            or t is &PyCDoubleArrType_Type or t is &PyComplex_Type)


cdef object add_values(object x, object y):
    """Return x + y in their vector space, as a new value."""
    if adds_as_array(x) and adds_as_array(y):
        return p_add.call(x, y)
    return vspace(y).add(x, y)
