"""The table of rules: a row for each primitive of ``fastgrad.numpy``, by family."""

import table_composed as composed
import table_contractions as contractions
import table_elementwise as elementwise
import table_fft as fft
import table_joining as joining
import table_linalg as linalg
import table_reductions as reductions
import table_scipy as scipy_functions
import table_scipy_linalg as scipy_linalg
import table_shapes as shapes

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

# The cases of the table by what can be checked of them.
ALL = [case for row in ROWS if row.exists for case in row.cases()]
REFUSED = [case for case in ALL if case.sample.refused]
CASES = [case for case in ALL if not case.sample.refused]
DIFFERENTIABLE = [case for case in CASES if case.is_differentiated]
SMOOTH = [case for case in DIFFERENTIABLE if not case.sample.kink]
OF_MATRICES = [case for case in DIFFERENTIABLE if case.has_matrix]
# Twice differentiable, in double precision.
TWICE = [case for case in SMOOTH if case.sample.order == 2 and not case.is_single]

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
