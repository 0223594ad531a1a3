"""The smallest complete reverse-mode engine, to be read from top to bottom.

Going forward, every operation computes a number and leaves behind a `Value`: the number, the values it was computed
from (its parents) and a closure, `_backward`, that holds the operation's slopes, d(output)/d(parent). Going back, each
closure takes the gradient of its output and gives every parent what the chain rule says:

    parent.grad += output.grad * slope

It is `+=`, since a value that was used twice influences the result in two ways, and the two influences add up.
"""

import math


class Value:
    """A number that remembers how it was computed."""

    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents
        self._backward = lambda g: None  # an input has no parents to pass a gradient on to

    def __repr__(self):
        return f"Value(data={self.data!r}, grad={self.grad!r})"

    def __add__(self, other):
        other = as_value(other)
        return record(self.data + other.data, (self, 1.0), (other, 1.0))

    def __mul__(self, other):
        other = as_value(other)
        return record(self.data * other.data, (self, other.data), (other, self.data))

    def __neg__(self):
        return record(-self.data, (self, -1.0))

    def __sub__(self, other):
        return self + -as_value(other)

    def __truediv__(self, other):
        other = as_value(other)
        return record(self.data / other.data, (self, 1.0 / other.data), (other, -self.data / other.data**2))

    def __pow__(self, exponent):
        if isinstance(exponent, Value):
            raise TypeError("the exponent must be a plain number; write x**y as exp(y * log(x))")
        slope = exponent * self.data ** (exponent - 1) if exponent else 0.0
        return record(self.data**exponent, (self, slope))

    # Python calls these when the left operand is a plain number: 2 + x, 2 * x, 2 - x, 2 / x.
    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other):
        return as_value(other) - self

    def __rtruediv__(self, other):
        return as_value(other) / self

    def backward(self, seed=1.0):
        """Set `grad` of every value that self was computed from; return those values, outputs before inputs."""
        order = outputs_first(self)
        for value in order:
            value.grad = 0.0
        self.grad = seed
        for value in order:
            value._backward(value.grad)
        return order


def as_value(x):
    """Wrap a plain number, so that every operand is a `Value`."""
    return x if isinstance(x, Value) else Value(x)


def record(data, *slopes):
    """Return the value of an operation, given its result and a pair (parent, slope) for each operand."""
    out = Value(data, tuple(parent for parent, _ in slopes))

    def _backward(g):
        for parent, slope in slopes:
            parent.grad += g * slope

    out._backward = _backward
    return out


def exp(x):
    x = as_value(x)
    y = math.exp(x.data)
    return record(y, (x, y))


def log(x):
    x = as_value(x)
    return record(math.log(x.data), (x, 1.0 / x.data))


def sin(x):
    x = as_value(x)
    return record(math.sin(x.data), (x, math.cos(x.data)))


def outputs_first(end):
    """Return everything `end` was computed from, itself included, each value before its parents.

    A value may pass its gradient on only once that gradient is complete: after every value computed from it has passed
    on its own. Depth-first search lists a value when all its parents are listed; reversed, that is the order wanted.
    The search keeps its own stack, because a long computation would exceed Python's recursion limit.
    """
    order, seen, stack = [], set(), [(end, False)]
    while stack:
        value, parents_listed = stack.pop()
        if parents_listed:
            order.append(value)
        elif value not in seen:
            seen.add(value)
            stack.append((value, True))
            stack.extend((parent, False) for parent in value.parents)
    return order[::-1]


if __name__ == "__main__":
    x, y = Value(2.0), Value(5.0)
    z = log(x) + x * y - sin(y)
    z.backward()
    print("z = log(x) + x*y - sin(y) at x = 2, y = 5\n")
    for name, number in ("z", z.data), ("dz/dx", x.grad), ("dz/dy", y.grad):
        print(f"{name:<5} = {round(number, 12)}")
