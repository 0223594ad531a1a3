# The box of arrays: its operators, and how NumPy's own ufuncs are traced.

# NumPy's ufunc -> the primitive that is called when the ufunc is called on a box. Primitives that users make of a ufunc
# are in the second table, which does not keep them alive.
ufunc_primitives = {}
cdef object users_ufunc_primitives = weakref.WeakValueDictionary()


cdef class ArrayBox(Box):
    """A traced array or scalar.

    It has the operators of a NumPy array; `fastgrad.numpy.numpy_boxes` adds the other methods and attributes.
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
        # `array += box` comes with the array as first input and as output. Python binds the name to the traced sum
        # that is returned here, and the array is left unchanged, since it cannot store a traced value.
        return fun.call_tuple(inputs, kwargs or None, False)


cdef void serve_ufunc(Primitive fun):
    # The first primitive made of a ufunc is called for it; a later one replaces it only if the first has no rules.
    cdef Primitive serving = primitive_serving(fun.fun)
    if serving is None or serving.vjps is None:
        (ufunc_primitives if fun.array_like else users_ufunc_primitives)[fun.fun] = fun


cdef Primitive primitive_serving(object ufunc):
    # Return the primitive that is called for a ufunc: a user's if fastgrad has none with rules; None if there is none.
    cdef Primitive fun = ufunc_primitives.get(ufunc)
    if (fun is None or fun.vjps is None) and users_ufunc_primitives:
        return users_ufunc_primitives.get(ufunc, fun)
    return fun


cdef bint is_foreign(object x):
    # Return whether x defines an __array_ufunc__ of its own, which NumPy calls in place of the ufunc.
    cdef PyTypeObject *t = Py_TYPE(x)
    if not asks_foreign or t is &PyArray_Type or t is &PyFloat_Type or t is &PyLong_Type or is_box(x):
        return False
    method = getattr(type(x), "__array_ufunc__", None)
    return method is not None and method is not np.ndarray.__array_ufunc__


cdef bint has_foreign(tuple args):
    for x in args:
        if is_foreign(x):
            return True
    return False


# Whether ufuncs are dispatched by __array_ufunc__ on boxes and foreign types, as in autograd 1.9 and not in 1.8.
cdef bint asks_foreign = True

# Whether allow_ufunc_dispatch permits that.
cdef bint may_ask_foreign = True


# Held during choose_ufunc_dispatch, so that the last of several threads sees all types that are registered.
cdef object choosing = threading.RLock()


cdef object own_array_ufunc = ArrayBox.__dict__["__array_ufunc__"]


def allow_ufunc_dispatch(bint allowed):
    """Set whether NumPy's ufuncs are dispatched to boxes by ``__array_ufunc__``.

    Parameters
    ----------
    allowed : bool
        If False, boxes have no ``__array_ufunc__``: only their operators are traced, by ``__array_priority__``.
    """
    global may_ask_foreign
    may_ask_foreign = allowed
    choose_ufunc_dispatch()


cdef int choose_ufunc_dispatch() except -1:
    # PennyLane's tensor forwards every ufunc to ndarray, whose __array_ufunc__ refuses operands that define one. While
    # such a subclass is registered, boxes define none, so that `tensor * box` falls back to __array_priority__.
    global asks_foreign
    with choosing:
        asks_foreign = may_ask_foreign and not any(overrides_ufuncs(value_type) for value_type in list(box_makers))
        if asks_foreign and "__array_ufunc__" not in ArrayBox.__dict__:
            ArrayBox.__array_ufunc__ = own_array_ufunc
        elif not asks_foreign and ArrayBox.__dict__.get("__array_ufunc__") is own_array_ufunc:
            del ArrayBox.__array_ufunc__
    return 0


cdef bint overrides_ufuncs(object value_type):
    # Return whether a registered type is a subclass of ndarray with an __array_ufunc__ of its own.
    if not (isinstance(value_type, type) and issubclass(value_type, np.ndarray)):
        return False
    return value_type.__array_ufunc__ is not np.ndarray.__array_ufunc__
