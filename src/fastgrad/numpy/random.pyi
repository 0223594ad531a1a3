# To a type checker the functions are NumPy's own.
from numpy.random import *
