# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, binding=True
# cython: auto_pickle=False
"""The compiled tracer: everything that one call of a primitive touches.

Boxes, primitives, nodes, trace levels and vector spaces live in one compilation unit because a call crosses all of
them; crossing modules costs more than the call. The backward pass is in `_backward.pyx`.
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

from fastgrad._engine.threads cimport FASTGRAD_FREE_THREADED, fastgrad_find, fastgrad_has_refs, fastgrad_lock, fastgrad_mutex
from fastgrad._engine.threads cimport fastgrad_unlock

cnp.import_array()

cdef extern from "Python.h":
    ctypedef object (*vectorcallfunc)(object, PyObject **, size_t, PyObject *)
    const size_t PY_VECTORCALL_ARGUMENTS_OFFSET
    object PyObject_Vectorcall(object, PyObject **, size_t, PyObject *)
    Py_ssize_t PyVectorcall_NARGS(size_t)
    Py_ssize_t PY_SSIZE_T_MAX
    PyObject *PyErr_Occurred()
    void PyErr_Clear()
    bint PyObject_GC_IsTracked(object)
    void PyObject_GC_Track(object)
    void PyObject_GC_UnTrack(object)
    int Py_EnterRecursiveCall(const char *) except -1
    void Py_LeaveRecursiveCall()
    object PyMethod_New(object, object)
    int PyObject_GenericSetAttr(object, object, object) except -1
    PyObject *PyDict_GetItemWithError(object, object) except? NULL
    PyObject *dict_item "PyDict_GetItemWithError"(PyObject *, PyObject *) except? NULL
    # By pointer: for an attribute given as an object, Cython takes a reference and drops it again, which on CPython
    # 3.12 and later stalls the processor (a 32-bit write is read as 64 bits).
    PyObject *PyTuple_GET_ITEM_ "PyTuple_GET_ITEM"(PyObject *, Py_ssize_t)
    Py_ssize_t PyTuple_GET_SIZE_ "PyTuple_GET_SIZE"(PyObject *)
    Py_ssize_t PyLong_AsSsize_t_ "PyLong_AsSsize_t"(PyObject *)
    PyObject *Py_False
    PyTypeObject *type_of "Py_TYPE"(PyObject *)
    bint is_tracked "PyObject_GC_IsTracked"(PyObject *)
    int PyType_IsSubtype(PyTypeObject *, PyTypeObject *)
    int PyLong_CheckExact(object)
    Py_ssize_t PyNumber_AsSsize_t(object, object) except? -1
    long PyLong_AsLongAndOverflow(object, int *) except? -1
    double PyFloat_AS_DOUBLE(object)
    PyTypeObject PyFloat_Type
    PyTypeObject PyComplex_Type
    PyTypeObject PyLong_Type
    PyTypeObject PyList_Type
    PyTypeObject PyTuple_Type
    PyTypeObject PyDict_Type

cdef extern from "numpy/arrayobject.h":
    object PyArray_New(PyTypeObject *, int, cnp.npy_intp *, int, cnp.npy_intp *, void *, int, int, PyObject *)
    PyTypeObject PyArray_Type
    PyTypeObject PyDoubleArrType_Type
    PyTypeObject PyFloatArrType_Type
    PyTypeObject PyCDoubleArrType_Type

cdef extern from *:
    """
    #include <numpy/arrayscalars.h>
    static inline double fastgrad_obval(PyObject *o) { return ((PyDoubleScalarObject *)o)->obval; }
    static inline int fastgrad_has_weakrefs(PyObject *o) { return ((PyArrayObject_fields *)o)->weakreflist != NULL; }
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
    static inline void fastgrad_open_type(PyObject *type, const char *name) {
        ((PyTypeObject *)type)->tp_name = name;
        ((PyTypeObject *)type)->tp_flags &= ~Py_TPFLAGS_IMMUTABLETYPE;
        PyType_Modified((PyTypeObject *)type);
    }
    """
    double fastgrad_obval(object)
    bint fastgrad_has_weakrefs(PyObject *)
    void fastgrad_enable_vectorcall(object, Py_ssize_t)
    void fastgrad_open_type(object, const char *)
    object fastgrad_float64(double)

cdef enum:
    RULE_CALL      # rule(g, ans, *args, **kwargs)
    RULE_DERIV     # g * rule(ans, *args)
    RULE_KEPT      # g * the one thing it keeps: the answer or an argument
    RULE_OVER      # g / the argument it keeps
    RULE_IDENTITY  # g
    RULE_NEGATE    # -g
    RULE_ZERO      # the zero of the argument's (VJP) or the answer's (JVP) vector space
    RULE_SAME      # JVP of a linear argument: the primitive itself, called on the tangent

# The same, for the Python modules that make rules.
rule_kinds = {"call": RULE_CALL, "deriv": RULE_DERIV, "kept": RULE_KEPT, "over": RULE_OVER,
              "identity": RULE_IDENTITY, "negate": RULE_NEGATE, "zero": RULE_ZERO, "same": RULE_SAME}
forms = {"direct": FORM_CALL, "whole": FORM_WHOLE, "staged": FORM_STAGED, "staged whole": FORM_STAGED_WHOLE}

cdef enum:
    PLAIN_NONE
    PLAIN_SUM        # one argument, summed to a scalar
    PLAIN_MEAN
    PLAIN_DOT_LEFT   # the first factor of a product of vectors and matrices
    PLAIN_DOT_RIGHT
    PLAIN_SHARE_LEFT  # the first argument of a maximum or minimum of two
    PLAIN_SHARE_RIGHT
    PLAIN_RESHAPE     # the same elements in another shape
    PLAIN_EXTREME     # the largest or smallest element of the one argument

# The same, for the Python modules that make rules.
plain_routines = {None: PLAIN_NONE, "sum": PLAIN_SUM, "mean": PLAIN_MEAN, "dot left": PLAIN_DOT_LEFT,
                  "dot right": PLAIN_DOT_RIGHT, "share left": PLAIN_SHARE_LEFT, "share right": PLAIN_SHARE_RIGHT,
                  "extreme": PLAIN_EXTREME, "reshape": PLAIN_RESHAPE}

cdef enum:
    LANE_NONE
    LANE_ADD
    LANE_SUBTRACT
    LANE_MULTIPLY
    LANE_DIVIDE
    LANE_NEGATIVE
    # Not of scalars, but done here too.
    LANE_INDEX
    LANE_DOT

cdef enum:
    # Which reductions are done by values/reductions.pxi.
    REDUCE_NONE
    REDUCE_SUM
    REDUCE_MEAN
    REDUCE_MAX
    REDUCE_MIN

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
    # One of the places that touch type objects. Cython 3.3 gives a cdef class no vectorcall of its own, so CPython is
    # told where Primitive keeps its function and that it binds as a method does; DerivedFunction likewise.
    cdef Primitive primitive = Primitive.__new__(Primitive)
    cdef DerivedFunction derived = DerivedFunction.__new__(DerivedFunction)
    fastgrad_enable_vectorcall(Primitive, <char *>&primitive.vectorcall - <char *><PyObject *>primitive)
    fastgrad_enable_vectorcall(DerivedFunction, <char *>&derived.vectorcall - <char *><PyObject *>derived)


# Libraries set attributes on the box, node and space classes (ArrayBox.item = ...), which a static type refuses until
# its immutable flag is cleared; they read __module__, which for a static type is part of its name, to tell whose box it
# is. So these are opened and named: in `type_names` are the bytes that the names point to.
cdef dict public_types = {
    Box: "tracer.Box", Node: "tracer.Node", VJPNode: "core.VJPNode", JVPNode: "core.JVPNode", VSpace: "core.VSpace",
    SparseObject: "core.SparseObject", ArrayBox: "numpy.numpy_boxes.ArrayBox",
    ArrayVSpace: "numpy.numpy_vspaces.ArrayVSpace", ComplexArrayVSpace: "numpy.numpy_vspaces.ComplexArrayVSpace",
}
cdef dict type_names = {}


def name_types(str package):
    """Say in which package the compiled classes are that have a place in autograd: fastgrad, or autograd itself."""
    cdef bytes name
    for kind, place in public_types.items():
        name = f"{package}.{place}".encode()
        name = type_names.setdefault(name, name)
        fastgrad_open_type(kind, name)


name_types("fastgrad")
set_type_flags()
