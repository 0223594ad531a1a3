"""The rules of NumPy's functions, both modes side by side, a family to a file."""

from fastgrad.numpy.rules import (  # noqa: F401
    construction,
    contractions,
    differences,
    elementwise,
    indexing,
    joining,
    reductions,
    shapes,
    sorting,
    untraced,
)
