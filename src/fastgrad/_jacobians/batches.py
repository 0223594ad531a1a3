"""Many cotangents or tangents in one pass: the rows of Jacobians.

A batch is a tracer, like the two modes. Cotangents are boxes whose value is an example, one row, and whose node,
`BatchNode`, holds all rows. So every rule works on a batch as it is, for it is made of primitives: each primitive
computes the example and, by its batch rule, the rows. The batch rules are in `fastgrad.numpy.rules`; a
primitive that has none is called once a row, which is always right, for rows do not depend on one another.

What cannot be done with a batch raises `NotBatchable`: a decision by the value of a cotangent, or values of a type of a
user's own. The caller then goes row by row.
"""

import numpy as onp

import fastgrad.numpy as anp
from fastgrad._engine.core import (
    BatchNode,
    NotBatchable,
    SparseObject,
    connect,
    is_batched,
    new_box,
    unbox_all,
)
from fastgrad.builtins import make_sequence
from fastgrad.tracer import isbox, trace_stack

_NUMERIC = (onp.ndarray, onp.number, float, complex)

# ------------------------------------------------------------------------------------------------- calls of primitives


def _call(fun, ans, args, kwargs, argnums, rows):
    """Call a primitive on batches: by its batch rule, or row by row."""
    rule = getattr(fun, "batch_rule", None)
    if rule is not None:
        batch = rule(rows, ans, argnums, *args, **kwargs)
        if batch is not NotImplemented:
            return batch
    if any(isinstance(unbox_all(args[i]), SparseObject) for i in argnums):
        raise NotBatchable(f"{fun.__name__} has no batch rule for sparse cotangents")
    calls = []
    for row in range(rows):
        given = list(args)
        for i in argnums:
            given[i] = _row(args[i], row)
        calls.append(fun(*given, **kwargs))
    return stacked(calls)


def _row(batch, i):
    """Give a row of a batch."""
    batch_type = type(unbox_all(batch))
    if issubclass(batch_type, list | tuple):
        return make_sequence(batch_type, *[_row(batch[k], i) for k in range(len(batch))])
    if issubclass(batch_type, dict):
        raise NotBatchable("rows of a batch of dicts")
    return batch[i]


def stacked(rows):
    """Make a batch of rows, traced or not: an array of arrays or numbers, a container of batches of containers."""
    row_type = type(unbox_all(rows[0]))
    if not all(issubclass(type(unbox_all(row)), _NUMERIC) for row in rows):
        same_type = all(type(unbox_all(row)) is row_type for row in rows)
        if not (same_type and issubclass(row_type, list | tuple) and len({len(row) for row in rows}) == 1):
            raise NotBatchable(f"values of type {row_type.__name__} have no batch")
        return make_sequence(row_type, *[stacked([row[i] for row in rows]) for i in range(len(rows[0]))])
    if any(isbox(row) for row in rows):
        return anp.array_from_args((), {}, *rows)
    return onp.array(rows)


def _fitted(batch, ans, rows):
    """Give the batch of a primitive's answers in the dtype that the example has; refuse what is none."""
    example = unbox_all(ans)
    if isinstance(example, SparseObject) and isinstance(unbox_all(batch), SparseObject):
        return batch
    if isinstance(example, list | tuple | dict):
        return _fitted_container(batch, example, rows)
    if not isinstance(example, onp.ndarray | onp.inexact | float | complex):
        raise NotBatchable(f"a batch of {type(example)}")
    dtype = onp.result_type(example)
    if dtype.kind not in "fc" or anp.shape(batch) != (rows, *onp.shape(example)):
        raise NotBatchable(f"a batch of shape {anp.shape(batch)} for a value of shape {onp.shape(example)} and {dtype}")
    have = unbox_all(batch).dtype
    if have.kind == "c" and dtype.kind != "c":
        raise NotBatchable("a batch of complex values for a real one")
    return batch if have == dtype else anp._astype(batch, dtype)


def _fitted_container(batch, example, rows):
    """Check that a container holds a batch for each value of the example."""
    keys = example.keys() if isinstance(example, dict) else range(len(example))
    if type(unbox_all(batch)) is not type(example) or len(batch) != len(example):
        raise NotBatchable(f"a {type(unbox_all(batch)).__name__} for a batch of {type(example).__name__}s")
    for key in keys:
        item = batch[key]
        if _fitted(item, example[key], rows) is not item:
            raise NotBatchable(f"a container with a batch of the wrong dtype at {key!r}")
    return batch


# ------------------------------------------------------------------------------------------------------ rules of users


def _row_by_row(call, gs):
    """Call a rule that may look at values once a row, and give the batches of what it returns.

    Parameters
    ----------
    call : callable
        ``call(*gs)`` gives a sequence of cotangents or tangents.
    gs : sequence
        Cotangents or tangents, one or more of them batches.
    """
    level = max(g._trace for g in gs if isbox(g))
    nodes = [g._node if isbox(g) and g._trace == level else None for g in gs]
    one = next(node for node in nodes if node is not None)
    if not all(node is None or type(node) is BatchNode for node in nodes):
        raise NotBatchable("a rule of the user's was given a traced value of a batch")
    batches = [g if node is None else node.batch for g, node in zip(gs, nodes, strict=True)]
    rows = []
    for row in range(one.rows):
        given = [batch if node is None else _row(batch, row) for batch, node in zip(batches, nodes, strict=True)]
        # There may be a batch in the batch: of a Jacobian in a Jacobian.
        rows.append(_row_by_row(call, given) if any(map(is_batched, given)) else call(*given))
    return tuple(_boxed(stacked(items), one, level) for items in zip(*rows, strict=True))


def _boxed(batch, node, level):
    """Make the box of a batch with as many rows as that of a node."""
    return new_box(_row(batch, 0), level, BatchNode.like(node, batch))


connect(batch_call=_call, fit_batch=_fitted, row_by_row=_row_by_row)

# -------------------------------------------------------------------------------------------------------------- passes


def through(linear, seeds, limit):
    """Send rows through a linear map in one pass.

    Parameters
    ----------
    linear : callable
        A pullback or pushforward.
    seeds : ndarray
        The rows, one or more, on the first axis.
    limit : int
        How many elements a value on the way may have in all rows together.

    Returns
    -------
    array_like
        What becomes of each, on the first axis.

    Raises
    ------
    BatchTooLarge
        If a value has more.
    NotBatchable
        If something on the way can serve single rows alone.
    """
    with trace_stack.new_trace() as level:
        end = linear(new_box(seeds[0], level, BatchNode.new_root(seeds, limit)))
    if isbox(end) and end._trace == level:
        return end._node.batch
    # It does not depend on the seeds.
    return anp.repeat(anp.expand_dims(end, 0), len(seeds), 0)
