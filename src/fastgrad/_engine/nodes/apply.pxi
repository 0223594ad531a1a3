# How the rule of one argument is applied to a cotangent or tangent.

# Keywords of a ufunc that change no value; with any other one, the rules do not hold.
cdef frozenset harmless_keywords = frozenset(["casting", "order", "dtype", "subok", "signature", "sig"])


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
    formula = False
    if rule.kind == RULE_NEGATE:
        formula = Formula([(p_negative, 0, -1, RESULT)], [])
    elif rule.kind == RULE_KEPT or rule.kind == RULE_OVER:
        kept = 1 if rule.keeps & 1 else 2 if rule.keeps & 2 else 3
        formula = Formula([(p_divide if rule.kind == RULE_OVER else p_multiply, 0, kept, RESULT)], [])
    elif rule.kind != RULE_DERIV:
        if rule.real_deriv is not None:
            formula = hooks.formula_of(rule.real_deriv, 1, p_multiply) or False
        if formula is not False:
            (<Formula>formula).runs[PLACE_COMPLEX] = False
    elif rule.for_numbers is not None:
        for exponent, deriv in rule.for_numbers.items():
            if exponent is not None:
                exponents.append(float(exponent))
                exponent_formulas.append(hooks.formula_of(deriv, 2, p_multiply))
        formula = hooks.formula_of(rule.for_numbers[None], 2, p_multiply) or False
    else:
        formula = hooks.formula_of(rule.fun, rule.n_args, p_multiply) or False
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
