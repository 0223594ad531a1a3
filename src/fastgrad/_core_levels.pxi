# Trace levels: which traces are running, and how a new one is opened.

# active[i] says whether level i belongs to a running trace; top is the highest such level, -1 if there is none. Both
# are shared by all threads and change only inside the two functions below, which run no Python code: the GIL keeps
# them whole. A new level is above every active one, so a worker thread started inside a traced function cannot
# mistake its own trace for the outer one.
cdef char *active = NULL
cdef Py_ssize_t active_size = 0
cdef Py_ssize_t top = -1


cdef Py_ssize_t enter_level() except -1:
    global active, active_size, top
    cdef char *grown
    if top + 1 >= active_size:
        grown = <char *>realloc(active, 2 * active_size + 64)
        if grown == NULL:
            raise MemoryError("no memory for another trace level")
        active = grown
        active_size = 2 * active_size + 64
    top += 1
    active[top] = 1
    return top


cdef void leave_level(Py_ssize_t level) noexcept:
    global top
    active[level] = 0
    while top >= 0 and not active[top]:
        top -= 1


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
        if self.level >= 0:
            leave_level(self.level)
        self.level = -1


class TraceStack:
    """The trace levels now active in this process."""

    @property
    def top(self):
        """int : the highest active level, -1 outside every trace."""
        return top

    def new_trace(self):
        """Give a context manager that opens a trace level and returns its number."""
        return _NewTrace()


trace_stack = TraceStack()


# Makes a traced container of a list, tuple or dict with boxes in it; set by fastgrad.builtins.
cdef object traced_container = None


def bind_traced_container(fun):
    """Set the function that makes a traced container of one with boxes in it."""
    global traced_container
    traced_container = fun


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
        If there is no box type for ``x``.
    """
    cdef Py_ssize_t level = enter_level()
    try:
        end = fun(new_box(x, level, start_node))
        if type(end) in (list, tuple, dict):
            end = traced_container(end)
        if is_box(end) and (<Box>end)._trace == level:
            return (<Box>end)._value, (<Box>end)._node
        warnings.warn("Output seems independent of input.", stacklevel=3)
        return end, None
    finally:
        leave_level(level)
