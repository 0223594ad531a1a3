# cython: language_level=3
"""Fields and invariants of the compiled classes: boxes, primitives, rules, nodes and vector spaces."""

from cpython.object cimport PyObject
from numpy cimport npy_intp

# The layouts of a VJPNode: which fields it uses, and for what.
cdef enum:
    NODE_ROOT          # no parents
    NODE_UNARY         # direct rule, one positional argument: arg0, parent0
    NODE_INDEX         # index of an array or item of a container: arg0 = index, parent0, whose `space` is set
    NODE_BINARY        # direct rules, two positional arguments: arg0, arg1; parent0, parent1, None where not traced
    NODE_CALL          # direct rules, any call: arg0 = (args, kwargs, argnums), parent0 = tuple of parents
    NODE_WHOLE         # one direct rule for all arguments: arg0 and parent0 as for NODE_CALL
    NODE_STAGED        # autograd's public form of rules: arg0 = a pullback for each parent, parent0 = tuple of parents
    NODE_STAGED_WHOLE  # arg0 = one pullback for all parents

# What a pullback may overwrite if nobody else refers to it, as bits: 0 for g, 1 for ans, 2 for arg0, 3 for arg1.
cdef enum:
    REUSE_COTANGENT = 1
    REUSE_KEPT = 14  # all that the node keeps, in a pass after which it is not used again


cdef struct ArrayKind:
    # Dtype and shape of an array or scalar, borrowed from it; typenum is -1 for any other value.
    int typenum
    int ndim
    npy_intp *dims


cdef class Hooks:
    # Public for `connect` alone, which sets them by name; hooks.pxi says what they are.
    cdef public object traced_container, traced_array
    cdef public object unbroadcast, broadcast
    cdef public object as_positional, position_of
    cdef public object record_derivative
    cdef public object batch_call, fit_batch, row_by_row
    cdef public object assemble, sparse_add, core_namespace
    cdef public object debug_node_types
    cdef public object advice, check_returned
    cdef public object seed, cotangent_of_rule, tangent_of_rule
    cdef public object defgrad, defvjp_method, defvjp_is_zero


cdef Hooks hooks


cdef class Box:
    # A traced value. `_trace` is the level of the trace it belongs to, `_node` the record of how it was made there;
    # `_value` may be a box again, but only of a lower level.
    cdef public object _value
    cdef public object _node
    cdef public Py_ssize_t _trace


cdef class ArrayBox(Box):
    pass


cdef class ContainerBox(Box):
    # Boxes of the items taken so far, by the keys they were taken with and, for a sequence, by their positions; None
    # before the first. Each is valid as long as the container has the same value at that key. They refer to this box's
    # node and not to the box, so there is no reference cycle.
    cdef dict taken
    # Whether the node's `space` is known to be the space of this value.
    cdef bint is_space_noted

    cdef object take(self, object key, Py_ssize_t level)
    cdef object item(self, object key, Py_ssize_t level)
    cdef int start_taking(self) except -1
    cdef object record_item(self, object position, object value)


cdef class Rule:
    # How the cotangent or tangent of one argument is computed; never changed once made.
    cdef readonly object fun
    cdef readonly int form
    # What a node must keep: as it is (keeps), or only its vector space (spaces). Bit 0 stands for the answer, bit i + 1
    # for argument i, bit 31 for argument 30 and all after it.
    cdef unsigned int keeps
    cdef unsigned int spaces
    # How many arguments a derivative takes beside the answer.
    cdef Py_ssize_t n_args
    # The fused derivative (values/fused_derivatives.pxi): None before it is looked for, False if there is none.
    cdef object fused
    # Which compiled rule (values/compiled_rules.pxi) computes on concrete values what `fun` does; 0 for none.
    cdef int compiled
    # The derivative for real arguments, of a function whose derivative for complex ones is another.
    cdef readonly object real_deriv
    # For power alone: the derivatives for exponents that are numbers, by exponent, with None for all others; and the
    # fused derivatives of those exponents. `fused` is the one for all other exponents.
    cdef readonly dict for_numbers
    cdef list exponents
    cdef list exponent_derivatives


cdef class Rules:
    # All rules of one primitive in one mode. They are replaced as a whole and never changed, so that a node is pulled
    # back with the rules it was recorded with, even if the primitive's rules are overridden in between.
    cdef readonly object fun
    cdef readonly object whole
    # The arguments that `whole` has rules for; None if that is not known.
    cdef readonly object argnums
    cdef readonly tuple by_argnum
    cdef int layout
    # Whether the answer is the broadcast of the arguments: cotangents are then summed, and tangents broadcast, to the
    # right shape.
    cdef bint broadcasts
    # Whether they are a user's, who may use the values of tangents: they are called once for each row of a batch.
    cdef bint opaque
    # Whether they close over a user's functions, which may refer back to the node: it is then tracked for the garbage
    # collector.
    cdef bint closures

    cdef PyObject *rule(self, Py_ssize_t argnum, bint forward) except NULL


cdef class Primitive:
    # A function that the tracer intercepts. CPython finds `vectorcall` by the type's tp_vectorcall_offset.
    cdef void *vectorcall
    cdef readonly object fun
    cdef dict __dict__
    cdef object __weakref__
    cdef Rules vjps
    cdef Rules jvps
    # Node types for which calls are not recorded; () for nearly all primitives.
    cdef tuple notrace_types
    cdef bint never_traced
    cdef bint array_like
    cdef bint is_ufunc
    # Whether it is a ufunc of single elements with one result.
    cdef bint is_elementwise
    # The number of inputs of a ufunc, 0 for any other function.
    cdef int n_inputs
    # The position of the parameter `out`; -1 if there is none, -2 before it is looked for.
    cdef Py_ssize_t out_position
    # The OPERATION_ or REDUCE_ that C code computes for it; 0 for none.
    cdef int operation
    cdef int reduction
    # A function that does the same for arrays (set_path in values/dispatch.pxi), or None.
    cdef object shortcut
    cdef Py_ssize_t shortcut_least, shortcut_most
    cdef frozenset shortcut_keywords
    # NumPy's inner loops of this ufunc for float64, float32 and complex128, or NULL; they point to the struct of
    # values/inner_loops.pxi.
    cdef void *loops[3]

    cdef object call(self, object x, object y)
    cdef bint takes(self, object x)
    cdef object call1(self, object x)
    cdef object call2(self, object x, object y)
    cdef object call_tuple(self, tuple args, dict kwargs, bint defer)
    cdef object call_traced(self, tuple args, dict kwargs)
    cdef object as_argument(self, object x)
    cdef int refuse_output(self, tuple args, dict kwargs) except -1


cdef class DerivedFunction:
    # A function that an operator returned. CPython finds `vectorcall` by the type's tp_vectorcall_offset.
    cdef void *vectorcall
    cdef object function
    # It was made by maker(*args, **kwargs); args[0] is the function that the operator was given.
    cdef object maker
    cdef tuple args
    cdef dict kwargs
    # If not None, unary(args[0], x) is called for one positional argument in place of function(x).
    cdef object unary
    cdef dict __dict__
    cdef object __weakref__


cdef class Node:
    cdef object __weakref__

    # Return a node of the same class that records this call.
    cdef object record(self, object ans, Primitive fun, tuple args, dict kwargs, tuple argnums, tuple parents)


cdef class VJPNode(Node):
    # `layout` says which of the other fields are in use (see the NODE_ constants above).
    cdef Rules rules
    cdef object ans
    cdef object arg0
    cdef object arg1
    cdef object parent0
    cdef object parent1
    # For each parent the vector space that its cotangent must be brought to, or None where shape and dtype agree
    # already. In the staged layouts, where what the user's rule returns is checked: an int with two bits for each
    # traced argument that is not of floats (see ARGUMENT_COMPLEX), None for 0; arg1 then has the shape of each argument
    # (a Structure for a container, None for what has neither), and ans their positions.
    cdef object targets
    # The vector space of the value, set when it is first indexed or an item of it is taken.
    cdef object space
    # Position in the order that is being made; meaningful only together with that order (graph/ordering.pxi).
    cdef unsigned int index
    cdef unsigned char layout
    # Whether its pullback has run in a pass that uses the graph once, so that it has dropped what it kept.
    cdef bint released

    cdef Py_ssize_t n_parents(self)
    cdef PyObject *parent(self, Py_ssize_t i)
    cdef int pull(self, object g, int reuse, PyObject **out, Py_ssize_t n) except -1
    cdef object pull_call(self, object g)
    cdef object pull_small(self, Py_ssize_t argnum, Py_ssize_t n, object g, int reuse)
    cdef object fit(self, Py_ssize_t i, object g)
    cdef void release(self) noexcept


cdef class JVPNode(Node):
    cdef public object g


cdef class BatchNode(Node):
    # The record of a batch: a value that stands for many, one in each row. The box's own value is an example of a row,
    # so that shapes and dtypes are those of one row. `batch` has an axis of length `rows` in front of those of the
    # example; it is an array, possibly traced at lower levels, or a sparse cotangent of that shape.
    cdef readonly object batch
    cdef readonly Py_ssize_t rows
    # The largest number of elements that a batch of several rows may have.
    cdef Py_ssize_t limit


cdef class VSpace:
    pass


cdef class ArrayVSpace(VSpace):
    cdef public tuple shape
    cdef public object dtype
    # The order of the value's elements in memory: "C", "F", or "K" for neither.
    cdef readonly str layout


cdef class ComplexArrayVSpace(ArrayVSpace):
    pass


cdef class SparseObject:
    cdef public object vs
    cdef public object mut_add


cdef void note_path(str part) noexcept
cdef bint is_box(object x)
cdef bint owns_memory_alone(PyObject *x, Py_ssize_t n_refs, bint or_its_base)
cdef object materialize(object g)
cdef object shape_for_seeds(object value)
cdef object fit_seed(object g, object shape, bint backward)
cdef bint add_into(object total, object g) except -1
cdef int add_indexed(VJPNode node, object g, PyObject **total, bint *mutable) except -1
cdef bint is_item(VJPNode node)
cdef bint fits_space(object g, object space)
cpdef bint is_batched(object x)
cpdef object unbox_all(object x)
cdef object add_values(object x, object y)
cpdef object vspace(object value)
