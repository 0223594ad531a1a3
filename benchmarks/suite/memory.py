"""Peak memory of the process, interpreter and imports included, while a graph stands."""

import numpy

from fastgrad import grad
from fastgrad.core import make_vjp

MEGABYTE = numpy.ones(131_072)


def long_chain(x):
    for _ in range(100_000):
        x = x + 1.0
    return x


def shifted(x):
    for _ in range(100):
        x = x + 1.0
    return x


def squared(x):
    for _ in range(100):
        x = x * x
    return x


class Memory:
    def peakmem_nothing(self):
        """The floor the other figures stand on."""

    def peakmem_chain_of_100000_nodes(self):
        make_vjp(long_chain, 1.0)

    def peakmem_100_sums_of_a_megabyte(self):
        """Addition needs no operand in the backward pass, so no array may be kept."""
        make_vjp(shifted, MEGABYTE)

    def peakmem_100_products_of_a_megabyte(self):
        """Multiplication needs its operands: about 100 MB stand."""
        make_vjp(squared, MEGABYTE)

    def peakmem_grad_chain_of_100000_nodes(self):
        grad(long_chain)(1.0)
