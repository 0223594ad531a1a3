"""NumPy's functions as primitives."""

import types

import numpy as np

from fastgrad._engine.core import Primitive
from fastgrad.tracer import notrace_primitive

FUNCTION_TYPES = (types.FunctionType, types.BuiltinFunctionType, np.ufunc, type(np.sum))

# What they return does not depend on elements, and so is a constant to every trace.
notrace_functions = (np.ndim, np.shape, np.iscomplexobj, np.result_type)

# Abstract integer types, which no value has, and timedelta64, whose values are times.
_NOT_WRAPPED = (np.integer, np.signedinteger, np.unsignedinteger, np.timedelta64)


def wrap_intdtype(cls):
    """Return a subclass of an integer type that takes traced values; an integer is a constant to every trace."""
    return type(cls.__name__, (cls,), {"__new__": notrace_primitive(cls.__new__), "__doc__": cls.__doc__})


def wrap_namespace(old, new):
    """Fill one namespace with the names of another, its functions as primitives.

    Parameters
    ----------
    old : dict
        The namespace of a NumPy module.
    new : dict
        The namespace to fill. A function that ``old`` has under two names becomes one primitive.
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


def publish(namespace, names):
    """Set `fastgrad.numpy` as the module of functions and classes, since pickles find them by it.

    Parameters
    ----------
    namespace : dict
        The namespace that they are defined in.
    names : sequence of str
        Their names, which `fastgrad.numpy` has too; other values than functions and classes are left out.
    """
    for name in names:
        if isinstance(namespace[name], Primitive | types.FunctionType | type):
            namespace[name].__module__ = "fastgrad.numpy"


# Every name of numpy, as attributes.
primitives = types.SimpleNamespace()
wrap_namespace(vars(np), vars(primitives))
