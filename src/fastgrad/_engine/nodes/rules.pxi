# Rules: the derivatives of a primitive in one mode. How a rule is applied is in apply.pxi; fastgrad._rules.direct makes
# rules from what defvjp and defjvp are given.

cdef class Rule:
    """How the cotangent or tangent of one argument is computed.

    Parameters
    ----------
    form : int
        One of the values of `rule_forms`.
    fun : callable or None
        The function of the rule, for the forms that have one.
    keeps, spaces : int
        Bit masks of what a node keeps for the rule: as it is, or only its vector space. Bit 0 stands for the answer,
        bit ``i + 1`` for argument ``i``.
    n_args : int, optional
        The number of arguments that a derivative takes beside the answer.
    for_numbers : dict, optional
        For power: exponent -> derivative, with None for all other exponents.
    compiled : int, optional
        One of the values of `compiled_rules`.
    real_deriv : callable, optional
        The derivative for real arguments, if that for complex arguments is another; ``fun`` is then right for both.
    """

    def __init__(self, int form, fun, unsigned int keeps, unsigned int spaces, Py_ssize_t n_args=0,
                 dict for_numbers=None, int compiled=0, real_deriv=None):
        self.real_deriv = real_deriv
        self.compiled = compiled
        self.form = form
        self.fun = fun
        self.n_args = n_args
        self.for_numbers = for_numbers
        self.keeps = keeps
        self.spaces = spaces


cdef class Rules:
    """The rules of one primitive in one mode.

    Parameters
    ----------
    fun : Primitive
        The primitive.
    layout : int
        The layout of its nodes, one of the values of `node_layouts`.
    by_argnum : tuple of (Rule or None), optional
        The rule of each argument.
    whole : callable, optional
        A rule for all arguments at once, in place of those.
    broadcasts : bool, optional
        Whether the answer is the broadcast of the arguments.
    argnums : frozenset of int, optional
        The arguments that ``whole`` has rules for, if that is known.
    opaque : bool, optional
        Whether the rule is a user's, which is called once for each row of a batch.
    closures : bool, optional
        Whether the rules close over a user's functions, which may refer back to a node.
    """

    def __init__(self, fun, int layout, tuple by_argnum=(), whole=None, bint broadcasts=False, argnums=None,
                 bint opaque=False, bint closures=False):
        if layout == NODE_WHOLE and not by_argnum:
            by_argnum = (Rule(RULE_CALL, whole, 0xFFFFFFFF, 0),)
        self.argnums = argnums
        self.fun = fun
        self.layout = layout
        self.by_argnum = by_argnum
        self.whole = whole
        self.broadcasts = broadcasts
        self.opaque = opaque
        self.closures = closures

    def covers(self, Py_ssize_t argnum):
        """Return whether there is a rule for an argument; True if that is not known."""
        if self.layout == NODE_CALL:
            return argnum < len(self.by_argnum) and self.by_argnum[argnum] is not None
        return self.argnums is None or argnum in self.argnums

    def pullback(self, tuple argnums, ans, tuple args, dict kwargs):
        """Return the pullback of one call by these rules.

        Parameters
        ----------
        argnums : tuple of int
            The traced arguments.
        ans : object
            The answer of the call.
        args, kwargs : tuple, dict
            The arguments of the call.

        Returns
        -------
        callable
            Cotangent of the answer -> tuple of cotangents, one for each of ``argnums``.

        Raises
        ------
        NotImplementedError
            If a traced argument has no rule.
        ValueError
            If an argnum is not one of the arguments.
        """
        cdef VJPNode node = VJPNode.__new__(VJPNode)
        check_argnums(argnums, len(args), len(argnums))
        fill_vjp_node(node, ans, self, args, kwargs, argnums, (None,) * len(argnums))
        return node.vjp

    def pushforward(self, tuple argnums, tangents, ans, tuple args, dict kwargs):
        """Return the tangent of the answer of one call by these rules.

        Parameters
        ----------
        argnums : tuple of int
            The traced arguments.
        tangents : sequence
            A tangent for each of them.
        ans : object
            The answer of the call.
        args, kwargs : tuple, dict
            The arguments of the call.

        Returns
        -------
        object
            The tangent.

        Raises
        ------
        NotImplementedError
            If a traced argument has no rule.
        ValueError
            If an argnum is not one of the arguments, or the numbers of argnums and tangents differ.
        """
        tangents = list(tangents)
        check_argnums(argnums, len(args), len(tangents))
        return push_forward(self, ans, args, kwargs, argnums, tangents)

    cdef PyObject *rule(self, Py_ssize_t argnum, bint forward) except NULL:
        # Return the rule of an argument, borrowed: the tuple of rules is never changed once made.
        cdef PyObject *rule = NULL
        if argnum < PyTuple_GET_SIZE_(<PyObject *>self.by_argnum):
            rule = PyTuple_GET_ITEM_(<PyObject *>self.by_argnum, argnum)
        if rule == NULL or rule == <PyObject *>None:
            raise missing_rule(self.fun, "JVP" if forward else "VJP", argnum)
        return rule


cdef list replaced = []


cdef int keep_forever(object rules) except -1:
    # Without the GIL another thread may be about to take a reference to the rules that are replaced, so these are never
    # freed.
    if FASTGRAD_FREE_THREADED and rules is not None:
        replaced.append(rules)
    return 0


cdef int check_argnums(tuple argnums, Py_ssize_t n_args, Py_ssize_t n_parents) except -1:
    # Raise if an argnum is not one of the arguments, or if their number differs from that of parents or tangents.
    for argnum in argnums:
        if not 0 <= argnum < n_args:
            raise ValueError(f"argnum {argnum} is not one of the {n_args} arguments")
    if n_parents != len(argnums):
        raise ValueError(f"{len(argnums)} argnums were given with {n_parents} parents or tangents")
    return 0


def missing_rule(fun, str mode, argnum):
    """Return the error for a rule that is not defined."""
    define = "defvjp" if mode == "VJP" else "defjvp"
    return NotImplementedError(
        f"{mode} of {getattr(fun, '__name__', fun)} wrt argnum {argnum}{parameter_name(fun, argnum)} not defined; "
        f"define it with fastgrad.extend.{define}, or take a plain value first with fastgrad.tracer.getval"
    )


def parameter_name(fun, argnum):
    """Return the name of a parameter in parentheses, for a message; "" if it is not known."""
    try:
        return f" ({list(inspect.signature(fun).parameters)[argnum]})"
    except (TypeError, ValueError, IndexError):
        return ""


cdef inline unsigned int argument_bit(Py_ssize_t argnum):
    # Return the bit of an argument in the masks of a Rule; the last bit stands for all further arguments.
    return 1 << min(argnum + 1, 31)
