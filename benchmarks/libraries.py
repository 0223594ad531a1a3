"""The sides of the comparison: how each library differentiates a program, where it is installed."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

import numpy

import fastgrad
import fastgrad.numpy
from fastgrad.builtins import container_take
from fastgrad.tracer import Node, trace


def map_leaves(function, tree):
    """Apply `function` to each number and array in nested lists, tuples and dicts."""
    if isinstance(tree, dict):
        return {key: map_leaves(function, value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return type(tree)(map_leaves(function, value) for value in tree)
    return function(tree)


def flat(tree):
    """Return all numbers in nested lists, tuples and dicts (in the order of their keys) as one vector."""
    if isinstance(tree, dict):
        return flat([tree[key] for key in sorted(tree)])
    if isinstance(tree, list | tuple):
        return numpy.concatenate([flat(value) for value in tree])
    return numpy.ravel(numpy.asarray(tree, dtype=numpy.float64))


# Each of these returns a function and its argument; the call of the one with the other is what is timed. What a user
# would do once, before a loop of gradients, is done before: inputs and constants are the library's own arrays.


def numpy_function(program):
    return program.build(numpy), program.make_input()


def fastgrad_gradient(program):
    return fastgrad.grad(program.build(fastgrad.numpy)), program.make_input()


def autograd_gradient(program):
    autograd, autograd_numpy = import_module("autograd"), import_module("autograd.numpy")
    return autograd.grad(program.build(autograd_numpy)), program.make_input()


def torch_gradient(program):
    torch, torch_numpy = import_module("torch"), import_module("torch_numpy")
    torch.set_num_threads(1)
    leaves = []

    def to_leaf(value):
        leaves.append(torch.tensor(value, dtype=torch.float64, requires_grad=True))
        return leaves[-1]

    function = program.build(torch_numpy)

    def gradient(x):
        for leaf in leaves:
            leaf.grad = None
        function(x).backward()
        return map_leaves(lambda leaf: leaf.grad, x)

    return gradient, map_leaves(to_leaf, program.make_input())


def jax_gradient(program):
    jax = import_module("jax")
    return _finished(jax, jax.grad(program.build(jax.numpy)), program)


def jax_jitted_gradient(program):
    jax = import_module("jax")
    return _finished(jax, jax.jit(jax.grad(program.build(jax.numpy))), program)


def _finished(jax, gradient, program):
    """JAX returns before it has computed: wait for the result."""
    return lambda x: jax.block_until_ready(gradient(x)), map_leaves(jax.numpy.asarray, program.make_input())


#: By the name of a side: the package it needs, and how it differentiates ("numpy" evaluates the function alone).
SIDES = {
    "numpy": ("numpy", numpy_function),
    "fastgrad": ("fastgrad", fastgrad_gradient),
    "autograd": ("autograd", autograd_gradient),
    "torch": ("torch", torch_gradient),
    "jax": ("jax", jax_gradient),
    "jax_jitted": ("jax", jax_jitted_gradient),
}


def installed_version(package):
    """Return the version of an installed package, None if it is absent."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def installed_sides():
    return [side for side, (package, _) in SIDES.items() if installed_version(package)]


def prepare(side, program):
    """Return the function that a side is timed at, and its argument."""
    return SIDES[side][1](program)


class _CountingNode(Node):
    """Counts the calls of primitives; taking a value out of a list or dict is none."""

    calls = 0

    def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
        type(self).calls += fun is not container_take

    def initialize_root(self):
        type(self).calls = 0


def count_operations(program):
    """Return how many primitives a program calls."""
    trace(_CountingNode.new_root(), program.build(fastgrad.numpy), program.make_input())
    return _CountingNode.calls
