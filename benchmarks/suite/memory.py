"""What a graph costs in memory: peaks of the process, bytes a node, autograd in comparison.

A ``peakmem_`` figure counts interpreter and imports: subtract ``peakmem_nothing``. Bytes are those that Python and
NumPy ask of the allocator while the graph stands, as `tracemalloc` counts them: exact, the same in every run.
"""

import subprocess
import sys
import tracemalloc
from importlib.util import find_spec
from pathlib import Path

import numpy

import fastgrad.numpy as np
from fastgrad import grad
from fastgrad.core import VJPNode, make_vjp, toposort
from fastgrad.tracer import trace

from .common import INPUTS, PROGRAMS, boxed, program
from .growth import chain

MEGABYTE = numpy.ones(131_072)


def shifted(x):
    for _ in range(100):
        x = x + 1.0
    return x


def squared(x):
    for _ in range(100):
        x = x * x
    return x


def wide_then_deep(x):
    """A step whose pullback takes 100 MB, and after it 100 that keep a megabyte each."""
    x = np.sum(np.broadcast_to(x, (100, x.size)), axis=0)
    for _ in range(100):
        x = np.tanh(x)
    return np.sum(x)


class Memory:
    def peakmem_nothing(self):
        """The floor the other figures stand on."""

    def peakmem_chain_of_100000_nodes(self):
        make_vjp(chain(100_000), 1.0)

    def peakmem_100_sums_of_a_megabyte(self):
        """Addition needs no operand in the backward pass, so no array may be kept."""
        make_vjp(shifted, MEGABYTE)

    def peakmem_100_products_of_a_megabyte(self):
        """Multiplication needs its operands: about 100 MB stand."""
        make_vjp(squared, MEGABYTE)

    def peakmem_grad_chain_of_100000_nodes(self):
        grad(chain(100_000))(1.0)


def bytes_at_peak(fun):
    """Return the most bytes that are in use at once during a call."""
    tracemalloc.start()
    try:
        fun()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class Release:
    """`grad` drops what a node kept as soon as its pullback has run; a vjp, which may be called again, cannot."""

    unit = "bytes"

    def track_peak_of_grad(self):
        """About 100 MB: the last pullback, which comes when the rest is gone."""
        return bytes_at_peak(lambda: grad(wide_then_deep)(MEGABYTE))

    def track_peak_of_vjp(self):
        """About 200 MB."""
        return bytes_at_peak(lambda: make_vjp(wide_then_deep, MEGABYTE)[0](1.0))


def bytes_standing(make):
    """Return how many bytes are allocated by a call and still in use while its result lives."""
    make()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        result = make()
        after, _ = tracemalloc.get_traced_memory()
        del result
    finally:
        tracemalloc.stop()
    return after - before


def repeated(call):
    """A chain of 1000 calls."""

    def fun(x):
        for _ in range(1000):
            x = call(x)
        return x

    return fun


class Bytes:
    """A node all told: the object and what it alone refers to, the values it keeps included, its parents not."""

    CALLS = {
        "x + 1.0": (lambda x: x + 1.0, 0.5),
        "x * x": (lambda x: x * x, 0.5),
        "sin(x)": (np.sin, 0.5),
        "tanh(x)": (np.tanh, 0.5),
        "X + 1.0, 10-vector": (lambda x: x + 1.0, INPUTS["vector10"]),
        "sin(X), 10-vector": (np.sin, INPUTS["vector10"]),
        "X.reshape, 10-vector": (lambda x: np.reshape(x, (10,)), INPUTS["vector10"]),
    }
    unit = "bytes"

    def track_bytes_of_node(self, name):
        call, x = self.CALLS[name]
        return bytes_standing(lambda: make_vjp(repeated(call), x)) / 1000

    def track_bytes_of_box(self):
        return sys.getsizeof(boxed(0.5))

    track_bytes_of_node.params = list(CALLS)
    track_bytes_of_node.param_names = ["call"]


class Nodes:
    params = [list(PROGRAMS), list(INPUTS)]
    param_names = ["program", "kind"]
    unit = "nodes"

    def track_nodes(self, name, kind):
        """Every node of the graph, the root included: a new primitive within an old one shows."""
        _, end = trace(VJPNode.new_root(), program(name, kind, np), INPUTS[kind])
        return sum(1 for _ in toposort(end))


NETWORK = """
import numpy, {package}
import {package}.numpy as np

def peak():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1])

def loss(layers):
    hidden = inputs
    for weights, bias in layers:
        hidden = np.tanh(np.dot(hidden, weights) + bias)
    return np.mean(hidden ** 2)

random = numpy.random.default_rng(0)
inputs = random.standard_normal(({batch}, 64))
layers = [(random.standard_normal((64, 64)) / 8, numpy.zeros(64)) for _ in range(50)]
{package}.grad(loss)(layers[:1])
before = peak()
{package}.grad(loss)(layers)
print(peak() - before)
"""


def network_kilobytes(package):
    """Return by how much the gradient of a network of 50 layers raises the peak of a process of its own."""
    source = NETWORK.format(package=package, batch=2048)
    run = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    return int(run.stdout)


class Network:
    """50 layers of 64 units on a batch of 2048: an activation is a megabyte."""

    def setup(self, package=None):
        if not Path("/proc/self/status").exists() or find_spec("autograd") is None:
            raise NotImplementedError("needs Linux and autograd")

    def track_peak(self, package):
        return network_kilobytes(package) / 1024

    def track_peak_against_autograd(self):
        return network_kilobytes("fastgrad") / network_kilobytes("autograd")

    track_peak.params = ["fastgrad", "autograd"]
    track_peak.param_names = ["package"]
    track_peak.unit = "MB"
    track_peak_against_autograd.unit = "fastgrad's peak / autograd's"
