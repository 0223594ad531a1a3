"""The rules of NumPy's functions, all modes side by side (VJP, JVP, batch), a family of functions to a file."""

from fastgrad.numpy.rules import (  # noqa: F401
    accumulations,
    containers,
    contractions,
    convolutions,
    decompositions,
    differences,
    einsum,
    elementwise,
    fft,
    indexing,
    joining,
    linalg,
    nondifferentiable,
    norms,
    padding,
    polynomials,
    reductions,
    shapes,
    sorting,
    statistics,
)
