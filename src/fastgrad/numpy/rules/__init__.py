"""The rules of NumPy's functions, both modes side by side, a family to a file."""

from fastgrad.numpy.rules import (  # noqa: F401
    construction,
    containers,
    contractions,
    convolutions,
    decompositions,
    differences,
    elementwise,
    fft,
    indexing,
    joining,
    linalg,
    nondifferentiable,
    norms,
    padding,
    reductions,
    shapes,
    sorting,
    statistics,
)
