# Nodes, the records of primitive calls, and those of reverse mode, which pull cotangents back. How one rule is applied
# stands in apply.pxi, the pass over a graph in graph/walk.pxi.

cdef object refuse_pickling(object node):
    # Raise the error for pickling or copying a node.
    raise TypeError(
        f"{type(node).__name__}, the record of a traced call, cannot be pickled or copied: a graph stays in the "
        "process that traced it; send the function and plain arguments, and differentiate there"
    )


cdef class Node:
    """A record of one primitive call in one trace.

    Subclass it to build another tracer: give the subclass ``__init__(self, value, fun, args, kwargs, parent_argnums,
    parents)`` and ``initialize_root(self, ...)``, and pass ``Sub.new_root(...)`` to `trace`.
    """

    def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
        raise NotImplementedError(f"{type(self).__name__} must define __init__ to record a primitive call")

    def initialize_root(self, *args, **kwargs):
        """Set the fields of a node that a trace starts from; `new_root` calls this."""
        raise NotImplementedError(f"{type(self).__name__} must define initialize_root to start a trace")

    @classmethod
    def new_root(cls, *args, **kwargs):
        """Return a node that a trace can start from.

        Parameters
        ----------
        *args, **kwargs : object
            The arguments of ``initialize_root``.
        """
        root = cls.__new__(cls)
        root.initialize_root(*args, **kwargs)
        return root

    cdef object record(self, object ans, Primitive fun, tuple args, dict kwargs, tuple argnums, tuple parents):
        return type(self)(ans, fun, args, kwargs, argnums, parents)


@cython.trashcan(True)  # a chain of millions of nodes is freed from its end without deep C recursion
cdef class VJPNode(Node):
    """A node of reverse mode, which holds its parents and what the rules need to pull a cotangent back to them.

    Parameters
    ----------
    value : object
        The answer of the call.
    fun : Primitive
        The primitive.
    args, kwargs : sequence, dict
        The arguments of the call, without boxes of this trace.
    parent_argnums : sequence of int
        The traced arguments.
    parents : sequence of Node
        A node for each of them.

    Raises
    ------
    NotImplementedError
        If a traced argument has no VJP.
    ValueError
        If an argnum is not one of the arguments, or the numbers of argnums and parents differ.
    """

    def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
        if not isinstance(fun, Primitive) or (<Primitive>fun).vjps is None:
            raise missing_rule(fun, "VJP", parent_argnums[0] if parent_argnums else 0)
        args, parent_argnums, parents = tuple(args), tuple(parent_argnums), tuple(parents)
        check_argnums(parent_argnums, len(args), len(parents))
        fill_vjp_node(self, value, (<Primitive>fun).vjps, args, dict(kwargs), parent_argnums, parents)

    def initialize_root(self):
        """Set the fields of a node that a trace starts from."""
        self.layout = NODE_ROOT
        untrack(self)

    def __reduce__(self):
        return refuse_pickling(self)

    cdef object record(self, object ans, Primitive fun, tuple args, dict kwargs, tuple argnums, tuple parents):
        cdef VJPNode node
        if type(self) is not VJPNode:
            return type(self)(ans, fun, args, kwargs, argnums, parents)
        if fun.vjps is None:
            raise missing_rule(fun, "VJP", argnums[0])
        node = VJPNode.__new__(VJPNode)
        fill_vjp_node(node, ans, fun.vjps, args, kwargs, argnums, parents)
        return node

    cdef Py_ssize_t n_parents(self):
        cdef PyObject *parents = <PyObject *>self.parent0
        if self.layout == NODE_UNARY or self.layout == NODE_INDEX:
            return 1
        if self.layout == NODE_BINARY:
            return (parents != <PyObject *>None) + (<PyObject *>self.parent1 != <PyObject *>None)
        return PyTuple_GET_SIZE_(parents) if parents != <PyObject *>None else 0

    cdef PyObject *parent(self, Py_ssize_t i):
        # Return a parent, borrowed from this node.
        cdef PyObject *first = <PyObject *>self.parent0
        if self.layout == NODE_UNARY or self.layout == NODE_INDEX:
            return first
        if self.layout == NODE_BINARY:
            if i == 1 or first == <PyObject *>None:
                return <PyObject *>self.parent1
            return first
        return PyTuple_GET_ITEM_(first, i)

    cdef void release(self) noexcept:
        # Drop all that the node keeps but the parents, which another order of the graph may still need.
        self.ans = self.arg0 = self.arg1 = self.targets = None
        self.released = self.layout != NODE_ROOT

    cdef int pull(self, object g, int reuse, PyObject **out, Py_ssize_t n) except -1:
        # Write the cotangents of the n parents to `out` as new references, or raise with nothing written. `reuse` says
        # what may be overwritten if only this node refers to it by then (see REUSE_COTANGENT).
        cdef Rules rules = self.rules
        cdef Py_ssize_t i
        cdef int needed
        if self.released:
            raise RuntimeError(
                "this graph was used up by grad or value_and_grad, which release what the nodes keep; "
                "use make_vjp to pull back through one graph several times"
            )
        if n != self.n_parents():
            raise RuntimeError("a node's parents were changed since its graph was ordered; make a new vjp of it")
        if self.layout == NODE_UNARY:
            first = self.pull_small(0, 1, g, reuse)
            if self.targets is not None:
                first = self.fit(0, first)
            put_reference(out, 0, first)
        elif self.layout == NODE_INDEX:
            put_reference(out, 0, (<Rule>rules.rule(0, False)).fun(g, None, (<VJPNode>self.parent0).space, self.arg0))
        elif self.layout == NODE_BINARY:
            # The second cotangent comes first and may overwrite what the first rule does not need; the first may then
            # overwrite all.
            first = second = None
            if self.parent1 is not None:
                needed = 0 if self.parent0 is None else 1 | (<Rule>rules.rule(0, False)).keeps << 1
                second = self.pull_small(1, 2, g, reuse & ~needed)
                if self.targets is not None:
                    second = self.fit(1, second)
            if self.parent0 is not None:
                first = self.pull_small(0, 2, g, reuse)
                if self.targets is not None:
                    first = self.fit(0, first)
            put_reference(out, 0, second if first is None else first)
            if n == 2:
                put_reference(out, 1, second)
        elif self.layout != NODE_ROOT:
            cotangents = self.pull_call(g)
            if len(cotangents) != n:
                name = "a node" if rules is None else rules.fun.__name__
                raise ValueError(
                    f"the VJP of {name} gave {len(cotangents)} cotangents for {n} traced arguments; it must return one "
                    "for each"
                )
            for i in range(n):
                put_reference(out, i, cotangents[i])
        return 0

    cdef object pull_call(self, object g):
        # Return the cotangents of the parents for the layouts that hold arguments or parents in a tuple.
        cdef Rules rules = self.rules
        cdef Py_ssize_t i, argnum
        cdef Rule rule
        cdef list cotangents
        if self.layout == NODE_STAGED or self.layout == NODE_STAGED_WHOLE:
            if is_batched(g):
                return hooks.row_by_row(functools.partial(pull_staged, self), (g,))
            return pull_staged(self, g)
        args, kwargs, argnums = self.arg0
        if self.layout == NODE_WHOLE:
            note_path("Python rule")
            return rules.whole(argnums, g, self.ans, args, kwargs)
        cotangents = []
        for i in range(len(argnums)):
            argnum = argnums[i]
            rule = <Rule>rules.rule(argnum, False)
            cotangent = apply_rule_to_call(rule, argnum, g, self.ans, args, kwargs)
            cotangents.append(cotangent if rule.form == RULE_ZERO else self.fit(i, cotangent))
        return cotangents

    cdef object pull_small(self, Py_ssize_t argnum, Py_ssize_t n, object g, int reuse):
        # Return the cotangent of one of n arguments (one or two), before it is fitted to the argument.
        cdef PyObject *inputs[5]
        inputs[0], inputs[1], inputs[2] = NULL, <PyObject *>g, <PyObject *>self.ans
        inputs[3], inputs[4] = <PyObject *>self.arg0, <PyObject *>self.arg1
        return apply_rule(<Rule>self.rules.rule(argnum, False), argnum, inputs + 1, n, None, reuse)

    cdef object fit(self, Py_ssize_t i, object g):
        # Return a cotangent of the broadcast answer in the shape and dtype of traced argument i.
        if self.targets is None or self.targets[i] is None:
            return g
        if type(self.targets[i]) in (ArrayVSpace, ComplexArrayVSpace):
            total = sum_to(g, self.targets[i])
            if total is not None:
                return total
        return hooks.unbroadcast(g, self.targets[i])

    @property
    def parents(self):
        """tuple of Node : one per traced argument; the same node may be in it more than once."""
        cdef Py_ssize_t i
        cdef list parents = [None] * self.n_parents()
        for i in range(len(parents)):
            parents[i] = <object>self.parent(i)
        return tuple(parents)

    @parents.setter
    def parents(self, parents):
        vjp = self.vjp if self.layout != NODE_ROOT else (lambda g: ())
        self.parent0, self.parent1, self.arg1, self.targets = tuple(parents), None, None, None
        self.arg0, self.layout = vjp, NODE_STAGED_WHOLE
        track(self)

    @property
    def vjp(self):
        """callable : cotangent of the value -> tuple of cotangents, one per parent."""
        # A snapshot: the function that a user sets as the new `vjp` may call the original one.
        cdef VJPNode snapshot = VJPNode.__new__(VJPNode)
        snapshot.rules, snapshot.layout, snapshot.released = self.rules, self.layout, self.released
        snapshot.ans, snapshot.arg0, snapshot.arg1, snapshot.targets = self.ans, self.arg0, self.arg1, self.targets
        snapshot.parent0, snapshot.parent1 = self.parent0, self.parent1
        return snapshot._pull_back

    @vjp.setter
    def vjp(self, vjp):
        self.parent0, self.parent1, self.arg1, self.targets = self.parents, None, None, None
        self.arg0, self.layout = vjp, NODE_STAGED_WHOLE
        track(self)

    def _pull_back(self, g):
        """Return the cotangents of the parents as a tuple."""
        cdef Py_ssize_t n = self.n_parents(), i
        cdef list cotangents = [None] * n
        cdef PyObject **pulled = <PyObject **>PyMem_Malloc((n + 1) * sizeof(PyObject *))
        if pulled == NULL:
            raise MemoryError("no memory to pull a cotangent back")
        try:
            self.pull(g, 0, pulled, n)
            for i in range(n):
                cotangents[i] = <object>pulled[i]
                Py_XDECREF(pulled[i])
            return tuple(cotangents)
        finally:
            PyMem_Free(pulled)


cdef inline void put_reference(PyObject **out, Py_ssize_t i, object value) noexcept:
    # Write a new reference to `out`.
    Py_INCREF(value)
    out[i] = <PyObject *>value


cdef inline VJPNode unary_node(Rules rules, object ans, object x, PyObject *parent):
    # Return the record of a call with direct rules and one argument.
    cdef VJPNode node = VJPNode.__new__(VJPNode)
    cdef PyObject *rule = rules.rule(0, False)
    node.layout = NODE_UNARY
    node.rules = rules
    node.parent0 = <object>parent
    if (<Rule>rule).keeps & 1:
        node.ans = ans
    if (<Rule>rule).keeps & 2:
        node.arg0 = x
    elif (<Rule>rule).spaces & 2:
        node.arg0 = vspace(x)
    if rules.broadcasts and not same_space(x, ans):
        node.targets = (vspace(x),)
    untrack(node)
    return node


cdef inline VJPNode binary_node(Rules rules, object ans, object x, object y, PyObject *x_parent,
                                PyObject *y_parent):
    # Return the record of a call with direct rules and two arguments; NULL is the parent of one that is not traced.
    cdef VJPNode node = VJPNode.__new__(VJPNode)
    cdef PyObject *rule
    cdef unsigned int keeps = 0, spaces = 0
    cdef bint fit_x = False, fit_y = False
    node.layout = NODE_BINARY
    node.rules = rules
    if x_parent != NULL:
        node.parent0 = <object>x_parent
        rule = rules.rule(0, False)
        keeps, spaces = (<Rule>rule).keeps, (<Rule>rule).spaces
        fit_x = rules.broadcasts and not same_space(x, ans)
    if y_parent != NULL:
        node.parent1 = <object>y_parent
        rule = rules.rule(1, False)
        keeps |= (<Rule>rule).keeps
        spaces |= (<Rule>rule).spaces
        fit_y = rules.broadcasts and not same_space(y, ans)
    if keeps & 1:
        node.ans = ans
    if keeps & 2:
        node.arg0 = x
    elif spaces & 2:
        node.arg0 = vspace(x)
    if keeps & 4:
        node.arg1 = y
    elif spaces & 4:
        node.arg1 = vspace(y)
    if fit_x or fit_y:
        node.targets = (vspace(x) if fit_x else None, vspace(y) if fit_y else None)
    untrack(node)
    return node


cdef int fill_vjp_node(VJPNode node, object ans, Rules rules, tuple args, dict kwargs, tuple argnums,
                       tuple parents) except -1:
    # Set the fields of a new node for any call.
    cdef unsigned int keeps = 0, spaces = 0
    cdef Rule rule
    node.rules = rules
    node.layout = rules.layout
    node.parent0 = parents
    if rules.layout == NODE_STAGED or rules.layout == NODE_STAGED_WHOLE:
        node.arg0 = rules.whole(argnums, ans, args, kwargs)
        note_arguments(node, args, argnums)
        return 0
    if rules.layout == NODE_WHOLE:
        rule = <Rule>rules.by_argnum[0]
        keeps, spaces = rule.keeps, rule.spaces
    else:
        for argnum in argnums:
            rule = <Rule>rules.rule(argnum, False)
            keeps |= rule.keeps
            spaces |= rule.spaces
        kwargs = rule_keywords(rules.fun, kwargs)
        if rules.broadcasts:
            node.targets = targets_of(ans, args, argnums)
    arrays = isinstance(rules.fun, Primitive) and (<Primitive>rules.fun).array_like
    node.arg0 = (kept_arguments(args, keeps, spaces, rules.layout != NODE_WHOLE, arrays), kwargs, argnums)
    if keeps & 1:
        node.ans = ans
    if not rules.closures:
        untrack(node)
    return 0


cdef object targets_of(object ans, tuple args, tuple argnums):
    # Return for each traced argument the vector space that its cotangent must be brought to, or None if the argument
    # has the answer's shape and dtype. Return None if all arguments have.
    cdef list targets = [None] * len(argnums)
    cdef bint fits = True
    cdef Py_ssize_t i
    for i in range(len(argnums)):
        if not same_space(args[argnums[i]], ans):
            targets[i], fits = vspace(args[argnums[i]]), False
    return None if fits else tuple(targets)


def layout_of(VJPNode node not None):
    """Return the name of a node's layout, as the table in values/dispatch.pxi has it."""
    return {NODE_ROOT: "root", NODE_UNARY: "unary", NODE_INDEX: "index", NODE_BINARY: "binary", NODE_CALL: "call",
            NODE_WHOLE: "whole", NODE_STAGED: "staged", NODE_STAGED_WHOLE: "staged"}[node.layout]
