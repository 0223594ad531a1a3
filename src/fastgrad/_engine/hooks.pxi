# Hooks: every call from the engine up into Python code that stands above it.
#
# Imports point down only, so the modules above hand their functions over with `connect` when they are imported. Nothing
# else in the engine refers to them.
#
# hook                    called to                                                     connected by
# traced_container        trace a list, tuple or dict that a traced function returned   builtins
# traced_array            trace a list or tuple with boxes in it, as an array           numpy._namespace.arrays
# unbroadcast, broadcast  fit cotangents and tangents of broadcasting functions         numpy.broadcasting
# as_positional           move traced keywords of a call to their positions             _rules.keywords
# position_of             find the position of a parameter                              _rules.keywords
# record_derivative       record the derivative of an elementwise function              _rules.recording
# batch_call, fit_batch   call a primitive on a batch; check and cast what it returned  _jacobians.batches
# row_by_row              call a function once for each row of a batch                  _jacobians.batches
# assemble                build a container from its items, as a primitive              builtins
# sparse_add              add a sparse cotangent to an array, as a primitive            core
# core_namespace          look up core.add_outgrads, which users may replace            core
# debug_node_types        choose the types of nodes inside blocks of fastgrad.debug     _diagnostics.debug
# advice, check_returned  say what to do about a value without a vector space or box    _diagnostics.messages
# seed                    fit or refuse the cotangents and tangents that users pass in  numpy.fitting
# cotangent_of_rule       fit or refuse a cotangent that a user's rule returned         numpy.fitting
# tangent_of_rule         fit or refuse a tangent that a user's rule returned           numpy.fitting
# defgrad                 serve autograd's deprecated Primitive.defgrad                 core
# defvjp_method           serve autograd's deprecated Primitive.defvjp                  core
# defvjp_is_zero          serve autograd's deprecated Primitive.defvjp_is_zero          core

cdef class Hooks:
    """The functions that `connect` sets, by name; the table above lists them."""


cdef Hooks hooks = Hooks()


def connect(**functions):
    """Set hooks by name.

    Parameters
    ----------
    **functions : callable
        The names and functions of the table in `hooks.pxi`.

    Raises
    ------
    AttributeError
        If there is no hook of that name.
    """
    for name, function in functions.items():
        setattr(hooks, name, function)


# The primitives behind operators, and those that the engine knows apart. Set once, by numpy.numpy_boxes,
# numpy.rules.indexing and builtins.
cdef Primitive p_add, p_subtract, p_multiply, p_divide, p_power, p_mod, p_floor_divide, p_matmul
cdef Primitive p_negative, p_positive, p_absolute, p_getitem
cdef Primitive p_maximum, p_minimum
cdef Primitive p_equal, p_not_equal, p_less, p_less_equal, p_greater, p_greater_equal
cdef Primitive p_take = None
# The rules under which indexing of arrays has nodes of its own layout.
cdef Rules index_rules = None
# The rules of container_take as fastgrad gave them, to see whether they were replaced; and the same rules in an object
# of their own, which marks the nodes whose cotangents the backward pass puts in place itself.
cdef Rules take_rules = None
cdef Rules item_rules = None


def connect_operators(namespace, getitem):
    """Set the primitives that ArrayBox's operators call, and those that serve NumPy's own ufuncs.

    Parameters
    ----------
    namespace : dict
        Names to primitives; called once, by `fastgrad.numpy.numpy_boxes`.
    getitem : Primitive
        The primitive behind indexing.
    """
    global p_add, p_subtract, p_multiply, p_divide, p_power, p_mod, p_floor_divide, p_matmul
    global p_negative, p_positive, p_absolute, p_getitem
    global p_maximum, p_minimum
    global p_equal, p_not_equal, p_less, p_less_equal, p_greater, p_greater_equal
    p_add, p_subtract = namespace["add"], namespace["subtract"]
    p_multiply, p_divide = namespace["multiply"], namespace["divide"]
    p_power, p_mod = namespace["power"], namespace["mod"]
    p_floor_divide, p_matmul = namespace["floor_divide"], namespace["matmul"]
    p_negative, p_positive, p_absolute = namespace["negative"], namespace["positive"], namespace["absolute"]
    p_maximum, p_minimum = namespace["maximum"], namespace["minimum"]
    p_equal, p_not_equal = namespace["equal"], namespace["not_equal"]
    p_less, p_less_equal = namespace["less"], namespace["less_equal"]
    p_greater, p_greater_equal = namespace["greater"], namespace["greater_equal"]
    p_getitem = getitem


def connect_indexing(Primitive getitem not None):
    """Record indexing of arrays in nodes of its own layout while `getitem` has the rules it has now."""
    global index_rules
    index_rules = getitem.vjps


def connect_container_take(Primitive take not None):
    """Set the primitive that takes an item of a container; called once, when it has its rules."""
    global p_take, take_rules, item_rules
    p_take = take
    take_rules = take.vjps
    item_rules = Rules(take, NODE_CALL, take_rules.by_argnum)
