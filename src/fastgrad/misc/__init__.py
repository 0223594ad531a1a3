"""Tools built on the operators."""

from fastgrad.misc.flatten import flatten

__all__ = ["flatten"]
