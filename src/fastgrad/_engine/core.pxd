# cython: language_level=3
"""Fields and invariants of the compiled tracer: boxes, primitives, nodes, vector spaces."""

from cpython.object cimport PyObject
from numpy cimport npy_intp

cdef enum:
    NODE_ROOT      # no parents
    NODE_UNARY     # direct rule, one positional argument: arg0, parent0
    NODE_INDEX     # an index of a plain array or an item of a container: arg0 = index, parent0, whose space is its
    NODE_BINARY    # direct rules, two positional arguments: arg0, arg1; parent0, parent1 (None where not traced)
    NODE_CALL      # direct rules, any call: arg0 = (args, kwargs, argnums), parent0 = tuple of parents
    NODE_WHOLE     # one direct rule for all arguments: arg0, parent0 as for NODE_CALL
    NODE_STAGED    # autograd's public form: arg0 = a pullback per parent, parent0 = tuple of parents
    NODE_STAGED_WHOLE  # arg0 = one pullback for all parents

cdef enum:
    # What a pullback may overwrite, if nobody else holds it: bit i for g, ans, arg0, arg1.
    REUSE_COTANGENT = 1
    REUSE_KEPT = 14  # what the node keeps: it will not be pulled again


cdef struct ArrayKind:
    # What decides whether a cotangent of one value fits another.
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
    # Set by watch_paths: what each call does, as the table in values/dispatch.pxi names it.
    cdef list watched


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
    # Boxes of the items taken so far, by the keys they were taken with and, of a sequence, by their places; each is
    # valid as long as the container has that value at that key. None before the first. They refer to this box's node,
    # not to the box, so there is no cycle.
    cdef dict taken
    # The space that the node has noted is that of this value.
    cdef bint is_space_noted

    cdef object take(self, object key, Py_ssize_t level)
    cdef object item(self, object key, Py_ssize_t level)
    cdef int start_taking(self) except -1
    cdef object record_item(self, object position, object value)


cdef class Rule:
    # How the cotangent of one argument (or its tangent) is found; never changed once made.
    cdef readonly object fun
    cdef readonly int form
    # Bit 0 stands for the answer, bit i + 1 for argument i, bit 31 for argument 30 and all after it: what a node must
    # keep as it is, or as its vspace only.
    cdef unsigned int keeps
    cdef unsigned int spaces
    # How many arguments a derivative takes: `lambda ans: ...` none.
    cdef Py_ssize_t n_args
    # How it runs on plain values (see values/fused_derivatives.pxi): None while that is not known, False if there is no
    # formula.
    cdef object fused
    # The routine in C that does on plain values what `fun` does (see values/compiled_rules.pxi); 0 for none.
    cdef int compiled
    # The derivative where the argument is real, of a function that has another one where it is complex.
    cdef readonly object real_deriv
    # Of power alone: the derivatives for exponents that are numbers, by exponent, None for all others; their formulas,
    # noted with `formula`, which is that for all others.
    cdef readonly dict for_numbers
    cdef list exponents
    cdef list exponent_derivatives


cdef class Rules:
    # All rules of one primitive in one mode. Replaced whole, never changed, so that a node recorded with one set is
    # pulled back with the same set even if the primitive's rules are overridden in between.
    cdef readonly object fun
    cdef readonly object whole
    # The arguments that `whole` has rules for; None where it does not say.
    cdef readonly object argnums
    cdef readonly tuple by_argnum
    cdef int layout
    # The answer is the broadcast of the arguments: cotangents are summed, tangents broadcast, to the right shape.
    cdef bint broadcasts
    # Rules of a user's, which may look at the values of tangents: of a batch of them they are given row by row.
    cdef bint opaque
    # They close over functions of a user's, which may hold what is made of a node that has them: it stays tracked.
    cdef bint closures

    cdef PyObject *rule(self, Py_ssize_t argnum, bint forward) except NULL


cdef class Primitive:
    # A function the tracer intercepts. `vectorcall` is found by CPython through the type's tp_vectorcall_offset.
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
    # A ufunc of single elements with one result.
    cdef bint is_elementwise
    # Of a ufunc, 0 for any other function.
    cdef int n_inputs
    # Where the parameter `out` stands; -1 nowhere, -2 not looked for yet.
    cdef Py_ssize_t out_position
    # Which of the operations on scalars this is, done in C; which reduction, likewise.
    cdef int operation
    cdef int reduction
    # Another way for calls on arrays (see values/dispatch.pxi), or None.
    cdef object shortcut
    cdef Py_ssize_t shortcut_least, shortcut_most
    cdef frozenset shortcut_keywords
    # NumPy's inner loops for this ufunc on float64, float32, complex128, or NULL: see values/inner_loops.pxi, whose
    # struct these point to.
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
    # A function made by an operator. `vectorcall` is found by CPython through the type's tp_vectorcall_offset.
    cdef void *vectorcall
    cdef object function
    # How it was made: maker(*args, **kwargs), args[0] being the function it was made of.
    cdef object maker
    cdef tuple args
    cdef dict kwargs
    # unary(args[0], x), called for one argument by position; None where there is no such way.
    cdef object unary
    cdef dict __dict__
    cdef object __weakref__


cdef class Node:
    cdef object __weakref__

    # The virtual method of the tracer: a node of the same kind that records this call.
    cdef object record(self, object ans, Primitive fun, tuple args, dict kwargs, tuple argnums, tuple parents)


cdef class VJPNode(Node):
    # `layout` says which of the other fields are in use (see the NODE_ constants above).
    cdef Rules rules
    cdef object ans
    cdef object arg0
    cdef object arg1
    cdef object parent0
    cdef object parent1
    # Per parent the vspace its cotangent must be brought to, or None where shape and dtype agree already. Of staged
    # forms, to check what the user's rule gives: an int with two bits for each traced argument that is not of floats
    # (see ARGUMENT_COMPLEX), None for 0; in arg1 are then the arguments' shapes, a Structure for containers, None for
    # what has neither, in ans their places.
    cdef object targets
    # The vspace of the value, noted when it is first indexed, or an item taken, for all that do.
    cdef object space
    # Place in the order being numbered; meaningful only together with that order (see _backward.pyx).
    cdef unsigned int index
    cdef unsigned char layout
    # Its pullback has run in a pass that uses the graph once: what it kept is gone.
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
    # The record of a value that stands for many, a row each; the box's own value is an example of a row, so that what
    # asks for shapes and dtypes gets those of one. `batch` has an axis of length `rows` in front of an example's; it is
    # an array, traced or not by lower levels, or a sparse cotangent of that shape.
    cdef readonly object batch
    cdef readonly Py_ssize_t rows
    # The most elements that a batch may have, if it has several rows.
    cdef Py_ssize_t limit


cdef class VSpace:
    pass


cdef class ArrayVSpace(VSpace):
    cdef public tuple shape
    cdef public object dtype
    # The order the value's elements had in memory, for what depends on it: "C", "F", or "K" for neither.
    cdef readonly str layout


cdef class ComplexArrayVSpace(ArrayVSpace):
    pass


cdef class SparseObject:
    cdef public object vs
    cdef public object mut_add


cdef int note_path(str part) except -1
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
