"""How the namespace of NumPy is wrapped: primitives, arrays of traced items, what writes in place, expired names."""
