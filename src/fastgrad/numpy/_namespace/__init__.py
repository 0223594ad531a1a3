"""How the namespace of `fastgrad.numpy` is made: NumPy's functions as primitives, and the functions in their place."""
