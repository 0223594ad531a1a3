# Trace levels: the numbers of traces, which of them are running, and the function that runs a trace.
#
# Each trace gets the next unused number as its level, which is above those of all running traces. A worker thread that
# was started inside a traced function therefore cannot mistake its own trace for the outer one, and a value kept from a
# trace that is over belongs to no later trace of any thread. Level 0 is for boxes made by hand, outside every trace.

# `running` holds the levels of the running traces of all threads, in ascending order. Only enter_level and leave_level
# change these variables. They run no Python code, so with the GIL no other thread sees a half-made change; without the
# GIL the mutex ensures that.
cdef fastgrad_mutex levels_mutex
cdef Py_ssize_t next_level = 1
cdef Py_ssize_t *running = NULL
cdef Py_ssize_t running_size = 0
cdef Py_ssize_t n_running = 0


cdef bint make_room() noexcept:
    # Make room for one more level in `running`; return False if there is no memory.
    global running, running_size
    cdef Py_ssize_t *grown
    if n_running == running_size:
        grown = <Py_ssize_t *>realloc(running, (2 * running_size + 64) * sizeof(Py_ssize_t))
        if grown == NULL:
            return False
        running = grown
        running_size = 2 * running_size + 64
    return True


cdef Py_ssize_t enter_level() except -1:
    """Open a trace and return its level."""
    global next_level, n_running
    cdef Py_ssize_t level = -1
    fastgrad_lock(&levels_mutex)
    if make_room():
        if n_running == 0 and next_level > PY_SSIZE_T_MAX // 2:
            next_level = 1  # where Py_ssize_t has 32 bits, the numbers could run out
        level = next_level
        next_level += 1
        running[n_running] = level
        n_running += 1
    fastgrad_unlock(&levels_mutex)
    if level < 0:
        raise MemoryError("no memory for another trace level")
    return level


cdef void leave_level(Py_ssize_t level) noexcept:
    """Close the trace of a level."""
    global n_running
    cdef Py_ssize_t i
    fastgrad_lock(&levels_mutex)
    i = n_running - 1
    while running[i] != level:  # other threads may have opened traces after this one
        i -= 1
    n_running -= 1
    while i < n_running:
        running[i] = running[i + 1]
        i += 1
    fastgrad_unlock(&levels_mutex)


cdef Py_ssize_t top_level() noexcept:
    """Return the highest level of a running trace, -1 if no trace is running."""
    cdef Py_ssize_t level
    fastgrad_lock(&levels_mutex)
    level = running[n_running - 1] if n_running else -1
    fastgrad_unlock(&levels_mutex)
    return level


cpdef bint is_over(Py_ssize_t level) noexcept:
    """Return whether a level belongs to a trace that is over."""
    cdef bint over = level > 0
    cdef Py_ssize_t i
    fastgrad_lock(&levels_mutex)
    for i in range(n_running):
        if running[i] == level:
            over = False
            break
    fastgrad_unlock(&levels_mutex)
    return over


cdef class _NewTrace:
    """A context manager that opens a trace level; made by `TraceStack.new_trace`."""

    cdef Py_ssize_t level

    def __cinit__(self):
        self.level = -1

    def __enter__(self):
        if self.level >= 0:
            raise RuntimeError("this trace is open already; ask trace_stack.new_trace() for another")
        self.level = enter_level()
        return self.level

    def __exit__(self, *exc):
        self.leave()

    def __dealloc__(self):
        # __exit__ is not called if __enter__ was called by hand, or failed to allocate the int that it returns.
        self.leave()

    cdef void leave(self) noexcept:
        if self.level >= 0:
            leave_level(self.level)
        self.level = -1


class TraceStack:
    """The traces that are running in this process."""

    @property
    def top(self):
        """int : the highest level of a running trace, -1 outside every trace."""
        return top_level()

    def new_trace(self):
        """Return a context manager that opens a trace level; its ``with`` target is the level's number."""
        return _NewTrace()


trace_stack = TraceStack()


def trace(start_node, fun, x):
    """Call ``fun`` on a box of ``x`` in a new trace.

    Parameters
    ----------
    start_node : Node
        The root; primitive calls on the box are recorded in nodes of the same type.
    fun : callable
        Function of one argument. If it returns a list, tuple or dict that holds boxes, that container is traced too.
    x : object
        Value of a type registered with `Box`.

    Returns
    -------
    value : object
        The value that ``fun`` returned, without the box of this trace.
    node : Node or None
        The node of that value; None, with a warning, if the value does not depend on ``x``.

    Raises
    ------
    TypeError
        If no box is registered for the type of ``x``, or ``fun`` returns a value of a trace that is over or was opened
        later.
    """
    cdef Py_ssize_t level = enter_level()
    try:
        end = fun(new_box(x, level, start_node))
        if type(end) in (list, tuple, dict):
            end = hooks.traced_container(end)
        value = (<Box>end)._value if is_box(end) and (<Box>end)._trace == level else end
        if is_box(value) and is_over((<Box>value)._trace):
            raise of_another_trace(getattr(fun, "__name__", "the function"))
        if value is not end:
            return value, (<Box>end)._node
        if is_box(end) and (<Box>end)._trace > level:
            raise TypeError(
                "the traced function returned a value of a trace that was opened later: one kept from a trace inside "
                "it, or taken from another thread's. Its derivative with respect to the function's argument cannot be "
                "determined"
            )
        warn("Output seems independent of input.")
        return end, None
    finally:
        leave_level(level)
