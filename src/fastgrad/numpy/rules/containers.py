"""Batch rules of functions of vector spaces and containers; their other rules are in `fastgrad.core` and `builtins`.

A batch of containers is a container of batches.
"""

from fastgrad._engine.core import VSpace
from fastgrad._rules.direct import def_batch
from fastgrad.builtins import _assemble, _make_dict, container_take, container_untake, make_sequence
from fastgrad.core import sparse_add
from fastgrad.numpy.batching import all_batches, batch_space, first_argument, repeat_rows

# ------------------------------------------------------------------------------------------------ sums in vector spaces


def _in_batch_space(method):
    """Return the batch rule of a method of vector spaces that acts on each row by itself."""

    def batch_rule(rows, _ans, argnums, space, *args):
        batches = batch_space(space, rows)
        if batches is None:
            return NotImplemented
        args = [x if x is None or i in argnums else repeat_rows(x, rows) for i, x in enumerate(args, 1)]
        return method(batches, *args)

    return batch_rule


_add_batch = _in_batch_space(VSpace.add)
_add_in_place_batch = _in_batch_space(VSpace.mut_add)


def _mut_add_batch(rows, ans, argnums, space, total, x):
    # Repeated rows share their memory and must not be changed in place.
    in_place = total is None or 1 in argnums
    return (_add_in_place_batch if in_place else _add_batch)(rows, ans, argnums, space, total, x)


def _sparse_add_batch(rows, _ans, argnums, space, total, sparse):
    batches = batch_space(space, rows)
    if batches is None or 2 not in argnums:
        return NotImplemented
    if total is not None and 1 not in argnums:
        # A copy that can be changed in place: repeated rows share their memory.
        total = VSpace.mut_add(batches, None, repeat_rows(total, rows))
    return sparse_add(batches, total, sparse)


def_batch(VSpace.add, _add_batch)
def_batch(VSpace.mut_add, _mut_add_batch)
def_batch(VSpace.covector, _in_batch_space(VSpace.covector))
def_batch(sparse_add, _sparse_add_batch)

# ----------------------------------------------------------------------------------------------------------- containers


def _make_sequence_batch(rows, _ans, argnums, seq_type, *values):
    return make_sequence(seq_type, *all_batches(values, argnums, rows, first=1))


def _make_dict_batch(_rows, _ans, _argnums, keys, values):
    return _make_dict(keys, values)


def _assemble_batch(rows, _ans, argnums, space, *leaves):
    batches = batch_space(space, rows)
    return NotImplemented if batches is None else _assemble(batches, *all_batches(leaves, argnums, rows, first=1))


def _container_untake_batch(rows, _ans, argnums, x, index, space):
    batches = batch_space(space, rows)
    return NotImplemented if batches is None or argnums != (0,) else container_untake(x, index, batches)


def_batch(make_sequence, _make_sequence_batch)
def_batch(_make_dict, _make_dict_batch)
def_batch(_assemble, _assemble_batch)
def_batch(container_take, first_argument(container_take))
def_batch(container_untake, _container_untake_batch)
