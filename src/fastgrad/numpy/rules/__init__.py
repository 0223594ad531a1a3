"""The rules of NumPy's functions, both modes side by side, a family to a file."""

from fastgrad.numpy.rules import (  # noqa: F401
    batching,
    composed,
    construction,
    contractions,
    convolutions,
    decompositions,
    differences,
    elementwise,
    fft,
    indexing,
    joining,
    linalg,
    norms,
    padding,
    reductions,
    shapes,
    sorting,
    untraced,
)
