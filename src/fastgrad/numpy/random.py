"""numpy.random, its functions as primitives."""

import numpy.random as _npr

from fastgrad.numpy.numpy_wrapper import wrap_namespace

wrap_namespace(_npr.__dict__, globals())
