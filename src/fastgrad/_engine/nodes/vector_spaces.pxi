# Vector spaces of values, and the registry of the types that have one.

cdef dict space_makers = {}


cdef class VSpace:
    """The vector space of a value, which its cotangents and tangents belong to.

    To differentiate with respect to values of a new type, register a subclass for that type. The methods with an
    underscore do the arithmetic on concrete values; `fastgrad.core` wraps them as the primitives ``add``, ``mut_add``,
    ``scalar_mul``, ``inner_prod`` and ``covector``.

    Parameters
    ----------
    value : object
        A value of the space.
    """

    # The registry: type of a value -> callable (value) that returns its space. Libraries write to it.
    mappings = space_makers
    iscomplex = False

    def __init__(self, value):
        pass

    def zeros(self):
        """Return the zero of the space."""
        raise NotImplementedError(f"{type(self).__name__} must define zeros")

    def ones(self):
        """Return the value whose coordinates are all one, the seed of `grad`."""
        raise NotImplementedError(f"{type(self).__name__} must define ones")

    def standard_basis(self):
        """Return an iterator over the vectors of the standard basis; in a complex space also those times 1j."""
        raise NotImplementedError(f"{type(self).__name__} must define standard_basis")

    def randn(self):
        """Return a value with normally distributed random coordinates, a direction for `check_grads`."""
        raise NotImplementedError(f"{type(self).__name__} must define randn")

    def _add(self, x, y):
        return x + y

    def _mut_add(self, x, y):
        x += y
        return x

    def _scalar_mul(self, x, a):
        return x * a

    def _inner_prod(self, x, y):
        raise NotImplementedError(f"{type(self).__name__} must define _inner_prod")

    def _covector(self, x):
        return x

    def __eq__(self, other):
        return type(self) is type(other) and getattr(self, "__dict__", None) == getattr(other, "__dict__", None)

    __hash__ = None

    def __repr__(self):
        return f"{type(self).__name__}_{getattr(self, '__dict__', {})}"

    @classmethod
    def register(cls, value_type, vspace_maker=None):
        """Register the vector space of values of a type.

        Parameters
        ----------
        value_type : type
            The type; its subclasses are not included.
        vspace_maker : callable, optional
            Value -> its space; this class by default.
        """
        VSpace.mappings[value_type] = cls if vspace_maker is None else vspace_maker


cpdef object vspace(object value):
    """Return the vector space of a value.

    Parameters
    ----------
    value : object
        The value, boxed or not.

    Returns
    -------
    VSpace
        Its space, by the registry `VSpace.mappings`.

    Raises
    ------
    TypeError
        If no vector space is registered for its type.
    """
    cdef PyObject *maker = PyDict_GetItemWithError(space_makers, type(value))
    if maker == <PyObject *>own_array_vspace and Py_TYPE(value) is &PyArray_Type:
        return space_of_array(value)
    if maker != NULL:
        return (<object>maker)(value)
    if is_box(value):
        return vspace(unbox_all(value))
    raise TypeError(f"Can't find vector space for value {value!r} of type {type(value)}; {hooks.advice(value)}")


cdef class ArrayVSpace(VSpace):
    """The space of real arrays of one shape and dtype; scalars have shape ``()``.

    Parameters
    ----------
    value : array_like
        An array or scalar of the space.
    """

    def __init__(self, value):
        cdef PyTypeObject *t = Py_TYPE(value)
        if t is &PyDoubleArrType_Type or t is &PyFloat_Type:
            self.shape, self.dtype, self.layout = (), double_dtype, "C"
        else:
            set_space(self, value if t is &PyArray_Type else np.asarray(value))

    @property
    def size(self):
        """int : number of real coordinates."""
        cdef Py_ssize_t size = 1
        for n in self.shape:
            size *= n
        return size

    @property
    def ndim(self):
        """int : number of axes."""
        return len(self.shape)

    def zeros(self):
        return np.zeros(self.shape, self.dtype)

    def ones(self):
        return np.ones(self.shape, self.dtype)

    def standard_basis(self):
        for index in np.ndindex(*self.shape):
            vector = np.zeros(self.shape, self.dtype)
            vector[index] = 1
            yield vector

    def randn(self):
        return np.array(np.random.randn(*self.shape)).astype(self.dtype)

    def _inner_prod(self, x, y):
        return np.dot(np.ravel(x), np.ravel(y))

    def __eq__(self, other):
        return (type(self) is type(other) and self.shape == other.shape and self.dtype == other.dtype
                and getattr(self, "__dict__", None) == getattr(other, "__dict__", None))

    __hash__ = None

    def __reduce__(self):
        return space_of, (type(self), self.shape, self.dtype, "F" if self.layout == "F" else "C")

    def __repr__(self):
        return f"{type(self).__name__}(shape={self.shape}, dtype={self.dtype})"


def space_of(space_type, shape, dtype, order):
    """Return the space of arrays of a shape, dtype and memory order; called when a space is unpickled."""
    return space_type(np.empty(shape, dtype, order))


cdef class ComplexArrayVSpace(ArrayVSpace):
    """The space of complex arrays as a vector space over the reals, with two coordinates for each element.

    Parameters
    ----------
    value : array_like
        An array or scalar of the space.
    """

    iscomplex = True

    @property
    def size(self):
        """int : number of real coordinates, twice the number of elements."""
        return 2 * ArrayVSpace.size.__get__(self)

    def ones(self):
        return np.ones(self.shape, self.dtype) + 1j * np.ones(self.shape, self.dtype)

    def standard_basis(self):
        for index in np.ndindex(*self.shape):
            for unit in (1, 1j):
                vector = np.zeros(self.shape, self.dtype)
                vector[index] = unit
                yield vector

    def randn(self):
        real, imag = np.random.randn(*self.shape), np.random.randn(*self.shape)
        return np.array(real + 1j * imag).astype(self.dtype)

    def _inner_prod(self, x, y):
        return np.real(np.vdot(x, y))

    def _covector(self, x):
        return np.conj(x)


cdef object space_of_array(object array):
    # Return the same as array_vspace for an ndarray, without calls of Python code.
    cdef ArrayVSpace space
    if cnp.PyTypeNum_ISCOMPLEX(cnp.PyArray_TYPE(<ndarray>array)):
        space = ComplexArrayVSpace.__new__(ComplexArrayVSpace)
    else:
        space = ArrayVSpace.__new__(ArrayVSpace)
    set_space(space, array)
    return space


cdef int set_space(ArrayVSpace space, object array) except -1:
    # Set shape, dtype and memory layout of a space to those of an array.
    space.shape = cnp.PyArray_IntTupleFromIntp(cnp.PyArray_NDIM(<ndarray>array), cnp.PyArray_DIMS(<ndarray>array))
    space.dtype = <object>cnp.PyArray_DESCR(array)
    if cnp.PyArray_IS_C_CONTIGUOUS(<ndarray>array):
        space.layout = "C"
    else:
        space.layout = "F" if cnp.PyArray_IS_F_CONTIGUOUS(<ndarray>array) else "K"
    return 0


cdef object double_dtype = np.dtype(np.float64)


def array_vspace(value):
    """Return the vector space of an array or scalar, real or complex by its dtype."""
    return ComplexArrayVSpace(value) if np.iscomplexobj(value) else ArrayVSpace(value)


# To see in `vspace` whether users replaced the entry of ndarray in the registry.
cdef object own_array_vspace = array_vspace


cdef class SparseObject:
    """A cotangent with few entries that are not zero.

    Parameters
    ----------
    vs : VSpace
        The space that it belongs to.
    mut_add : callable
        A function that adds the cotangent to an array in place and returns the array.
    """

    def __init__(self, vs, mut_add):
        self.vs = vs
        self.mut_add = mut_add


cdef inline bint has_space(object x, bint containers):
    # Return whether a vector space is registered for the type of x; containers count only if `containers`.
    return type(x) in space_makers and (containers or type(x) not in (tuple, list, dict))


cdef object zeros_of(object value):
    # Return the zero of a vector space, or of the space of a value.
    return value.zeros() if isinstance(value, VSpace) else vspace(value).zeros()
