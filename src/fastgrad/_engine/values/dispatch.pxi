# Calls of NumPy's functions on plain values. Many of them are Python that looks at its arguments and calls a method: a
# shortcut is that method, for calls whose first argument is just an array.

# What NumPy passes for a keyword that was not given; some people pass it too.
cdef PyObject *not_given = <PyObject *>np._NoValue


cdef inline bint starts_shortcut(Primitive fun, PyObject *first, Py_ssize_t n):
    return (fun.shortcut is not None and Py_TYPE(<object>first) is &PyArray_Type
            and fun.shortcut_least <= n <= fun.shortcut_most)


cdef inline object call_plain(Primitive fun, PyObject **args, size_t nargsf, PyObject *keywords):
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


cdef object call_plain_tuple(Primitive fun, tuple args, dict kwargs):
    """The function itself, on plain values."""
    cdef Py_ssize_t n = PyTuple_GET_SIZE_(<PyObject *>args)
    cdef bint short = n > 0 and starts_shortcut(fun, PyTuple_GET_ITEM_(<PyObject *>args, 0), n)
    if kwargs is None:
        if n == 2:
            return binary_op(fun, args[0], args[1])
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


cdef object sum_over(object a, object axis, bint keepdims):
    """The sum of a plain array over axes, as a new array or scalar; None where NumPy must do it."""
    cdef bint summed[64]
    cdef cnp.npy_intp shape[64]
    cdef int ndim = cnp.PyArray_NDIM(<ndarray>a), n_kept = 0, i
    cdef Py_ssize_t k
    if cnp.PyArray_SIZE(<ndarray>a) > LANE_SIZE or ndim > FASTGRAD_MAX_AXES:
        return None
    for i in range(ndim):
        summed[i] = axis is None
    if axis is not None:
        for item in (axis if type(axis) is tuple else (axis,)):
            if not PyLong_CheckExact(item):
                return None
            k = item
            k += ndim if k < 0 else 0
            if not 0 <= k < ndim or summed[k]:
                return None
            summed[k] = True
    for i in range(ndim):
        if keepdims or not summed[i]:
            shape[n_kept] = 1 if summed[i] else cnp.PyArray_DIM(<ndarray>a, i)
            n_kept += 1
    return sum_axes(a, summed, n_kept, shape)


def plain_sum(a, axis=None, *, keepdims=False):
    """Sum an array as ``numpy.sum`` does."""
    total = sum_over(a, axis, keepdims) if type(keepdims) is bool else None
    return np.add.reduce(a, axis, None, None, keepdims) if total is None else total


def plain_mean(a, axis=None, *, keepdims=False):
    """Average an array as ``numpy.mean`` does."""
    total = sum_over(a, axis, keepdims) if type(keepdims) is bool else None
    if total is None:
        return a.mean(axis, keepdims=keepdims)
    n = cnp.PyArray_SIZE(<ndarray>a)
    if Py_TYPE(total) is &PyArray_Type:
        n //= cnp.PyArray_SIZE(<ndarray>total)
        return np.true_divide(total, n, total, casting="unsafe")
    return total.dtype.type(total / n)
