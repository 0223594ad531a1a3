"""numpy.random, its functions as primitives.

numpy.random is imported when something is first asked of this module: it takes a third of the time that fastgrad takes.
"""

import sys as _sys
import threading as _threading

_filling = _threading.Lock()


def _fill():
    """Put NumPy's names in here, once."""
    names = vars(_sys.modules[__name__])
    with _filling:
        if "__all__" not in names:
            import numpy.random as npr

            from fastgrad.numpy._namespace.wrapping import wrap_namespace

            wrap_namespace(vars(npr), names)
            names["__all__"] = [name for name in names if not name.startswith("_")]
            del names["__getattr__"]  # with one, CPython looks every name up the slow way
    return names


def __getattr__(name):
    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _fill()
    return getattr(_sys.modules[__name__], name)


def __dir__():
    return sorted(_fill()["__all__"])
