# How the rule of one argument is applied to a cotangent or tangent: by its fused derivative, its compiled rule, or its
# Python function.

# Keywords of a ufunc that do not change what it computes; its rules hold with no others.
cdef frozenset harmless_keywords = frozenset(["casting", "order", "dtype", "subok", "signature", "sig"])


cdef object kept_arguments(tuple args, unsigned int keeps, unsigned int spaces, bint containers, bint arrays):
    # Return what a node keeps of the arguments: those that rules use; the vector spaces of those of which rules use no
    # more than that; None for all others. A list, tuple or dict is replaced by its space only with `containers`. With
    # `arrays` the function takes a list or tuple for an array, whose space is kept then.
    cdef list kept = list(args)
    cdef Py_ssize_t i
    for i in range(len(kept)):
        if keeps & argument_bit(i):
            continue
        if not spaces & argument_bit(i):
            kept[i] = None
        elif arrays and type(kept[i]) in (tuple, list):
            kept[i] = array_vspace(np.asarray(kept[i])) if containers else kept[i]
        elif has_space(kept[i], containers) or is_box(kept[i]):
            kept[i] = vspace(kept[i])
    return tuple(kept)


cdef inline bint is_double(object x):
    # Return whether x is a number that as_double can read.
    cdef double value
    return as_double(x, &value) != 0


cdef int find_fused_derivative(Rule rule) except -1:
    """Find the fused derivative of a rule and store it in the rule; store False if there is none.

    The search runs Python code, so several threads may do it at the same time. The first result is kept.
    """
    cdef list exponents = [], exponent_derivatives = []
    fused = False
    if rule.form == RULE_NEGATE:
        fused = FusedDerivative([(p_negative, 0, -1, RESULT)], [])
    elif rule.form == RULE_KEPT or rule.form == RULE_OVER:
        kept = 1 if rule.keeps & 1 else 2 if rule.keeps & 2 else 3
        fused = FusedDerivative([(p_divide if rule.form == RULE_OVER else p_multiply, 0, kept, RESULT)], [])
    elif rule.form != RULE_DERIV:
        if rule.real_deriv is not None:
            fused = hooks.record_derivative(rule.real_deriv, 1, p_multiply) or False
        if fused is not False:
            # For complex arguments the derivative is another.
            (<FusedDerivative>fused).runs[DTYPE_COMPLEX] = False
    elif rule.for_numbers is not None:
        for exponent, deriv in rule.for_numbers.items():
            if exponent is not None:
                exponents.append(float(exponent))
                exponent_derivatives.append(hooks.record_derivative(deriv, 2, p_multiply))
        fused = hooks.record_derivative(rule.for_numbers[None], 2, p_multiply) or False
    else:
        fused = hooks.record_derivative(rule.fun, rule.n_args, p_multiply) or False
    with cython.critical_section(rule):
        if rule.fused is None:
            rule.exponents, rule.exponent_derivatives, rule.fused = exponents, exponent_derivatives, fused
    return 0


cdef inline object apply_fused_derivative(Rule rule, PyObject **inputs, int reuse):
    """Return `g` times the derivative of an elementwise function, for concrete g, ans, x and y.

    Return None if the fused derivative does not apply; the caller falls back to the compiled or Python rule.
    """
    cdef double exponent
    cdef Py_ssize_t i
    cdef PyObject *fused = <PyObject *>rule.fused
    if fused == <PyObject *>None:
        find_fused_derivative(rule)
        fused = <PyObject *>rule.fused
    if fused == Py_False or is_box(<object>inputs[0]):
        return None
    if rule.for_numbers is not None:
        if not as_double(<object>inputs[3], &exponent) or exponent == 0:
            return None
        for i in range(len(rule.exponents)):
            if <double>rule.exponents[i] == exponent:
                return (<FusedDerivative>rule.exponent_derivatives[i]).run(inputs, reuse)
    return (<FusedDerivative>fused).run(inputs, reuse)


cdef inline object apply_rule(Rule rule, Py_ssize_t argnum, PyObject **inputs, Py_ssize_t n, dict kwargs, int reuse):
    """Return the cotangent or tangent of argument `argnum`.

    This and apply_unfused are the one switch over the forms of rules. `inputs` holds g, ans and the n arguments, in an
    array that has room for at least two arguments and a free place before g, which vectorcall needs. They are borrowed
    pointers, so that a value that the fused derivative may overwrite is referred to by the node alone. `reuse` says
    what may be overwritten (see REUSE_COTANGENT).
    """
    if rule.form == RULE_IDENTITY:
        return <object>inputs[0]
    if n <= 2 and <PyObject *>rule.fused != Py_False:
        result = apply_fused_derivative(rule, inputs, reuse)
        if result is not None:
            note_path("fused derivative")
            return result
    return apply_unfused(rule, argnum, inputs, n, kwargs)


cdef object apply_unfused(Rule rule, Py_ssize_t argnum, PyObject **inputs, Py_ssize_t n, dict kwargs):
    # Return the same by the compiled rule or the Python function.
    cdef list converted = None
    cdef PyObject **args = inputs + 2
    cdef Py_ssize_t i
    g = <object>inputs[0]
    if rule.form == RULE_NEGATE:
        return -g
    if rule.form == RULE_ZERO:
        return zeros_of(<object>args[argnum])
    for i in range(n):
        x = <object>args[i]
        if rule.spaces & argument_bit(i) and not isinstance(x, VSpace) and (has_space(x, True) or is_box(x)):
            x = vspace(x)
        elif rule.form == RULE_DERIV and Py_TYPE(x) is &PyFloat_Type and is_double(g):
            # Python's floats raise where a division or power has no finite result; NumPy's warn and return inf or nan,
            # as the primitive itself does.
            x = fastgrad_float64(PyFloat_AS_DOUBLE(x))
        else:
            continue
        converted = [] if converted is None else converted
        converted.append(x)
        args[i] = <PyObject *>x
    if rule.compiled and n <= 2 and not kwargs:
        cotangent = apply_compiled_rule(rule.compiled, g, <object>inputs[1], <object>args[0], <object>args[1])
        if cotangent is not None:
            note_path("compiled rule")
            return cotangent
    note_path("Python rule")
    if rule.form == RULE_KEPT:
        return multiply_values(g, <object>inputs[1 if rule.keeps & 1 else 2 if rule.keeps & 2 else 3])
    if rule.form == RULE_OVER:
        return p_divide.call(g, <object>args[0 if rule.keeps & 2 else 1])
    if rule.form == RULE_DERIV:
        n = 1 + min(n, rule.n_args)
        return multiply_values(g, PyObject_Vectorcall(rule.fun, inputs + 1, n | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL))
    return PyObject_VectorcallDict(rule.fun, inputs, (n + 2) | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                   <PyObject *>kwargs if kwargs else NULL)


cdef object apply_rule_to_call(Rule rule, Py_ssize_t argnum, object g, object ans, tuple args, dict kwargs):
    # Return the same as apply_rule for arguments in a tuple.
    cdef PyObject *few[9]
    cdef PyObject **inputs = few
    cdef Py_ssize_t n = PyTuple_GET_SIZE_(<PyObject *>args), i
    if rule.form == RULE_NEGATE:
        return -g  # keeps a float a float, where a fused derivative returns a float64, which widens float32 arrays
    if n > 6:
        inputs = <PyObject **>PyMem_Malloc((n + 3) * sizeof(PyObject *))
        if inputs == NULL:
            raise MemoryError("no memory for the arguments of a rule")
    try:
        inputs[0], inputs[1], inputs[2] = NULL, <PyObject *>g, <PyObject *>ans
        inputs[3] = inputs[4] = <PyObject *>None
        for i in range(n):
            inputs[3 + i] = PyTuple_GET_ITEM_(<PyObject *>args, i)
        return apply_rule(rule, argnum, inputs + 1, n, kwargs, 0)
    finally:
        if inputs != few:
            PyMem_Free(inputs)


cdef dict rule_keywords(object fun, dict kwargs):
    # Return the keywords that rules are called with: for a ufunc none, and those that change its value are refused.
    if not kwargs or not isinstance(fun, Primitive) or not (<Primitive>fun).is_ufunc:
        return kwargs
    for name in kwargs:
        if name not in harmless_keywords:
            raise NotImplementedError(
                f"{fun.__name__} of a traced value with the keyword {name!r} has no derivative rule; "
                "leave the keyword out and use fastgrad.numpy.where for what it does"
            )
    return {}
