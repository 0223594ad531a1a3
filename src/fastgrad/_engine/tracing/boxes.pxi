# Boxes: traced values, and the registry of the types that can be boxed.


class BoxMakers(dict):
    """The live registry: type of a value -> callable (value, trace, node) that boxes it. Libraries write to it."""

    def __setitem__(self, value_type, maker):
        super().__setitem__(value_type, maker)
        choose_ufunc_dispatch()

    def __delitem__(self, value_type):
        super().__delitem__(value_type)
        choose_ufunc_dispatch()

    def pop(self, value_type, *default):
        """Remove a type, and give what boxed it."""
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
        The value, possibly a box of a lower trace level.
    trace : int
        Level of the trace the box belongs to.
    node : Node
        Record of how the value was made.
    """

    type_mappings = box_makers
    types = box_types
    __array_priority__ = 90.0

    def __init__(self, value, Py_ssize_t trace, node):
        self._value = value
        self._trace = trace
        self._node = node

    def __setattr__(self, name, value):
        track(self)  # what is put into it may hold the box
        PyObject_GenericSetAttr(self, name, value)

    def __bool__(self):
        if type(self._node) is BatchNode:
            raise NotBatchable("a decision was asked of a batch of values")
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
        """Box values of ``value_type`` (exactly that type) in this class."""
        Box.types.add(cls)
        Box.type_mappings[value_type] = cls
        Box.type_mappings[cls] = cls


cdef object copy_box(Box box):
    # A box is never changed, and what it stands for is fixed by its node: a copy shares both.
    return type(box)(box._value, box._trace, box._node)


cdef inline bint is_box(object x):
    cdef PyTypeObject *t = Py_TYPE(x)
    if t is <PyTypeObject *>ArrayBox:
        return True
    if t is &PyArray_Type or t is &PyDoubleArrType_Type or t is &PyFloat_Type or t is &PyLong_Type:
        return False
    return PyType_IsSubtype(t, <PyTypeObject *>Box)


def isbox(x):
    """Say whether ``x`` is a traced value."""
    return is_box(x)


cpdef bint contains_box(object container, Py_ssize_t level=-1) except -1:
    """Return whether a box is among the items of a container, or in lists, tuples and dicts inside it.

    Parameters
    ----------
    container : iterable
        Of a dict the values count.
    level : int, optional
        The lowest trace level that counts; by default all do.
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
    # The plain value, borrowed from x.
    while is_box(<object>x):
        x = <PyObject *>(<Box>x)._value
    return x


cpdef object unbox_all(object x):
    """Take all boxes off a value, of a batch too, whose example then stands for the type and shape of all rows."""
    return <object>unbox_borrowed(<PyObject *>x)


cdef object concrete_array(object x):
    # The plain value, if need be as an array: something with shape and dtype.
    x = unbox_all(x)
    return x if isinstance(x, (np.ndarray, np.generic)) else np.asarray(x)


def dtype_of(x):
    """Give the dtype of a value, boxed or not."""
    return concrete_array(x).dtype


def is_complex(x):
    """Say whether a value, boxed or not, is complex."""
    cdef int typenum = kind_of(x).typenum
    if typenum < 0:
        return np.iscomplexobj(unbox_all(x))
    return cnp.PyTypeNum_ISCOMPLEX(typenum)


def getval(x):
    """Take all boxes off ``x`` and return the plain value."""
    if is_batched(x):
        raise NotBatchable("the plain value of a batch was asked for")
    return unbox_all(x)


cpdef object new_box(object value, Py_ssize_t trace, object node):
    """Box ``value`` at level ``trace`` with ``node`` as its record.

    Raises
    ------
    TypeError
        If no box is registered for the type of ``value``.
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
    try:
        return new_box(ans, trace, node)
    except TypeError as error:
        if type(ans) in box_makers:
            raise
        raise TypeError(f"{fun.__name__} of a traced value gave {type(ans)}, which can't be traced: {error}") from None


def find_top_boxed_args(args):
    """Find the boxes of the highest trace level among ``args``.

    Returns
    -------
    boxes : list of (int, Box)
        Positions and boxes.
    trace : int
        Their level, -1 if there is no box.
    node_type : type or None
        Type of the node of the last one.
    foreign : bool
        Whether an argument brings an ``__array_ufunc__`` of its own.
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
