# Trace levels: the numbers of traces, and which of them are running.

# A trace is given the next number, never one that was given before. So it is above every trace that is running, and a
# worker thread started inside a traced function cannot mistake its own trace for the outer one; and a value kept from a
# trace that is over belongs to no trace that comes later, in this thread or another. Level 0 is left to boxes that are
# made by hand, outside every trace.
#
# running: the levels of the traces that are running, in any thread, from the lowest to the highest. All this changes
# only in the two functions below. They run no Python code, so that the GIL keeps them whole; without it the lock does.
cdef fastgrad_mutex levels_mutex
cdef Py_ssize_t next_level = 1
cdef Py_ssize_t *running = NULL
cdef Py_ssize_t running_size = 0
cdef Py_ssize_t n_running = 0


cdef bint make_room() noexcept:
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
    global next_level, n_running
    cdef Py_ssize_t level = -1
    fastgrad_lock(&levels_mutex)
    if make_room():
        if n_running == 0 and next_level > PY_SSIZE_T_MAX // 2:
            next_level = 1  # within reach of 32-bit processors
        level = next_level
        next_level += 1
        running[n_running] = level
        n_running += 1
    fastgrad_unlock(&levels_mutex)
    if level < 0:
        raise MemoryError("no memory for another trace level")
    return level


cdef void leave_level(Py_ssize_t level) noexcept:
    global n_running
    cdef Py_ssize_t i
    fastgrad_lock(&levels_mutex)
    i = n_running - 1
    while running[i] != level:  # traces of other threads may have been opened since
        i -= 1
    n_running -= 1
    while i < n_running:
        running[i] = running[i + 1]
        i += 1
    fastgrad_unlock(&levels_mutex)


cdef Py_ssize_t top_level() noexcept:
    cdef Py_ssize_t level
    fastgrad_lock(&levels_mutex)
    level = running[n_running - 1] if n_running else -1
    fastgrad_unlock(&levels_mutex)
    return level


cpdef bint is_over(Py_ssize_t level) noexcept:
    """Say whether a level is that of a trace that is over."""
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
        # Entered by hand and dropped, or entered in vain: there was no memory for the number of the level.
        self.leave()

    cdef void leave(self) noexcept:
        if self.level >= 0:
            leave_level(self.level)
        self.level = -1


class TraceStack:
    """The traces now running in this process."""

    @property
    def top(self):
        """int : the highest level of a running trace, -1 outside every trace."""
        return top_level()

    def new_trace(self):
        """Give a context manager that opens a trace level and returns its number."""
        return _NewTrace()


trace_stack = TraceStack()


def trace(start_node, fun, x):
    """Call ``fun`` on a box of ``x`` in a new trace.

    Parameters
    ----------
    start_node : Node
        The root: the kind of node that every primitive call on the box is recorded in.
    fun : callable
        Function of one argument. A list, tuple or dict that it returns is traced if there are boxes in it.
    x : object
        Value of a type registered with `Box`.

    Returns
    -------
    value : object
        What ``fun`` returned, unboxed.
    node : Node or None
        The node of that value; None, with a warning, where the value does not depend on ``x``.

    Raises
    ------
    TypeError
        If there is no box type for ``x``, or ``fun`` returns a value of a trace that is over or was opened later.
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
                "it, or taken from another thread's. What it owes to the function's own argument is not known"
            )
        warn("Output seems independent of input.")
        return end, None
    finally:
        leave_level(level)
