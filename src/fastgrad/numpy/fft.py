"""numpy.fft, its functions as primitives."""

import numpy.fft as _npfft

from fastgrad.numpy.numpy_wrapper import wrap_namespace

wrap_namespace(_npfft.__dict__, globals())
