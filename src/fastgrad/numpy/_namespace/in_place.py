"""NumPy's functions that write into an array: they raise for traced values before anything is written."""

import functools

import numpy as np

from fastgrad.tracer import isbox


def _refuses_traced_values(fun):
    @functools.wraps(fun)
    def write(*args, **kwargs):
        if any(map(isbox, args)) or any(map(isbox, kwargs.values())):
            raise TypeError(
                f"{fun.__name__} writes into its array, and neither that nor what is written can be a traced value; "
                "build a new array with fastgrad.numpy.where, concatenate, stack or make_diagonal"
            )
        return fun(*args, **kwargs)

    write.__module__ = "fastgrad.numpy"
    return write


copyto = _refuses_traced_values(np.copyto)
fill_diagonal = _refuses_traced_values(np.fill_diagonal)
place = _refuses_traced_values(np.place)
put = _refuses_traced_values(np.put)
put_along_axis = _refuses_traced_values(np.put_along_axis)
putmask = _refuses_traced_values(np.putmask)

__all__ = ["copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"]
