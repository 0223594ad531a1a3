# Functions that operators return, such as grad(f): they are called without a Python frame of their own, and pickled as
# the operator and its arguments.


cdef class DerivedFunction:
    """A function that an operator returned, with the operator and the arguments that it was made with.

    It has the attributes of ``call``, binds as a method as functions do, and is pickled as the operator and its
    arguments.

    Parameters
    ----------
    call : callable
        The function that is called.
    maker : callable
        The operator.
    args : tuple
        Positional arguments of the operator; the first is the function that it was applied to.
    kwargs : dict, optional
        Keyword arguments of the operator.
    unary : callable, optional
        A faster way for one positional argument: ``unary(args[0], x)`` must be the same as ``call(x)``.
    """

    def __cinit__(self):
        self.vectorcall = <void *>derived_vectorcall

    def __init__(self, call, maker, tuple args, dict kwargs=None, unary=None):
        self.function = call
        self.maker = maker
        self.args = args
        self.kwargs = kwargs
        self.unary = unary

    def __call__(self, *args, **kwargs):
        return PyObject_Call(self.function, args, kwargs)

    def __get__(self, instance, owner):
        return self if instance is None else PyMethod_New(self, instance)

    def __getattr__(self, name):
        return getattr(self.function, name)

    @property
    def __doc__(self):
        return self.function.__doc__

    @__doc__.setter
    def __doc__(self, text):
        self.function.__doc__ = text

    def __repr__(self):
        return f"<function {self.__name__}>"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        # After `@grad` the function's name in its module refers to this object and no longer to the function, so this
        # object is pickled by that name. Not in __main__, which is another module in another process: operator and
        # arguments are pickled then, and some picklers send functions of __main__ by value.
        origin = inspect.unwrap(self)
        module, name = getattr(origin, "__module__", None), getattr(origin, "__qualname__", "")
        if module in sys.modules and module != "__main__" and find_function(module, name) is self:
            return find_function, (module, name)
        return make_function, (self.maker, self.args, self.kwargs), vars(self) or None


def find_function(str module, str name):
    """Return the object of a qualified name in a module, None if there is no such name."""
    value = importlib.import_module(module)
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


def make_function(maker, tuple args, kwargs):
    """Return the function that an operator makes of its arguments; called when such a function is unpickled."""
    return maker(*args, **(kwargs or {}))


cdef object derived_vectorcall(object callable_, PyObject **args, size_t nargsf, PyObject *kwnames):
    # CPython calls this for a call of a DerivedFunction.
    cdef DerivedFunction self = <DerivedFunction>callable_
    cdef PyObject *stack[3]
    if kwnames == NULL and PyVectorcall_NARGS(nargsf) == 1 and self.unary is not None:
        stack[0] = NULL
        stack[1] = PyTuple_GET_ITEM_(<PyObject *>self.args, 0)
        stack[2] = args[0]
        return PyObject_Vectorcall(self.unary, stack + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL)
    return PyObject_Vectorcall(self.function, args, nargsf, kwnames)
