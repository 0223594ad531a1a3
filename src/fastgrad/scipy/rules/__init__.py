"""The rules of SciPy's functions, both modes side by side, a module of SciPy to a file."""
