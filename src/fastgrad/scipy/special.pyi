# To a type checker the functions are SciPy's own, where it knows SciPy.
from typing import Any

from scipy.special import *

def __getattr__(name: str) -> Any: ...
