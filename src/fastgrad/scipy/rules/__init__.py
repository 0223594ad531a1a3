"""The rules of SciPy's functions, in one file for each module of SciPy."""
