# Checks of what users' rules return, and of the cotangents and tangents that users pass in.

cdef tuple scalar_shape = ((),)


cdef enum:
    # What an argument is that is none of floats.
    ARGUMENT_COMPLEX = 1
    ARGUMENT_OTHER = 2  # integers, which may have integers for a cotangent: indices


cdef inline int argument_class(int typenum):
    return ARGUMENT_COMPLEX if cnp.PyTypeNum_ISCOMPLEX(typenum) else ARGUMENT_OTHER


cdef int note_arguments(VJPNode node, tuple args, tuple argnums) except -1:
    # What cotangents that a user's rule gives are checked by.
    cdef Py_ssize_t n = PyTuple_GET_SIZE_(<PyObject *>argnums), i
    cdef ArrayKind kind
    if n == 1:
        kind = kind_of(args[<Py_ssize_t>argnums[0]])
        node.arg1 = scalar_shape if kind.typenum == cnp.NPY_DOUBLE and not kind.ndim else (
            structure_of(args[<Py_ssize_t>argnums[0]], &kind),)
        if not cnp.PyTypeNum_ISFLOAT(kind.typenum):
            node.targets = argument_class(kind.typenum)
    else:
        shapes = []
        for i in range(n):
            kind = kind_of(args[<Py_ssize_t>argnums[i]])
            shapes.append(structure_of(args[<Py_ssize_t>argnums[i]], &kind))
            if not cnp.PyTypeNum_ISFLOAT(kind.typenum):
                node.targets = (node.targets or 0) | <object>argument_class(kind.typenum) << 2 * i
        node.arg1 = tuple(shapes)
    node.ans = argnums
    return 0


cdef class Structure:
    """What is in a list, tuple or dict, as cotangents and tangents must have it too."""

    cdef readonly object container_type
    # Key or place -> shape and whether it is real, of what is numeric; a Structure; None for all else.
    cdef readonly dict items


cdef object structure_of(object value, ArrayKind *kind):
    # The shape of what is numeric, the Structure of a container; None for all else.
    cdef object plain
    if kind.typenum >= 0:
        return shape_of(kind)
    plain = unbox_all(value)
    return structure_of_container(plain) if type(plain) in (list, tuple, dict) else None


cdef Structure structure_of_container(object container):
    cdef Structure found = Structure.__new__(Structure)
    cdef ArrayKind kind
    found.container_type = type(container)
    found.items = {}
    Py_EnterRecursiveCall(" while looking at what is in nested containers")
    try:
        for key, value in container.items() if found.container_type is dict else enumerate(container):
            kind = kind_of(value)
            expected = structure_of(value, &kind)
            if type(expected) is tuple:
                expected = expected, not cnp.PyTypeNum_ISCOMPLEX(kind.typenum)
            found.items[key] = expected
    finally:
        Py_LeaveRecursiveCall()
    return found


cpdef bint has_structure(object g, Structure wanted) except -1:
    """Has a container all that it should, in the form it should have?"""
    cdef ArrayKind kind
    cdef object plain = unbox_all(g), expected
    cdef tuple shape
    cdef bint numeric
    if type(plain) is not wanted.container_type or len(plain) != len(wanted.items):
        return False
    for key, expected in wanted.items.items():
        if expected is None:
            continue
        if wanted.container_type is dict and key not in plain:
            return False
        item = plain[key]
        if type(expected) is Structure:
            if not has_structure(item, expected):
                return False
            continue
        kind = kind_of(item)
        shape = expected[0]
        numeric = cnp.PyTypeNum_ISFLOAT(kind.typenum) or cnp.PyTypeNum_ISCOMPLEX(kind.typenum) and not expected[1]
        if not numeric or not has_shape(&kind, <PyObject *>shape) or not of_no_subclass(item):
            return False
    return True


cdef bint contains_finished_box(object g, Structure wanted) except -1:
    # Is a value of a trace that is over among the items of what has been fitted?
    if type(g) is not wanted.container_type:
        return False
    for key, expected in wanted.items.items():
        if expected is None:
            continue
        item = g[key]
        if type(expected) is Structure and contains_finished_box(item, expected):
            return True
        if is_box(item) and is_over((<Box>item)._trace):
            return True
    return False


cdef inline bint no_structure(PyObject *structure):
    return type_of(structure) is <PyTypeObject *>tuple


cpdef object pull_staged(VJPNode node, object g):
    # By pullbacks of the user's, which may look at the value of g.
    cdef list cotangents
    cdef Py_ssize_t i
    note_path("user's pullback")
    if node.layout == NODE_STAGED or node.layout == NODE_STAGED_WHOLE:
        g = materialize(g)
    if node.layout == NODE_STAGED:
        cotangents = list(node.arg0)
        for i in range(len(cotangents)):
            if not callable(cotangents[i]):
                raise no_pullback(node, cotangents[i], f" for argument {node.ans[i]}")
            cotangents[i] = cotangents[i](g)
        return fit_given(node, g, cotangents)
    if not callable(node.arg0):
        raise no_pullback(node, node.arg0, "")
    given = node.arg0(g)
    if type(given) is not tuple and type(given) is not list and getattr(given, "ndim", 0) == 0:
        if not hasattr(given, "__iter__") or hasattr(given, "ndim"):
            raise TypeError(
                f"the VJP of {name_of_node(node)} gave a {type(given).__name__}; it gives a sequence of cotangents, "
                "one for each of the traced arguments"
            )
    return fit_given(node, g, list(given))


cdef object name_of_node(VJPNode node):
    return "a node" if node.rules is None else node.rules.fun.__name__


cdef object no_pullback(VJPNode node, object given, str which):
    return TypeError(
        f"the VJP of {name_of_node(node)}{which} is made by a function that gave a {type(given).__name__}; it takes "
        "the answer and the arguments, and returns a function of the cotangent"
    )


cdef tuple fit_given(VJPNode node, object g, list cotangents):
    # Cotangents by a rule of the user's, in the shapes of the arguments. Imaginary parts that have no place are
    # dropped: sparse solvers give complex cotangents to real arguments, and count on the functions before theirs
    # to make them real.
    cdef Py_ssize_t n = len(cotangents), i
    cdef PyObject *shapes = <PyObject *>node.arg1
    cdef PyObject *shape
    cdef ArrayKind kind
    if shapes == <PyObject *>None or PyTuple_GET_SIZE_(shapes) != n:
        return tuple(cotangents)
    for i in range(n):
        shape = PyTuple_GET_ITEM_(shapes, i)
        kind = kind_of(cotangents[i])
        if is_box(cotangents[i]) and not is_box(g) and is_over((<Box>cotangents[i])._trace):
            raise of_another_trace(f"the VJP of {node.rules.fun.__name__}")
        if shape != <PyObject *>None and not (cnp.PyTypeNum_ISFLOAT(kind.typenum) and no_structure(shape)
                                              and has_shape(&kind, shape) and of_no_subclass(cotangents[i])):
            cotangents[i] = fit_wrong(node, i, cotangents[i], &kind)
            if not no_structure(shape) and not is_box(g) and contains_finished_box(cotangents[i], <Structure>shape):
                raise of_another_trace(f"the VJP of {node.rules.fun.__name__}")
    return tuple(cotangents)


cdef object fit_wrong(VJPNode node, Py_ssize_t i, object g, ArrayKind *kind):
    # What is no array of floats of the argument's shape; it may be right all the same.
    cdef object shape = node.arg1[i]
    cdef int is_other = 0 if node.targets is None else node.targets >> 2 * i & 3
    if type(shape) is Structure:
        if has_structure(g, shape):
            return g
    elif is_other and has_shape(kind, <PyObject *>shape) and of_no_subclass(g) and (
            cnp.PyTypeNum_ISCOMPLEX(kind.typenum) if is_other == ARGUMENT_COMPLEX else kind.typenum >= 0
            and not cnp.PyTypeNum_ISCOMPLEX(kind.typenum)):
        return g
    return hooks.cotangent_of_rule(g, shape, is_other != ARGUMENT_COMPLEX, node.rules.fun, node.ans[i])


cdef object shape_for_seeds(object value):
    """The shape or Structure that a cotangent or tangent of a value has; None where there is no telling."""
    cdef ArrayKind kind = kind_of(value)
    if not of_no_subclass(value) and type(value) not in space_makers:
        return None  # it will be refused itself
    return structure_of(value, &kind)


cdef object fit_seed(object g, object shape, bint backward):
    """What a user calls a pullback or pushforward with, in the shape it must have."""
    cdef ArrayKind kind
    if shape is None:
        return g
    kind = kind_of(g)
    if no_structure(<PyObject *>shape) and has_shape(&kind, <PyObject *>shape) and of_no_subclass(g) and (
            cnp.PyTypeNum_ISFLOAT(kind.typenum) or cnp.PyTypeNum_ISCOMPLEX(kind.typenum)):
        return g
    return hooks.seed(g, shape, backward)


def of_another_trace(name):
    """Give the error for a function that uses a traced value of a trace that is over."""
    return TypeError(
        f"{name} used a traced value that was kept from a trace that is over; keep its plain value, "
        "fastgrad.tracer.getval of it"
    )
