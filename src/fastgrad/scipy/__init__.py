"""SciPy's special functions, distributions, linear algebra and ODE solver, and convolution. Needs SciPy."""

try:
    import scipy  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("fastgrad.scipy needs SciPy: pip install 'fastgrad[scipy]'", name="scipy") from error

from fastgrad.scipy import integrate, linalg, signal, special, stats

__all__ = ["integrate", "linalg", "signal", "special", "stats"]
