# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, binding=True
"""The compiled tracer: everything that one call of a primitive touches.

Boxes, primitives, nodes, trace levels and vector spaces live in one compilation unit because a call crosses all of
them; crossing modules costs more than the call. The backward pass is in `_backward.pyx`.
"""

import functools
import warnings

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject, PyTypeObject, Py_TYPE, PyObject_Call
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.float cimport DBL_MIN
from libc.math cimport fabs, isfinite
from libc.stdlib cimport realloc

cnp.import_array()

cdef extern from "Python.h":
    ctypedef object (*vectorcallfunc)(object, PyObject **, size_t, PyObject *)
    const size_t PY_VECTORCALL_ARGUMENTS_OFFSET
    object PyObject_Vectorcall(object, PyObject **, size_t, PyObject *)
    Py_ssize_t PyVectorcall_NARGS(size_t)
    object PyMethod_New(object, object)
    PyObject *PyDict_GetItemWithError(object, object) except? NULL
    PyObject *PyTuple_GET_ITEM_ "PyTuple_GET_ITEM"(object, Py_ssize_t)
    Py_ssize_t PyTuple_GET_SIZE_ "PyTuple_GET_SIZE"(object)
    int PyType_IsSubtype(PyTypeObject *, PyTypeObject *)
    int PyLong_CheckExact(object)
    long PyLong_AsLongAndOverflow(object, int *) except? -1
    double PyFloat_AS_DOUBLE(object)
    PyTypeObject PyFloat_Type
    PyTypeObject PyComplex_Type
    PyTypeObject PyLong_Type
    PyTypeObject PyList_Type
    PyTypeObject PyTuple_Type

cdef extern from "numpy/arrayobject.h":
    PyTypeObject PyArray_Type
    PyTypeObject PyDoubleArrType_Type
    PyTypeObject PyFloatArrType_Type
    PyTypeObject PyCDoubleArrType_Type

cdef extern from *:
    """
    #include <numpy/arrayscalars.h>
    static inline double fastgrad_obval(PyObject *o) { return ((PyDoubleScalarObject *)o)->obval; }
    static inline PyObject *fastgrad_float64(double v) {
        PyObject *o = PyDoubleArrType_Type.tp_alloc(&PyDoubleArrType_Type, 0);
        if (o != NULL) ((PyDoubleScalarObject *)o)->obval = v;
        return o;
    }
    static inline void fastgrad_enable_vectorcall(PyObject *type, Py_ssize_t offset) {
        PyTypeObject *t = (PyTypeObject *)type;
        t->tp_vectorcall_offset = offset;
        t->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
        PyType_Modified(t);
    }
    static inline void fastgrad_make_mutable(PyObject *type) {
        ((PyTypeObject *)type)->tp_flags &= ~Py_TPFLAGS_IMMUTABLETYPE;
        PyType_Modified((PyTypeObject *)type);
    }
    """
    double fastgrad_obval(object)
    void fastgrad_enable_vectorcall(object, Py_ssize_t)
    void fastgrad_make_mutable(object)
    object fastgrad_float64(double)

cdef enum:
    RULE_CALL      # rule(g, ans, *args, **kwargs)
    RULE_DERIV     # g * rule(ans, *args)
    RULE_KEPT      # g * the one thing it keeps: the answer or an argument
    RULE_IDENTITY  # g
    RULE_NEGATE    # -g
    RULE_ZERO      # the zero of the argument's (VJP) or the answer's (JVP) vector space
    RULE_SAME      # JVP of a linear argument: the primitive itself, called on the tangent

cdef enum:
    FORM_ROOT      # no parents
    FORM_UNARY     # direct rule, one positional argument: arg0, parent0
    FORM_BINARY    # direct rules, two positional arguments: arg0, arg1; parent0, parent1 (None where not traced)
    FORM_CALL      # direct rules, any call: arg0 = (args, kwargs, argnums), parent0 = tuple of parents
    FORM_WHOLE     # one direct rule for all arguments: arg0, parent0 as for FORM_CALL
    FORM_STAGED    # autograd's public form: arg0 = a pullback per parent, parent0 = tuple of parents
    FORM_STAGED_WHOLE  # arg0 = one pullback for all parents
    FORM_RELEASED  # its pullback has run in a pass that uses the graph once

# The same, for the Python modules that make rules.
rule_kinds = {"call": RULE_CALL, "deriv": RULE_DERIV, "kept": RULE_KEPT, "identity": RULE_IDENTITY, "negate": RULE_NEGATE,
              "zero": RULE_ZERO, "same": RULE_SAME}
forms = {"direct": FORM_CALL, "whole": FORM_WHOLE, "staged": FORM_STAGED, "staged whole": FORM_STAGED_WHOLE}

cdef enum:
    LANE_NONE
    LANE_ADD
    LANE_SUBTRACT
    LANE_MULTIPLY
    LANE_DIVIDE


# --------------------------------------------------------------------------------------------------------- trace levels

# active[i] says whether level i belongs to a running trace; top is the highest such level, -1 if there is none. Both
# are shared by all threads and change only inside the two functions below, which run no Python code: the GIL keeps
# them whole. A new level is above every active one, so a worker thread started inside a traced function cannot
# mistake its own trace for the outer one.
cdef char *active = NULL
cdef Py_ssize_t active_size = 0
cdef Py_ssize_t top = -1


cdef Py_ssize_t enter_level() except -1:
    global active, active_size, top
    cdef char *grown
    if top + 1 >= active_size:
        grown = <char *>realloc(active, 2 * active_size + 64)
        if grown == NULL:
            raise MemoryError("no memory for another trace level")
        active = grown
        active_size = 2 * active_size + 64
    top += 1
    active[top] = 1
    return top


cdef void leave_level(Py_ssize_t level) noexcept:
    global top
    active[level] = 0
    while top >= 0 and not active[top]:
        top -= 1


cdef class _NewTrace:
    cdef Py_ssize_t level

    def __cinit__(self):
        self.level = -1

    def __enter__(self):
        self.level = enter_level()
        return self.level

    def __exit__(self, *exc):
        leave_level(self.level)


class TraceStack:
    """The trace levels now active in this process."""

    @property
    def top(self):
        """int : the highest active level, -1 outside every trace."""
        return top

    def new_trace(self):
        """Give a context manager that opens a trace level and returns its number."""
        return _NewTrace()


trace_stack = TraceStack()


def trace(start_node, fun, x):
    """Call ``fun`` on a box of ``x`` in a new trace.

    Parameters
    ----------
    start_node : Node
        The root: the kind of node that every primitive call on the box is recorded in.
    fun : callable
        Function of one argument.
    x : object
        Value of a type registered with `Box`.

    Returns
    -------
    value : object
        What ``fun`` returned, unboxed.
    node : Node or None
        The node of that value; None, with a warning, where the value does not depend on ``x``.

    Raises
    ------
    TypeError
        If there is no box type for ``x``.
    """
    cdef Py_ssize_t level = enter_level()
    try:
        end = fun(new_box(x, level, start_node))
        if is_box(end) and (<Box>end)._trace == level:
            return (<Box>end)._value, (<Box>end)._node
        warnings.warn("Output seems independent of input.", stacklevel=2)
        return end, None
    finally:
        leave_level(level)


# ---------------------------------------------------------------------------------------------------------------- boxes

cdef dict box_makers = {}
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

    # The live registry: type of a value -> callable (value, trace, node) that boxes it. Libraries write to it.
    type_mappings = box_makers
    types = box_types
    __array_priority__ = 90.0

    def __init__(self, value, Py_ssize_t trace, node):
        self._value = value
        self._trace = trace
        self._node = node

    def __bool__(self):
        return bool(self._value)

    def __str__(self):
        return f"Autograd {type(self).__name__} with value {self._value!s}"

    def __reduce_ex__(self, protocol):
        raise TypeError(
            f"a traced value ({type(self).__name__}) cannot be pickled or copied out of its trace; "
            "take the plain value with fastgrad.tracer.getval first"
        )

    def __copy__(self):
        return copy_box(self, False)

    def __deepcopy__(self, memo):
        return copy_box(self, True)

    @classmethod
    def register(cls, value_type):
        """Box values of ``value_type`` (exactly that type) in this class."""
        Box.types.add(cls)
        Box.type_mappings[value_type] = cls
        Box.type_mappings[cls] = cls




cdef object copy_box(Box box, bint deep):
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


cdef inline object peel(object x):
    while is_box(x):
        x = (<Box>x)._value
    return x


def getval(x):
    """Take all boxes off ``x`` and return the plain value."""
    return peel(x)


cpdef object new_box(object value, Py_ssize_t trace, object node):
    """Box ``value`` at level ``trace`` with ``node`` as its record.

    Raises
    ------
    TypeError
        If no box is registered for the type of ``value``.
    """
    cdef PyObject *maker = PyDict_GetItemWithError(box_makers, type(value))
    cdef ArrayBox box
    if maker == <PyObject *>ArrayBox:
        box = ArrayBox.__new__(ArrayBox)
        box._value = value
        box._trace = trace
        box._node = node
        return box
    if maker == NULL:
        raise TypeError(
            f"Can't differentiate w.r.t. type {type(value)}: no box is registered for it. Values that are traced are "
            "floats, complex numbers, NumPy arrays of them, and lists, tuples and dicts of those"
        )
    return (<object>maker)(value, trace, node)


cdef object box_answer(object ans, Py_ssize_t trace, object node, Primitive fun):
    try:
        return new_box(ans, trace, node)
    except TypeError as error:
        if type(ans) in box_makers:
            raise
        raise TypeError(f"{fun.__name__} of a traced value gave a {type(ans)}, which can't be traced: {error}") from None


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
    """
    boxes, trace, node_type = [], -1, None
    for argnum, arg in enumerate(args):
        if is_box(arg):
            if (<Box>arg)._trace > trace:
                boxes, trace = [], (<Box>arg)._trace
            if (<Box>arg)._trace == trace:
                boxes.append((argnum, arg))
                node_type = type((<Box>arg)._node)
    return boxes, trace, node_type


# The primitives behind ArrayBox's operators, set once by bind_operators.
cdef Primitive p_add, p_subtract, p_multiply, p_divide, p_power, p_mod, p_floor_divide, p_matmul
cdef Primitive p_negative, p_positive, p_absolute, p_getitem
cdef Primitive p_equal, p_not_equal, p_less, p_less_equal, p_greater, p_greater_equal
cdef dict ufunc_primitives = {}


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

    def __len__(self):
        return len(self._value)

    def __iter__(self):
        if cnp.PyArray_NDIM(np.asarray(peel(self))) == 0:
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
        cdef Primitive fun = ufunc_primitives.get(ufunc)
        if fun is None or method != "__call__" or has_foreign(inputs):
            return NotImplemented
        out = kwargs.pop("out", None)
        if out is not None and not (len(out) == 1 and out[0] is inputs[0]):
            return NotImplemented
        # `array += box` arrives with the array as input and output: Python binds the name to what is returned here,
        # the traced sum; the array itself stays as it is, for a traced value cannot be stored in it.
        return fun.call_tuple(inputs, kwargs or None, False)


def bind_operators(namespace, getitem):
    """Set the primitives that ArrayBox's operators call, and those that serve NumPy's own ufuncs.

    Parameters
    ----------
    namespace : dict
        Names to primitives; called once, by `fastgrad.numpy.numpy_boxes`.
    getitem : Primitive
        The primitive behind indexing.
    """
    global p_add, p_subtract, p_multiply, p_divide, p_power, p_mod, p_floor_divide, p_matmul
    global p_negative, p_positive, p_absolute, p_getitem
    global p_equal, p_not_equal, p_less, p_less_equal, p_greater, p_greater_equal
    p_add, p_subtract = namespace["add"], namespace["subtract"]
    p_multiply, p_divide = namespace["multiply"], namespace["divide"]
    p_power, p_mod = namespace["power"], namespace["mod"]
    p_floor_divide, p_matmul = namespace["floor_divide"], namespace["matmul"]
    p_negative, p_positive, p_absolute = namespace["negative"], namespace["positive"], namespace["absolute"]
    p_equal, p_not_equal = namespace["equal"], namespace["not_equal"]
    p_less, p_less_equal = namespace["less"], namespace["less_equal"]
    p_greater, p_greater_equal = namespace["greater"], namespace["greater_equal"]
    p_getitem = getitem
    p_add.lane, p_subtract.lane = LANE_ADD, LANE_SUBTRACT
    p_multiply.lane, p_divide.lane = LANE_MULTIPLY, LANE_DIVIDE
    for fun in namespace.values():
        if isinstance(fun, Primitive) and (<Primitive>fun).is_ufunc:
            ufunc_primitives[(<Primitive>fun).fun] = fun


cdef bint is_foreign(object x):
    # Does x bring an __array_ufunc__ of its own, which NumPy would ask before it calls the ufunc?
    cdef PyTypeObject *t = Py_TYPE(x)
    if t is &PyArray_Type or t is &PyFloat_Type or t is &PyLong_Type or is_box(x):
        return False
    ours = getattr(type(x), "__array_ufunc__", None)
    return ours is not None and ours is not np.ndarray.__array_ufunc__


cdef bint has_foreign(tuple args):
    for x in args:
        if is_foreign(x):
            return True
    return False


# ---------------------------------------------------------------------------------------------------------- scalar lane

cdef inline int as_double(object x, double *value):
    # 2: a float64, 1: a Python number that NumPy turns into that very double, 0: anything else.
    cdef PyTypeObject *t = Py_TYPE(x)
    cdef int overflow
    cdef long i
    if t is &PyDoubleArrType_Type:
        value[0] = fastgrad_obval(x)
        return 2
    if t is &PyFloat_Type:
        value[0] = PyFloat_AS_DOUBLE(x)
        return 1
    if t is &PyLong_Type:
        i = PyLong_AsLongAndOverflow(x, &overflow)
        if overflow or i > 1 << 53 or i < -(1 << 53):
            return 0
        value[0] = <double>i
        return 1
    return 0


@cython.cdivision(True)
cdef inline bint scalar_op(int lane, double x, double y, double *r):
    # IEEE-exact, as NumPy's loops are. False where a floating-point flag may have been raised, so that NumPy itself
    # computes it and np.errstate and the warnings are NumPy's.
    if lane == LANE_ADD:
        r[0] = x + y
    elif lane == LANE_SUBTRACT:
        r[0] = x - y
    else:
        r[0] = x * y if lane == LANE_MULTIPLY else x / y
        if fabs(r[0]) < DBL_MIN and x != 0 and y != 0:
            return False
    return isfinite(r[0])


cdef inline object binary_op(int lane, object fun, object x, object y):
    cdef double a, b, r
    cdef PyObject *args[3]
    if lane != LANE_NONE and as_double(x, &a) and as_double(y, &b) and scalar_op(lane, a, b, &r):
        return fastgrad_float64(r)
    args[0] = NULL
    args[1] = <PyObject *>x
    args[2] = <PyObject *>y
    return PyObject_Vectorcall(fun, args + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL)


cdef inline object multiply_values(object x, object y):
    # x * y as Python has it, with two float64 multiplied here.
    cdef double r
    if Py_TYPE(x) is &PyDoubleArrType_Type and Py_TYPE(y) is &PyDoubleArrType_Type:
        if scalar_op(LANE_MULTIPLY, fastgrad_obval(x), fastgrad_obval(y), &r):
            return fastgrad_float64(r)
    return x * y


cdef inline bint is_plain(object x):
    # A value whose vector space is that of arrays for certain, boxed or not, so that `+` adds it.
    cdef PyTypeObject *t
    while Py_TYPE(x) is <PyTypeObject *>ArrayBox:
        x = (<Box>x)._value
    t = Py_TYPE(x)
    return (t is &PyArray_Type or t is &PyDoubleArrType_Type or t is &PyFloat_Type or t is &PyFloatArrType_Type
            or t is &PyCDoubleArrType_Type or t is &PyComplex_Type)


cdef object add_values(object x, object y):
    """x + y in their vector space, as a new value."""
    cdef double r
    if Py_TYPE(x) is &PyDoubleArrType_Type and Py_TYPE(y) is &PyDoubleArrType_Type:
        if scalar_op(LANE_ADD, fastgrad_obval(x), fastgrad_obval(y), &r):
            return fastgrad_float64(r)
    if is_plain(x) and is_plain(y):
        return x + y
    return vspace(y).add(x, y)


# ----------------------------------------------------------------------------------------------------------- primitives

cdef class Rule:
    """One argument's rule: made by `fastgrad.core`, read by the nodes."""

    def __init__(self, int kind, fun, unsigned int keeps, unsigned int spaces, Py_ssize_t n_args=0):
        self.kind = kind
        self.fun = fun
        self.n_args = n_args
        self.keeps = keeps
        self.spaces = spaces


cdef class Rules:
    """The rules of one primitive in one mode."""

    def __init__(self, fun, int form, tuple by_argnum=(), whole=None, bint broadcasts=False):
        self.fun = fun
        self.form = form
        self.by_argnum = by_argnum
        self.whole = whole
        self.broadcasts = broadcasts

    cdef Rule rule(self, Py_ssize_t argnum, str mode):
        cdef PyObject *rule = NULL
        if argnum < PyTuple_GET_SIZE_(self.by_argnum):
            rule = PyTuple_GET_ITEM_(self.by_argnum, argnum)
        if rule == NULL or rule == <PyObject *>None:
            raise missing_rule(self.fun, mode, argnum)
        return <Rule>rule


def missing_rule(fun, str mode, argnum=None):
    """Make the error for a rule that nobody has defined."""
    wrt = "" if argnum is None else f" wrt argnum {argnum}"
    define = "defvjp" if mode == "VJP" else "defjvp"
    hint = f"define it with fastgrad.extend.{define}, or take a plain value first with fastgrad.tracer.getval"
    return NotImplementedError(f"{mode} of {getattr(fun, '__name__', fun)}{wrt} not defined; {hint}")


cdef class Primitive:
    """A function that the tracer intercepts.

    Called on plain values it is the function itself. Called on boxes it unwraps those of the highest trace level,
    calls itself on what is left, and records the call in a node.

    Parameters
    ----------
    fun : callable
        The function on plain values.
    never_traced : bool
        Whether it always unwraps all boxes and is never recorded.
    array_like : bool
        Whether a list or tuple with boxes in it, given as an argument, stands for the array of it.
    """

    def __cinit__(self):
        self.vectorcall = <void *>primitive_vectorcall

    def __init__(self, fun, bint never_traced=False, bint array_like=False):
        self.fun = fun
        self.array_like = array_like
        self.never_traced = never_traced
        self.is_ufunc = isinstance(fun, np.ufunc)
        self.notrace_types = ()
        functools.update_wrapper(self, fun, updated=())
        if not hasattr(fun, "__name__"):
            self.__name__ = type(fun).__name__
        if not hasattr(fun, "__qualname__"):
            self.__qualname__ = self.__name__

    def __call__(self, *args, **kwargs):
        return self.call_tuple(args, kwargs or None, True)

    def __get__(self, instance, owner):
        return self if instance is None else PyMethod_New(self, instance)

    def __repr__(self):
        return f"<primitive {self.__qualname__}>"

    def __reduce__(self):
        return self.__qualname__

    @property
    def vjp_rules(self):
        """Rules or None : how cotangents are pulled back through this primitive."""
        return self.vjps

    @vjp_rules.setter
    def vjp_rules(self, Rules rules):
        self.vjps = rules

    @property
    def jvp_rules(self):
        """Rules or None : how tangents are pushed forward through this primitive."""
        return self.jvps

    @jvp_rules.setter
    def jvp_rules(self, Rules rules):
        self.jvps = rules

    @property
    def notrace(self):
        """tuple of type : the node types in which calls are not recorded."""
        return self.notrace_types

    @notrace.setter
    def notrace(self, tuple node_types):
        self.notrace_types = node_types

    cdef object call1(self, object x):
        cdef Box box
        cdef VJPNode record
        cdef Rules rules
        cdef Rule rule
        cdef PyObject *args[2]
        if Py_TYPE(x) is not <PyTypeObject *>ArrayBox or self.never_traced:
            return self.call_tuple((x,), None, True)
        box = <Box>x
        if PyTuple_GET_SIZE_(self.notrace_types) and type(box._node) in self.notrace_types:
            return self.call1(box._value) if is_box(box._value) else self.fun(box._value)
        rules = self.vjps
        if (Py_TYPE(box._node) is not <PyTypeObject *>VJPNode or rules is None or rules.form != FORM_CALL
                or PyTuple_GET_SIZE_(rules.by_argnum) == 0):
            return self.call_traced((x,), None)
        value = box._value
        if is_box(value):
            ans = self.call1(value)
        else:
            args[0] = NULL
            args[1] = <PyObject *>value
            ans = PyObject_Vectorcall(self.fun, args + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL)
        rule = rules.rule(0, "VJP")
        record = VJPNode.__new__(VJPNode)
        record.form = FORM_UNARY
        record.rules = rules
        record.parent0 = box._node
        if rule.keeps & 1:
            record.ans = ans
        if rule.keeps & 2:
            record.arg0 = value
        elif rule.spaces & 2:
            record.arg0 = vspace(value)
        if rules.broadcasts and not same_space(value, ans):
            record.targets = (vspace(value),)
        return box_answer(ans, box._trace, record, self)

    cdef object call2(self, object x, object y):
        cdef Py_ssize_t level = -1
        cdef bint x_boxed = Py_TYPE(x) is <PyTypeObject *>ArrayBox
        cdef bint y_boxed = Py_TYPE(y) is <PyTypeObject *>ArrayBox
        cdef Rules rules = self.vjps
        cdef Box box
        cdef VJPNode record
        cdef Rule rule
        cdef unsigned int keeps = 0
        if self.never_traced or not (x_boxed or is_simple(x)) or not (y_boxed or is_simple(y)):
            return self.call_tuple((x, y), None, True)
        if x_boxed:
            level = (<Box>x)._trace
        if y_boxed and (<Box>y)._trace >= level:
            if (<Box>y)._trace > level:
                x_boxed = False
            level = (<Box>y)._trace
        elif y_boxed:
            y_boxed = False
        if level < 0:
            return self.call_tuple((x, y), None, True)
        box = <Box>x if x_boxed else <Box>y
        xv = (<Box>x)._value if x_boxed else x
        yv = (<Box>y)._value if y_boxed else y
        if PyTuple_GET_SIZE_(self.notrace_types) and type(box._node) in self.notrace_types:
            return self.call2(xv, yv) if is_box(xv) or is_box(yv) else binary_op(LANE_NONE, self.fun, xv, yv)
        if (Py_TYPE(box._node) is not <PyTypeObject *>VJPNode or rules is None or rules.form != FORM_CALL
                or not rules.broadcasts):
            return self.call_traced((x, y), None)
        if is_box(xv) or is_box(yv):
            ans = self.call2(xv, yv)
        else:
            ans = binary_op(self.lane, self.fun, xv, yv)
        record = VJPNode.__new__(VJPNode)
        record.form = FORM_BINARY
        record.rules = rules
        if x_boxed:
            keeps = rules.rule(0, "VJP").keeps
            record.parent0 = (<Box>x)._node
        if y_boxed:
            keeps |= rules.rule(1, "VJP").keeps
            record.parent1 = (<Box>y)._node
        if keeps & 1:
            record.ans = ans
        if keeps & 2:
            record.arg0 = xv
        if keeps & 4:
            record.arg1 = yv
        x_boxed = x_boxed and not same_space(xv, ans)
        y_boxed = y_boxed and not same_space(yv, ans)
        if x_boxed or y_boxed:
            record.targets = (vspace(xv) if x_boxed else None, vspace(yv) if y_boxed else None)
        return box_answer(ans, level, record, self)

    cdef object call_tuple(self, tuple args, dict kwargs, bint defer):
        # Any call. `defer`: leave it to NumPy to ask a foreign __array_ufunc__ first, as its dispatch rules have it.
        cdef bint boxed = False, boxed_keyword = False
        for x in args:
            if is_box(x):
                boxed = True
            elif self.array_like and type(x) in (list, tuple) and holds_box(x):
                return self.call_tuple(tuple([traced_array(a) for a in args]), kwargs, defer)
        if kwargs is not None:
            for x in kwargs.values():
                if is_box(x):
                    boxed_keyword = True
                    break
        if not (boxed or boxed_keyword):
            return PyObject_Call(self.fun, args, <object>kwargs if kwargs is not None else {})
        if self.never_traced:
            return self.fun(*map(peel_argument, args), **{k: peel(v) for k, v in (kwargs or {}).items()})
        if boxed_keyword:
            from fastgrad._signatures import as_positional
            args, kwargs = as_positional(self, args, kwargs)
            return self.call_tuple(args, kwargs, defer)
        if defer and self.is_ufunc and has_foreign(args):
            return PyObject_Call(self.fun, args, <object>kwargs if kwargs is not None else {})
        return self.call_traced(args, kwargs)

    cdef object call_traced(self, tuple args, dict kwargs):
        # `args` holds a box. Only the highest level is unwrapped here; the call on what is left sees the others.
        cdef Py_ssize_t level = -1, i
        cdef list values, argnums = [], parents = []
        cdef Node node = None
        cdef bint boxed = False
        for x in args:
            if is_box(x) and (<Box>x)._trace > level:
                level = (<Box>x)._trace
        values = list(args)
        for i in range(len(values)):
            x = values[i]
            if is_box(x):
                if (<Box>x)._trace == level:
                    values[i] = (<Box>x)._value
                    node = (<Box>x)._node
                    argnums.append(i)
                    parents.append(node)
                    boxed = boxed or is_box(values[i])
                else:
                    boxed = True
        args = tuple(values)
        if self.notrace_types and type(node) in self.notrace_types:
            return self.call_tuple(args, kwargs, True)
        if boxed:
            ans = self.call_traced(args, kwargs)
        elif len(args) == 2 and kwargs is None:
            ans = binary_op(self.lane, self.fun, args[0], args[1])
        else:
            ans = PyObject_Call(self.fun, args, <object>kwargs if kwargs is not None else {})
        record = node.record(ans, self, args, kwargs if kwargs is not None else {}, tuple(argnums), tuple(parents))
        return box_answer(ans, level, record, self)


def holds_box(x):
    """Say whether there is a box in ``x``, a list or tuple, or in lists and tuples in it."""
    for item in x:
        if is_box(item) or (type(item) in (list, tuple) and holds_box(item)):
            return True
    return False


def peel_argument(x):
    """Unbox a value, or those directly in a list or tuple."""
    if type(x) in (list, tuple):
        return type(x)(peel_argument(item) for item in x)
    return peel(x)


cdef inline bint is_simple(object x):
    # Not a box, and nothing whose __array_ufunc__ NumPy would ask.
    cdef PyTypeObject *t = Py_TYPE(x)
    return (t is &PyArray_Type or t is &PyFloat_Type or t is &PyDoubleArrType_Type or t is &PyLong_Type
            or t is &PyComplex_Type or t is &PyFloatArrType_Type or t is &PyCDoubleArrType_Type)


cdef inline bint is_sequence(PyObject *x):
    return Py_TYPE(<object>x) is &PyList_Type or Py_TYPE(<object>x) is &PyTuple_Type


# Makes a traced array of a list or tuple with boxes in it, and leaves all else alone; set by fastgrad.numpy.
cdef object traced_array = None


def bind_traced_array(fun):
    """Set the function that makes a traced array of a list with boxes in it."""
    global traced_array
    traced_array = fun


cdef object primitive_vectorcall(object callable_, PyObject **args, size_t nargsf, PyObject *kwnames):
    cdef Primitive self = <Primitive>callable_
    cdef Py_ssize_t n = PyVectorcall_NARGS(nargsf), total = n, i
    cdef dict kwargs = None
    cdef bint boxed = False
    if kwnames == NULL:
        if n == 1 and Py_TYPE(<object>args[0]) is <PyTypeObject *>ArrayBox:
            return self.call1(<object>args[0])
        if n == 2 and (Py_TYPE(<object>args[0]) is <PyTypeObject *>ArrayBox
                       or Py_TYPE(<object>args[1]) is <PyTypeObject *>ArrayBox):
            return self.call2(<object>args[0], <object>args[1])
    else:
        total += PyTuple_GET_SIZE_(<object>kwnames)
    for i in range(total):
        if is_box(<object>args[i]) or (self.array_like and is_sequence(args[i])):
            boxed = True
            break
    if not boxed:
        return PyObject_Vectorcall(self.fun, args, nargsf, kwnames)
    values = tuple([<object>args[i] for i in range(n)])
    if kwnames != NULL:
        kwargs = {}
        for i in range(PyTuple_GET_SIZE_(<object>kwnames)):
            kwargs[<object>PyTuple_GET_ITEM_(<object>kwnames, i)] = <object>args[n + i]
    return self.call_tuple(values, kwargs, True)


# ---------------------------------------------------------------------------------------------------------------- nodes

cdef struct Kind:
    # What decides whether a cotangent of one value fits another.
    int typenum
    int ndim
    cnp.npy_intp *dims


cdef inline Kind kind_of(object x):
    cdef Kind kind
    cdef PyTypeObject *t
    while is_box(x):
        x = (<Box>x)._value
    t = Py_TYPE(x)
    kind.ndim = 0
    kind.dims = NULL
    kind.typenum = -1
    if t is &PyDoubleArrType_Type or t is &PyFloat_Type:
        kind.typenum = cnp.NPY_DOUBLE
    elif cnp.PyArray_Check(x):
        kind.typenum = cnp.PyArray_TYPE(x)
        kind.ndim = cnp.PyArray_NDIM(x)
        kind.dims = cnp.PyArray_DIMS(x)
    elif t is &PyCDoubleArrType_Type or t is &PyComplex_Type:
        kind.typenum = cnp.NPY_CDOUBLE
    elif t is &PyFloatArrType_Type:
        kind.typenum = cnp.NPY_FLOAT
    return kind


cdef bint same_space(object x, object ans):
    """Do x and ans have one shape and dtype?"""
    cdef Kind a = kind_of(x), b = kind_of(ans)
    cdef int i
    if a.typenum != b.typenum or a.ndim != b.ndim:
        return False
    for i in range(a.ndim):
        if a.dims[i] != b.dims[i]:
            return False
    return True


# unbroadcast(g, vspace) and broadcast(tangent, ans), Python functions made of primitives; set by fastgrad.numpy.
cdef object unbroadcast = None
cdef object broadcast = None


def bind_broadcasting(unbroadcast_, broadcast_):
    """Set the functions that fit cotangents and tangents of broadcasting primitives."""
    global unbroadcast, broadcast
    unbroadcast, broadcast = unbroadcast_, broadcast_


# Keywords of a ufunc that change no value; with any other one, the rules do not hold.
cdef frozenset harmless_keywords = frozenset(["casting", "order", "dtype", "subok", "signature", "sig"])


cdef inline unsigned int bit(Py_ssize_t argnum):
    # The bit of an argument in the masks of a Rule; the last one stands for all further arguments.
    return 1 << min(argnum + 1, 31)


cdef object keep(tuple args, unsigned int keeps, unsigned int spaces):
    # What of the arguments the rules need: as it is, as its vspace (if it is a value that has one), or nothing.
    cdef list kept = list(args)
    cdef Py_ssize_t i
    for i in range(len(kept)):
        if keeps & bit(i):
            continue
        if not spaces & bit(i):
            kept[i] = None
        elif is_plain(kept[i]) or is_box(kept[i]) or isinstance(kept[i], np.ndarray):
            kept[i] = vspace(kept[i])
    return tuple(kept)


cdef object call_deriv(Rule rule, object ans, tuple args):
    return rule.fun(ans, *args[:rule.n_args])


cdef object apply_rule(Rule rule, object g, object ans, tuple args, dict kwargs):
    # One argument's cotangent or tangent; not for RULE_ZERO and RULE_SAME, which need to know which argument.
    cdef PyObject *stack[10]
    cdef Py_ssize_t n = len(args), i
    cdef list given
    if rule.kind == RULE_IDENTITY:
        return g
    if rule.kind == RULE_NEGATE:
        return -g
    if rule.kind == RULE_DERIV:
        return multiply_values(g, call_deriv(rule, ans, args))
    if rule.kind == RULE_KEPT:
        return multiply_values(g, ans if rule.keeps & 1 else args[0] if rule.keeps & 2 else args[1])
    if rule.spaces:
        given = list(args)
        for i in range(n):
            if rule.spaces & bit(i) and (is_plain(given[i]) or is_box(given[i])):
                given[i] = vspace(given[i])
        args = tuple(given)
    if n <= 7 and not kwargs:
        stack[0] = NULL
        stack[1] = <PyObject *>g
        stack[2] = <PyObject *>ans
        for i in range(n):
            stack[3 + i] = PyTuple_GET_ITEM_(args, i)
        return PyObject_Vectorcall(rule.fun, stack + 1, (n + 2) | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL)
    return PyObject_Call(rule.fun, (g, ans) + args, kwargs)


cdef inline object apply_small(Rule rule, object g, object ans, object x, object y, Py_ssize_t n):
    # apply_rule for one or two arguments, without a tuple.
    cdef PyObject *stack[5]
    cdef Py_ssize_t first = 1
    if rule.kind == RULE_IDENTITY:
        return g
    if rule.kind == RULE_NEGATE:
        return -g
    if rule.kind == RULE_KEPT:
        return multiply_values(g, ans if rule.keeps & 1 else x if rule.keeps & 2 else y)
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


cdef class Node:
    """A record of one primitive call in one trace.

    Subclass it to build another tracer: give the subclass ``__init__(self, value, fun, args, kwargs, parent_argnums,
    parents)`` and ``initialize_root(self, ...)``, and pass ``Sub.new_root(...)`` to `trace`.
    """

    def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
        raise NotImplementedError(f"{type(self).__name__} must define __init__ to record a primitive call")

    def initialize_root(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} must define initialize_root to start a trace")

    @classmethod
    def new_root(cls, *args, **kwargs):
        """Make the node that a trace starts from."""
        root = cls.__new__(cls)
        root.initialize_root(*args, **kwargs)
        return root

    cdef object record(self, object ans, Primitive fun, tuple args, dict kwargs, tuple argnums, tuple parents):
        return type(self)(ans, fun, args, kwargs, argnums, parents)


@cython.trashcan(True)  # a chain of millions of nodes is freed from its end without deep C recursion
cdef class VJPNode(Node):
    """A node of reverse mode: holds its parents and what the rules need to pull a cotangent back to them."""

    def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
        if not isinstance(fun, Primitive) or (<Primitive>fun).vjps is None:
            raise missing_rule(fun, "VJP")
        fill_vjp_node(self, value, (<Primitive>fun).vjps, tuple(args), dict(kwargs), tuple(parent_argnums), tuple(parents))

    def initialize_root(self):
        self.form = FORM_ROOT

    cdef object record(self, object ans, Primitive fun, tuple args, dict kwargs, tuple argnums, tuple parents):
        cdef VJPNode node
        if type(self) is not VJPNode:
            return type(self)(ans, fun, args, kwargs, argnums, parents)
        if fun.vjps is None:
            raise missing_rule(fun, "VJP")
        node = VJPNode.__new__(VJPNode)
        fill_vjp_node(node, ans, fun.vjps, args, kwargs, argnums, parents)
        return node

    cdef Py_ssize_t n_parents(self):
        if self.form == FORM_UNARY:
            return 1
        if self.form == FORM_BINARY:
            return (self.parent0 is not None) + (self.parent1 is not None)
        return PyTuple_GET_SIZE_(self.parent0) if self.parent0 is not None else 0

    cdef PyObject *parent(self, Py_ssize_t i):
        # Borrowed from this node.
        if self.form == FORM_UNARY:
            return <PyObject *>self.parent0
        if self.form == FORM_BINARY:
            return <PyObject *>(self.parent1 if i == 1 or self.parent0 is None else self.parent0)
        return PyTuple_GET_ITEM_(self.parent0, i)

    cdef void release(self):
        # Drop all but the parents: they are still wanted for their order.
        if self.form == FORM_UNARY:
            self.parent0 = (self.parent0,)
        elif self.form == FORM_BINARY:
            self.parent0 = self.parents
            self.parent1 = None
        self.ans = self.arg0 = self.arg1 = self.targets = None
        self.form = FORM_RELEASED

    cdef int pull(self, object g, PyObject **out) except -1:
        # Write a new reference per parent into out, or raise with nothing written.
        cdef Rules rules = self.rules
        cdef Py_ssize_t i, n
        if self.form == FORM_UNARY:
            put(out, 0, self.fit(0, apply_unary(self, rules.rule(0, "VJP"), g)))
        elif self.form == FORM_BINARY:
            n = 0
            first = second = None
            if self.parent0 is not None:
                first = self.fit(0, apply_small(rules.rule(0, "VJP"), g, self.ans, self.arg0, self.arg1, 2))
            if self.parent1 is not None:
                second = self.fit(1, apply_small(rules.rule(1, "VJP"), g, self.ans, self.arg0, self.arg1, 2))
            if self.parent0 is not None:
                put(out, 0, first)
                n = 1
            if self.parent1 is not None:
                put(out, n, second)
        elif self.form != FORM_ROOT:
            cotangents = self.pull_call(g)
            n = self.n_parents()
            if len(cotangents) != n:
                raise ValueError(
                    f"the VJP of {rules.fun.__name__} gave {len(cotangents)} cotangents for {n} traced arguments"
                )
            for i in range(n):
                put(out, i, cotangents[i])
        return 0

    cdef object pull_call(self, object g):
        cdef Rules rules = self.rules
        cdef Py_ssize_t i, argnum
        cdef Rule rule
        cdef list cotangents
        if self.form == FORM_STAGED:
            return [pullback(g) for pullback in self.arg0]
        if self.form == FORM_STAGED_WHOLE:
            return tuple(self.arg0(g))
        if self.form == FORM_RELEASED:
            raise RuntimeError(
                "this graph was used up by grad or value_and_grad, which release what the nodes keep; "
                "use make_vjp to pull back through one graph several times"
            )
        args, kwargs, argnums = self.arg0
        if self.form == FORM_WHOLE:
            return rules.whole(argnums, g, self.ans, args, kwargs)
        cotangents = []
        for i in range(len(argnums)):
            argnum = argnums[i]
            rule = rules.rule(argnum, "VJP")
            if rule.kind == RULE_ZERO:
                cotangents.append(zeros_of(args[argnum]))
            else:
                cotangents.append(self.fit(i, apply_rule(rule, g, self.ans, args, kwargs)))
        return cotangents

    cdef object fit(self, Py_ssize_t i, object g):
        # Bring a cotangent of the broadcast answer to the argument's own shape and dtype.
        if self.targets is None or self.targets[i] is None:
            return g
        return unbroadcast(g, self.targets[i])

    @property
    def parents(self):
        """tuple of Node : one per traced argument; the same node may stand twice."""
        cdef Py_ssize_t i
        return tuple([<object>self.parent(i) for i in range(self.n_parents())])

    @parents.setter
    def parents(self, parents):
        vjp = self.vjp if self.form != FORM_ROOT else (lambda g: ())
        self.parent0, self.parent1 = tuple(parents), None
        self.arg0, self.form = vjp, FORM_STAGED_WHOLE

    @property
    def vjp(self):
        """callable : cotangent of the value -> tuple of cotangents, one per parent."""
        return self._pull_back

    @vjp.setter
    def vjp(self, vjp):
        self.parent0, self.parent1 = self.parents, None
        self.arg0, self.form = vjp, FORM_STAGED_WHOLE

    def _pull_back(self, g):
        cdef PyObject *small[2]
        if self.form == FORM_UNARY or self.form == FORM_BINARY:
            self.pull(g, small)
            cotangents = tuple([<object>small[i] for i in range(self.n_parents())])
            for i in range(self.n_parents()):
                Py_XDECREF(small[i])
            return cotangents
        return () if self.form == FORM_ROOT else tuple(self.pull_call(g))


cdef inline void put(PyObject **out, Py_ssize_t i, object value):
    Py_INCREF(value)
    out[i] = <PyObject *>value


cdef object zeros_of(object value):
    return value.zeros() if isinstance(value, VSpace) else vspace(value).zeros()


cdef inline object apply_unary(VJPNode node, Rule rule, object g):
    if rule.kind == RULE_ZERO:
        return zeros_of(node.arg0)
    return apply_small(rule, g, node.ans, node.arg0, None, 1)


cdef int fill_vjp_node(VJPNode node, object ans, Rules rules, tuple args, dict kwargs, tuple argnums,
                       tuple parents) except -1:
    cdef unsigned int keeps = 0, spaces = 0
    cdef Rule rule
    node.rules = rules
    node.form = rules.form
    node.parent0 = parents
    if rules.form == FORM_STAGED:
        node.arg0 = rules.whole(argnums, ans, args, kwargs)
        return 0
    if rules.form == FORM_STAGED_WHOLE:
        node.arg0 = rules.whole(argnums, ans, args, kwargs)
        return 0
    if rules.form == FORM_WHOLE:
        rule = <Rule>rules.by_argnum[0]
        keeps, spaces = rule.keeps, rule.spaces
    else:
        for argnum in argnums:
            rule = rules.rule(argnum, "VJP")
            keeps |= rule.keeps
            spaces |= rule.spaces
        if rules.broadcasts:
            note_targets(node, ans, rules.fun, args, kwargs, argnums)
    node.arg0 = (keep(args, keeps, spaces), kwargs, argnums)
    if keeps & 1:
        node.ans = ans
    return 0


cdef int note_targets(VJPNode node, object ans, fun, tuple args, dict kwargs, tuple argnums) except -1:
    if kwargs and (<Primitive>fun).is_ufunc:
        for name in kwargs:
            if name not in harmless_keywords:
                raise NotImplementedError(
                    f"{fun.__name__} of a traced value with the keyword {name!r} has no derivative rule; "
                    "leave the keyword out and use fastgrad.numpy.where for what it does"
                )
    targets = [None if same_space(args[i], ans) else vspace(args[i]) for i in argnums]
    if any(target is not None for target in targets):
        node.targets = tuple(targets)
    return 0


cdef class JVPNode(Node):
    """A node of forward mode: holds the tangent of its value."""

    def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
        self.g = push_forward(value, fun, tuple(args), dict(kwargs), tuple(parent_argnums), [p.g for p in parents])

    def initialize_root(self, g):
        self.g = g

    cdef object record(self, object ans, Primitive fun, tuple args, dict kwargs, tuple argnums, tuple parents):
        cdef JVPNode node
        if type(self) is not JVPNode:
            return type(self)(ans, fun, args, kwargs, argnums, parents)
        node = JVPNode.__new__(JVPNode)
        node.g = push_forward(ans, fun, args, kwargs, argnums, [(<JVPNode>p).g for p in parents])
        return node


cdef object push_forward(object ans, object fun, tuple args, dict kwargs, tuple argnums, list tangents):
    """The tangent of ans, given the tangents of the arguments at argnums."""
    cdef Rules rules = (<Primitive>fun).jvps if isinstance(fun, Primitive) else None
    cdef Rule rule
    cdef Py_ssize_t i
    if rules is None:
        raise missing_rule(fun, "JVP")
    if rules.form == FORM_WHOLE:
        return rules.whole(argnums, tangents, ans, args, kwargs)
    if rules.broadcasts and kwargs:
        note_targets(VJPNode.__new__(VJPNode), ans, fun, args, kwargs, argnums)
    total = None
    for i in range(len(argnums)):
        rule = rules.rule(argnums[i], "JVP")
        if rule.kind == RULE_ZERO:
            continue
        if rule.kind == RULE_SAME:
            tangent = fun(*args[:argnums[i]], tangents[i], *args[argnums[i] + 1:], **kwargs)
        else:
            tangent = apply_rule(rule, tangents[i], ans, args, kwargs)
        total = tangent if total is None else add_values(total, tangent)
    if total is None:
        return vspace(ans).zeros()
    if rules.broadcasts and not same_space(total, ans):
        return broadcast(total, ans)
    return total


# -------------------------------------------------------------------------------------------------------- vector spaces

cdef dict vspace_mappings = {}


cdef class VSpace:
    """The vector space of a value: what can be added to it, and what its cotangents look like.

    Subclass it and register the subclass for a type of values to differentiate with respect to such values. The
    methods with an underscore do the arithmetic on plain values; `fastgrad.core` wraps them as primitives ``add``,
    ``mut_add``, ``scalar_mul``, ``inner_prod`` and ``covector``.
    """

    # The live registry: type of a value -> callable (value) that gives its space. Libraries write to it.
    mappings = vspace_mappings
    iscomplex = False

    def __init__(self, value):
        pass

    def zeros(self):
        raise NotImplementedError(f"{type(self).__name__} must define zeros")

    def ones(self):
        raise NotImplementedError(f"{type(self).__name__} must define ones")

    def standard_basis(self):
        raise NotImplementedError(f"{type(self).__name__} must define standard_basis")

    def randn(self):
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
        """Use this class, or ``vspace_maker``, for values of ``value_type`` (exactly that type)."""
        VSpace.mappings[value_type] = cls if vspace_maker is None else vspace_maker


cpdef object vspace(object value):
    """Give the vector space of ``value``, boxed or not.

    Raises
    ------
    TypeError
        If no vector space is registered for its type.
    """
    cdef PyObject *maker = PyDict_GetItemWithError(vspace_mappings, type(value))
    if maker != NULL:
        return (<object>maker)(value)
    if is_box(value):
        return vspace(peel(value))
    raise TypeError(
        f"Can't find vector space for value {value!r} of type {type(value)}; register one with "
        f"fastgrad.extend.VSpace.register. Valid types are {list(vspace_mappings)}"
    )


cdef class ArrayVSpace(VSpace):
    """The space of real arrays of one shape and dtype; scalars have shape ``()``."""

    cdef public tuple shape
    cdef public object dtype

    def __init__(self, value):
        cdef PyTypeObject *t = Py_TYPE(value)
        if t is &PyDoubleArrType_Type or t is &PyFloat_Type:
            self.shape, self.dtype = (), double_dtype
        else:
            array = value if t is &PyArray_Type else np.asarray(value)
            self.shape, self.dtype = array.shape, array.dtype

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

    def __repr__(self):
        return f"{type(self).__name__}(shape={self.shape}, dtype={self.dtype})"


cdef class ComplexArrayVSpace(ArrayVSpace):
    """The space of complex arrays, over the reals: two coordinates an element."""

    iscomplex = True

    @property
    def size(self):
        """int : number of real coordinates, twice the number of elements."""
        return 2 * ArrayVSpace.size.__get__(self)

    def ones(self):
        return np.ones(self.shape, self.dtype) + 1j * np.ones(self.shape, self.dtype)

    def standard_basis(self):
        for unit in (1, 1j):
            for index in np.ndindex(*self.shape):
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


cdef object double_dtype = np.dtype(np.float64)


def array_vspace(value):
    """Give the space of an array, real or complex by its dtype."""
    return ComplexArrayVSpace(value) if np.iscomplexobj(value) else ArrayVSpace(value)


cdef class SparseObject:
    """A cotangent that is zero but for some entries, and knows how to add itself.

    Parameters
    ----------
    vs : VSpace
        The space it belongs to.
    mut_add : callable
        Adds it to an array in place and returns the array.
    """

    def __init__(self, vs, mut_add):
        self.vs = vs
        self.mut_add = mut_add


# ------------------------------------------------------------------------------------------------- what Cython won't do

cdef void set_type_flags():
    # The one place that touches type objects. Cython 3.3 gives a cdef class no vectorcall of its own, so CPython is
    # told where Primitive keeps its function and that it binds as a method does. And libraries set attributes on the
    # box, node and space classes (ArrayBox.item = ...), which a static type refuses until its immutable flag is cleared.
    cdef Primitive sample = Primitive.__new__(Primitive)
    cdef Py_ssize_t offset = <char *>&sample.vectorcall - <char *><PyObject *>sample
    fastgrad_enable_vectorcall(Primitive, offset)
    for cls in (Box, ArrayBox, Node, VJPNode, JVPNode, VSpace, ArrayVSpace, ComplexArrayVSpace, SparseObject):
        fastgrad_make_mutable(cls)


set_type_flags()
