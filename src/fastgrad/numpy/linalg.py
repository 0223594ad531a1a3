"""numpy.linalg, its functions as primitives."""

import numpy.linalg as _npla

from fastgrad.numpy.numpy_wrapper import wrap_namespace

wrap_namespace(_npla.__dict__, globals())
