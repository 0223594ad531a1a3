# Batches: values that stand for many, a row each, so that one pass serves many rows of a Jacobian.
#
# A batch is a tracer like the two modes: rules see a box with the shape of one row and call primitives on it; each call
# is made twice, for the example that the box shows and, by the primitive's batch rule, for all rows in the node.


class NotBatchable(Exception):
    """Something was asked of a batch that only a single row can answer; the rows must go one by one."""


class BatchTooLarge(NotBatchable):
    """A batch would take more memory than it may; ``size`` is the number of elements of one of its rows."""

    def __init__(self, size):
        super().__init__(f"a batch of values of {size} elements takes too much memory")
        self.size = size


cpdef bint is_batched(object x):
    """Say whether a value, or the value of one of its lower levels, stands for a batch."""
    while is_box(x):
        if type((<Box>x)._node) is BatchNode:
            return True
        x = (<Box>x)._value
    return False


cdef class BatchNode(Node):
    """A node of a batch: holds the rows that its box's value is an example of.

    Parameters
    ----------
    batch : array_like
        The rows, on the first axis.
    limit : int
        The most elements that a batch made of it may have.
    """

    def initialize_root(self, batch, limit):
        self.batch = batch
        self.rows = len(batch)
        self.limit = limit

    @classmethod
    def like(cls, BatchNode other not None, batch):
        """Make a node of as many rows as another."""
        return batch_node(other, batch)

    cdef object record(self, object ans, Primitive fun, tuple args, dict kwargs, tuple argnums, tuple parents):
        cdef list values = list(args)
        cdef ArrayKind kind = kind_of(ans)
        cdef Py_ssize_t i, size = self.rows
        for i in range(kind.ndim):
            size *= kind.dims[i]
        if size > self.limit and self.rows > 1:
            raise BatchTooLarge(size // self.rows)
        for i in range(len(argnums)):
            parent = parents[i]
            if type(parent) is not BatchNode:
                raise NotBatchable(f"{fun.__name__} was called on a batch and on a value kept from another trace")
            values[argnums[i]] = (<BatchNode>parent).batch
        if fun.is_elementwise and not kwargs and len(values) <= 2:
            batch = elementwise_call(fun, kind.ndim, args, argnums, values)
        else:
            batch = hooks.batch_call(fun, ans, tuple(values), kwargs, argnums, self.rows)
        if not is_batch_of(batch, kind, self.rows):
            batch = hooks.fit_batch(batch, ans, self.rows)
        return batch_node(self, batch)


cdef BatchNode batch_node(BatchNode other, object batch):
    cdef BatchNode node = BatchNode.__new__(BatchNode)
    node.batch = batch
    node.rows = other.rows
    node.limit = other.limit
    return node


cdef object elementwise_call(Primitive fun, int ndim, tuple args, tuple argnums, list values):
    # Broadcasting works from the right: a row that the answer has more axes than gets axes of length 1 behind that of
    # the rows.
    cdef int have
    for i in argnums:
        have = kind_of(args[i]).ndim
        if have < ndim:
            values[i] = values[i][(slice(None),) + (None,) * (ndim - have)]
    if len(values) == 2:
        return fun.call(values[0], values[1])
    return fun.call1(values[0]) if is_box(values[0]) else compute_unary(fun, values[0])
