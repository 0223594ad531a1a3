# cython: language_level=3
"""Locks and checks that the GIL makes unnecessary, for free-threaded CPython; with the GIL they cost nothing."""

from cpython.object cimport PyObject

cdef extern from *:
    """
    #ifdef Py_GIL_DISABLED
    typedef PyMutex fastgrad_mutex;
    static inline void fastgrad_lock(fastgrad_mutex *mutex) { PyMutex_Lock(mutex); }
    static inline void fastgrad_unlock(fastgrad_mutex *mutex) { PyMutex_Unlock(mutex); }
    /* Both parts of a reference count can be read at one moment only if one is this thread's own and the other zero. */
    static inline int fastgrad_has_refs(PyObject *x, Py_ssize_t n) {
        return _Py_IsOwnedByCurrentThread(x) && _Py_atomic_load_uint32_relaxed(&x->ob_ref_local) == (uint32_t)n
            && _Py_atomic_load_ssize_relaxed(&x->ob_ref_shared) == 0;
    }
    static inline PyObject *fastgrad_find(PyObject *dict, PyObject *key) {
        PyObject *found;
        if (PyDict_GetItemRef(dict, key, &found) == 0) found = Py_NewRef(Py_None);
        return found;
    }
    #define FASTGRAD_FREE_THREADED 1
    #else
    typedef char fastgrad_mutex;
    static inline void fastgrad_lock(fastgrad_mutex *mutex) { (void)mutex; }
    static inline void fastgrad_unlock(fastgrad_mutex *mutex) { (void)mutex; }
    static inline int fastgrad_has_refs(PyObject *x, Py_ssize_t n) { return Py_REFCNT(x) == n; }
    static inline PyObject *fastgrad_find(PyObject *dict, PyObject *key) {
        PyObject *found = PyDict_GetItemWithError(dict, key);
        if (found == NULL && !PyErr_Occurred()) found = Py_None;
        Py_XINCREF(found);
        return found;
    }
    #define FASTGRAD_FREE_THREADED 0
    #endif
    """
    # A lock for sections that run no Python code; it does nothing where there is a GIL.
    ctypedef struct fastgrad_mutex:
        pass
    void fastgrad_lock(fastgrad_mutex *) noexcept
    void fastgrad_unlock(fastgrad_mutex *) noexcept
    # Return whether there are exactly n references to x. If so, and the caller knows them all, nobody else can get one.
    # Without the GIL the result may be False although it is so, if another thread made x or had a reference to it.
    bint fastgrad_has_refs(PyObject *, Py_ssize_t) noexcept
    # Return dict.get(key) for a dict that other threads may change meanwhile.
    object fastgrad_find(dict, object)
    const bint FASTGRAD_FREE_THREADED
