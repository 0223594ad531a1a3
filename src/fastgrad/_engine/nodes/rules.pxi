# Rules: what is known of the derivatives of a primitive in one mode.

cdef class Rule:
    """One argument's rule: made by `fastgrad.core`, read by the nodes."""

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
    """The rules of one primitive in one mode."""

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
        """Say whether there is a rule for an argument, as far as that is known."""
        if self.layout == NODE_CALL:
            return argnum < len(self.by_argnum) and self.by_argnum[argnum] is not None
        return self.argnums is None or argnum in self.argnums

    def pullback(self, tuple argnums, ans, tuple args, dict kwargs):
        """Give the pullback of one call by these rules."""
        cdef VJPNode node = VJPNode.__new__(VJPNode)
        check_argnums(argnums, len(args), len(argnums))
        fill_vjp_node(node, ans, self, args, kwargs, argnums, (None,) * len(argnums))
        return node.vjp

    def pushforward(self, tuple argnums, tangents, ans, tuple args, dict kwargs):
        """Give the tangent of the answer of one call by these rules."""
        tangents = list(tangents)
        check_argnums(argnums, len(args), len(tangents))
        return push_forward(self, ans, args, kwargs, argnums, tangents)

    cdef PyObject *rule(self, Py_ssize_t argnum, bint forward) except NULL:
        # Borrowed: rules are never changed once made.
        cdef PyObject *rule = NULL
        if argnum < PyTuple_GET_SIZE_(<PyObject *>self.by_argnum):
            rule = PyTuple_GET_ITEM_(<PyObject *>self.by_argnum, argnum)
        if rule == NULL or rule == <PyObject *>None:
            raise missing_rule(self.fun, "JVP" if forward else "VJP", argnum)
        return rule


cdef list replaced = []


cdef int keep_forever(object rules) except -1:
    # Without the GIL another thread may be about to take a reference to what is replaced: it is never freed then.
    if FASTGRAD_FREE_THREADED and rules is not None:
        replaced.append(rules)
    return 0


cdef int check_argnums(tuple argnums, Py_ssize_t n_args, Py_ssize_t n_parents) except -1:
    for argnum in argnums:
        if not 0 <= argnum < n_args:
            raise ValueError(f"argnum {argnum} is not one of the {n_args} arguments")
    if n_parents != len(argnums):
        raise ValueError(f"{len(argnums)} argnums were given with {n_parents} parents or tangents")
    return 0


def missing_rule(fun, str mode, argnum):
    """Make the error for a rule that nobody has defined."""
    define = "defvjp" if mode == "VJP" else "defjvp"
    return NotImplementedError(
        f"{mode} of {getattr(fun, '__name__', fun)} wrt argnum {argnum}{parameter_name(fun, argnum)} not defined; "
        f"define it with fastgrad.extend.{define}, or take a plain value first with fastgrad.tracer.getval"
    )


def parameter_name(fun, argnum):
    """Give the name of a parameter in brackets, for a message; "" where it is not known."""
    try:
        return f" ({list(inspect.signature(fun).parameters)[argnum]})"
    except (TypeError, ValueError, IndexError):
        return ""


cdef inline unsigned int argument_bit(Py_ssize_t argnum):
    # The bit of an argument in the masks of a Rule; the last one stands for all further arguments.
    return 1 << min(argnum + 1, 31)
