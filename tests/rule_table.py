"""The table of rules: a row for each primitive of ``fastgrad.numpy``, by family."""

import rule_table_composed as composed
import rule_table_contractions as contractions
import rule_table_elementwise as elementwise
import rule_table_fft as fft
import rule_table_joining as joining
import rule_table_linalg as linalg
import rule_table_reductions as reductions
import rule_table_scipy as scipy_functions
import rule_table_scipy_linalg as scipy_linalg
import rule_table_shapes as shapes

ROWS = [
    *elementwise.ROWS,
    *reductions.ROWS,
    *shapes.ROWS,
    *joining.ROWS,
    *contractions.ROWS,
    *composed.ROWS,
    *fft.ROWS,
    *linalg.ROWS,
    *scipy_functions.ROWS,
    *scipy_linalg.ROWS,
]

VSPACE = "arithmetic of cotangents: used by every backward pass of second order"
CONTAINER = "container functions: tested with the containers"
# Primitives that no user calls by name, with the reason why they have no row.
INTERNAL = {
    "mut_add": VSPACE,
    "scalar_mul": VSPACE,
    "inner_prod": VSPACE,
    "covector": VSPACE,
    "container_take": CONTAINER,
    "container_untake": CONTAINER,
    "make_sequence": CONTAINER,
    "sequence_extend_left": CONTAINER,
    "sequence_extend_right": CONTAINER,
    "_make_dict": CONTAINER,
    "_assemble": CONTAINER,
    "sparse_add": "adds what indexing pulls back: the second order of indexing goes through it",
    "untake": "the pullback of indexing: the second order of indexing goes through it",
    "permute": "the rules of sort and partition are made of it, to every order",
    "repeat_reduced": "the pullback of sum: the second order of sum goes through it",
    "partial_mean": "the rules of distribution functions with respect to shapes are made of it, to every order",
    "undiagonal": "the pullback of diagonal: the second order of diagonal goes through it",
}
