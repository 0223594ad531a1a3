"""The table of rules: a row for each primitive of ``fastgrad.numpy`` and ``fastgrad.scipy``.

``table_<file>.py`` has the rows of the rules that stand in that file of ``src/fastgrad/numpy/rules``, and
``table_scipy_<file>.py`` those of ``src/fastgrad/scipy``; ``table_boxes.py`` has the operators and methods of a box.
"""

import importlib
from pathlib import Path

TABLES = {
    path.stem: importlib.import_module(path.stem).ROWS for path in sorted(Path(__file__).parent.glob("table_*.py"))
}
ROWS = [row for rows in TABLES.values() for row in rows]

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
