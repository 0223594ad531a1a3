# Boxes of lists, tuples and dicts. An item gets one box and one node, however often it is taken, and its cotangent is
# put into the container's by graph/containers.pxi.

cdef bint is_item(VJPNode node):
    """Return whether a node took one item of a container, so that `Assembly` collects its cotangent."""
    return node.rules is item_rules and node.layout == NODE_INDEX and not node.released


cdef bint is_key(object key):
    # Return whether a key selects a single item and can be a key of a dict. Slices are hashable since Python 3.12, but
    # select several items.
    if type(key) is str or PyLong_CheckExact(key):
        return True
    if is_box(key) or isinstance(key, slice):
        return False
    try:
        hash(key)
    except TypeError:
        return False
    return True


cdef object item_key(object container, object key):
    """Return the key that the item's cotangent is stored under, of a sequence the position counted from the start.

    Return None if the container's type defines its own __getitem__, so that the key may mean something else.
    """
    cdef Py_ssize_t i
    if type(container) is dict or type(container).__getitem__ is dict.__getitem__:
        return key
    if type(container) is not list and type(container).__getitem__ is not tuple.__getitem__:
        return None
    i = PyNumber_AsSsize_t(key, IndexError)
    if i >= 0 and PyLong_CheckExact(key):
        return key
    return i + len(container) if i < 0 else i


cdef class ContainerBox(Box):
    """A traced container: taking one of its items twice gives the same box."""

    def __getitem__(self, key):
        if not is_key(key):
            return p_take.call_tuple((self, key), None, True)
        if self.taken is not None and not is_box(self._value):
            box = fastgrad_find(self.taken, key)
            if box is not None and (<Box>box)._value is self._value[key]:
                return box
        return self.take(key, self._trace)

    cdef object item(self, object key, Py_ssize_t level):
        """Return the value at the key, without boxes of this container's own trace or of higher ones.

        Such boxes are there if the primitive that returned the container closed over them. As in autograd, its rule is
        taken for the whole derivative. Raise ClosedOverTrace for a box of a trace above `level`.
        """
        if isinstance(self._value, ContainerBox):
            value = (<ContainerBox>self._value).take(key, level)
        else:
            value = self._value[key]
        while is_box(value) and (<Box>value)._trace >= self._trace:
            if (<Box>value)._trace > level:
                raise ClosedOverTrace(p_take.__name__)
            value = (<Box>value)._value
        return value

    cdef object take(self, object key, Py_ssize_t level):
        # Return the box of the item at the key. `level` is that of the box that the user indexed, of which this one may
        # be the value.
        cdef Box box
        node_type = type(self._node)
        if (node_type is not VJPNode and node_type is not JVPNode) or p_take.notrace_types:
            return p_take.call_tuple((self, key), None, True)
        value = self.item(key, level)
        position = item_key(unbox_all(self._value), key)
        if position is None:
            return p_take.call_tuple((self, key), None, True)
        if self.taken is None:
            self.start_taking()
        # A stored box is used only if it has this value: the list or dict may have been changed since it was stored, or
        # another thread may have stored its own.
        box = fastgrad_find(self.taken, position)
        if box is None or box._value is not value:
            box = self.taken[position] = self.record_item(position, value)
        if position is not key:
            self.taken[key] = box
        return box

    cdef int start_taking(self) except -1:
        # Several threads may take their first item at the same time; all must use the same dict.
        cdef dict taken = {}
        with cython.critical_section(self):
            if self.taken is None:
                self.taken = taken
        return 0

    cdef object record_item(self, object position, object value):
        """Return a new box of the item, with its node."""
        cdef Node parent = self._node
        cdef VJPNode node
        if type(parent) is not VJPNode or p_take.vjps is not take_rules:
            record = parent.record(value, p_take, (self._value, position), {}, (0,), (parent,))
            return box_answer(value, self._trace, record, p_take)
        if (<VJPNode>parent).space is None and note_space(parent, self._value):
            self.is_space_noted = True
        if not self.is_space_noted:
            # A root that was used for several traces stands for several values, but notes the space of one.
            if vspace(self._value) != (<VJPNode>parent).space:
                record = parent.record(value, p_take, (self._value, position), {}, (0,), (parent,))
                return box_answer(value, self._trace, record, p_take)
            self.is_space_noted = True
        note_path("ContainerBox.take")
        note_path("item of the container")
        node = VJPNode.__new__(VJPNode)
        node.layout, node.rules, node.arg0, node.parent0 = NODE_INDEX, item_rules, position, parent
        node.space = space_of_item((<VJPNode>parent).space, position)
        untrack(node)
        box = box_answer(value, self._trace, node, p_take)
        if isinstance(box, ContainerBox):
            (<ContainerBox>box).is_space_noted = True
        return box


cdef object space_of_item(object space, object position):
    # Return the space of an item: the `shape` of a container's space holds the items' spaces under the same keys.
    try:
        return space.shape[position]
    except (AttributeError, LookupError, TypeError):  # a space of a user's class need not have it
        return None
