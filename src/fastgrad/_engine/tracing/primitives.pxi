# Primitives: functions that unwrap boxes, call themselves on what is left, and record the call. How the value of a call
# is computed is in values/dispatch.pxi, how the call is recorded in nodes/.


class ClosedOverTrace(TypeError):
    """Raised if a primitive uses a traced value that is not one of its arguments: its rules do not cover that."""

    def __init__(self, name):
        super().__init__(f"{name} uses a traced value that was not passed to it; pass it as an argument")


cdef class Primitive:
    """A function that the tracer intercepts.

    Called on concrete values it is the function itself. Called on boxes it unwraps those of the highest trace level,
    calls itself on what is left, and records the call in a node.

    Parameters
    ----------
    fun : callable
        The function on concrete values.
    never_traced : bool
        Whether all boxes are unwrapped and no call is recorded.
    array_like : bool
        Whether an argument that is a list or tuple with boxes in it stands for the array made of it.

    Raises
    ------
    TypeError
        If ``fun`` is not callable.
    """

    def __cinit__(self):
        self.vectorcall = <void *>primitive_vectorcall

    def __init__(self, fun, bint never_traced=False, bint array_like=False):
        if not callable(fun):
            raise TypeError(f"a primitive is made of a function, not of {fun!r}")
        self.fun = fun
        self.array_like = array_like
        self.never_traced = never_traced
        self.is_ufunc = isinstance(fun, np.ufunc)
        if self.is_ufunc:
            self.n_inputs = fun.nin
            self.is_elementwise = fun.signature is None and fun.nout == 1
            serve_ufunc(self)
        self.notrace_types = ()
        self.out_position = -2
        functools.update_wrapper(self, fun, updated=())
        if not hasattr(fun, "__name__"):
            self.__name__ = type(fun).__name__
        if not hasattr(fun, "__qualname__"):
            self.__qualname__ = self.__name__

    def __call__(self, *args, **kwargs):
        return self.call_tuple(args, kwargs or None, True)

    def __get__(self, instance, owner):
        return self if instance is None else PyMethod_New(self, instance)

    def __repr__(self):
        return f"<primitive {self.__qualname__}>"

    def __reduce__(self):
        return self.__qualname__

    def defgrad(self, gradfun, argnum=0):
        """Deprecated: use `fastgrad.extend.defvjp`."""
        hooks.defgrad(self, gradfun, argnum)

    def defvjp(self, vjpmaker, argnum=0):
        """Deprecated: use `fastgrad.extend.defvjp`."""
        hooks.defvjp_method(self, vjpmaker, argnum)

    def defvjp_is_zero(self, argnums=(0,)):
        """Deprecated: use `fastgrad.extend.defvjp` with None for a rule."""
        hooks.defvjp_is_zero(self, argnums)

    @property
    def vjp_rules(self):
        """Rules or None : the rules that pull cotangents back through this primitive."""
        return self.vjps

    @vjp_rules.setter
    def vjp_rules(self, Rules rules):
        keep_forever(self.vjps)
        self.vjps = rules

    @property
    def jvp_rules(self):
        """Rules or None : the rules that push tangents forward through this primitive."""
        return self.jvps

    @jvp_rules.setter
    def jvp_rules(self, Rules rules):
        keep_forever(self.jvps)
        self.jvps = rules

    @property
    def is_array_function(self):
        """bool : whether this is a function of arrays, made by `wrap_namespace`."""
        return self.array_like

    @property
    def notrace(self):
        """tuple of type : the node types for which calls are not recorded."""
        return self.notrace_types

    @notrace.setter
    def notrace(self, tuple node_types):
        keep_forever(self.notrace_types)
        self.notrace_types = node_types

    cdef object call(self, object x, object y):
        # Return the value for two arguments, boxed or not.
        if is_simple(x) and is_simple(y):
            return compute_binary(self, x, y)
        return self.call2(x, y)

    cdef object call1(self, object x):
        # Call on one argument, and record the call if it is a box. The fast path is for an ArrayBox in reverse mode.
        cdef Box box
        cdef Rules rules
        if Py_TYPE(x) is not <PyTypeObject *>ArrayBox:
            return self.call_tuple((x,), None, True)
        if self.never_traced:
            return compute_unary(self, unbox_all(x))
        box = <Box>x
        if PyTuple_GET_SIZE_(<PyObject *>self.notrace_types) and is_constant_to(self, box._node):
            return self.call1(box._value) if is_box(box._value) else compute_unary(self, box._value)
        rules = self.vjps
        if (type_of(<PyObject *>box._node) is not <PyTypeObject *>VJPNode or rules is None or rules.layout != NODE_CALL
                or PyTuple_GET_SIZE_(<PyObject *>rules.by_argnum) == 0):
            return self.call_traced((x,), None)
        value = box._value
        if is_box(value):
            ans = self.call1(value)
        else:
            ans = compute_unary(self, value)
        note_path("Primitive.call1")
        return box_answer(ans, box._trace, unary_node(rules, ans, value, <PyObject *>box._node), self)

    cdef bint takes(self, object x):
        # Return whether call2 handles x, an argument that is no ArrayBox. It does not if NumPy may dispatch on x, if x
        # is or may hold a box, or if rules would do arithmetic with a tuple.
        if is_simple(x):
            return True
        if is_shape(x):
            return self.vjps is None or not self.vjps.broadcasts
        return not (self.is_ufunc or is_box(x) or (self.array_like and type(x) in (list, tuple)))

    cdef object call2(self, object x, object y):
        # Call on two arguments, and record the call if one is a box. The fast path is as in call1.
        cdef Py_ssize_t level = -1
        cdef bint x_boxed = Py_TYPE(x) is <PyTypeObject *>ArrayBox
        cdef bint y_boxed = Py_TYPE(y) is <PyTypeObject *>ArrayBox
        cdef Rules rules = self.vjps
        cdef PyObject *x_node
        cdef PyObject *y_node
        cdef Box box
        if self.never_traced or not (x_boxed or self.takes(x)) or not (y_boxed or self.takes(y)):
            return self.call_tuple((x, y), None, True)
        if x_boxed:
            level = (<Box>x)._trace
        if y_boxed and (<Box>y)._trace >= level:
            if (<Box>y)._trace > level:
                x_boxed = False
            level = (<Box>y)._trace
        elif y_boxed:
            y_boxed = False
        if level < 0:
            return self.call_tuple((x, y), None, True)
        box = <Box>x if x_boxed else <Box>y
        xv = (<Box>x)._value if x_boxed else x
        yv = (<Box>y)._value if y_boxed else y
        if PyTuple_GET_SIZE_(<PyObject *>self.notrace_types) and is_constant_to(self, box._node):
            return self.call2(xv, yv) if is_box(xv) or is_box(yv) else compute_binary(self, xv, yv)
        if (type_of(<PyObject *>box._node) is not <PyTypeObject *>VJPNode or rules is None or rules.layout != NODE_CALL
                or self.n_inputs == 1):
            return self.call_traced((x, y), None)
        if is_box(xv) or is_box(yv):
            ans = self.call2(xv, yv)
        else:
            ans = compute_binary(self, xv, yv)
            if rules is index_rules and x_boxed and not y_boxed and Py_TYPE(xv) is &PyArray_Type:
                record = index_node(xv, yv, <VJPNode>(<Box>x)._node)
                if record is not None:
                    note_path("Primitive.call2")
                    return box_answer(ans, level, record, self)
        x_node = <PyObject *>(<Box>x)._node if x_boxed else NULL
        y_node = <PyObject *>(<Box>y)._node if y_boxed else NULL
        note_path("Primitive.call2")
        return box_answer(ans, level, binary_node(rules, ans, xv, yv, x_node, y_node), self)

    cdef object call_tuple(self, tuple args, dict kwargs, bint defer):
        # Call on any arguments. With `defer`, a ufunc with a foreign argument is left to NumPy, whose dispatch decides
        # which __array_ufunc__ comes first.
        cdef bint boxed = False, boxed_keyword = False
        for x in args:
            if self.array_like and is_traced_sequence(x):
                return self.call_tuple(tuple(map(hooks.traced_array, args)), kwargs, defer)
            if is_box(x):
                boxed = True
        if kwargs is not None:
            for name, x in kwargs.items():
                if self.array_like and is_traced_sequence(x):
                    return self.call_tuple(args, {**kwargs, name: hooks.traced_array(x)}, defer)
                if is_box(x):
                    boxed_keyword = True
        if not (boxed or boxed_keyword):
            return compute_call(self, args, kwargs)
        if self.never_traced:
            return self.fun(*map(unbox_argument, args), **{k: unbox_all(v) for k, v in (kwargs or {}).items()})
        if boxed_keyword:
            args, kwargs, placed = hooks.as_positional(self, args, kwargs)
            return self.call_tuple(args, kwargs, defer) if placed else self.fun(*args, **kwargs)
        if defer and self.is_ufunc and has_foreign(args):
            return PyObject_Call(self.fun, args, <object>kwargs if kwargs is not None else {})
        return self.call_traced(args, kwargs)

    cdef object as_argument(self, object x):
        # Return a concrete list or tuple beside a traced argument, as an array if rules may do arithmetic with it. They
        # do so in broadcasting functions; in others only if it has floats or complex numbers, since integers may be a
        # shape or axes.
        if self.vjps is not None and self.vjps.broadcasts:
            return np.asarray(x)
        if is_shape(x):
            return x
        try:
            array = np.asarray(x)
        except ValueError:  # its lists have unequal lengths
            return x
        return array if array.dtype.kind in "fc" else x

    cdef int refuse_output(self, tuple args, dict kwargs) except -1:
        # Raise if an output array is passed: it cannot store a traced value, and rules must not write to it.
        cdef Py_ssize_t n = len(args)
        has_output = kwargs is not None and kwargs.get("out") is not None
        if not has_output and self.is_ufunc:
            has_output = n > self.n_inputs
        elif not has_output and n > 2:
            if self.out_position == -2:
                self.out_position = hooks.position_of(self.fun, "out")
            has_output = 0 <= self.out_position < n and args[self.out_position] is not None
        if has_output:
            raise NotImplementedError(
                f"{self.__name__} of a traced value has no derivative with 'out' given; use the returned array"
            )
        return 0

    cdef object call_traced(self, tuple args, dict kwargs):
        # Call on arguments among which there is a box, and record the call. Only boxes of the highest level are
        # unwrapped here; the call on what is left unwraps the others.
        cdef Py_ssize_t level = -1, i
        cdef list values, argnums = [], parents = []
        cdef Node node = None
        cdef bint boxed = False
        for x in args:
            if is_box(x) and (<Box>x)._trace > level:
                level = (<Box>x)._trace
        values = list(args)
        for i in range(len(values)):
            x = values[i]
            if is_box(x):
                if (<Box>x)._trace == level:
                    values[i] = (<Box>x)._value
                    node = (<Box>x)._node
                    if node is None:
                        raise TypeError(f"argument {i} of {self.__name__} is a box without a node: it is in no trace")
                    argnums.append(i)
                    parents.append(node)
                    boxed = boxed or is_box(values[i])
                else:
                    boxed = True
            elif self.array_like and type(x) in (list, tuple):
                values[i] = self.as_argument(x)
        args = tuple(values)
        if self.array_like:
            self.refuse_output(args, kwargs)
        if self.notrace_types and is_constant_to(self, node):
            return self.call_tuple(args, kwargs, True)
        if boxed:
            ans = self.call_traced(args, kwargs)
        else:
            ans = compute_call(self, args, kwargs)
        if is_box(ans) and (<Box>ans)._trace >= level:
            raise ClosedOverTrace(self.__name__)
        note_path("BatchNode.record" if type(node) is BatchNode else "Primitive.call_traced")
        record = node.record(ans, self, args, kwargs if kwargs is not None else {}, tuple(argnums), tuple(parents))
        return box_answer(ans, level, record, self)


# Node type -> another node type; calls that are not recorded for the second are not recorded for the first.
cdef dict constants_shared_with = {}


def share_constants(node_type, other):
    """Treat primitives registered as notrace for ``other`` as notrace for ``node_type`` too."""
    constants_shared_with[node_type] = other


cdef bint is_constant_to(Primitive fun, object node):
    # Return whether calls of `fun` are not recorded for nodes of this node's type.
    return type(node) in fun.notrace_types or constants_shared_with.get(type(node)) in fun.notrace_types


def unbox_argument(x):
    """Return a value, or a list or tuple with the values nested in it, without boxes."""
    if type(x) not in (list, tuple):
        return unbox_all(x)
    Py_EnterRecursiveCall(" while taking traced values out of nested lists")
    try:
        return type(x)(map(unbox_argument, x))
    finally:
        Py_LeaveRecursiveCall()


cdef inline bint is_shape(object x):
    # Return whether x is a tuple of Python's ints, such as a shape or axes.
    cdef Py_ssize_t i
    if Py_TYPE(x) is not &PyTuple_Type:
        return False
    for i in range(PyTuple_GET_SIZE_(<PyObject *>x)):
        if not PyLong_CheckExact(<object>PyTuple_GET_ITEM_(<PyObject *>x, i)):
            return False
    return True


cdef inline bint is_simple(object x):
    # Return whether x is of one of the usual types that are neither boxes nor define an __array_ufunc__ of their own.
    cdef PyTypeObject *t = Py_TYPE(x)
    return (t is &PyArray_Type or t is &PyFloat_Type or t is &PyDoubleArrType_Type or t is &PyLong_Type
            or t is &PyComplex_Type or t is &PyFloatArrType_Type or t is &PyCDoubleArrType_Type)


cdef inline bint is_sequence(PyObject *x):
    return Py_TYPE(<object>x) is &PyList_Type or Py_TYPE(<object>x) is &PyTuple_Type


cdef object primitive_vectorcall(object callable_, PyObject **args, size_t nargsf, PyObject *kwnames):
    # CPython calls this for a call of a primitive.
    cdef Primitive self = <Primitive>callable_
    cdef Py_ssize_t n = PyVectorcall_NARGS(nargsf), total = n, i
    cdef dict kwargs = None
    cdef bint boxed = False
    if kwnames == NULL:
        if n == 1 and Py_TYPE(<object>args[0]) is <PyTypeObject *>ArrayBox:
            return self.call1(<object>args[0])
        if n == 2 and (Py_TYPE(<object>args[0]) is <PyTypeObject *>ArrayBox
                       or Py_TYPE(<object>args[1]) is <PyTypeObject *>ArrayBox):
            return self.call2(<object>args[0], <object>args[1])
    else:
        total += PyTuple_GET_SIZE_(kwnames)
    for i in range(total):
        if is_box(<object>args[i]) or (self.array_like and is_sequence(args[i])):
            boxed = True
            break
    if not boxed:
        if kwnames == NULL:
            if n == 1:
                return compute_unary(self, <object>args[0])
            if n == 2:
                return compute_binary(self, <object>args[0], <object>args[1])
        return compute_vectorcall(self, args, nargsf, kwnames)
    cdef list values = [None] * n
    for i in range(n):
        values[i] = <object>args[i]
    if kwnames != NULL:
        kwargs = {}
        for i in range(PyTuple_GET_SIZE_(kwnames)):
            kwargs[<object>PyTuple_GET_ITEM_(kwnames, i)] = <object>args[n + i]
    return self.call_tuple(tuple(values), kwargs, True)
