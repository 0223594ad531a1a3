# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, binding=True
# cython: auto_pickle=False
"""The compiled tracer: everything that one call of a primitive touches.

Boxes, primitives, nodes, trace levels and vector spaces live in one compilation unit because a call crosses all of
them; crossing modules costs more than the call. The backward pass is in `backward.pyx`.
"""

import functools
import importlib
import inspect
import os
import sys
import threading
import weakref

import numpy as np

from fastgrad._diagnostics.user_code import warn

cimport cython
cimport numpy as cnp
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject, PyTypeObject, Py_TYPE, PyObject_Call
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.float cimport DBL_MIN, FLT_MAX
from libc.math cimport fabs, isfinite
from libc.stdlib cimport realloc
from libc.string cimport memcpy
from numpy cimport ndarray

from fastgrad._engine.capi cimport *
from fastgrad._engine.threads cimport FASTGRAD_FREE_THREADED, fastgrad_find, fastgrad_has_refs
from fastgrad._engine.threads cimport fastgrad_lock, fastgrad_mutex, fastgrad_unlock

cnp.import_array()

# The forms in which a rule is given, by how it computes the cotangent from g, or the tangent from a tangent g.
cdef enum:
    RULE_CALL      # rule(g, ans, *args, **kwargs)
    RULE_DERIV     # g * rule(ans, *args)
    RULE_KEPT      # g * the answer or the argument that the node keeps
    RULE_OVER      # g / the argument that the node keeps
    RULE_IDENTITY  # g
    RULE_NEGATE    # -g
    RULE_ZERO      # the zero of the argument's (VJP) or the answer's (JVP) vector space
    RULE_SAME      # JVP of a linear argument: the primitive itself, called on the tangent

# The names by which Python modules that define rules refer to these.
rule_forms = {"call": RULE_CALL, "deriv": RULE_DERIV, "kept": RULE_KEPT, "over": RULE_OVER,
              "identity": RULE_IDENTITY, "negate": RULE_NEGATE, "zero": RULE_ZERO, "same": RULE_SAME}
node_layouts = {"direct": NODE_CALL, "whole": NODE_WHOLE, "staged": NODE_STAGED, "staged whole": NODE_STAGED_WHOLE}

# The rules that values/compiled_rules.pxi computes.
cdef enum:
    COMPILED_NONE
    COMPILED_SUM            # sum of one argument to a scalar
    COMPILED_MEAN           # mean of one argument to a scalar
    COMPILED_DOT_LEFT       # first factor of a product of vectors and matrices
    COMPILED_DOT_RIGHT      # second factor
    COMPILED_MAXIMUM_LEFT   # first argument of an elementwise maximum or minimum
    COMPILED_MAXIMUM_RIGHT  # second argument
    COMPILED_RESHAPE        # the same elements in another shape
    COMPILED_EXTREME        # largest or smallest element of one argument

# The names by which Python modules that define rules refer to these.
compiled_rules = {None: COMPILED_NONE, "sum": COMPILED_SUM, "mean": COMPILED_MEAN, "dot left": COMPILED_DOT_LEFT,
                  "dot right": COMPILED_DOT_RIGHT, "maximum left": COMPILED_MAXIMUM_LEFT,
                  "maximum right": COMPILED_MAXIMUM_RIGHT, "extreme": COMPILED_EXTREME, "reshape": COMPILED_RESHAPE}

# The operations that C code computes; set by set_path.
cdef enum:
    OPERATION_NONE
    OPERATION_ADD
    OPERATION_SUBTRACT
    OPERATION_MULTIPLY
    OPERATION_DIVIDE
    OPERATION_NEGATIVE
    # Those above are of scalars; these are of an array and an index, and of two arrays.
    OPERATION_INDEX
    OPERATION_DOT

# The reductions that values/reductions.pxi computes; set by set_path.
cdef enum:
    REDUCE_NONE
    REDUCE_SUM
    REDUCE_MEAN
    REDUCE_MAX
    REDUCE_MIN

include "hooks.pxi"
include "tracing/levels.pxi"
include "tracing/boxes.pxi"
include "tracing/array_boxes.pxi"
include "values/scalars.pxi"
include "values/inner_loops.pxi"
include "values/fused_derivatives.pxi"
include "values/reductions.pxi"
include "values/dispatch.pxi"
include "values/array_kinds.pxi"
include "values/array_building.pxi"
include "nodes/rules.pxi"
include "tracing/primitives.pxi"
include "values/indexing.pxi"
include "values/compiled_rules.pxi"
include "nodes/apply.pxi"
include "nodes/gc_tracking.pxi"
include "nodes/indexing.pxi"
include "nodes/reverse.pxi"
include "nodes/user_rules.pxi"
include "nodes/forward.pxi"
include "nodes/batch.pxi"
include "nodes/vector_spaces.pxi"
include "tracing/container_boxes.pxi"
include "tracing/derived_functions.pxi"


cdef void set_type_flags():
    # Cython 3.3 cannot declare vectorcall for a cdef class, so CPython is told where Primitive and DerivedFunction keep
    # their vectorcall function, and that they bind to instances as functions do.
    cdef Primitive primitive = Primitive.__new__(Primitive)
    cdef DerivedFunction derived = DerivedFunction.__new__(DerivedFunction)
    fastgrad_enable_vectorcall(Primitive, <char *>&primitive.vectorcall - <char *><PyObject *>primitive)
    fastgrad_enable_vectorcall(DerivedFunction, <char *>&derived.vectorcall - <char *><PyObject *>derived)


# Libraries set attributes on the box, node and space classes (ArrayBox.item = ...), which a static type refuses until
# its immutable flag is cleared. They also read __module__ to find out whose box it is, which for a static type is part
# of its name. `type_names` keeps the bytes that the names point to.
cdef dict public_types = {
    Box: "tracer.Box", Node: "tracer.Node", VJPNode: "core.VJPNode", JVPNode: "core.JVPNode", VSpace: "core.VSpace",
    SparseObject: "core.SparseObject", ArrayBox: "numpy.numpy_boxes.ArrayBox",
    ArrayVSpace: "numpy.numpy_vspaces.ArrayVSpace", ComplexArrayVSpace: "numpy.numpy_vspaces.ComplexArrayVSpace",
}
cdef dict type_names = {}


def name_types(str package):
    """Set the package in whose modules the public compiled classes appear to be defined.

    Parameters
    ----------
    package : {"fastgrad", "autograd"}
        "autograd" while fastgrad stands in autograd's place.
    """
    cdef bytes name
    for cls, path in public_types.items():
        name = f"{package}.{path}".encode()
        name = type_names.setdefault(name, name)
        fastgrad_open_type(cls, name)


name_types("fastgrad")
set_type_flags()
