# The box of arrays: its operators, and how NumPy's own ufuncs are traced.

# The primitive that serves a ufunc called on a box by NumPy's own name. Those that users make stand in a table of their
# own, which keeps none alive.
ufunc_primitives = {}


cdef object users_ufunc_primitives = weakref.WeakValueDictionary()


cdef class ArrayBox(Box):
    """A traced array or scalar.

    Its operators are those of a NumPy array. The other methods and attributes are set in `fastgrad.numpy.numpy_boxes`.
    """

    __array_priority__ = 100.0

    def __add__(self, other):
        return p_add.call2(self, other)

    def __radd__(self, other):
        return p_add.call2(other, self)

    def __sub__(self, other):
        return p_subtract.call2(self, other)

    def __rsub__(self, other):
        return p_subtract.call2(other, self)

    def __mul__(self, other):
        return p_multiply.call2(self, other)

    def __rmul__(self, other):
        return p_multiply.call2(other, self)

    def __truediv__(self, other):
        return p_divide.call2(self, other)

    def __rtruediv__(self, other):
        return p_divide.call2(other, self)

    def __floordiv__(self, other):
        return p_floor_divide.call2(self, other)

    def __rfloordiv__(self, other):
        return p_floor_divide.call2(other, self)

    def __mod__(self, other):
        return p_mod.call2(self, other)

    def __rmod__(self, other):
        return p_mod.call2(other, self)

    def __pow__(self, other, modulo):
        return p_power.call2(self, other)

    def __rpow__(self, other, modulo):
        return p_power.call2(other, self)

    def __matmul__(self, other):
        return p_matmul.call2(self, other)

    def __rmatmul__(self, other):
        return p_matmul.call2(other, self)

    def __neg__(self):
        return p_negative.call1(self)

    def __pos__(self):
        return p_positive.call1(self)

    def __abs__(self):
        return p_absolute.call1(self)

    def __getitem__(self, index):
        return p_getitem.call2(self, index)

    def __setitem__(self, index, value):
        raise TypeError(
            "a traced array does not support item assignment, since rules may need its old value; build the new array "
            "with fastgrad.numpy.where, concatenate, stack or array instead"
        )

    @property
    def shape(self):
        """tuple of int : the shape of the value, not traced."""
        return concrete_array(self).shape

    @property
    def ndim(self):
        """int : the number of axes of the value, not traced."""
        return concrete_array(self).ndim

    @property
    def size(self):
        """int : the number of elements of the value, not traced."""
        return concrete_array(self).size

    @property
    def dtype(self):
        """dtype : the dtype of the value, not traced."""
        return concrete_array(self).dtype

    def __len__(self):
        return len(self._value)

    def __iter__(self):
        if concrete_array(self).ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __eq__(self, other):
        return p_equal.call2(self, other)

    def __ne__(self, other):
        return p_not_equal.call2(self, other)

    def __lt__(self, other):
        return p_less.call2(self, other)

    def __le__(self, other):
        return p_less_equal.call2(self, other)

    def __gt__(self, other):
        return p_greater.call2(self, other)

    def __ge__(self, other):
        return p_greater_equal.call2(self, other)

    def __hash__(self):
        return id(self)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        """Trace a NumPy ufunc called on a box, so that ``numpy.sin(box)`` is ``fastgrad.numpy.sin(box)``."""
        cdef Primitive fun = primitive_serving(ufunc)
        if fun is None or method != "__call__" or has_foreign(inputs):
            return NotImplemented
        out = kwargs.pop("out", None)
        if out is not None and not (len(out) == 1 and out[0] is inputs[0]):
            return NotImplemented
        # `array += box` arrives with the array as input and output: Python binds the name to what is returned here,
        # the traced sum; the array itself stays as it is, for a traced value cannot be stored in it.
        return fun.call_tuple(inputs, kwargs or None, False)


cdef void serve_ufunc(Primitive fun):
    # The first primitive made of a ufunc serves it, a later one only where that has no rules.
    cdef Primitive serving = primitive_serving(fun.fun)
    if serving is None or serving.vjps is None:
        (ufunc_primitives if fun.array_like else users_ufunc_primitives)[fun.fun] = fun


cdef Primitive primitive_serving(object ufunc):
    cdef Primitive fun = ufunc_primitives.get(ufunc)
    if (fun is None or fun.vjps is None) and users_ufunc_primitives:
        return users_ufunc_primitives.get(ufunc, fun)
    return fun


cdef bint is_foreign(object x):
    # Does x bring an __array_ufunc__ of its own, which NumPy would ask before it calls the ufunc?
    cdef PyTypeObject *t = Py_TYPE(x)
    if not asks_foreign or t is &PyArray_Type or t is &PyFloat_Type or t is &PyLong_Type or is_box(x):
        return False
    ours = getattr(type(x), "__array_ufunc__", None)
    return ours is not None and ours is not np.ndarray.__array_ufunc__


cdef bint has_foreign(tuple args):
    for x in args:
        if is_foreign(x):
            return True
    return False


# Whether ufuncs ask traced arrays, and foreign types beside them, by __array_ufunc__: as with autograd 1.9, not 1.8.
cdef bint asks_foreign = True

cdef bint may_ask_foreign = True


# One choice at a time, so that the last one sees all that is registered.
cdef object choosing = threading.RLock()


cdef object own_array_ufunc = ArrayBox.__dict__["__array_ufunc__"]


def allow_ufunc_dispatch(bint allowed):
    """Let ufuncs ask traced arrays by ``__array_ufunc__``, or leave all to operators and ``__array_priority__``."""
    global may_ask_foreign
    may_ask_foreign = allowed
    choose_ufunc_dispatch()


cdef int choose_ufunc_dispatch() except -1:
    # A subclass of ndarray with an __array_ufunc__ of its own (PennyLane's tensor) that is traced takes any ufunc for
    # NumPy's to do, and NumPy's does none with a box that has an __array_ufunc__. Without one, `tensor * box` is the
    # box's to do, by its priority. So while such a type is registered, boxes have none.
    global asks_foreign
    with choosing:
        asks_foreign = may_ask_foreign and not any(overrides_ufuncs(kind) for kind in list(box_makers))
        if asks_foreign and "__array_ufunc__" not in ArrayBox.__dict__:
            ArrayBox.__array_ufunc__ = own_array_ufunc
        elif not asks_foreign and ArrayBox.__dict__.get("__array_ufunc__") is own_array_ufunc:
            del ArrayBox.__array_ufunc__
    return 0


cdef bint overrides_ufuncs(object kind):
    if not (isinstance(kind, type) and issubclass(kind, np.ndarray)):
        return False
    return kind.__array_ufunc__ is not np.ndarray.__array_ufunc__
