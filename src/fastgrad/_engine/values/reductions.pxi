# Sums over axes by NumPy's inner loop of `add`, and maxima and minima by theirs.
#
# The results are bit for bit those of NumPy's reductions, whose preparations take longer than summing a small array.

cdef extern from *:
    """
    #define FASTGRAD_MAX_AXES 64

    /* Axes from the outermost to the innermost, neighbours that are both kept or both summed joined into one. The
       innermost is one call of the loop. */
    typedef struct {
        npy_intp n, x_step, total_step;
    } fastgrad_axes;

    static void fastgrad_add_up(fastgrad_call_info *info, const fastgrad_axes *axes, int n_axes, char *x, char *total) {
        npy_intp i;
        if (n_axes == 1) {
            char *data[3] = {total, x, total};
            npy_intp strides[3] = {axes->total_step, axes->x_step, axes->total_step};
            npy_intp n = axes->n;
            info->loop(info->context, data, &n, strides, info->auxdata);
            return;
        }
        for (i = 0; i < axes->n; i++)
            fastgrad_add_up(info, axes + 1, n_axes - 1, x + i * axes->x_step, total + i * axes->total_step);
    }

    /* Return whether no flag was raised. */
    static int fastgrad_sum(fastgrad_call_info *info, const fastgrad_axes *axes, int n_axes, char *x, char *total) {
        fastgrad_clear_flags();
        fastgrad_add_up(info, axes, n_axes, x, total);
        return !fastgrad_flags();
    }
    """
    int FASTGRAD_MAX_AXES
    ctypedef struct fastgrad_axes:
        cnp.npy_intp n
        cnp.npy_intp x_step
        cnp.npy_intp total_step
    bint fastgrad_sum(fastgrad_call_info *, const fastgrad_axes *, int, char *, char *)


# What NumPy starts a sum with: 0.0, in newer versions -0.0.
cdef double zero_of_sums = np.add.reduce(np.array([-0.0]))


cdef object scalar_of(object array):
    # Return the one element of an array as NumPy's scalar.
    if cnp.PyArray_TYPE(<ndarray>array) == cnp.NPY_DOUBLE:
        return fastgrad_float64((<double *>cnp.PyArray_DATA(<ndarray>array))[0])
    return cnp.PyArray_ToScalar(cnp.PyArray_DATA(<ndarray>array), array)


cdef object sum_axes(object x, bint *summed, int n_kept, cnp.npy_intp *kept_shape):
    """Return the sum over the axes marked in `summed`: a new array of the given shape, a scalar for the shape ().

    Return None if the inner loop cannot read x, or a floating-point flag was raised; the caller then calls NumPy.
    """
    cdef fastgrad_axes axes[64]
    cdef int dtype = dtype_index(x), n_axes = 0, i, j
    cdef cnp.npy_intp item, size, n
    cdef char *total
    if dtype < 0 or p_add.loops[dtype] == NULL or cnp.PyArray_SIZE(<ndarray>x) == 0:
        return None
    item = cnp.PyArray_ITEMSIZE(<ndarray>x)
    # From the last axis to the first: x is contiguous, and so is the answer.
    size = 1
    for i in range(cnp.PyArray_NDIM(<ndarray>x) - 1, -1, -1):
        n = cnp.PyArray_DIM(<ndarray>x, i)
        if n == 1:
            continue
        if n_axes and (axes[n_axes - 1].total_step == 0) == summed[i]:
            axes[n_axes - 1].n *= n
        else:
            axes[n_axes].n, axes[n_axes].x_step = n, size * item
            axes[n_axes].total_step = 0 if summed[i] else item
            n_axes += 1
        size *= n
    if n_axes == 0:
        axes[0].n, axes[0].x_step, axes[0].total_step = 1, item, 0
        n_axes = 1
    size = item
    for i in range(n_axes):
        if axes[i].total_step:
            axes[i].total_step = size
            size *= axes[i].n
    for i in range(n_axes // 2):
        j = n_axes - 1 - i
        axes[i], axes[j] = axes[j], axes[i]
    answer = cnp.PyArray_EMPTY(n_kept, kept_shape, cnp.PyArray_TYPE(<ndarray>x), 0)
    total = <char *>cnp.PyArray_DATA(<ndarray>answer)
    for i in range(cnp.PyArray_SIZE(<ndarray>answer)):
        put_scalar(<double *>(total + i * item), zero_of_sums, dtype)
    if not fastgrad_sum(<fastgrad_call_info *>p_add.loops[dtype], axes, n_axes, cnp.PyArray_BYTES(<ndarray>x), total):
        return None
    return answer if n_kept else scalar_of(answer)


cdef object sum_to(object g, ArrayVSpace space):
    """Return a cotangent summed to the shape of a space that was broadcast; None if Python code must do it."""
    cdef bint summed[64]
    cdef cnp.npy_intp shape[64]
    cdef int n, n_kept, i
    if dtype_index(g) < 0 or cnp.PyArray_TYPE(<ndarray>g) != (<cnp.dtype>space.dtype).num:
        return None
    n, n_kept = cnp.PyArray_NDIM(<ndarray>g), len(space.shape)
    if n_kept > n or n > FASTGRAD_MAX_AXES:
        return None
    for i in range(n):
        summed[i] = True
        if i >= n - n_kept:
            shape[i - n + n_kept] = space.shape[i - n + n_kept]
            summed[i] = shape[i - n + n_kept] != cnp.PyArray_DIM(<ndarray>g, i)
            if summed[i] and shape[i - n + n_kept] != 1:
                return None
    return sum_axes(g, summed, n_kept, shape)


cdef object reduce_all(Primitive fun, object x):
    """Return the reduction of all elements to a scalar; None if NumPy must do it."""
    cdef bint summed[64]
    cdef cnp.npy_intp n = 0
    cdef int i
    if Py_TYPE(x) is not &PyArray_Type or cnp.PyArray_SIZE(<ndarray>x) > LOOP_SIZE:
        return None
    if cnp.PyArray_NDIM(<ndarray>x) > FASTGRAD_MAX_AXES:
        return None
    if fun.reduction == REDUCE_MAX or fun.reduction == REDUCE_MIN:
        return extreme(p_maximum if fun.reduction == REDUCE_MAX else p_minimum, x)
    for i in range(cnp.PyArray_NDIM(<ndarray>x)):
        summed[i] = True
    total = sum_axes(x, summed, 0, &n)
    if total is not None and fun.reduction == REDUCE_MEAN:
        return total.dtype.type(total / cnp.PyArray_SIZE(<ndarray>x))
    return total


cdef object extreme(Primitive fun, object x):
    # Return the largest or smallest element: the loop runs from the second element on, starting with the first.
    cdef int dtype = dtype_index(x)
    cdef cnp.npy_intp one = 1
    cdef cnp.npy_intp strides[3]
    cdef char *data[3]
    if dtype < 0 or fun.loops[dtype] == NULL or cnp.PyArray_SIZE(<ndarray>x) == 0:
        return None
    answer = cnp.PyArray_EMPTY(0, &one, cnp.PyArray_TYPE(<ndarray>x), 0)
    data[0] = data[2] = <char *>cnp.PyArray_DATA(<ndarray>answer)
    memcpy(data[0], cnp.PyArray_DATA(<ndarray>x), cnp.PyArray_ITEMSIZE(<ndarray>x))
    data[1] = <char *>cnp.PyArray_DATA(<ndarray>x) + cnp.PyArray_ITEMSIZE(<ndarray>x)
    strides[0] = strides[2] = 0
    strides[1] = cnp.PyArray_ITEMSIZE(<ndarray>x)
    if not fastgrad_run(<fastgrad_call_info *>fun.loops[dtype], data, cnp.PyArray_SIZE(<ndarray>x) - 1, strides):
        return None
    return scalar_of(answer)


cdef object sum_over(object a, object axis, bint keepdims):
    """Return the sum of an array over axes as a new array or scalar; None if NumPy must do it."""
    cdef bint summed[64]
    cdef cnp.npy_intp shape[64]
    cdef int ndim = cnp.PyArray_NDIM(<ndarray>a), n_kept = 0, i
    cdef Py_ssize_t k
    if cnp.PyArray_SIZE(<ndarray>a) > LOOP_SIZE or ndim > FASTGRAD_MAX_AXES:
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


def array_sum(a, axis=None, *, keepdims=False):
    """Return the sum of an array, bit for bit that of ``numpy.sum``.

    Parameters
    ----------
    a : ndarray
        Not of a subclass.
    axis : int, tuple of int or None
        The axes to sum over.
    keepdims : bool
        Whether the axes stay, with length 1.
    """
    total = sum_over(a, axis, keepdims) if type(keepdims) is bool else None
    return np.add.reduce(a, axis, None, None, keepdims) if total is None else total


def array_mean(a, axis=None, *, keepdims=False):
    """Return the mean of an array, bit for bit that of ``numpy.mean``; parameters as for `array_sum`."""
    total = sum_over(a, axis, keepdims) if type(keepdims) is bool else None
    if total is None:
        return a.mean(axis, keepdims=keepdims)
    n = cnp.PyArray_SIZE(<ndarray>a)
    if Py_TYPE(total) is &PyArray_Type:
        n //= cnp.PyArray_SIZE(<ndarray>total)
        return np.true_divide(total, n, total, casting="unsafe")
    return total.dtype.type(total / n)
