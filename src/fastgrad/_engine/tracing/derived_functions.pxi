# Functions that operators make of functions: called without a Python frame of their own, pickled by how they were made.


cdef class DerivedFunction:
    """What an operator on functions gives: a function that knows how it was made.

    It has the attributes of ``call``, binds as a method as functions do, and pickles as the operator and what that was
    given.

    Parameters
    ----------
    call : callable
        What it does.
    maker : callable
        The operator.
    args : tuple
        Its arguments, the first of them the function it was given.
    kwargs : dict, optional
        Its keywords.
    unary : callable, optional
        ``unary(args[0], x)`` does what ``call(x)`` does.
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
        # A function that was decorated stands under the name of what it was made of, which no longer does. Of __main__
        # another process may know nothing, and what it needs is then sent along by those picklers that can.
        origin = inspect.unwrap(self)
        module, name = getattr(origin, "__module__", None), getattr(origin, "__qualname__", "")
        if module in sys.modules and module != "__main__" and find_function(module, name) is self:
            return find_function, (module, name)
        return make_function, (self.maker, self.args, self.kwargs), vars(self) or None


def find_function(str module, str name):
    """Find what a decorated function became by its name, None where there is no such name."""
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def make_function(maker, tuple args, kwargs):
    """Make a function again as it was made before it was pickled."""
    return maker(*args, **(kwargs or {}))


cdef object derived_vectorcall(object callable_, PyObject **args, size_t nargsf, PyObject *kwnames):
    cdef DerivedFunction self = <DerivedFunction>callable_
    cdef PyObject *stack[3]
    if kwnames == NULL and PyVectorcall_NARGS(nargsf) == 1 and self.unary is not None:
        stack[0] = NULL
        stack[1] = PyTuple_GET_ITEM_(<PyObject *>self.args, 0)
        stack[2] = args[0]
        return PyObject_Vectorcall(self.unary, stack + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL)
    return PyObject_Vectorcall(self.function, args, nargsf, kwnames)
