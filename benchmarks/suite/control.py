"""Fixed work without fastgrad: when these move, the machine changed, not the code."""

import numpy

SMALL = numpy.linspace(0.1, 1.0, 10)
LARGE = numpy.linspace(0.1, 1.0, 100_000)


class Control:
    def time_pure_python(self):
        total = 0
        for i in range(10_000):
            total += i * i % 7
        return total

    def time_python_objects(self):
        return [{"index": i, "pair": (i, i)} for i in range(1000)]

    def time_numpy_small(self):
        x = SMALL
        for _ in range(1000):
            x = numpy.sqrt(x)
        return x

    def time_numpy_large(self):
        return numpy.add(LARGE, LARGE)
