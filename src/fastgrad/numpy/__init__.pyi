# To a type checker all is NumPy's own, its modules too.
from typing import Any

from numpy import *

# Names that only an older or a newer NumPy has, and those of autograd's.
def __getattr__(name: str) -> Any: ...
