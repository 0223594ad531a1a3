# Calls of users' pullbacks, and checks of what users' rules return and of the cotangents and tangents that users pass.
# What does not fit goes to a hook, which converts it or raises.

# The shapes of the arguments of a call with one traced scalar, shared by all such nodes.
cdef tuple scalar_shapes = ((),)


cdef enum:
    # Two bits for an argument whose dtype is not a real float (see `targets` in core.pxd).
    ARGUMENT_COMPLEX = 1
    ARGUMENT_OTHER = 2  # of integers, such as indices: its cotangent may have integers too


cdef inline int argument_class(int typenum):
    # Return these bits for a dtype.
    return ARGUMENT_COMPLEX if cnp.PyTypeNum_ISCOMPLEX(typenum) else ARGUMENT_OTHER


cdef int note_arguments(VJPNode node, tuple args, tuple argnums) except -1:
    # Store what the cotangents that a user's rule returns are checked against: `arg1`, `targets` and `ans`, as core.pxd
    # describes them for the staged layouts.
    cdef Py_ssize_t n = PyTuple_GET_SIZE_(<PyObject *>argnums), i
    cdef ArrayKind kind
    if n == 1:
        kind = kind_of(args[<Py_ssize_t>argnums[0]])
        node.arg1 = scalar_shapes if kind.typenum == cnp.NPY_DOUBLE and not kind.ndim else (
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
    """Keys and shapes of a list, tuple or dict, which its cotangents and tangents must have too."""

    cdef readonly object container_type
    # Key or position -> (shape, whether it is real) for a numeric item, the Structure of a container, None otherwise.
    cdef readonly dict items


cdef object structure_of(object value, ArrayKind *kind):
    # Return the shape of a numeric value, the Structure of a container, None for any other value.
    cdef object concrete
    if kind.typenum >= 0:
        return shape_of(kind)
    concrete = unbox_all(value)
    return structure_of_container(concrete) if type(concrete) in (list, tuple, dict) else None


cdef Structure structure_of_container(object container):
    # Return the Structure of a list, tuple or dict.
    cdef Structure structure = Structure.__new__(Structure)
    cdef ArrayKind kind
    structure.container_type = type(container)
    structure.items = {}
    Py_EnterRecursiveCall(" while looking at what is in nested containers")
    try:
        for key, value in container.items() if structure.container_type is dict else enumerate(container):
            kind = kind_of(value)
            expected = structure_of(value, &kind)
            if type(expected) is tuple:
                expected = expected, not cnp.PyTypeNum_ISCOMPLEX(kind.typenum)
            structure.items[key] = expected
    finally:
        Py_LeaveRecursiveCall()
    return structure


cpdef bint has_structure(object g, Structure wanted) except -1:
    """Return whether a value, boxed or not, matches a structure: its keys, shapes, and real where that is wanted."""
    cdef ArrayKind kind
    cdef object concrete = unbox_all(g), expected
    cdef tuple shape
    cdef bint numeric
    if type(concrete) is not wanted.container_type or len(concrete) != len(wanted.items):
        return False
    for key, expected in wanted.items.items():
        if expected is None:
            continue
        if wanted.container_type is dict and key not in concrete:
            return False
        item = concrete[key]
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
    # Return whether a container that has this structure holds a box of a trace that is over.
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


cdef inline bint is_array_shape(PyObject *structure):
    # Return whether what structure_of returned is the shape of a numeric value.
    return type_of(structure) is <PyTypeObject *>tuple


cpdef object pull_staged(VJPNode node, object g):
    """Return the cotangents of the parents by a user's pullbacks, checked against the arguments."""
    cdef list cotangents
    cdef Py_ssize_t i
    note_path("user's pullback")
    if node.layout == NODE_STAGED or node.layout == NODE_STAGED_WHOLE:
        g = materialize(g)
    if node.layout == NODE_STAGED:
        cotangents = list(node.arg0)
        for i in range(len(cotangents)):
            if not callable(cotangents[i]):
                raise not_a_pullback(node, cotangents[i], f" for argument {node.ans[i]}")
            cotangents[i] = cotangents[i](g)
        return fit_cotangents(node, g, cotangents)
    if not callable(node.arg0):
        raise not_a_pullback(node, node.arg0, "")
    returned = node.arg0(g)
    if type(returned) is not tuple and type(returned) is not list and getattr(returned, "ndim", 0) == 0:
        if not hasattr(returned, "__iter__") or hasattr(returned, "ndim"):
            raise TypeError(
                f"the VJP of {name_of_node(node)} gave a {type(returned).__name__}; it must return a sequence of "
                "cotangents, one for each of the traced arguments"
            )
    return fit_cotangents(node, g, list(returned))


cdef object name_of_node(VJPNode node):
    # Return the name of the primitive that a node records, for a message.
    return "a node" if node.rules is None else node.rules.fun.__name__


cdef object not_a_pullback(VJPNode node, object returned, str which):
    # Return the error for a user's rule that returned something else than a pullback.
    return TypeError(
        f"the VJP of {name_of_node(node)}{which} is made by a function that gave a {type(returned).__name__}; it must "
        "take the answer and the arguments, and return a function of the cotangent"
    )


cdef tuple fit_cotangents(VJPNode node, object g, list cotangents):
    # Return the cotangents of a user's rule, checked against the arguments and fitted to them. Imaginary parts are
    # dropped for real arguments, since the rules of sparse solvers return complex cotangents for these and rely on it.
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
        if shape != <PyObject *>None and not (cnp.PyTypeNum_ISFLOAT(kind.typenum) and is_array_shape(shape)
                                              and has_shape(&kind, shape) and of_no_subclass(cotangents[i])):
            cotangents[i] = fit_cotangent(node, i, cotangents[i], &kind)
            if not is_array_shape(shape) and not is_box(g) and contains_finished_box(cotangents[i], <Structure>shape):
                raise of_another_trace(f"the VJP of {node.rules.fun.__name__}")
    return tuple(cotangents)


cdef object fit_cotangent(VJPNode node, Py_ssize_t i, object g, ArrayKind *kind):
    # Return a cotangent that is not an array of floats of the argument's shape, as it is if it fits the argument, which
    # may be complex, of integers or a container; otherwise converted by a hook, which may raise.
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
    """Return the shape or Structure that a cotangent or tangent of a value must have, None if it is not checked."""
    cdef ArrayKind kind = kind_of(value)
    if not of_no_subclass(value) and type(value) not in space_makers:
        return None  # the value is refused later, as it has no vector space
    return structure_of(value, &kind)


cdef object fit_seed(object g, object shape, bint backward):
    """Return the argument of a pullback or pushforward in the shape that it must have, or raise if it has another."""
    cdef ArrayKind kind
    if shape is None:
        return g
    kind = kind_of(g)
    if is_array_shape(<PyObject *>shape) and has_shape(&kind, <PyObject *>shape) and of_no_subclass(g) and (
            cnp.PyTypeNum_ISFLOAT(kind.typenum) or cnp.PyTypeNum_ISCOMPLEX(kind.typenum)):
        return g
    return hooks.seed(g, shape, backward)


def of_another_trace(name):
    """Return the error for a function that used a traced value of a trace that is over."""
    return TypeError(
        f"{name} used a traced value that was kept from a trace that is over; keep its plain value, "
        "fastgrad.tracer.getval of it"
    )
