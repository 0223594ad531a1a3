"""NumPy's functions as primitives."""

import types

import numpy as np

from fastgrad._engine.core import Primitive
from fastgrad.tracer import notrace_primitive

FUNCTION_TYPES = (types.FunctionType, types.BuiltinFunctionType, np.ufunc, type(np.sum))

# What they return is the same for every trace: plain facts about the value.
notrace_functions = (np.ndim, np.shape, np.iscomplexobj, np.result_type)

# Integer types that no value has, and one that is a time.
_NOT_WRAPPED = (np.integer, np.signedinteger, np.unsignedinteger, np.timedelta64)


def wrap_intdtype(cls):
    """Make an integer type that takes traced values; an integer is a constant to every trace."""
    return type(cls.__name__, (cls,), {"__new__": notrace_primitive(cls.__new__), "__doc__": cls.__doc__})


def wrap_namespace(old, new):
    """Fill one namespace with the names of another, its functions as primitives.

    Parameters
    ----------
    old : dict
        The namespace of a NumPy module.
    new : dict
        The namespace to fill. A function that stands in ``old`` under two names becomes one primitive.
    """
    made = {}
    for name, value in old.items():
        if name.startswith("_") or isinstance(value, types.ModuleType):
            continue
        if isinstance(value, type) and issubclass(value, np.integer) and value not in _NOT_WRAPPED:
            if value not in made:
                made[value] = wrap_intdtype(value)
                made[value].__module__ = new.get("__name__", "fastgrad.numpy")
            new[name] = made[value]
        elif isinstance(value, FUNCTION_TYPES):
            if value not in made:
                made[value] = Primitive(value, never_traced=value in notrace_functions, array_like=True)
                made[value].__module__ = new.get("__name__", "fastgrad.numpy")
            new[name] = made[value]
        else:
            new[name] = value


# Every name of numpy, to be used as an attribute.
primitives = types.SimpleNamespace()
wrap_namespace(vars(np), vars(primitives))
