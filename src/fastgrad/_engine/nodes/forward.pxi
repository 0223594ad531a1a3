# Forward mode: nodes that hold tangents, and how rules push them forward. How one rule is applied is in apply.pxi.

cdef class JVPNode(Node):
    """A node of forward mode, which holds the tangent of its value.

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
    parents : sequence of JVPNode
        A node for each of them.

    Raises
    ------
    NotImplementedError
        If a traced argument has no JVP.
    ValueError
        If an argnum is not one of the arguments, or the numbers of argnums and parents differ.
    """

    def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
        cdef Rules rules = (<Primitive>fun).jvps if isinstance(fun, Primitive) else None
        if rules is None:
            raise missing_rule(fun, "JVP", parent_argnums[0] if parent_argnums else 0)
        tangents = list(parents)
        for i in range(len(tangents)):
            tangents[i] = tangents[i].g
        check_argnums(tuple(parent_argnums), len(args), len(tangents))
        self.g = push_forward(rules, value, tuple(args), dict(kwargs), tuple(parent_argnums), tangents)

    def initialize_root(self, g):
        """Set the tangent of the value that a trace starts from."""
        self.g = g

    def __reduce__(self):
        return refuse_pickling(self)

    cdef object record(self, object ans, Primitive fun, tuple args, dict kwargs, tuple argnums, tuple parents):
        cdef JVPNode node
        if type(self) is not JVPNode:
            return type(self)(ans, fun, args, kwargs, argnums, parents)
        if fun.jvps is None:
            raise missing_rule(fun, "JVP", argnums[0])
        node = JVPNode.__new__(JVPNode)
        node.g = push_forward(fun.jvps, ans, args, kwargs, argnums, parent_tangents(fun, parents))
        return node


cdef list parent_tangents(Primitive fun, tuple parents):
    # Return the tangents that the parents hold.
    cdef list tangents = list(parents)
    cdef Py_ssize_t i
    for i in range(len(tangents)):
        parent = tangents[i]
        if not isinstance(parent, JVPNode):
            raise TypeError(
                f"{fun.__name__} was called in forward mode on a box with a {type(parent).__name__}: a traced value "
                "was kept from a trace that is over"
            )
        tangents[i] = (<JVPNode>parent).g
    return tangents


def push_row(rules, argnums, ans, args, kwargs, *tangents):
    """Return the tangent of one row of a batch by a user's rule, in a tuple of length 1."""
    return (push_by_user(rules, argnums, tangents, ans, args, kwargs),)


cdef object push_by_user(Rules rules, tuple argnums, tangents, object ans, tuple args, dict kwargs):
    # Return the tangent by a user's rule, checked against the answer.
    cdef ArrayKind kind, wanted = kind_of(ans)
    cdef bint numeric
    tangent = rules.whole(argnums, tangents, ans, args, kwargs)
    kind = kind_of(tangent)
    numeric = cnp.PyTypeNum_ISFLOAT(kind.typenum) or (
        cnp.PyTypeNum_ISCOMPLEX(kind.typenum) and cnp.PyTypeNum_ISCOMPLEX(wanted.typenum))
    if numeric and wanted.typenum >= 0 and same_shape(&kind, &wanted) and of_no_subclass(tangent):
        return tangent
    shape = structure_of(ans, &wanted)
    if shape is None:
        return tangent
    return hooks.tangent_of_rule(tangent, shape, not cnp.PyTypeNum_ISCOMPLEX(wanted.typenum), rules.fun)


cdef object push_forward(Rules rules, object ans, tuple args, dict kwargs, tuple argnums, list tangents):
    """Return the tangent of ans, given the tangents of the arguments at argnums."""
    cdef Rule rule
    cdef Py_ssize_t i
    cdef object fun = rules.fun
    if rules.layout == NODE_WHOLE:
        if rules.opaque:
            for g in tangents:
                if is_batched(g):
                    call = functools.partial(push_row, rules, argnums, ans, args, kwargs)
                    return hooks.row_by_row(call, tangents)[0]
            return push_by_user(rules, argnums, tangents, ans, args, kwargs)
        return rules.whole(argnums, tangents, ans, args, kwargs)
    rule_kwargs = rule_keywords(fun, kwargs)
    total = None
    for i in range(len(argnums)):
        rule = <Rule>rules.rule(argnums[i], True)
        if rule.form == RULE_ZERO:
            continue
        if rule.form == RULE_SAME:
            tangent = fun(*args[:argnums[i]], tangents[i], *args[argnums[i] + 1:], **kwargs)
        else:
            tangent = apply_rule_to_call(rule, argnums[i], tangents[i], ans, args, rule_kwargs)
        total = tangent if total is None else add_values(total, tangent)
    if total is None:
        return vspace(ans).zeros()
    if rules.broadcasts and not same_space(total, ans):
        return hooks.broadcast(total, ans)
    return total
