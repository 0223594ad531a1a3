"""First-order optimizers of nested containers of parameters."""

import inspect

import fastgrad.numpy as np
from fastgrad.misc.flatten import flatten
from fastgrad.wrap_util import take_place, wraps

__all__ = ["adam", "rmsprop", "sgd", "unflatten_optimizer"]


def unflatten_optimizer(optimize):
    """Make an optimizer of vectors one of nested lists, tuples and dicts of arrays and scalars.

    Parameters
    ----------
    optimize : callable
        ``optimize(grad, x0, callback, ...)``, where ``grad(x, i)`` and ``callback(x, i, g)`` take vectors.

    Returns
    -------
    callable
        Takes the same arguments, but ``x0`` and what ``grad`` and ``callback`` are given are of any structure.
    """

    @wraps(optimize)
    def optimize_structure(grad, x0, callback=None, *args, **kwargs):
        vector, unflatten = flatten(x0)

        def flat_grad(x, i):
            return flatten(grad(unflatten(x), i))[0]

        def flat_callback(x, i, g):
            callback(unflatten(x), i, unflatten(g))

        return unflatten(optimize(flat_grad, vector, flat_callback if callback else None, *args, **kwargs))

    take_place(optimize_structure, optimize)
    optimize_structure.__signature__ = _with_x0(inspect.signature(optimize))
    return optimize_structure


def _with_x0(signature):
    """Give the signature of an optimizer of vectors as that of one of structures, whose start is named ``x0``."""
    grad, x, *others = signature.parameters.values()
    return signature.replace(parameters=[grad, x.replace(name="x0"), *others])


@unflatten_optimizer
def sgd(grad, x, callback=None, num_iters=200, step_size=0.1, mass=0.9):
    """Descend along gradients with momentum.

    Parameters
    ----------
    grad : callable
        ``grad(x, i)``, the gradient at iteration ``i``.
    x0 : object
        Where to start.
    callback : callable, optional
        ``callback(x, i, g)`` is called in each iteration before the step.
    num_iters : int
        The number of steps.
    step_size : float
        What the velocity is multiplied by.
    mass : float
        How much of the velocity stays from step to step.

    Returns
    -------
    object
        The last point.

    Examples
    --------
    >>> from fastgrad import grad
    >>> from fastgrad.misc.optimizers import sgd
    >>> def loss(params):
    ...     return (params["x"] - 3.0) ** 2
    >>> fitted = sgd(lambda params, i: grad(loss)(params), {"x": 0.0}, num_iters=500)
    >>> print(round(float(fitted["x"]), 6))
    3.0
    """
    velocity = np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        velocity = mass * velocity - (1.0 - mass) * g
        x = x + step_size * velocity
    return x


@unflatten_optimizer
def rmsprop(grad, x, callback=None, num_iters=100, step_size=0.1, gamma=0.9, eps=10**-8):
    """Descend along gradients, each entry divided by its own running root mean square (Tieleman and Hinton 2012).

    Parameters
    ----------
    grad, x0, callback, num_iters
        As for `sgd`.
    step_size : float
        The size of a step along a steady gradient.
    gamma : float
        How much of the mean square stays from step to step.
    eps : float
        Added to the root.

    Returns
    -------
    object
        The last point.
    """
    mean_square = np.ones(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        mean_square = gamma * mean_square + (1 - gamma) * g**2
        x = x - step_size * g / (np.sqrt(mean_square) + eps)
    return x


@unflatten_optimizer
def adam(grad, x, callback=None, num_iters=100, step_size=0.001, b1=0.9, b2=0.999, eps=10**-8):
    """Descend along running means of gradients over root mean squares, both corrected for their start at zero.

    Kingma and Ba (2015), algorithm 1.

    Parameters
    ----------
    grad, x0, callback, num_iters
        As for `sgd`.
    step_size : float
        The size of a step along a steady gradient.
    b1, b2 : float
        How much of the mean and of the mean square stays from step to step.
    eps : float
        Added to the root.

    Returns
    -------
    object
        The last point.
    """
    mean, mean_square = np.zeros(len(x)), np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        mean = b1 * mean + (1 - b1) * g
        mean_square = b2 * mean_square + (1 - b2) * g**2
        unbiased, unbiased_square = mean / (1 - b1 ** (i + 1)), mean_square / (1 - b2 ** (i + 1))
        x = x - step_size * unbiased / (np.sqrt(unbiased_square) + eps)
    return x
