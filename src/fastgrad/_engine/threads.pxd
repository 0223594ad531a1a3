# cython: language_level=3
"""What the GIL gives for nothing, and what takes its place in a free-threaded CPython."""

from cpython.object cimport PyObject

cdef extern from *:
    """
    #ifdef Py_GIL_DISABLED
    typedef PyMutex fastgrad_mutex;
    static inline void fastgrad_lock(fastgrad_mutex *mutex) { PyMutex_Lock(mutex); }
    static inline void fastgrad_unlock(fastgrad_mutex *mutex) { PyMutex_Unlock(mutex); }
    /* The two parts of a count can be read at one moment only where one of them is ours alone, and the other zero. */
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
    # A lock where there is no GIL, and nothing where there is one: for code that runs no Python code.
    ctypedef struct fastgrad_mutex:
        pass
    void fastgrad_lock(fastgrad_mutex *) noexcept
    void fastgrad_unlock(fastgrad_mutex *) noexcept
    # Are there n references to x? If so and the caller has them all, nobody else can get one. May be False without
    # the GIL, where another thread made x or had it.
    bint fastgrad_has_refs(PyObject *, Py_ssize_t) noexcept
    # dict.get(key), of a dict that other threads may change.
    object fastgrad_find(dict, object)
    const bint FASTGRAD_FREE_THREADED
