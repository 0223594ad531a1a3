# The functions that make_vjp and make_jvp return.

cdef class Pullback:
    """The function that `make_vjp` returns: it takes the answer's cotangent and returns the input's."""

    cdef object end
    cdef object x
    cdef object ans
    # The shape of the value, None if it has none or is not needed.
    cdef object shape
    cdef Order order
    cdef bint ordered

    __name__ = "vjp"
    __signature__ = inspect.Signature([inspect.Parameter("g", inspect.Parameter.POSITIONAL_ONLY)])

    def __call__(self, g):
        return self.run(g if self.end is None else fit_seed(g, self.shape, True), False)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        raise TypeError(
            "a vjp cannot be pickled: it holds the graph of one call; send the function and its arguments, and call "
            "make_vjp in the other process"
        )

    cdef object run(self, object g, bint once):
        if self.end is None:
            return vspace(self.x).zeros()
        add = replaced_add_outgrads()
        self.put_in_order()
        if add is not None or self.order is None:
            if is_batched(g):
                raise NotBatchable("the backward pass, or a node in it, is not fastgrad's own")
            return run_pass_by_attributes(self.end, g, add_outgrads if add is None else add)
        return run_pass(self.order, g, once)

    cdef int put_in_order(self) except -1:
        cdef Order order
        if not self.ordered:
            order = order_graph(self.end) if type(self.end) is VJPNode else None
            fastgrad_lock(&numbering)
            if not self.ordered:
                self.order, self.ordered = order, True
            fastgrad_unlock(&numbering)
        return 0

    @property
    def index_share(self):
        """float : the share of nodes that record an index, 0 if there are nodes of a user's class."""
        cdef unsigned int k, n = 0
        self.put_in_order()
        if self.order is None:
            return 0.0
        for k in range(self.order.n):
            n += (<VJPNode>self.order.nodes[k]).layout == NODE_INDEX
        return n / <double>self.order.n


cdef int traverse_pullback(PyObject *self, visitproc visit, void *arg) noexcept:
    # Cython does not know of the references that an Order has to its nodes, so the Pullback, which alone refers to the
    # order, reports them to the garbage collector. If the end is not tracked, none of its ancestors is.
    cdef PyObject *order = <PyObject *>(<Pullback>self).order
    cdef unsigned int k
    cdef int code
    if order != <PyObject *>None and is_tracked(<PyObject *>(<Pullback>self).end):
        for k in range((<Order>order).n):
            code = visit((<Order>order).nodes[k], arg)
            if code:
                return code
    return traverse_fields(self, visit, arg)


cdef traverseproc traverse_fields = fastgrad_replace_traverse(Pullback, traverse_pullback)


cdef object float64 = np.float64
cdef object one = np.float64(1.0)


# How many blocks of fastgrad.debug are open, in all threads: hooks.debug_node_types is asked only while there is one.
cdef Py_ssize_t debuggers = 0


def count_debuggers(Py_ssize_t change):
    """Count threads that enter and leave blocks of `fastgrad.debug`."""
    global debuggers
    debuggers += change


cdef Pullback trace_reverse(fun, x):
    cdef Pullback vjp = Pullback.__new__(Pullback)
    cdef VJPNode root
    node_types = hooks.debug_node_types() if debuggers else None
    root = VJPNode.__new__(VJPNode) if node_types is None else node_types[0].__new__(node_types[0])
    root.initialize_root()
    vjp.ans, vjp.end = trace(root, fun, x)
    if vjp.end is None:
        vjp.x = x
        hooks.check_returned(fun, vjp.ans)
    return vjp


def make_vjp(fun, x):
    """Trace ``fun`` at ``x`` in reverse mode.

    Parameters
    ----------
    fun : callable
        Function of one argument.
    x : object
        Where to trace it.

    Returns
    -------
    vjp : callable
        Takes the cotangent of ``fun(x)`` and returns that of ``x``; it may be called any number of times.
    ans : object
        ``fun(x)``.
    """
    cdef Pullback vjp = trace_reverse(fun, x)
    ans, vjp.ans = vjp.ans, None
    vjp.shape = shape_for_seeds(ans)
    return vjp, ans


def pull_once(Pullback vjp not None, g):
    """Return the cotangent that a pullback from `make_vjp` computes, calling it for the last time.

    Each node releases what it keeps as soon as it has run, so the graph cannot be used again.
    """
    return vjp.run(g, True)


def value_and_gradient(fun, x, caller):
    """Return the value of a function whose value is a real scalar, and its gradient.

    Parameters
    ----------
    fun : callable
        Function of one argument.
    x : object
        The point.
    caller : str
        Name of the operator, for the error.

    Raises
    ------
    TypeError
        If the value is not a real scalar, for example a list of one.
    """
    cdef Pullback vjp = trace_reverse(fun, x)
    ans, vjp.ans = vjp.ans, None
    if (type(ans) is float64 or type(ans) is float) and VSpace.mappings.get(type(ans)) is ArrayVSpace:
        gradient = vjp.run(one, True)
        return ans, np.ones(()) if gradient is one else gradient  # an array, as the ones of its space are
    value = getval(ans)
    known = type(value) in VSpace.mappings
    space = vspace(ans) if known and not isinstance(value, (list, tuple, dict)) else None
    if space is None or space.size != 1 or space.iscomplex:
        constant = "" if known else ", which has no derivative; return a float"
        raise TypeError(
            f"{caller} only applies to real scalar-output functions. Try jacobian, elementwise_grad or "
            f"holomorphic_grad. The function returned a {type(value).__name__}{constant}"
        )
    return ans, vjp.run(space.ones(), True)


cdef class Pushforward:
    """The function that `make_jvp` returns: it takes the input's tangent, and returns the value and its tangent."""

    cdef object fun
    cdef object x
    cdef object __weakref__

    __name__ = "jvp"
    __signature__ = Pullback.__signature__

    def __init__(self, fun, x):
        self.fun, self.x = fun, x

    def __call__(self, g):
        node_types = hooks.debug_node_types() if debuggers else None
        cdef JVPNode root = (JVPNode if node_types is None else node_types[1]).new_root(
            fit_seed(g, shape_for_seeds(self.x), False))
        ans, end = trace(root, self.fun, self.x)
        if end is None:
            hooks.check_returned(self.fun, ans)
            return ans, vspace(ans).zeros()
        return ans, (<JVPNode>end).g

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return Pushforward, (self.fun, self.x)


def make_jvp(fun, x):
    """Trace ``fun`` at ``x`` in forward mode.

    Parameters
    ----------
    fun : callable
        Function of one argument.
    x : object
        Where to trace it.

    Returns
    -------
    jvp : callable
        Takes the tangent of ``x`` and returns ``fun(x)`` and its tangent.
    """
    return Pushforward(fun, x)
