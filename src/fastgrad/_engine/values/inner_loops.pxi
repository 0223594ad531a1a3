# NumPy's own inner loops, called without the preparations of a ufunc call, for small arrays and scalars.
#
# A loop is the very function that NumPy would call, so results are the same bit for bit. If a floating-point flag is
# raised, the result is dropped and the ufunc itself is called, so that np.errstate and the warnings are NumPy's. No
# loop is found, and every ufunc is called as usual, if NumPy's capsule is not the one known here or the environment
# variable FASTGRAD_INNER_LOOPS (formerly FASTGRAD_LANE) is 0.

cdef extern from *:
    """
    #include <fenv.h>
    #define FASTGRAD_FLAGS (FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID)

    /* On x86-64 float and double set the flags of the SSE unit, which can be read without a call; fetestexcept reads
       the x87 unit's too, and takes as long as a small loop. */
    #if defined(__SSE2__) && defined(__x86_64__) && FE_INVALID == 1 && FE_DIVBYZERO == 4 && FE_OVERFLOW == 8 \\
        && FE_UNDERFLOW == 16
    #include <xmmintrin.h>
    static inline int fastgrad_flags(void) { return (int)_mm_getcsr() & FASTGRAD_FLAGS; }
    static inline void fastgrad_clear_flags(void) {
        if (fastgrad_flags()) _mm_setcsr(_mm_getcsr() & ~(unsigned int)FASTGRAD_FLAGS);
    }
    #else
    static inline int fastgrad_flags(void) { return fetestexcept(FASTGRAD_FLAGS); }
    static inline void fastgrad_clear_flags(void) {
        if (fastgrad_flags()) feclearexcept(FASTGRAD_FLAGS);
    }
    #endif

    /* The layout documented in numpy.ufunc._get_strided_loop. */
    typedef int fastgrad_loop(void *, char *const *data, npy_intp const *n, npy_intp const *strides, void *auxdata);
    typedef struct {
        fastgrad_loop *loop;
        void *context;
        void *auxdata;
        npy_bool requires_pyapi;
        npy_bool no_floatingpoint_errors;
    } fastgrad_call_info;

    /* Return whether the loop ran without raising a flag. */
    static inline int fastgrad_run(fastgrad_call_info *info, char **data, npy_intp n, npy_intp *strides) {
        fastgrad_clear_flags();
        if (info->loop(info->context, data, &n, strides, info->auxdata) < 0) {
            PyErr_Clear();
            return 0;
        }
        return info->no_floatingpoint_errors || !fastgrad_flags();
    }
    """
    ctypedef struct fastgrad_call_info:
        void *loop
        void *context
        cnp.npy_bool requires_pyapi
    bint fastgrad_run(fastgrad_call_info *, char **, cnp.npy_intp, cnp.npy_intp *)

# Beyond LOOP_SIZE elements NumPy's preparations no longer matter, and NumPy releases the GIL for the loop.
cdef enum:
    LOOP_SIZE = 4096
    # The positions in Primitive.loops of the loops for each dtype.
    DTYPE_DOUBLE = 0
    DTYPE_FLOAT = 1
    DTYPE_COMPLEX = 2

cdef bint inner_loops_enabled = os.environ.get("FASTGRAD_INNER_LOOPS", os.environ.get("FASTGRAD_LANE", "1")) != "0"

# The capsules own what the loops point to, so they are kept as long as the process lives.
cdef list loop_capsules = []


cdef fastgrad_call_info *find_loop(object ufunc, object dtype):
    """Return NumPy's inner loop of a ufunc whose arguments and answer all have the dtype; NULL if there is none."""
    cdef fastgrad_call_info *info
    try:
        dtypes, capsule = ufunc._resolve_dtypes_and_context((dtype,) * ufunc.nin + (None,))
        if any(d is not dtype for d in dtypes) or not PyCapsule_IsValid(capsule, "numpy_1.24_ufunc_call_info"):
            return NULL
        ufunc._get_strided_loop(capsule)
    except (AttributeError, TypeError, ValueError):  # there is no such loop, or NumPy lacks these functions
        return NULL
    info = <fastgrad_call_info *>PyCapsule_GetPointer(capsule, "numpy_1.24_ufunc_call_info")
    if info.loop == NULL or info.requires_pyapi:
        return NULL
    loop_capsules.append(capsule)
    return info


cdef void find_inner_loops(Primitive fun):
    # Look up the loops of a primitive's ufunc, once at import.
    if inner_loops_enabled and fun.fun.nout == 1 and fun.fun.nin <= 2 and fun.fun.signature is None:
        fun.loops[DTYPE_DOUBLE] = <void *>find_loop(fun.fun, np.dtype(np.float64))
        fun.loops[DTYPE_FLOAT] = <void *>find_loop(fun.fun, np.dtype(np.float32))
        fun.loops[DTYPE_COMPLEX] = <void *>find_loop(fun.fun, np.dtype(np.complex128))


cdef inline int dtype_index(object array):
    # Return the position in Primitive.loops of the loop for an array, -1 if it is not one that the loops can read.
    cdef int typenum, last
    if Py_TYPE(array) is not &PyArray_Type or cnp.PyArray_NDIM(<ndarray>array) == 0:
        return -1
    if not (cnp.PyArray_IS_C_CONTIGUOUS(<ndarray>array) and cnp.PyArray_ISBEHAVED_RO(<ndarray>array)):
        return -1
    typenum = cnp.PyArray_TYPE(<ndarray>array)
    last = cnp.PyArray_NDIM(<ndarray>array) - 1
    if cnp.PyArray_STRIDE(<ndarray>array, last) != cnp.PyArray_ITEMSIZE(<ndarray>array):
        return -1  # a reversed array of one element counts as contiguous, but NumPy's loops see its stride
    if typenum == cnp.NPY_DOUBLE:
        return DTYPE_DOUBLE
    if typenum == cnp.NPY_FLOAT:
        return DTYPE_FLOAT
    return DTYPE_COMPLEX if typenum == cnp.NPY_CDOUBLE else -1


cdef inline fastgrad_call_info *loop_for(Primitive fun, object array):
    # Return the loop for a small array, NULL if there is none.
    cdef int dtype = dtype_index(array)
    if dtype < 0 or cnp.PyArray_SIZE(<ndarray>array) > LOOP_SIZE:
        return NULL
    return <fastgrad_call_info *>fun.loops[dtype]


cdef inline bint put_scalar(double *cell, double value, int dtype):
    # Write a number as the loops for a dtype read it; return False if it is beyond the range of float32.
    if dtype == DTYPE_FLOAT:
        if fabs(value) > FLT_MAX:
            return False
        (<float *>cell)[0] = <float>value
    else:
        cell[0] = value
        if dtype == DTYPE_COMPLEX:
            cell[1] = 0.0
    return True


cdef inline object empty_like(object x):
    array = <ndarray>x
    return cnp.PyArray_EMPTY(cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array), cnp.PyArray_TYPE(array), 0)


cdef inline object loop_on_arrays(fastgrad_call_info *loop, object like, char *x, cnp.npy_intp x_step, char *y,
                                  cnp.npy_intp y_step):
    # Run the loop over as many elements as `like` has, and return a new array of its shape; None if a flag was raised.
    cdef char *data[3]
    cdef cnp.npy_intp strides[3]
    cdef int last = 1 if y == NULL else 2
    ans = empty_like(like)
    data[0], strides[0] = x, x_step
    if y != NULL:
        data[1], strides[1] = y, y_step
    data[last], strides[last] = <char *>cnp.PyArray_DATA(<ndarray>ans), cnp.PyArray_ITEMSIZE(<ndarray>ans)
    return ans if fastgrad_run(loop, data, cnp.PyArray_SIZE(<ndarray>like), strides) else None


cdef inline object loop_on_scalars(fastgrad_call_info *loop, double x, double *y):
    # Run the loop on one or two doubles; return None if a flag was raised. Strides are 0, as NumPy has them for
    # scalars: the loop of power looks at them.
    cdef char *data[3]
    cdef cnp.npy_intp strides[3]
    cdef double ans
    data[0] = <char *>&x
    data[1] = <char *>y if y != NULL else <char *>&ans
    data[2] = <char *>&ans
    strides[0] = strides[1] = strides[2] = 0
    return fastgrad_float64(ans) if fastgrad_run(loop, data, 1, strides) else None


def inner_loop_dtypes(Primitive fun):
    """Return the type codes for which NumPy's inner loop was found, from "d", "f" and "D"."""
    cdef int dtype
    return "".join(code for dtype, code in enumerate("dfD") if fun.loops[dtype] != NULL)
