# Rules done in C on plain values: what the Python rules of the same functions do, for the commonest of them.
#
# Each gives None where this is not the way (a value is a box, not contiguous, of another dtype, ...), and the Python
# rule is called.

cdef object sum_vjp(object g, ArrayVSpace space, bint mean):
    """The cotangent of an array that was summed, or averaged, to a scalar; None where Python must do it."""
    cdef double value
    cdef cnp.npy_intp i, n
    cdef cnp.npy_intp shape[64]
    cdef double *data
    if not as_double(g, &value) or space.dtype is not double_dtype or len(space.shape) > FASTGRAD_MAX_AXES:
        return None
    if len(space.shape) == 0:
        return None
    n = 1
    for i in range(len(space.shape)):
        shape[i] = space.shape[i]
        n *= shape[i]
    if mean:
        if n == 0:
            return None
        value = value / n
    if n > LOOP_SIZE:
        return constant_array(value, len(space.shape), shape)
    answer = cnp.PyArray_EMPTY(len(space.shape), shape, cnp.NPY_DOUBLE, 0)
    data = <double *>cnp.PyArray_DATA(<ndarray>answer)
    for i in range(n):
        data[i] = value
    return answer


cdef object constant_array(double value, int ndim, cnp.npy_intp *shape):
    # A large array all of whose elements are one number in memory. It spares writing and reading them, but must not be
    # handed to users: see `materialize`.
    cdef cnp.npy_intp strides[64]
    cdef int i
    number = cnp.PyArray_EMPTY(0, shape, cnp.NPY_DOUBLE, 0)
    (<double *>cnp.PyArray_DATA(<ndarray>number))[0] = value
    for i in range(ndim):
        strides[i] = 0
    array = PyArray_New(&PyArray_Type, ndim, shape, cnp.NPY_DOUBLE, strides, cnp.PyArray_DATA(<ndarray>number), 0,
                        cnp.NPY_ARRAY_ALIGNED, NULL)
    cnp.set_array_base(array, number)
    return array


cdef inline bint is_constant(object x):
    # An array as constant_array makes it, or a view of one, that has a number to read.
    return (Py_TYPE(x) is &PyArray_Type and cnp.PyArray_TYPE(<ndarray>x) == cnp.NPY_DOUBLE
            and cnp.PyArray_NDIM(<ndarray>x) > 0
            and cnp.PyArray_STRIDE(<ndarray>x, 0) == 0 and not cnp.PyArray_ISWRITEABLE(<ndarray>x)
            and has_no_strides(x) and cnp.PyArray_SIZE(<ndarray>x))


cdef bint has_no_strides(object x):
    cdef int i
    for i in range(cnp.PyArray_NDIM(<ndarray>x)):
        if cnp.PyArray_STRIDE(<ndarray>x, i):
            return False
    return True


cdef object materialize(object g):
    """A cotangent as it can be handed to a user: with memory for each element, to do with it as he likes."""
    if Py_TYPE(g) is &PyArray_Type and not cnp.PyArray_ISWRITEABLE(<ndarray>g):
        return cnp.PyArray_NewCopy(g, cnp.NPY_CORDER)
    return g


def sum_axis_vjp(g, space, axis):
    """Give the cotangent of an array that was summed over axes.

    Parameters
    ----------
    g : ndarray
        Cotangent of the sum, with or without the summed axes.
    space : VSpace
        The space of the array.
    axis : int, tuple of int or None
        The axes.

    Returns
    -------
    ndarray or None
        None where these are not plain values, or the axis is no int.
    """
    cdef cnp.npy_intp shape[64]
    cdef cnp.npy_intp kept[64]
    cdef cnp.PyArray_Dims dims
    cdef Py_ssize_t n, i, k
    if (Py_TYPE(g) is not &PyArray_Type or type(space) is not ArrayVSpace or not PyLong_CheckExact(axis)
            or cnp.PyArray_TYPE(<ndarray>g) != (<cnp.dtype>(<ArrayVSpace>space).dtype).num):
        return None
    n, k = len((<ArrayVSpace>space).shape), axis
    k += n if k < 0 else 0
    if not 0 <= k < n or n > FASTGRAD_MAX_AXES:
        return None
    for i in range(n):
        shape[i] = (<ArrayVSpace>space).shape[i]
        kept[i] = 1 if i == k else shape[i]
    dims.ptr, dims.len = kept, n
    column = cnp.PyArray_Newshape(g, &dims, cnp.NPY_CORDER)
    answer = cnp.PyArray_EMPTY(n, shape, cnp.PyArray_TYPE(<ndarray>g), 0)
    cnp.PyArray_CopyInto(answer, column)
    return answer


cdef object outer_product(object a, object b):
    # Of two vectors of one dtype.
    cdef cnp.npy_intp shape[2]
    cdef cnp.PyArray_Dims dims
    shape[0], shape[1] = cnp.PyArray_DIM(<ndarray>a, 0), 1
    dims.ptr, dims.len = shape, 2
    return p_multiply.call(cnp.PyArray_Newshape(a, &dims, cnp.NPY_CORDER), b)


cdef object dot_vjp(object g, ArrayVSpace space, object other, bint left):
    """The cotangent of one factor of a product of vectors and matrices: of a in dot(a, b) if `left`, else of b."""
    cdef int n, m
    if Py_TYPE(other) is not &PyArray_Type or cnp.PyArray_TYPE(<ndarray>other) != (<cnp.dtype>space.dtype).num:
        return None
    if is_box(g) or kind_of(g).typenum != cnp.PyArray_TYPE(<ndarray>other):
        return None
    n, m = len(space.shape), cnp.PyArray_NDIM(<ndarray>other)
    if not (1 <= n <= 2 and 1 <= m <= 2):
        return None
    if n == 1 and m == 1:
        return p_multiply.call(g, other)
    if m == 1:
        return outer_product(g, other) if left else outer_product(other, g)
    if n == 1:
        return cnp.PyArray_MatrixProduct(other, g) if left else cnp.PyArray_MatrixProduct(g, other)
    transposed = cnp.PyArray_Transpose(other, NULL)
    return cnp.PyArray_MatrixProduct(g, transposed) if left else cnp.PyArray_MatrixProduct(transposed, g)


cdef bint read_operand(object x, object like, double **data, Py_ssize_t *step, double *number):
    # A number, or a plain float64 array of the shape of `like`: where its elements are, how far apart in elements.
    step[0] = 0
    data[0] = number
    if as_double(x, number):
        return True
    if dtype_index(x) != DTYPE_DOUBLE or not cnp.PyArray_SAMESHAPE(<ndarray>x, <ndarray>like):
        return False
    data[0], step[0] = <double *>cnp.PyArray_DATA(<ndarray>x), 1
    return True


cdef object maximum_vjp(object g, object ans, object one, object other):
    """What `one` of the two arguments of a maximum or minimum gets of g: all, half where they tie, or nothing."""
    cdef double *data[4]
    cdef Py_ssize_t steps[4]
    cdef double numbers[4]
    cdef double share
    cdef Py_ssize_t i, n
    if is_box(g) or dtype_index(ans) != DTYPE_DOUBLE:
        return None
    for i, operand in enumerate((g, ans, one, other)):
        if not read_operand(operand, ans, &data[i], &steps[i], &numbers[i]):
            return None
    n = cnp.PyArray_SIZE(<ndarray>ans)
    result = cnp.PyArray_EMPTY(cnp.PyArray_NDIM(<ndarray>ans), cnp.PyArray_DIMS(<ndarray>ans), cnp.NPY_DOUBLE, 0)
    for i in range(n):
        share = 0.0
        if data[2][i * steps[2]] == data[1][i]:
            share = data[0][i * steps[0]]
            if data[3][i * steps[3]] == data[1][i]:
                share *= 0.5
        (<double *>cnp.PyArray_DATA(<ndarray>result))[i] = share
    return result


def extreme_vjp(g, ans, x, axis=None):
    """Give the cotangent of an array whose largest or smallest elements were taken: shared by those that tie.

    Parameters
    ----------
    g, ans : ndarray or float
        Cotangent of the extremes, and these, with or without the axis.
    x : ndarray
        The array.
    axis : int or None
        The axis along which the extremes were taken; None for all.

    Returns
    -------
    ndarray or None
        None where these are not plain float64 values, or there is a nan among the extremes.
    """
    cdef double gs, extremes
    cdef double *data = NULL
    cdef double *result
    cdef double *from_g = &gs
    cdef double *from_ans = &extremes
    cdef Py_ssize_t outer = 1, n, inner = 1, i, j, k, position, column, ties, ndim
    if dtype_index(x) != DTYPE_DOUBLE:
        return None
    n = cnp.PyArray_SIZE(<ndarray>x)
    if axis is None:
        if not as_double(g, &gs) or not as_double(ans, &extremes):
            return None
    elif not PyLong_CheckExact(axis) or dtype_index(g) != DTYPE_DOUBLE or dtype_index(ans) != DTYPE_DOUBLE:
        return None
    else:
        ndim, position = cnp.PyArray_NDIM(<ndarray>x), axis
        position += ndim if position < 0 else 0
        if not 0 <= position < ndim:
            return None
        n = cnp.PyArray_DIM(<ndarray>x, position)
        for i in range(ndim):
            if i < position:
                outer *= cnp.PyArray_DIM(<ndarray>x, i)
            elif i > position:
                inner *= cnp.PyArray_DIM(<ndarray>x, i)
        if cnp.PyArray_SIZE(<ndarray>g) != outer * inner or cnp.PyArray_SIZE(<ndarray>ans) != outer * inner:
            return None
        from_g, from_ans = <double *>cnp.PyArray_DATA(<ndarray>g), <double *>cnp.PyArray_DATA(<ndarray>ans)
    cotangent = cnp.PyArray_ZEROS(cnp.PyArray_NDIM(<ndarray>x), cnp.PyArray_DIMS(<ndarray>x), cnp.NPY_DOUBLE, 0)
    data, result = <double *>cnp.PyArray_DATA(<ndarray>x), <double *>cnp.PyArray_DATA(<ndarray>cotangent)
    for i in range(outer):
        for j in range(inner):
            column = i * inner + j
            ties = 0
            for k in range(n):
                ties += data[(i * n + k) * inner + j] == from_ans[column]
            if ties == 0:
                return None  # the extreme is nan
            for k in range(n):
                if data[(i * n + k) * inner + j] == from_ans[column]:
                    result[(i * n + k) * inner + j] = from_g[column] / ties
    return cotangent


cdef object reshape_vjp(object g, ArrayVSpace space):
    """A cotangent in the shape of a space, its elements in C order."""
    cdef cnp.npy_intp shape[64]
    cdef cnp.PyArray_Dims dims
    cdef int i
    if Py_TYPE(g) is not &PyArray_Type or cnp.PyArray_TYPE(<ndarray>g) != (<cnp.dtype>space.dtype).num:
        return None
    dims.ptr, dims.len = shape, len(space.shape)
    for i in range(dims.len):
        shape[i] = space.shape[i]
    return cnp.PyArray_Newshape(g, &dims, cnp.NPY_CORDER)


cdef object apply_compiled_rule(int routine, object g, object ans, object x, object y):
    """A rule done in C; None where it does not do: the values are not plain."""
    if routine == COMPILED_SUM or routine == COMPILED_MEAN:
        return sum_vjp(g, x, routine == COMPILED_MEAN) if type(x) is ArrayVSpace else None
    if routine == COMPILED_DOT_LEFT:
        return dot_vjp(g, x, y, True) if isinstance(x, ArrayVSpace) else None
    if routine == COMPILED_DOT_RIGHT:
        return dot_vjp(g, y, x, False) if isinstance(y, ArrayVSpace) else None
    if routine == COMPILED_RESHAPE:
        return reshape_vjp(g, x) if isinstance(x, ArrayVSpace) and type(y) is not str else None
    if routine == COMPILED_EXTREME:
        return extreme_vjp(g, ans, x, y)
    if routine == COMPILED_MAXIMUM_LEFT:
        return maximum_vjp(g, ans, x, y)
    return maximum_vjp(g, ans, y, x)
