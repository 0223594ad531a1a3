# Rules in C on concrete values, for the commonest functions whose rules are not fused derivatives.
#
# Each computes what the Python rule of the same function does. It returns None if it does not apply (a value is a box,
# not contiguous, of another dtype, ...); the caller then calls the Python rule.

cdef object sum_vjp(object g, ArrayVSpace space, bint mean):
    """Return the cotangent of an array that was summed, or averaged, to a scalar."""
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
    # Return a large array all of whose elements are one number in memory, with strides of 0. Nothing has to be written
    # or read for each element, but it must not be handed to users: see `materialize`.
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
    # Return whether x is an array made by constant_array, or a view of one, with at least one element.
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
    """Return a cotangent that users can write to: a copy if it is read-only (stride 0)."""
    if Py_TYPE(g) is &PyArray_Type and not cnp.PyArray_ISWRITEABLE(<ndarray>g):
        return cnp.PyArray_NewCopy(g, cnp.NPY_CORDER)
    return g


def sum_axis_vjp(g, space, axis):
    """Return the cotangent of an array that was summed over an axis.

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
        None if an argument is not a concrete array, or the axis is not an int.
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
    # Return the outer product of two vectors of one dtype.
    cdef cnp.npy_intp shape[2]
    cdef cnp.PyArray_Dims dims
    shape[0], shape[1] = cnp.PyArray_DIM(<ndarray>a, 0), 1
    dims.ptr, dims.len = shape, 2
    return p_multiply.call(cnp.PyArray_Newshape(a, &dims, cnp.NPY_CORDER), b)


cdef object dot_vjp(object g, ArrayVSpace space, object other, bint left):
    """Return the cotangent of one factor of a product of vectors and matrices: a in dot(a, b) if `left`, else b."""
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
    # Set where the elements of an operand are and how many elements lie between two: 0 for a number, 1 for a float64
    # array of the shape of `like`. Return False for anything else.
    step[0] = 0
    data[0] = number
    if as_double(x, number):
        return True
    if dtype_index(x) != DTYPE_DOUBLE or not cnp.PyArray_SAMESHAPE(<ndarray>x, <ndarray>like):
        return False
    data[0], step[0] = <double *>cnp.PyArray_DATA(<ndarray>x), 1
    return True


cdef object maximum_vjp(object g, object ans, object one, object other):
    """Return the cotangent of `one` of the two arguments of a maximum or minimum: g, half of it at ties, or 0."""
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
    """Return the cotangent of an array whose largest or smallest elements were taken; elements that tie share it.

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
        None if an argument is not a concrete float64 array or number, or an extreme is nan.
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
    """Return a cotangent in the shape of a space, its elements in C order."""
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
    """Return the cotangent by the compiled rule with this number, None if it does not apply to these values."""
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
