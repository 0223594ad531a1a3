# Boxes: traced values, and the registry of the types that can be boxed. The boxes of arrays and of containers are in
# array_boxes.pxi and container_boxes.pxi.


class BoxMakers(dict):
    """The registry of boxes: type of a value -> callable ``(value, trace, node)`` that boxes it.

    Libraries add types to it; after each change it is decided anew whether ufuncs are dispatched to boxes.
    """

    def __setitem__(self, value_type, maker):
        super().__setitem__(value_type, maker)
        choose_ufunc_dispatch()

    def __delitem__(self, value_type):
        super().__delitem__(value_type)
        choose_ufunc_dispatch()

    def pop(self, value_type, *default):
        """Remove a type and return its callable, or ``default`` if the type is not registered."""
        maker = super().pop(value_type, *default)
        choose_ufunc_dispatch()
        return maker


cdef object box_makers = BoxMakers()


cdef set box_types = set()


@cython.freelist(512)  # serves ArrayBox too, whose size is the same
cdef class Box:
    """A traced value.

    Parameters
    ----------
    value : object
        The value, which may be a box of a lower trace level.
    trace : int
        Level of the trace that the box belongs to.
    node : Node
        Record of the call that computed the value.
    """

    type_mappings = box_makers
    types = box_types
    __array_priority__ = 90.0

    def __init__(self, value, Py_ssize_t trace, node):
        self._value = value
        self._trace = trace
        self._node = node

    def __setattr__(self, name, value):
        track(self)  # the attribute may refer back to the box, and only the garbage collector frees such a cycle
        PyObject_GenericSetAttr(self, name, value)

    def __bool__(self):
        if type(self._node) is BatchNode:
            raise NotBatchable("the truth value of a batch was asked for")
        return bool(self._value)

    def __str__(self):
        return f"Autograd {type(self).__name__} with value {self._value!s}"

    def __reduce_ex__(self, protocol):
        raise TypeError(
            f"a traced value ({type(self).__name__}) cannot be pickled: its trace stays in this process; send the "
            "plain value, fastgrad.tracer.getval of it, or send the function and differentiate in the other process"
        )

    def __copy__(self):
        return copy_box(self)

    def __deepcopy__(self, memo):
        return copy_box(self)

    @classmethod
    def register(cls, value_type):
        """Register this class as the box of values of a type.

        Parameters
        ----------
        value_type : type
            The type; its subclasses are not included.
        """
        Box.types.add(cls)
        Box.type_mappings[value_type] = cls
        Box.type_mappings[cls] = cls


cdef object copy_box(Box box):
    # The copy shares value and node, since a box never changes.
    return type(box)(box._value, box._trace, box._node)


cdef inline bint is_box(object x):
    # The types that are tested first are the most frequent ones, so that most calls skip the test for a subclass.
    cdef PyTypeObject *t = Py_TYPE(x)
    if t is <PyTypeObject *>ArrayBox:
        return True
    if t is &PyArray_Type or t is &PyDoubleArrType_Type or t is &PyFloat_Type or t is &PyLong_Type:
        return False
    return PyType_IsSubtype(t, <PyTypeObject *>Box)


def isbox(x):
    """Return whether ``x`` is a traced value."""
    return is_box(x)


cpdef bint contains_box(object container, Py_ssize_t level=-1) except -1:
    """Return whether there is a box among the items of a container, or in lists, tuples and dicts inside it.

    Parameters
    ----------
    container : iterable
        The container; of a dict the values are searched.
    level : int, optional
        The lowest trace level to look for; all levels by default.
    """
    Py_EnterRecursiveCall(" while looking for traced values in nested containers")
    try:
        for item in container.values() if isinstance(container, dict) else container:
            if is_box(item):
                if (<Box>item)._trace >= level:
                    return True
            elif isinstance(item, (list, tuple, dict)) and contains_box(item, level):
                return True
        return False
    finally:
        Py_LeaveRecursiveCall()


cdef inline PyObject *unbox_borrowed(PyObject *x):
    # Return the concrete value, borrowed from x.
    while is_box(<object>x):
        x = <PyObject *>(<Box>x)._value
    return x


cpdef object unbox_all(object x):
    """Return the concrete value inside all boxes.

    Of a batch this is the example, which has the type and shape of one row; `getval` raises instead.
    """
    return <object>unbox_borrowed(<PyObject *>x)


cdef object concrete_array(object x):
    # Return the concrete value as something that has shape and dtype.
    x = unbox_all(x)
    return x if isinstance(x, (np.ndarray, np.generic)) else np.asarray(x)


def dtype_of(x):
    """Return the dtype of a value, boxed or not."""
    return concrete_array(x).dtype


def is_complex(x):
    """Return whether a value, boxed or not, is complex."""
    cdef int typenum = kind_of(x).typenum
    if typenum < 0:
        return np.iscomplexobj(unbox_all(x))
    return cnp.PyTypeNum_ISCOMPLEX(typenum)


def getval(x):
    """Return the concrete value of ``x``, without its boxes.

    Parameters
    ----------
    x : object
        A value, boxed or not.

    Returns
    -------
    object
        ``x`` itself if it is not a box.

    Raises
    ------
    NotBatchable
        If ``x`` stands for a batch of rows; the caller of the batch then computes row by row.
    """
    if is_batched(x):
        raise NotBatchable("the plain value of a batch was asked for")
    return unbox_all(x)


cpdef object new_box(object value, Py_ssize_t trace, object node):
    """Return a box of a value.

    Parameters
    ----------
    value : object
        The value, which may be a box of a lower level.
    trace : int
        Level of the trace that the box belongs to.
    node : Node
        Record of the call that computed the value.

    Returns
    -------
    Box
        A box of the type registered for the type of ``value``.

    Raises
    ------
    TypeError
        If no box is registered for that type.
    """
    cdef PyObject *maker = dict_item(<PyObject *>box_makers, <PyObject *>Py_TYPE(value))
    cdef ArrayBox box
    if maker == <PyObject *>ArrayBox:
        box = ArrayBox.__new__(ArrayBox)
        box._value = value
        box._trace = trace
        box._node = node
        if is_acyclic(<PyObject *>node) and is_acyclic(<PyObject *>value):
            PyObject_GC_UnTrack(box)
        return box
    if maker == NULL:
        raise TypeError(
            f"Can't differentiate w.r.t. type {type(value)}: no box is registered for it; {hooks.advice(value)}"
        )
    return (<object>maker)(value, trace, node)


cdef object box_answer(object ans, Py_ssize_t trace, object node, Primitive fun):
    """Return a box of the answer of a primitive, or raise an error that names the primitive."""
    try:
        return new_box(ans, trace, node)
    except TypeError as error:
        if type(ans) in box_makers:
            raise
        raise TypeError(f"{fun.__name__} of a traced value gave {type(ans)}, which can't be traced: {error}") from None


def find_top_boxed_args(args):
    """Find the boxes of the highest trace level among ``args``.

    Parameters
    ----------
    args : iterable
        Arguments, boxed or not.

    Returns
    -------
    boxes : list of (int, Box)
        Positions and boxes.
    trace : int
        Their level, -1 if there is no box.
    node_type : type or None
        Type of the node of the last of them.
    foreign : bool
        Whether an argument that is not a box defines an ``__array_ufunc__`` of its own.
    """
    boxes, trace, node_type = [], -1, None
    for argnum, arg in enumerate(args):
        if is_box(arg):
            if (<Box>arg)._trace > trace:
                boxes, trace = [], (<Box>arg)._trace
            if (<Box>arg)._trace == trace:
                boxes.append((argnum, arg))
                node_type = type((<Box>arg)._node)
    return boxes, trace, node_type, has_foreign(tuple(args))
