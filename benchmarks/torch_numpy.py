"""PyTorch under NumPy's names, as far as ``programs.py`` needs them. Numbers and arrays become float64 tensors."""

from types import SimpleNamespace

import torch
from torch import abs, arctan, cos, diag, exp, log, mean, sin, sqrt, sum, tanh
from torch import matmul as dot

__all__ = ["abs", "arctan", "array", "cos", "diag", "dot", "exp", "linalg", "log", "mean", "sin", "sqrt", "sum", "tanh"]

linalg = SimpleNamespace(cholesky=torch.linalg.cholesky, slogdet=torch.linalg.slogdet, solve=torch.linalg.solve)


def array(value):
    """Return a number, an array, or nested lists with tensors among their elements as one tensor."""
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, list):
        return torch.stack([array(element) for element in value])
    return torch.tensor(value, dtype=torch.float64)
