# Nodes: records of primitive calls, and how rules are applied to pull cotangents back and push tangents forward.


cdef inline Kind kind_of(object value):
    cdef Kind kind
    cdef PyTypeObject *t
    cdef PyObject *plain = inside(<PyObject *>value)
    t = type_of(plain)
    kind.ndim = 0
    kind.dims = NULL
    kind.typenum = -1
    if t is &PyDoubleArrType_Type or t is &PyFloat_Type:
        kind.typenum = cnp.NPY_DOUBLE
    elif cnp.PyArray_Check(<object>plain):
        kind.typenum = cnp.PyArray_TYPE(<ndarray>plain)
        kind.ndim = cnp.PyArray_NDIM(<ndarray>plain)
        kind.dims = cnp.PyArray_DIMS(<ndarray>plain)
    elif t is &PyCDoubleArrType_Type or t is &PyComplex_Type:
        kind.typenum = cnp.NPY_CDOUBLE
    elif t is &PyFloatArrType_Type:
        kind.typenum = cnp.NPY_FLOAT
    return kind


cdef bint same_space(object x, object ans):
    """Do x and ans have one shape and dtype?"""
    cdef Kind a = kind_of(x), b = kind_of(ans)
    return a.typenum == b.typenum and same_shape(&a, &b)


cdef inline bint same_shape(Kind *a, Kind *b):
    cdef int i
    if a.ndim != b.ndim:
        return False
    for i in range(a.ndim):
        if a.dims[i] != b.dims[i]:
            return False
    return True


# unbroadcast(g, vspace) and broadcast(tangent, ans), Python functions made of primitives; set by fastgrad.numpy.
cdef object unbroadcast = None
cdef object broadcast = None


def bind_broadcasting(unbroadcast_, broadcast_):
    """Set the functions that fit cotangents and tangents of broadcasting primitives."""
    global unbroadcast, broadcast
    unbroadcast, broadcast = unbroadcast_, broadcast_


# Keywords of a ufunc that change no value; with any other one, the rules do not hold.
cdef frozenset harmless_keywords = frozenset(["casting", "order", "dtype", "subok", "signature", "sig"])


cdef inline unsigned int bit(Py_ssize_t argnum):
    # The bit of an argument in the masks of a Rule; the last one stands for all further arguments.
    return 1 << min(argnum + 1, 31)


cdef inline bint has_space(object x, bint containers):
    return type(x) in space_makers and (containers or type(x) not in (tuple, list, dict))


cdef object keep(tuple args, unsigned int keeps, unsigned int spaces, bint containers, bint arrays):
    # What of the arguments the rules need: as it is, as its vspace (if it is a value that has one), or nothing.
    # `arrays`: it is a function of arrays, to which a list or tuple is one; if `containers`, where a vspace is wanted.
    cdef list kept = list(args)
    cdef Py_ssize_t i
    for i in range(len(kept)):
        if keeps & bit(i):
            continue
        if not spaces & bit(i):
            kept[i] = None
        elif arrays and type(kept[i]) in (tuple, list):
            kept[i] = array_vspace(np.asarray(kept[i])) if containers else kept[i]
        elif has_space(kept[i], containers) or is_box(kept[i]):
            kept[i] = vspace(kept[i])
    return tuple(kept)


cdef inline bint is_double(object x):
    cdef double value
    return as_double(x, &value) != 0


cdef inline object numpy_number(object x):
    # A derivative divides and takes powers as NumPy does: where Python's floats raise, it warns and gives inf or nan.
    return fastgrad_float64(PyFloat_AS_DOUBLE(x)) if Py_TYPE(x) is &PyFloat_Type else x


cdef object apply_rule(Rule rule, object g, object ans, tuple args, dict kwargs):
    # One argument's cotangent or tangent; not for RULE_ZERO and RULE_SAME, which need to know which argument.
    cdef PyObject *stack[10]
    cdef Py_ssize_t n = len(args), i
    cdef list given
    if rule.kind == RULE_IDENTITY:
        return g
    if rule.kind == RULE_NEGATE:
        return -g
    if n == 1 or n == 2:
        stack[0], stack[1], stack[2] = <PyObject *>g, <PyObject *>ans, PyTuple_GET_ITEM_(<PyObject *>args, 0)
        stack[3] = PyTuple_GET_ITEM_(<PyObject *>args, 1) if n == 2 else <PyObject *>None
        cotangent = apply_formula(rule, stack, 0)
        if cotangent is not None:
            return cotangent
    if rule.kind == RULE_DERIV:
        given = list(args[:rule.n_args])
        if is_double(g):
            for i in range(len(given)):
                given[i] = numpy_number(given[i])
        return multiply_values(g, rule.fun(ans, *given))
    if rule.kind == RULE_KEPT:
        return multiply_values(g, ans if rule.keeps & 1 else args[0] if rule.keeps & 2 else args[1])
    if rule.kind == RULE_OVER:
        return p_divide.call(g, args[0] if rule.keeps & 2 else args[1])
    if rule.spaces:
        given = list(args)
        for i in range(n):
            if rule.spaces & bit(i) and (has_space(given[i], True) or is_box(given[i])):
                given[i] = vspace(given[i])
        args = tuple(given)
    if n <= 7 and not kwargs:
        stack[0] = NULL
        stack[1] = <PyObject *>g
        stack[2] = <PyObject *>ans
        for i in range(n):
            stack[3 + i] = PyTuple_GET_ITEM_(<PyObject *>args, i)
        return PyObject_Vectorcall(rule.fun, stack + 1, (n + 2) | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL)
    return PyObject_Call(rule.fun, (g, ans) + args, kwargs)


cdef int find_formula(Rule rule) except -1:
    """Note in the rule its formula, if it is `g * derivative`; False where there is none.

    It takes Python code to find it, so that several threads may be at it at once. What the first of them notes stays.
    """
    cdef list exponents = [], exponent_formulas = []
    from fastgrad._rules.recording import formula_of
    formula = False
    if rule.kind == RULE_NEGATE:
        formula = Formula([(p_negative, 0, -1, RESULT)], [])
    elif rule.kind == RULE_KEPT or rule.kind == RULE_OVER:
        kept = 1 if rule.keeps & 1 else 2 if rule.keeps & 2 else 3
        formula = Formula([(p_divide if rule.kind == RULE_OVER else p_multiply, 0, kept, RESULT)], [])
    elif rule.kind != RULE_DERIV:
        if rule.real_deriv is not None:
            formula = formula_of(rule.real_deriv, 1, p_multiply) or False
        if formula is not False:
            (<Formula>formula).runs[PLACE_COMPLEX] = False
    elif rule.for_numbers is not None:
        for exponent, deriv in rule.for_numbers.items():
            if exponent is not None:
                exponents.append(float(exponent))
                exponent_formulas.append(formula_of(deriv, 2, p_multiply))
        formula = formula_of(rule.for_numbers[None], 2, p_multiply) or False
    else:
        formula = formula_of(rule.fun, rule.n_args, p_multiply) or False
    with cython.critical_section(rule):
        if rule.formula is None:
            rule.exponents, rule.exponent_formulas, rule.formula = exponents, exponent_formulas, formula
    return 0


cdef inline object apply_formula(Rule rule, PyObject **inputs, int reuse):
    """`g` times the derivative of an elementwise function, on plain g, ans, x, y; None where this is not the way."""
    cdef double exponent
    cdef Py_ssize_t i
    cdef PyObject *formula = <PyObject *>rule.formula
    if formula == <PyObject *>None:
        find_formula(rule)
        formula = <PyObject *>rule.formula
    if formula == Py_False or is_box(<object>inputs[0]):
        return None
    if rule.for_numbers is not None:
        if not as_double(<object>inputs[3], &exponent) or exponent == 0:
            return None
        for i in range(len(rule.exponents)):
            if <double>rule.exponents[i] == exponent:
                return (<Formula>rule.exponent_formulas[i]).run(inputs, reuse)
    return (<Formula>formula).run(inputs, reuse)


cdef object apply_small(Rule rule, object g, object ans, object x, object y, Py_ssize_t n):
    # apply_rule for one or two arguments, without a tuple, where there is no formula.
    cdef PyObject *stack[5]
    if rule.kind == RULE_NEGATE:
        return -g
    if rule.kind == RULE_ZERO:
        return zeros_of(x if rule.spaces & 2 else y)
    if rule.spaces & 2 and not isinstance(x, VSpace):
        x = vspace(x)
    if rule.spaces & 4 and not isinstance(y, VSpace):
        y = vspace(y)
    if rule.plain:
        cotangent = apply_plain(rule.plain, g, ans, x, y)
        if cotangent is not None:
            return cotangent
    if rule.kind == RULE_KEPT:
        return multiply_values(g, ans if rule.keeps & 1 else x if rule.keeps & 2 else y)
    if rule.kind == RULE_OVER:
        return p_divide.call(g, x if rule.keeps & 2 else y)
    if rule.kind == RULE_DERIV and is_double(g):
        x, y = numpy_number(x), numpy_number(y)
    stack[0] = NULL
    stack[1] = <PyObject *>g
    stack[2] = <PyObject *>ans
    stack[3] = <PyObject *>x
    stack[4] = <PyObject *>y
    if rule.kind == RULE_DERIV:
        n = 1 + min(n, rule.n_args)
        deriv = PyObject_Vectorcall(rule.fun, stack + 2, n | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL)
        return multiply_values(g, deriv)
    return PyObject_Vectorcall(rule.fun, stack + 1, (n + 2) | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL)


cdef object refuse_pickling(object node):
    raise TypeError(
        f"{type(node).__name__}, the record of a traced call, cannot be pickled or copied: a graph stays in the "
        "process that traced it; send the function and plain arguments, and differentiate there"
    )


cdef class Node:
    """A record of one primitive call in one trace.

    Subclass it to build another tracer: give the subclass ``__init__(self, value, fun, args, kwargs, parent_argnums,
    parents)`` and ``initialize_root(self, ...)``, and pass ``Sub.new_root(...)`` to `trace`.
    """

    def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
        raise NotImplementedError(f"{type(self).__name__} must define __init__ to record a primitive call")

    def initialize_root(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} must define initialize_root to start a trace")

    @classmethod
    def new_root(cls, *args, **kwargs):
        """Make the node that a trace starts from."""
        root = cls.__new__(cls)
        root.initialize_root(*args, **kwargs)
        return root

    cdef object record(self, object ans, Primitive fun, tuple args, dict kwargs, tuple argnums, tuple parents):
        return type(self)(ans, fun, args, kwargs, argnums, parents)


@cython.trashcan(True)  # a chain of millions of nodes is freed from its end without deep C recursion
cdef class VJPNode(Node):
    """A node of reverse mode: holds its parents and what the rules need to pull a cotangent back to them."""

    def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
        if not isinstance(fun, Primitive) or (<Primitive>fun).vjps is None:
            raise missing_rule(fun, "VJP", parent_argnums[0] if parent_argnums else 0)
        args, parent_argnums, parents = tuple(args), tuple(parent_argnums), tuple(parents)
        check_argnums(parent_argnums, len(args), len(parents))
        fill_vjp_node(self, value, (<Primitive>fun).vjps, args, dict(kwargs), parent_argnums, parents)

    def initialize_root(self):
        self.form = FORM_ROOT
        untrack(self)

    def __reduce__(self):
        return refuse_pickling(self)

    cdef object record(self, object ans, Primitive fun, tuple args, dict kwargs, tuple argnums, tuple parents):
        cdef VJPNode node
        if type(self) is not VJPNode:
            return type(self)(ans, fun, args, kwargs, argnums, parents)
        if fun.vjps is None:
            raise missing_rule(fun, "VJP", argnums[0])
        node = VJPNode.__new__(VJPNode)
        fill_vjp_node(node, ans, fun.vjps, args, kwargs, argnums, parents)
        return node

    cdef Py_ssize_t n_parents(self):
        cdef PyObject *parents = <PyObject *>self.parent0
        if self.form == FORM_UNARY or self.form == FORM_INDEX:
            return 1
        if self.form == FORM_BINARY:
            return (parents != <PyObject *>None) + (<PyObject *>self.parent1 != <PyObject *>None)
        return PyTuple_GET_SIZE_(parents) if parents != <PyObject *>None else 0

    cdef PyObject *parent(self, Py_ssize_t i):
        # Borrowed from this node.
        cdef PyObject *first = <PyObject *>self.parent0
        if self.form == FORM_UNARY or self.form == FORM_INDEX:
            return first
        if self.form == FORM_BINARY:
            if i == 1 or first == <PyObject *>None:
                return <PyObject *>self.parent1
            return first
        return PyTuple_GET_ITEM_(first, i)

    cdef void release(self) noexcept:
        # Drop all but the parents: they are still wanted for their order.
        self.ans = self.arg0 = self.arg1 = self.targets = None
        self.released = self.form != FORM_ROOT

    cdef int pull(self, object g, int reuse, PyObject **out, Py_ssize_t n) except -1:
        # Write a new reference for each of n parents into out, or raise with nothing written. `reuse`: what may be
        # overwritten, if nobody else holds it by then.
        cdef Rules rules = self.rules
        cdef Py_ssize_t i
        cdef int left
        if self.released:
            raise RuntimeError(
                "this graph was used up by grad or value_and_grad, which release what the nodes keep; "
                "use make_vjp to pull back through one graph several times"
            )
        if n != self.n_parents():
            raise RuntimeError("a node's parents were changed since its graph was ordered; make a new vjp of it")
        if self.form == FORM_UNARY:
            first = self.pull_small(0, 1, g, reuse)
            if self.targets is not None:
                first = self.fit(0, first)
            put(out, 0, first)
        elif self.form == FORM_INDEX:
            put(out, 0, (<Rule>rules.rule(0, False)).fun(g, None, (<VJPNode>self.parent0).space, self.arg0))
        elif self.form == FORM_BINARY:
            # The second first: it may overwrite what the first does not need, which then may overwrite the rest.
            first = second = None
            if self.parent1 is not None:
                left = 0 if self.parent0 is None else 1 | (<Rule>rules.rule(0, False)).keeps << 1
                second = self.pull_small(1, 2, g, reuse & ~left)
                if self.targets is not None:
                    second = self.fit(1, second)
            if self.parent0 is not None:
                first = self.pull_small(0, 2, g, reuse)
                if self.targets is not None:
                    first = self.fit(0, first)
            put(out, 0, second if first is None else first)
            if n == 2:
                put(out, 1, second)
        elif self.form != FORM_ROOT:
            cotangents = self.pull_call(g)
            if len(cotangents) != n:
                name = "a node" if rules is None else rules.fun.__name__
                raise ValueError(
                    f"the VJP of {name} gave {len(cotangents)} cotangents for {n} traced arguments; it gives one for "
                    "each"
                )
            for i in range(n):
                put(out, i, cotangents[i])
        return 0

    cdef object pull_call(self, object g):
        cdef Rules rules = self.rules
        cdef Py_ssize_t i, argnum
        cdef Rule rule
        cdef list cotangents
        if self.form == FORM_STAGED or self.form == FORM_STAGED_WHOLE:
            return row_by_row(self.pull_staged, (g,)) if is_batched(g) else self.pull_staged(g)
        args, kwargs, argnums = self.arg0
        if self.form == FORM_WHOLE:
            return rules.whole(argnums, g, self.ans, args, kwargs)
        cotangents = []
        for i in range(len(argnums)):
            argnum = argnums[i]
            rule = <Rule>rules.rule(argnum, False)
            if rule.kind == RULE_ZERO:
                cotangents.append(zeros_of(args[argnum]))
            else:
                cotangents.append(self.fit(i, apply_rule(rule, g, self.ans, args, kwargs)))
        return cotangents

    cdef object pull_small(self, Py_ssize_t argnum, Py_ssize_t n, object g, int reuse):
        # The cotangent of one of n arguments, before it is fitted. A formula is given what the node keeps by pointer:
        # what it may overwrite has then no other reference than the node's.
        cdef PyObject *rule = self.rules.rule(argnum, False)
        cdef PyObject *inputs[4]
        if (<Rule>rule).kind == RULE_IDENTITY:
            return g
        if <PyObject *>(<Rule>rule).formula != Py_False:
            inputs[0], inputs[1] = <PyObject *>g, <PyObject *>self.ans
            inputs[2], inputs[3] = <PyObject *>self.arg0, <PyObject *>self.arg1
            cotangent = apply_formula(<Rule>rule, inputs, reuse)
            if cotangent is not None:
                return cotangent
        return apply_small(<Rule>rule, g, self.ans, self.arg0, self.arg1, n)

    cdef object fit(self, Py_ssize_t i, object g):
        # Bring a cotangent of the broadcast answer to the argument's own shape and dtype.
        if self.targets is None or self.targets[i] is None:
            return g
        if type(self.targets[i]) in (ArrayVSpace, ComplexArrayVSpace):
            total = sum_to(g, self.targets[i])
            if total is not None:
                return total
        return unbroadcast(g, self.targets[i])

    @property
    def parents(self):
        """tuple of Node : one per traced argument; the same node may stand twice."""
        cdef Py_ssize_t i
        cdef list found = [None] * self.n_parents()
        for i in range(len(found)):
            found[i] = <object>self.parent(i)
        return tuple(found)

    @parents.setter
    def parents(self, parents):
        vjp = self.vjp if self.form != FORM_ROOT else (lambda g: ())
        self.parent0, self.parent1, self.arg1, self.targets = tuple(parents), None, None, None
        self.arg0, self.form = vjp, FORM_STAGED_WHOLE
        track(self)

    @property
    def vjp(self):
        """callable : cotangent of the value -> tuple of cotangents, one per parent."""
        # Of the node as it is now: what is set later may call what was got before.
        cdef VJPNode now = VJPNode.__new__(VJPNode)
        now.rules, now.form, now.released = self.rules, self.form, self.released
        now.ans, now.arg0, now.arg1, now.targets = self.ans, self.arg0, self.arg1, self.targets
        now.parent0, now.parent1 = self.parent0, self.parent1
        return now._pull_back

    @vjp.setter
    def vjp(self, vjp):
        self.parent0, self.parent1, self.arg1, self.targets = self.parents, None, None, None
        self.arg0, self.form = vjp, FORM_STAGED_WHOLE
        track(self)

    cpdef object pull_staged(self, object g):
        # By pullbacks of the user's, which may look at the value of g.
        cdef list cotangents
        cdef Py_ssize_t i
        if self.form == FORM_STAGED or self.form == FORM_STAGED_WHOLE:
            g = solid(g)
        if self.form == FORM_STAGED:
            cotangents = list(self.arg0)
            for i in range(len(cotangents)):
                if not callable(cotangents[i]):
                    raise self.no_pullback(cotangents[i], f" for argument {self.ans[i]}")
                cotangents[i] = cotangents[i](g)
            return self.fit_given(g, cotangents)
        if not callable(self.arg0):
            raise self.no_pullback(self.arg0, "")
        given = self.arg0(g)
        if type(given) is not tuple and type(given) is not list and getattr(given, "ndim", 0) == 0:
            if not hasattr(given, "__iter__") or hasattr(given, "ndim"):
                raise TypeError(
                    f"the VJP of {self.name()} gave a {type(given).__name__}; it gives a sequence of cotangents, one "
                    "for each of the traced arguments"
                )
        return self.fit_given(g, list(given))

    cdef object name(self):
        return "a node" if self.rules is None else self.rules.fun.__name__

    cdef object no_pullback(self, object given, str which):
        return TypeError(
            f"the VJP of {self.name()}{which} is made by a function that gave a {type(given).__name__}; it takes the "
            "answer and the arguments, and returns a function of the cotangent"
        )

    cdef tuple fit_given(self, object g, list cotangents):
        # Cotangents by a rule of the user's, in the shapes of the arguments. Imaginary parts that have no place are
        # dropped: sparse solvers give complex cotangents to real arguments, and count on the functions before theirs
        # to make them real.
        cdef Py_ssize_t n = len(cotangents), i
        cdef PyObject *shapes = <PyObject *>self.arg1
        cdef PyObject *shape
        cdef Kind kind
        if shapes == <PyObject *>None or PyTuple_GET_SIZE_(shapes) != n:
            return tuple(cotangents)
        for i in range(n):
            shape = PyTuple_GET_ITEM_(shapes, i)
            kind = kind_of(cotangents[i])
            if is_box(cotangents[i]) and not is_box(g) and is_over((<Box>cotangents[i])._trace):
                raise of_another_trace(f"the VJP of {self.rules.fun.__name__}")
            if shape != <PyObject *>None and not (cnp.PyTypeNum_ISFLOAT(kind.typenum) and no_structure(shape)
                                                  and has_shape(&kind, shape) and of_no_subclass(cotangents[i])):
                cotangents[i] = self.fit_wrong(i, cotangents[i], &kind)
                if not no_structure(shape) and not is_box(g) and holds_over(cotangents[i], <Structure>shape):
                    raise of_another_trace(f"the VJP of {self.rules.fun.__name__}")
        return tuple(cotangents)

    cdef object fit_wrong(self, Py_ssize_t i, object g, Kind *kind):
        # What is no array of floats of the argument's shape; it may be right all the same.
        cdef object shape = self.arg1[i]
        cdef int is_other = 0 if self.targets is None else self.targets >> 2 * i & 3
        if type(shape) is Structure:
            if has_structure(g, shape):
                return g
        elif is_other and has_shape(kind, <PyObject *>shape) and of_no_subclass(g) and (
                cnp.PyTypeNum_ISCOMPLEX(kind.typenum) if is_other == ARGUMENT_COMPLEX else kind.typenum >= 0
                and not cnp.PyTypeNum_ISCOMPLEX(kind.typenum)):
            return g
        from fastgrad._diagnostics.messages import cotangent_of_rule
        return cotangent_of_rule(g, shape, is_other != ARGUMENT_COMPLEX, self.rules.fun, self.ans[i])

    def _pull_back(self, g):
        cdef Py_ssize_t n = self.n_parents(), i
        cdef list cotangents = [None] * n
        cdef PyObject **pulled = <PyObject **>PyMem_Malloc((n + 1) * sizeof(PyObject *))
        if pulled == NULL:
            raise MemoryError("no memory to pull a cotangent back")
        try:
            self.pull(g, 0, pulled, n)
            for i in range(n):
                cotangents[i] = <object>pulled[i]
                Py_XDECREF(pulled[i])
            return tuple(cotangents)
        finally:
            PyMem_Free(pulled)


cdef inline void track(object x) noexcept:
    if not PyObject_GC_IsTracked(x):
        PyObject_GC_Track(x)


cdef inline void put(PyObject **out, Py_ssize_t i, object value) noexcept:
    Py_INCREF(value)
    out[i] = <PyObject *>value


cdef object zeros_of(object value):
    return value.zeros() if isinstance(value, VSpace) else vspace(value).zeros()


cdef frozenset plain_types = frozenset([
    bool, str, complex, type(Ellipsis), np.float32, np.complex128, np.complex64, np.int64, np.bool_])


cdef inline bint holds_no_cycle(PyObject *x):
    """Can x not hold, directly or not, anything that holds a node? Only then may a node that holds x go untracked."""
    cdef PyTypeObject *t = type_of(x)
    if x == <PyObject *>None or t is &PyDoubleArrType_Type or t is &PyFloat_Type or t is &PyLong_Type:
        return True
    if t is &PyArray_Type:
        return cnp.PyArray_TYPE(<ndarray>x) != cnp.NPY_OBJECT
    if t is <PyTypeObject *>VJPNode or t is <PyTypeObject *>ArrayBox:
        return not is_tracked(x)
    return holds_no_cycle_inside(<object>x)


cdef bint holds_no_cycle_inside(object x):
    if type(x) is tuple:
        for item in x:
            if not holds_no_cycle(<PyObject *>item):
                return False
        return True
    if type(x) is slice:
        return holds_no_cycle_inside((x.start, x.stop, x.step))
    return type(x) is ArrayVSpace or type(x) is ComplexArrayVSpace or type(x) in plain_types


cdef inline int untrack(VJPNode node) except -1:
    # The graph of a trace has no cycle unless a user's object makes one: nodes that hold none need not burden the
    # garbage collector, which would walk over all of them again and again while they live.
    if (Py_TYPE(node) is <PyTypeObject *>VJPNode and holds_no_cycle(<PyObject *>node.parent0)
            and holds_no_cycle(<PyObject *>node.parent1) and holds_no_cycle(<PyObject *>node.arg1)
            and holds_no_cycle(<PyObject *>node.ans)):
        if node.form == FORM_CALL or node.form == FORM_WHOLE:
            args, kwargs, _ = node.arg0
            if holds_no_cycle_inside(args) and holds_no_cycle_inside(tuple(kwargs.values())):
                PyObject_GC_UnTrack(node)
        elif holds_no_cycle(<PyObject *>node.arg0):
            PyObject_GC_UnTrack(node)
    return 0


cdef inline VJPNode unary_node(Rules rules, object ans, object x, PyObject *parent):
    # The record of a call with direct rules and one argument.
    cdef VJPNode node = VJPNode.__new__(VJPNode)
    cdef PyObject *rule = rules.rule(0, False)
    node.form = FORM_UNARY
    node.rules = rules
    node.parent0 = <object>parent
    if (<Rule>rule).keeps & 1:
        node.ans = ans
    if (<Rule>rule).keeps & 2:
        node.arg0 = x
    elif (<Rule>rule).spaces & 2:
        node.arg0 = vspace(x)
    if rules.broadcasts and not same_space(x, ans):
        node.targets = (vspace(x),)
    untrack(node)
    return node


cdef inline VJPNode binary_node(Rules rules, object ans, object x, object y, PyObject *x_parent,
                                PyObject *y_parent):
    # The record of a call with direct rules and two arguments; the parent of one that is not traced is NULL.
    cdef VJPNode node = VJPNode.__new__(VJPNode)
    cdef PyObject *rule
    cdef unsigned int keeps = 0, spaces = 0
    cdef bint fit_x = False, fit_y = False
    node.form = FORM_BINARY
    node.rules = rules
    if x_parent != NULL:
        node.parent0 = <object>x_parent
        rule = rules.rule(0, False)
        keeps, spaces = (<Rule>rule).keeps, (<Rule>rule).spaces
        fit_x = rules.broadcasts and not same_space(x, ans)
    if y_parent != NULL:
        node.parent1 = <object>y_parent
        rule = rules.rule(1, False)
        keeps |= (<Rule>rule).keeps
        spaces |= (<Rule>rule).spaces
        fit_y = rules.broadcasts and not same_space(y, ans)
    if keeps & 1:
        node.ans = ans
    if keeps & 2:
        node.arg0 = x
    elif spaces & 2:
        node.arg0 = vspace(x)
    if keeps & 4:
        node.arg1 = y
    elif spaces & 4:
        node.arg1 = vspace(y)
    if fit_x or fit_y:
        node.targets = (vspace(x) if fit_x else None, vspace(y) if fit_y else None)
    untrack(node)
    return node


# The rules under which indexing has nodes of its own form; set by fastgrad.numpy.rules.indexing.
cdef Rules index_rules = None


def bind_index_rules(Primitive getitem not None):
    """Let indexing of plain arrays be recorded in nodes of its own form while it has the rules it has now."""
    global index_rules
    index_rules = getitem.vjps


cdef bint note_space(VJPNode node, object value) except -1:
    """Note the space of a node's value; False if another thread, which traces from the same root, was faster."""
    space = vspace(value)
    with cython.critical_section(node):
        if node.space is None:
            node.space = space
            return True
    return False


cdef inline VJPNode index_node(object array, object index, VJPNode parent):
    # The record of indexing a plain array; None if the parent stands for an array of another kind too: a root that was
    # used for several traces.
    cdef VJPNode node
    if (parent.space is not None or not note_space(parent, array)) and not fits_space(array, parent.space):
        return None
    node = VJPNode.__new__(VJPNode)
    node.form = FORM_INDEX
    node.rules = index_rules
    node.arg0 = index
    node.parent0 = parent
    untrack(node)
    return node


cdef int fill_vjp_node(VJPNode node, object ans, Rules rules, tuple args, dict kwargs, tuple argnums,
                       tuple parents) except -1:
    cdef unsigned int keeps = 0, spaces = 0
    cdef Rule rule
    node.rules = rules
    node.form = rules.form
    node.parent0 = parents
    if rules.form == FORM_STAGED or rules.form == FORM_STAGED_WHOLE:
        node.arg0 = rules.whole(argnums, ans, args, kwargs)
        note_arguments(node, args, argnums)
        return 0
    if rules.form == FORM_WHOLE:
        rule = <Rule>rules.by_argnum[0]
        keeps, spaces = rule.keeps, rule.spaces
    else:
        for argnum in argnums:
            rule = <Rule>rules.rule(argnum, False)
            keeps |= rule.keeps
            spaces |= rule.spaces
        kwargs = rule_keywords(rules.fun, kwargs)
        if rules.broadcasts:
            node.targets = targets_of(ans, args, argnums)
    arrays = isinstance(rules.fun, Primitive) and (<Primitive>rules.fun).array_like
    node.arg0 = (keep(args, keeps, spaces, rules.form != FORM_WHOLE, arrays), kwargs, argnums)
    if keeps & 1:
        node.ans = ans
    if not rules.closures:
        untrack(node)
    return 0


cdef dict rule_keywords(object fun, dict kwargs):
    # The keywords that rules are given; those of a ufunc are looked after here.
    if not kwargs or not isinstance(fun, Primitive) or not (<Primitive>fun).is_ufunc:
        return kwargs
    for name in kwargs:
        if name not in harmless_keywords:
            raise NotImplementedError(
                f"{fun.__name__} of a traced value with the keyword {name!r} has no derivative rule; "
                "leave the keyword out and use fastgrad.numpy.where for what it does"
            )
    return {}


cdef object targets_of(object ans, tuple args, tuple argnums):
    # Per traced argument the vspace its cotangent must be brought to; None where nothing is to be done for any.
    cdef list targets = [None] * len(argnums)
    cdef bint fits = True
    cdef Py_ssize_t i
    for i in range(len(argnums)):
        if not same_space(args[argnums[i]], ans):
            targets[i], fits = vspace(args[argnums[i]]), False
    return None if fits else tuple(targets)


cdef tuple scalar_shape = ((),)

cdef enum:
    # What an argument is that is none of floats.
    ARGUMENT_COMPLEX = 1
    ARGUMENT_OTHER = 2  # integers, which may have integers for a cotangent: indices


cdef inline int what_argument(int typenum):
    return ARGUMENT_COMPLEX if cnp.PyTypeNum_ISCOMPLEX(typenum) else ARGUMENT_OTHER


cdef int note_arguments(VJPNode node, tuple args, tuple argnums) except -1:
    # What cotangents that a user's rule gives are checked by.
    cdef Py_ssize_t n = PyTuple_GET_SIZE_(<PyObject *>argnums), i
    cdef Kind kind
    if n == 1:
        kind = kind_of(args[<Py_ssize_t>argnums[0]])
        node.arg1 = scalar_shape if kind.typenum == cnp.NPY_DOUBLE and not kind.ndim else (
            form_of(args[<Py_ssize_t>argnums[0]], &kind),)
        if not cnp.PyTypeNum_ISFLOAT(kind.typenum):
            node.targets = what_argument(kind.typenum)
    else:
        shapes = []
        for i in range(n):
            kind = kind_of(args[<Py_ssize_t>argnums[i]])
            shapes.append(form_of(args[<Py_ssize_t>argnums[i]], &kind))
            if not cnp.PyTypeNum_ISFLOAT(kind.typenum):
                node.targets = (node.targets or 0) | <object>what_argument(kind.typenum) << 2 * i
        node.arg1 = tuple(shapes)
    node.ans = argnums
    return 0


cdef inline object shape_of(Kind *kind):
    # The shape of what is numeric; None for all else.
    if kind.typenum < 0 or not (cnp.PyTypeNum_ISNUMBER(kind.typenum) or cnp.PyTypeNum_ISBOOL(kind.typenum)):
        return None
    return cnp.PyArray_IntTupleFromIntp(kind.ndim, kind.dims) if kind.ndim else ()


cdef class Structure:
    """What is in a list, tuple or dict, as cotangents and tangents must have it too."""

    cdef readonly object kind
    # Key or place -> shape and whether it is real, of what is numeric; a Structure; None for all else.
    cdef readonly dict items


cdef object form_of(object value, Kind *kind):
    # The shape of what is numeric, the Structure of a container; None for all else.
    cdef object plain
    if kind.typenum >= 0:
        return shape_of(kind)
    plain = peel(value)
    return structure_of(plain) if type(plain) in (list, tuple, dict) else None


cdef Structure structure_of(object container):
    cdef Structure found = Structure.__new__(Structure)
    cdef Kind kind
    found.kind = type(container)
    found.items = {}
    Py_EnterRecursiveCall(" while looking at what is in nested containers")
    try:
        for key, value in container.items() if found.kind is dict else enumerate(container):
            kind = kind_of(value)
            form = form_of(value, &kind)
            found.items[key] = (form, not cnp.PyTypeNum_ISCOMPLEX(kind.typenum)) if type(form) is tuple else form
    finally:
        Py_LeaveRecursiveCall()
    return found


cpdef bint has_structure(object g, Structure wanted) except -1:
    """Has a container all that it should, in the form it should have?"""
    cdef Kind kind
    cdef object plain = peel(g), form
    cdef tuple shape
    cdef bint numeric
    if type(plain) is not wanted.kind or len(plain) != len(wanted.items):
        return False
    for key, form in wanted.items.items():
        if form is None:
            continue
        if wanted.kind is dict and key not in plain:
            return False
        item = plain[key]
        if type(form) is Structure:
            if not has_structure(item, form):
                return False
            continue
        kind = kind_of(item)
        shape = form[0]
        numeric = cnp.PyTypeNum_ISFLOAT(kind.typenum) or cnp.PyTypeNum_ISCOMPLEX(kind.typenum) and not form[1]
        if not numeric or not has_shape(&kind, <PyObject *>shape) or not of_no_subclass(item):
            return False
    return True


cdef bint holds_over(object g, Structure wanted) except -1:
    # Is a value of a trace that is over among the items of what has been fitted?
    if type(g) is not wanted.kind:
        return False
    for key, form in wanted.items.items():
        if form is None:
            continue
        item = g[key]
        if type(form) is Structure and holds_over(item, form) or is_box(item) and is_over((<Box>item)._trace):
            return True
    return False


cdef inline bint of_no_subclass(object x):
    # Some of ndarray's multiply in ways of their own: np.matrix.
    return cnp.PyArray_CheckExact(x) or not cnp.PyArray_Check(x)


cdef inline bint no_structure(PyObject *form):
    return type_of(form) is <PyTypeObject *>tuple


cdef inline bint has_shape(Kind *kind, PyObject *shape):
    cdef int i
    if kind.ndim != PyTuple_GET_SIZE_(shape):
        return False
    for i in range(kind.ndim):
        if kind.dims[i] != PyLong_AsSsize_t_(PyTuple_GET_ITEM_(shape, i)):
            return False
    return True


cdef object shape_for_seeds(object value):
    """The shape or Structure that a cotangent or tangent of a value has; None where there is no telling."""
    cdef Kind kind = kind_of(value)
    if not of_no_subclass(value) and type(value) not in space_makers:
        return None  # it will be refused itself
    return form_of(value, &kind)


cdef object fit_seed(object g, object shape, bint backward):
    """What a user calls a pullback or pushforward with, in the shape it must have."""
    cdef Kind kind
    if shape is None:
        return g
    kind = kind_of(g)
    if no_structure(<PyObject *>shape) and has_shape(&kind, <PyObject *>shape) and of_no_subclass(g) and (
            cnp.PyTypeNum_ISFLOAT(kind.typenum) or cnp.PyTypeNum_ISCOMPLEX(kind.typenum)):
        return g
    from fastgrad._diagnostics.messages import seed
    return seed(g, shape, backward)


cdef class JVPNode(Node):
    """A node of forward mode: holds the tangent of its value."""

    def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
        cdef Rules rules = (<Primitive>fun).jvps if isinstance(fun, Primitive) else None
        if rules is None:
            raise missing_rule(fun, "JVP", parent_argnums[0] if parent_argnums else 0)
        tangents = list(parents)
        for i in range(len(tangents)):
            tangents[i] = tangents[i].g
        check_argnums(tuple(parent_argnums), len(args), len(tangents))
        self.g = push_forward(rules, value, tuple(args), dict(kwargs), tuple(parent_argnums), tangents)

    def initialize_root(self, g):
        self.g = g

    def __reduce__(self):
        return refuse_pickling(self)

    cdef object record(self, object ans, Primitive fun, tuple args, dict kwargs, tuple argnums, tuple parents):
        cdef JVPNode node
        if type(self) is not JVPNode:
            return type(self)(ans, fun, args, kwargs, argnums, parents)
        if fun.jvps is None:
            raise missing_rule(fun, "JVP", argnums[0])
        node = JVPNode.__new__(JVPNode)
        node.g = push_forward(fun.jvps, ans, args, kwargs, argnums, tangents_of(fun, parents))
        return node


cdef list tangents_of(Primitive fun, tuple parents):
    cdef list tangents = list(parents)
    cdef Py_ssize_t i
    for i in range(len(tangents)):
        parent = tangents[i]
        if not isinstance(parent, JVPNode):
            raise TypeError(
                f"{fun.__name__} was called in forward mode on a box with a {type(parent).__name__}: a traced value "
                "was kept from a trace that is over"
            )
        tangents[i] = (<JVPNode>parent).g
    return tangents


def of_another_trace(name):
    """Give the error for a function that uses a traced value of a trace that is over."""
    return TypeError(
        f"{name} used a traced value that was kept from a trace that is over; keep its plain value, "
        "fastgrad.tracer.getval of it"
    )


def push_row(rules, argnums, ans, args, kwargs, *tangents):
    """Give the tangent of one row, alone in a tuple."""
    return (push_by_user(rules, argnums, tangents, ans, args, kwargs),)


cdef object push_by_user(Rules rules, tuple argnums, tangents, object ans, tuple args, dict kwargs):
    # By a rule of the user's, whose tangent is checked against the value.
    cdef Kind kind, wanted = kind_of(ans)
    cdef bint numeric
    tangent = rules.whole(argnums, tangents, ans, args, kwargs)
    kind = kind_of(tangent)
    numeric = cnp.PyTypeNum_ISFLOAT(kind.typenum) or (
        cnp.PyTypeNum_ISCOMPLEX(kind.typenum) and cnp.PyTypeNum_ISCOMPLEX(wanted.typenum))
    if numeric and wanted.typenum >= 0 and same_shape(&kind, &wanted) and of_no_subclass(tangent):
        return tangent
    shape = form_of(ans, &wanted)
    if shape is None:
        return tangent
    from fastgrad._diagnostics.messages import tangent_of_rule
    return tangent_of_rule(tangent, shape, not cnp.PyTypeNum_ISCOMPLEX(wanted.typenum), rules.fun)


cdef object push_forward(Rules rules, object ans, tuple args, dict kwargs, tuple argnums, list tangents):
    """The tangent of ans, given the tangents of the arguments at argnums."""
    cdef Rule rule
    cdef Py_ssize_t i
    cdef object fun = rules.fun
    if rules.form == FORM_WHOLE:
        if rules.opaque:
            for g in tangents:
                if is_batched(g):
                    call = functools.partial(push_row, rules, argnums, ans, args, kwargs)
                    return row_by_row(call, tangents)[0]
            return push_by_user(rules, argnums, tangents, ans, args, kwargs)
        return rules.whole(argnums, tangents, ans, args, kwargs)
    given = rule_keywords(fun, kwargs)
    total = None
    for i in range(len(argnums)):
        rule = <Rule>rules.rule(argnums[i], True)
        if rule.kind == RULE_ZERO:
            continue
        if rule.kind == RULE_SAME:
            tangent = fun(*args[:argnums[i]], tangents[i], *args[argnums[i] + 1:], **kwargs)
        else:
            tangent = apply_rule(rule, tangents[i], ans, args, given)
        total = tangent if total is None else add_values(total, tangent)
    if total is None:
        return vspace(ans).zeros()
    if rules.broadcasts and not same_space(total, ans):
        return broadcast(total, ans)
    return total
