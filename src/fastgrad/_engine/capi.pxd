# cython: language_level=3
"""What both compiled units use of CPython's and NumPy's C API beyond what Cython declares itself."""

cimport numpy as cnp
from cpython.object cimport PyObject, PyTypeObject

cdef extern from "Python.h":
    ctypedef object (*vectorcallfunc)(object, PyObject **, size_t, PyObject *)
    const size_t PY_VECTORCALL_ARGUMENTS_OFFSET
    object PyObject_Vectorcall(object, PyObject **, size_t, PyObject *)
    object PyObject_VectorcallDict(object, PyObject **, size_t, PyObject *)
    Py_ssize_t PyVectorcall_NARGS(size_t)
    Py_ssize_t PY_SSIZE_T_MAX
    PyObject *PyErr_Occurred()
    void PyErr_Clear()
    bint PyObject_GC_IsTracked(object)
    void PyObject_GC_Track(object)
    void PyObject_GC_UnTrack(object)
    int Py_EnterRecursiveCall(const char *) except *  # not 0 if it fails, and CPython 3.11 returns 1
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
    object PyNumber_InPlaceAdd(object, object)
    ctypedef int (*visitproc)(PyObject *, void *) noexcept
    ctypedef int (*traverseproc)(PyObject *, visitproc, void *) noexcept
    void *PyCapsule_GetPointer(object, const char *) except NULL
    bint PyCapsule_IsValid(object, const char *)

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
    static traverseproc fastgrad_replace_traverse(PyObject *type, traverseproc traverse) {
        traverseproc before = ((PyTypeObject *)type)->tp_traverse;
        ((PyTypeObject *)type)->tp_traverse = traverse;
        return before;
    }
    """
    double fastgrad_obval(object)
    bint fastgrad_has_weakrefs(PyObject *)
    void fastgrad_enable_vectorcall(object, Py_ssize_t)
    void fastgrad_open_type(object, const char *)
    object fastgrad_float64(double)
    traverseproc fastgrad_replace_traverse(object, traverseproc)
