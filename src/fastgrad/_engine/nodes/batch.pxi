# Batches: values that stand for many rows, so that one pass computes many rows of a Jacobian.
#
# A batch is a tracer like the two modes. Rules see a box with the shape of one row and call primitives on it. Each call
# is computed twice: for the example row in the box, and by the primitive's batch rule for all rows in the node.


class NotBatchable(Exception):
    """Raised if code needs the value of a single row of a batch; the caller then computes the rows one by one."""


class BatchTooLarge(NotBatchable):
    """Raised if a batch would have more elements than its limit.

    Parameters
    ----------
    size : int
        The number of elements of one row; kept as an attribute.
    """

    def __init__(self, size):
        super().__init__(f"a batch of values of {size} elements takes too much memory")
        self.size = size


cpdef bint is_batched(object x):
    """Return whether a value stands for a batch, at its own trace level or a lower one."""
    while is_box(x):
        if type((<Box>x)._node) is BatchNode:
            return True
        x = (<Box>x)._value
    return False


cdef class BatchNode(Node):
    """A node of a batch, which holds the rows that its box's value is an example of."""

    def initialize_root(self, batch, limit):
        """Set the batch that a trace starts from.

        Parameters
        ----------
        batch : array_like
            The rows, on the first axis.
        limit : int
            The largest number of elements that a batch of several rows computed from it may have.
        """
        self.batch = batch
        self.rows = len(batch)
        self.limit = limit

    @classmethod
    def like(cls, BatchNode other not None, batch):
        """Return a node with the number of rows and the limit of another.

        Parameters
        ----------
        other : BatchNode
            The other node.
        batch : array or SparseObject
            Its rows, on the first axis.
        """
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
    # Return a node with the number of rows and the limit of another.
    cdef BatchNode node = BatchNode.__new__(BatchNode)
    node.batch = batch
    node.rows = other.rows
    node.limit = other.limit
    return node


cdef object elementwise_call(Primitive fun, int ndim, tuple args, tuple argnums, list values):
    # Return the batch of answers of an elementwise function. Broadcasting aligns the last axes, so if a row has fewer
    # axes than the answer, axes of length 1 are inserted after the axis of rows.
    cdef int row_ndim
    for i in argnums:
        row_ndim = kind_of(args[i]).ndim
        if row_ndim < ndim:
            values[i] = values[i][(slice(None),) + (None,) * (ndim - row_ndim)]
    if len(values) == 2:
        return fun.call(values[0], values[1])
    return fun.call1(values[0]) if is_box(values[0]) else compute_unary(fun, values[0])
