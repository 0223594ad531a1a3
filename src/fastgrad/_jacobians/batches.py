"""Batches: many cotangents or tangents in one pass, for the rows or columns of a Jacobian.

A batch is traced, as the values of the two modes are. It is a box whose value is one row, the example, and whose node,
a `BatchNode`, holds all rows. Rules consist of primitives, so that they work on batches unchanged: each primitive
computes the example and, by its batch rule, the rows. A primitive without a batch rule is called once for each row,
which is always correct since rows do not depend on one another. The batch rules of NumPy's functions are in
`fastgrad/numpy/rules/`, beside their other rules.

`NotBatchable` is raised for what cannot be done with a batch, such as a branch on the value of a cotangent, or values
of a type that a user registered. The caller then computes the rows one by one.
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
    """Return the batch of a primitive's values, computed by its batch rule or row by row."""
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
    """Return row ``i`` of a batch."""
    batch_type = type(unbox_all(batch))
    if issubclass(batch_type, list | tuple):
        return make_sequence(batch_type, *[_row(batch[k], i) for k in range(len(batch))])
    if issubclass(batch_type, dict):
        raise NotBatchable("rows of a batch of dicts")
    return batch[i]


def stacked(rows):
    """Return the batch of some rows, which may be traced: an array, or for containers a container of batches.

    Raises
    ------
    NotBatchable
        If the rows are neither arrays nor numbers, nor lists or tuples of the same length of these.
    """
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
    """Return the batch of a primitive's values in the dtype of the example; raise NotBatchable if it is no batch."""
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
    """Return a container after checking that it has a batch for each value of the example."""
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
    """Call a rule once for each row, as it may branch on values, and return the batches of what it returns.

    Parameters
    ----------
    call : callable
        ``call(*gs)`` returns a sequence of cotangents or tangents.
    gs : sequence
        Cotangents or tangents, one or more of them batches.

    Returns
    -------
    tuple of Box
        The batch of each item.
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
        # The rows of a Jacobian inside a Jacobian are batches themselves.
        rows.append(_row_by_row(call, given) if any(map(is_batched, given)) else call(*given))
    return tuple(_boxed(stacked(items), one, level) for items in zip(*rows, strict=True))


def _boxed(batch, node, level):
    """Return the box of a batch with as many rows as the batch of ``node``."""
    return new_box(_row(batch, 0), level, BatchNode.like(node, batch))


connect(batch_call=_call, fit_batch=_fitted, row_by_row=_row_by_row)

# -------------------------------------------------------------------------------------------------------------- passes


def through(linear, seeds, limit):
    """Return the images of some rows under a linear map, computed in one pass.

    Parameters
    ----------
    linear : callable
        A pullback or pushforward.
    seeds : ndarray, shape (n, ...)
        The rows, at least one.
    limit : int
        The largest number of elements that an intermediate value may have in all rows together.

    Returns
    -------
    array_like, shape (n, ...)
        The image of each row.

    Raises
    ------
    BatchTooLarge
        If an intermediate value has more elements.
    NotBatchable
        If an operation can be done with single rows only.
    """
    with trace_stack.new_trace() as level:
        end = linear(new_box(seeds[0], level, BatchNode.new_root(seeds, limit)))
    if isbox(end) and end._trace == level:
        return end._node.batch
    # The image does not depend on the seeds.
    return anp.repeat(anp.expand_dims(end, 0), len(seeds), 0)
