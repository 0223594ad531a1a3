# To a type checker the functions are NumPy's own.
from numpy.fft import *
