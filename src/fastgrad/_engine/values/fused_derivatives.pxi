# Fused derivatives: rules of elementwise functions as a sequence of NumPy's inner loops, run on concrete values.
#
# The derivative of an elementwise function is a Python function made of primitives. On concrete values `g * deriv(...)`
# calls the same few ufuncs every time. They are recorded once (fastgrad._rules.recording) and then run here without
# Python, block by block, so that intermediate values stay in the processor's cache and memory is passed over once. The
# result is bit for bit that of the ufuncs called in turn. Where a value is a box, or not an array that the loops can
# read, the Python function is called.

cdef extern from *:
    """
    typedef struct {
        fastgrad_call_info *info;
        int x, y, out;  /* registers; y is -1 for a ufunc of one argument */
    } fastgrad_step;

    /* `data` and `strides` are those of each register; where `advance` is 0, a register stays in place from block to
       block. Return the flags that were raised, or -1 if a loop failed. The GIL is not needed. */
    static int fastgrad_run_steps(const fastgrad_step *steps, int n_steps, char **data, const npy_intp *strides,
                                  const npy_intp *advance, int n_registers, npy_intp n, npy_intp block) {
        int s, r, flags = 0;
        fastgrad_clear_flags();
        while (n > 0) {
            npy_intp m = n < block ? n : block;
            for (s = 0; s < n_steps; s++) {
                const fastgrad_step *step = steps + s;
                char *args[3];
                npy_intp steps_[3];
                int last = 1;
                args[0] = data[step->x], steps_[0] = strides[step->x];
                if (step->y >= 0) args[1] = data[step->y], steps_[1] = strides[step->y], last = 2;
                args[last] = data[step->out], steps_[last] = strides[step->out];
                if (step->info->loop(step->info->context, args, &m, steps_, step->info->auxdata) < 0) return -1;
                flags |= fastgrad_flags();  /* some loops clear them when they end */
            }
            for (r = 0; r < n_registers; r++) data[r] += m * advance[r];
            n -= m;
        }
        return flags;
    }
    """
    int FE_OVERFLOW, FE_INVALID, FE_DIVBYZERO, FE_UNDERFLOW

    ctypedef struct fastgrad_step:
        fastgrad_call_info *info
        int x
        int y
        int out
    int fastgrad_run_steps(const fastgrad_step *, int, char **, const cnp.npy_intp *, const cnp.npy_intp *, int,
                           cnp.npy_intp, cnp.npy_intp) nogil

cdef enum:
    # Registers: four inputs (g, ans, x, y), constants, intermediate values, the result.
    N_INPUTS = 4
    FIRST_CONSTANT = 4
    N_CONSTANTS = 5
    FIRST_BETWEEN = 9
    N_BETWEEN = 6
    RESULT = 15
    N_REGISTERS = 16
    MAX_STEPS = 7
    BLOCK_BYTES = 4096

# The same for fastgrad._rules.recording, which makes fused derivatives.
fused_derivative_limits = {"constants": N_CONSTANTS, "steps": MAX_STEPS, "first constant": FIRST_CONSTANT,
                           "first between": FIRST_BETWEEN, "result": RESULT}


cdef class FusedDerivative:
    """A derivative as a sequence of ufunc calls without branches.

    Parameters
    ----------
    steps : list of (Primitive, int, int, int)
        The ufunc, the registers of its arguments (the second -1 if it has one), and that of its answer. The last answer
        is the result.
    constants : list of float
        The values of the registers of constants.
    """

    # The steps with the loops of each dtype, and whether all of these loops exist. `operations` are the OPERATION_ of
    # the steps, for scalars. Bit i of `inputs` says whether g, ans, x or y is used.
    cdef fastgrad_step steps[3][MAX_STEPS]
    cdef bint runs[3]
    cdef bint runs_scalars
    cdef int operations[MAX_STEPS]
    cdef double constants[N_CONSTANTS]
    cdef int n_steps
    cdef unsigned int inputs

    def __init__(self, list steps, list constants):
        cdef Primitive fun
        cdef int i
        self.n_steps = len(steps)
        self.inputs = 0
        self.runs_scalars = self.runs[0] = self.runs[1] = self.runs[2] = True
        for i in range(self.n_steps):
            fun, x, y, out = steps[i]
            self.operations[i] = fun.operation
            self.runs_scalars = self.runs_scalars and (fun.loops[0] != NULL or fun.operation)
            for k in range(3):
                self.runs[k] = self.runs[k] and fun.loops[k] != NULL
                self.steps[k][i].info = <fastgrad_call_info *>fun.loops[k]
                self.steps[k][i].x, self.steps[k][i].y, self.steps[k][i].out = x, y, out
            for register in (x, y):
                if 0 <= register < N_INPUTS:
                    self.inputs |= 1 << register
        for i in range(len(constants)):
            self.constants[i] = constants[i]

    cdef object run(self, PyObject **inputs, int reuse):
        """Return the result for inputs g, ans, x, y (those not used may be NULL), None if the loops cannot compute it.

        `reuse` says which of them the result may overwrite, if nobody else refers to it.
        """
        cdef double scalars[N_REGISTERS]
        cdef PyObject *like = NULL
        cdef PyObject *constant = NULL
        cdef int typenum = -1, i, number, dtype
        cdef bint strong = False
        for i in range(N_INPUTS):
            if not self.inputs >> i & 1:
                continue
            number = as_double(<object>inputs[i], &scalars[i])
            if i == 0 and not number and is_constant(<object>inputs[0]):
                scalars[0] = (<double *>cnp.PyArray_DATA(<ndarray>inputs[0]))[0]
                constant, number = inputs[0], 1
            if number:
                strong = strong or number == 2
                continue
            dtype = dtype_index(<object>inputs[i])
            if dtype < 0:
                return None
            if like == NULL:
                like, typenum = inputs[i], dtype
            elif dtype != typenum or not cnp.PyArray_SAMESHAPE(<ndarray>like, <ndarray>inputs[i]):
                return None
        if like == NULL:
            return self.run_on_scalars(scalars) if self.runs_scalars and constant == NULL else None
        if not self.runs[typenum] or (strong and typenum == 1):
            return None  # a float64 and a float32 array give a float64 array
        if constant != NULL:
            if typenum != DTYPE_DOUBLE or not cnp.PyArray_SAMESHAPE(<ndarray>like, <ndarray>constant):
                return None
        for i in range(N_INPUTS):
            if (self.inputs >> i & reuse >> i & 1 and owns_memory_alone(inputs[i], 1, False)
                    and cnp.PyArray_NDIM(<ndarray>inputs[i])):
                return self.run_on_arrays(inputs, scalars, like, typenum, inputs[i])
        return self.run_on_arrays(inputs, scalars, like, typenum, NULL)

    cdef object run_on_scalars(self, double *scalars):
        cdef fastgrad_step *step
        cdef char *data[3]
        cdef cnp.npy_intp strides[3]
        cdef int i, last
        for i in range(N_CONSTANTS):
            scalars[FIRST_CONSTANT + i] = self.constants[i]
        for i in range(self.n_steps):
            step = &self.steps[0][i]
            if self.operations[i]:
                if not compute_scalar(self.operations[i], scalars[step.x], scalars[max(step.y, 0)], &scalars[step.out]):
                    return None
                continue
            data[0] = <char *>&scalars[step.x]
            last = 1
            if step.y >= 0:
                data[1] = <char *>&scalars[step.y]
                last = 2
            data[last] = <char *>&scalars[step.out]
            strides[0] = strides[1] = strides[2] = 0
            if not fastgrad_run(step.info, data, 1, strides):
                return None
        return fastgrad_float64(scalars[RESULT])

    cdef object run_on_arrays(self, PyObject **inputs, double *scalars, PyObject *like, int dtype,
                              PyObject *into):
        cdef char scratch[N_BETWEEN][BLOCK_BYTES]
        cdef fastgrad_step steps[MAX_STEPS]
        cdef double cells[N_REGISTERS][2]
        cdef char *data[N_REGISTERS]
        cdef cnp.npy_intp strides[N_REGISTERS]
        cdef cnp.npy_intp advance[N_REGISTERS]
        cdef cnp.npy_intp item = cnp.PyArray_ITEMSIZE(<ndarray>like), n = cnp.PyArray_SIZE(<ndarray>like), block
        cdef int i, n_steps = 0, code
        cdef fastgrad_step *step
        for i in range(N_REGISTERS):
            strides[i] = advance[i] = 0
            data[i] = <char *>&cells[i]
            if i < N_INPUTS:
                if not self.inputs >> i & 1:
                    continue
                if dtype_index(<object>inputs[i]) >= 0:
                    data[i] = <char *>cnp.PyArray_DATA(<ndarray>inputs[i])
                    strides[i] = advance[i] = item
                elif not put_scalar(&cells[i][0], scalars[i], dtype):
                    return None
            elif i < FIRST_BETWEEN:
                scalars[i] = self.constants[i - FIRST_CONSTANT]
                put_scalar(&cells[i][0], scalars[i], dtype)
        for i in range(self.n_steps):
            step = &self.steps[dtype][i]
            if (self.operations[i] and not strides[step.x] and (step.y < 0 or not strides[step.y])
                    and step.out != RESULT):
                # A number, computed once: loops such as that of power are faster where an operand is a number.
                if not compute_scalar(self.operations[i], scalars[step.x], scalars[max(step.y, 0)], &scalars[step.out]):
                    return None
                data[step.out], strides[step.out] = <char *>&cells[step.out], 0
                put_scalar(&cells[step.out][0], scalars[step.out], dtype)
                continue
            if step.out != RESULT:
                data[step.out], strides[step.out] = scratch[step.out - FIRST_BETWEEN], item
            steps[n_steps] = step[0]
            n_steps += 1
        answer = <object>into if into != NULL else empty_like(<object>like)
        data[RESULT] = <char *>cnp.PyArray_DATA(<ndarray>answer)
        strides[RESULT] = advance[RESULT] = item
        block = n if n_steps == 1 else BLOCK_BYTES // item
        if n <= LOOP_SIZE:
            code = fastgrad_run_steps(steps, n_steps, data, strides, advance, N_REGISTERS, n, block)
        else:
            # The inputs are borrowed from a node whose pullback another thread may set meanwhile.
            held = []
            for i in range(N_INPUTS):
                if self.inputs >> i & 1:
                    held.append(<object>inputs[i])
            with nogil:
                code = fastgrad_run_steps(steps, n_steps, data, strides, advance, N_REGISTERS, n,
                                          block)
        if code > 0 and are_ignored(code):
            code = 0
        if code > 0 and into != NULL:
            # The overwritten input is lost, but the result is that of the ufuncs: only a warning is due.
            report_flags(code)
            code = 0
        if code < 0:
            if into != NULL:
                raise FloatingPointError("a loop of NumPy's failed, and what it was to read is lost")
            PyErr_Clear()
        return answer if code == 0 else None


cdef bint add_into(object total, object g) except -1:
    """Add g to a small array in place, and return True; return False if an inner loop cannot do it."""
    cdef fastgrad_step step
    cdef char *data[3]
    cdef cnp.npy_intp strides[3]
    cdef cnp.npy_intp stay[3]
    cdef cnp.npy_intp n
    cdef int flags
    step.info = loop_for(p_add, total)
    if step.info == NULL or step.info != loop_for(p_add, g) or not cnp.PyArray_SAMESHAPE(<ndarray>total, <ndarray>g):
        return False
    step.x, step.y, step.out = 0, 1, 2
    data[0] = data[2] = <char *>cnp.PyArray_DATA(<ndarray>total)
    data[1] = <char *>cnp.PyArray_DATA(<ndarray>g)
    strides[0] = strides[1] = strides[2] = cnp.PyArray_ITEMSIZE(<ndarray>total)
    stay[0] = stay[1] = stay[2] = 0
    n = cnp.PyArray_SIZE(<ndarray>total)
    flags = fastgrad_run_steps(&step, 1, data, strides, stay, 3, n, n)
    if flags > 0 and not are_ignored(flags):
        report_flags(flags)
    return True


cdef object flagged = [
    # For each flag a ufunc call that raises it, so that NumPy warns or raises as np.errstate says.
    (FE_OVERFLOW, "over", np.multiply, np.array([1e300]), np.array([1e300])),
    (FE_INVALID, "invalid", np.multiply, np.array([np.inf]), np.array([0.0])),
    (FE_DIVBYZERO, "divide", np.divide, np.array([1.0]), np.array([0.0])),
    (FE_UNDERFLOW, "under", np.multiply, np.array([1e-300]), np.array([1e-300])),
]


cdef bint are_ignored(int flags) except -1:
    """Return whether np.errstate is set to ignore all of these floating-point flags."""
    modes = np.geterr()
    for flag, name, _, _, _ in flagged:
        if flags & flag and modes[name] != "ignore":
            return False
    return True


cdef int report_flags(int flags) except -1:
    for flag, _, ufunc, x, y in flagged:
        if flags & flag:
            ufunc(x, y)
    return 0
