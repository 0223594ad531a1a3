"""numpy.random, its functions as primitives.

numpy.random is imported when a name of this module is first used, since its import takes a third as long as fastgrad's.
"""

import sys as _sys
import threading as _threading

_filling = _threading.Lock()


def _fill():
    """Return the namespace of this module, filled with NumPy's names at the first call."""
    names = vars(_sys.modules[__name__])
    with _filling:
        if "__all__" not in names:
            import numpy.random as npr

            from fastgrad.numpy._namespace.wrapping import wrap_namespace

            wrap_namespace(vars(npr), names)
            names["__all__"] = [name for name in names if not name.startswith("_")]
            del names["__getattr__"]  # CPython looks up every name of a module that has one by a slower path
    return names


def __getattr__(name):
    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _fill()
    return getattr(_sys.modules[__name__], name)


def __dir__():
    return sorted(_fill()["__all__"])
