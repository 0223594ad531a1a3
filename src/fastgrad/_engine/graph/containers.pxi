# The cotangent of a container: those of its items are collected, and the container is built once all are there.

cdef class Assembly:
    # The cotangents that a container's node has received so far: those of items by their keys, and those of the whole
    # container. `owned` has the keys whose cotangents were made in this pass, so that nobody else refers to them.
    cdef object space
    cdef dict items
    cdef set owned
    cdef object whole
    cdef bint have_whole
    cdef bint whole_mutable

    cdef int add_item(self, object key, object g, bint owned) except -1:
        cdef PyObject *before = PyDict_GetItemWithError(self.items, key)
        cdef bint mutable
        if before != NULL:
            mutable = key in self.owned
            g, owned = accumulate(<object>before, True, &mutable, g), True
        self.items[key] = g
        if owned:
            self.owned.add(key)
        return 0

    cdef int add_whole(self, object g) except -1:
        self.whole = accumulate(self.whole, self.have_whole, &self.whole_mutable, g)
        self.have_whole = True
        return 0

    cdef object finish(self):
        cdef list leaves = []
        cdef PyObject *found
        cdef Py_ssize_t placed = 0
        for key, space in self.space._items(self.space.shape):
            found = PyDict_GetItemWithError(self.items, key)
            placed += found != NULL
            if self.have_whole:
                self.add_item(key, self.whole[key], False)
                found = PyDict_GetItemWithError(self.items, key)
            leaves.append(space.zeros() if found == NULL else item_cotangent(found, key in self.owned, space))
        if placed < len(self.items) and not self.have_whole:
            raise RuntimeError("a list or dict was changed after items of it, traced, were taken; make a new one")
        return hooks.assemble(self.space, *leaves)


cdef int finish(PyObject **total, bint *mutable) except -1:
    # Replace an assembly by the container that is built of it.
    cdef PyObject *assembly = total[0]
    container = (<Assembly>assembly).finish()
    Py_INCREF(container)
    total[0], mutable[0] = <PyObject *>container, True
    Py_XDECREF(assembly)
    return 0


cdef object item_cotangent(PyObject *held, bint owned, object space):
    # Return an item's cotangent as users may have it: in the item's space, and sharing memory with nothing, since they
    # may change the items of a gradient in place. `held` is referred to by a dict.
    g = <object>held
    if fits_space(g, space):
        if Py_TYPE(g) is &PyArray_Type:
            return g if owns_memory_alone(held, 2, True) else cnp.PyArray_NewCopy(g, cnp.NPY_KEEPORDER)
        return g if isbox(g) else cnp.PyArray_FROM_O(g)
    if not isinstance(space, ArrayVSpace) and (owned or isbox(g)):
        return g
    return space.mut_add(None, g)


cdef int add_item_cotangent(PyObject **total, bint *mutable, VJPNode node, object g, bint owned) except -1:
    # Add the cotangent of a node that took an item to those of the container's node.
    cdef Assembly assembly
    note_path("put into the container")
    if total[0] != NULL and Py_TYPE(<object>total[0]) is <PyTypeObject *>Assembly:
        assembly = <Assembly>total[0]
    else:
        assembly = Assembly.__new__(Assembly)
        assembly.space, assembly.items, assembly.owned = (<VJPNode>node.parent0).space, {}, set()
        if total[0] != NULL:
            assembly.whole, assembly.have_whole, assembly.whole_mutable = <object>total[0], True, mutable[0]
            Py_XDECREF(total[0])
        Py_INCREF(assembly)
        total[0] = <PyObject *>assembly
    return assembly.add_item(node.arg0, g, owned)
