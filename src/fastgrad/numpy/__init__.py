"""NumPy, differentiable: every name of ``numpy``, with its functions as primitives."""

from numpy import __version__  # noqa: F401

from fastgrad.numpy.numpy_wrapper import *  # noqa: F403

from fastgrad.numpy import numpy_boxes, numpy_vspaces, rules, shortcuts  # isort: skip  # noqa: F401
from fastgrad.numpy import numpy_jvps, numpy_vjps  # isort: skip  # noqa: F401
from fastgrad.numpy import fft, linalg  # isort: skip  # noqa: F401

__all__ = [*(name for name in globals() if not name.startswith("_")), "random"]  # noqa: F405


def __getattr__(name):
    """Import ``random`` when it is asked for, which takes a third of the time of fastgrad, or give a dropped name."""
    if name == "random":
        import fastgrad.numpy.random as random  # which sets the attribute, too

        return random
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fastgrad.numpy.dropped import find

    return find(name)


def __dir__():
    return sorted({*globals(), "random"})
