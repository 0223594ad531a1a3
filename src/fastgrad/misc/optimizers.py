"""First-order optimizers of nested containers of parameters.

Written from the papers:

- Polyak (1964), "Some methods of speeding up the convergence of iteration methods", USSR Computational Mathematics and
  Mathematical Physics 4(5): the heavy ball.
- Sutskever, Martens, Dahl and Hinton (2013), "On the importance of initialization and momentum in deep learning", ICML:
  momentum as a velocity.
- Tieleman and Hinton (2012), "Neural networks for machine learning", lecture 6.5e: RMSProp.
- Kingma and Ba (2015), "Adam: a method for stochastic optimization", ICLR, algorithm 1.
"""

import inspect

import fastgrad.numpy as np
from fastgrad.misc.flatten import flatten
from fastgrad.wrap_util import take_place, wraps

__all__ = ["adam", "rmsprop", "sgd", "unflatten_optimizer"]


def unflatten_optimizer(optimize):
    """Return an optimizer of nested lists, tuples and dicts of arrays and scalars, made from one of vectors.

    Parameters
    ----------
    optimize : callable
        ``optimize(grad, x, callback, ...)`` returns a vector; ``grad(x, i)`` and ``callback(x, i, g)`` take vectors.

    Returns
    -------
    callable
        ``optimizer(grad, x0, callback=None, ...)`` returns a container of the structure of ``x0``, which is left
        unchanged; ``grad`` takes and returns such containers, and ``callback`` takes them.
    """

    @wraps(optimize)
    def optimize_structure(grad, x0, callback=None, *args, **kwargs):
        start, unflatten = flatten(x0)

        def vector_grad(x, i):
            gradient, _ = flatten(grad(unflatten(x), i))
            return gradient

        def vector_callback(x, i, g):
            callback(unflatten(x), i, unflatten(g))

        end = optimize(vector_grad, start, vector_callback if callback else None, *args, **kwargs)
        return unflatten(end)

    take_place(optimize_structure, optimize)
    optimize_structure.__signature__ = _with_x0(inspect.signature(optimize))
    return optimize_structure


def _with_x0(signature):
    """Return the signature of an optimizer with its second parameter renamed to ``x0``."""
    grad, x, *others = signature.parameters.values()
    return signature.replace(parameters=[grad, x.replace(name="x0"), *others])


class _MovingAverage:
    """Exponential moving average of vectors: m <- decay m + (1 - decay) v."""

    def __init__(self, start, decay):
        self.value, self.decay = start, decay

    def update(self, vector):
        """Take in one more vector and return the new average."""
        # A new array each time: callbacks may keep the old ones, and traces refer to them.
        self.value = self.decay * self.value + (1 - self.decay) * vector
        return self.value


@unflatten_optimizer
def _descend(grad, x, callback, num_iters, make_rule):
    """Return the last of the points x_i+1 = x_i - d_i, where an update rule computes d_i from the gradient at x_i.

    Parameters
    ----------
    grad, callback, num_iters
        As for `sgd`, of vectors.
    x : ndarray, shape (n,)
        The starting point.
    make_rule : callable
        ``make_rule(n)`` returns the update rule: a function of the gradient and the iteration.
    """
    rule = make_rule(len(x))
    for i in range(num_iters):
        gradient = grad(x, i)
        if callback is not None:
            callback(x, i, gradient)
        x = x - rule(gradient, i)
    return x


def sgd(grad, x0, callback=None, num_iters=200, step_size=0.1, mass=0.9):
    """Minimise a function by stochastic gradient descent with momentum.

    Parameters
    ----------
    grad : callable
        ``grad(x, i)`` returns the gradient at ``x`` in iteration ``i``, of the structure of ``x``.
    x0 : object
        The starting point: an array, a scalar, or nested lists, tuples and dicts of these.
    callback : callable, optional
        ``callback(x, i, g)`` is called in each iteration before the step, with the point and its gradient.
    num_iters : int, default 200
        The number of steps.
    step_size : float, default 0.1
        The factor of the velocity in each step.
    mass : float, default 0.9
        The part of the velocity that is kept from step to step.

    Returns
    -------
    object
        The last point, of the structure of ``x0``.

    Notes
    -----
    The heavy ball (Polyak 1964), with a velocity (Sutskever et al. 2013) that is an average of the past gradients:
    v <- mass v - (1 - mass) g and x <- x + step_size v.

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

    def make_rule(n):
        mean = _MovingAverage(np.zeros(n), mass)
        return lambda g, i: step_size * mean.update(g)

    return _descend(grad, x0, callback, num_iters, make_rule)


def rmsprop(grad, x0, callback=None, num_iters=100, step_size=0.1, gamma=0.9, eps=10**-8):
    """Minimise a function by RMSProp: gradients divided by the root of a moving average of their squares.

    Parameters
    ----------
    grad, x0, callback, num_iters
        As for `sgd`; 100 steps by default.
    step_size : float, default 0.1
        The size of a step along a constant gradient.
    gamma : float, default 0.9
        The part of the mean square that is kept from step to step.
    eps : float, default 1e-8
        Added to the root of the mean square.

    Returns
    -------
    object
        The last point, of the structure of ``x0``.

    Notes
    -----
    RMSProp (Tieleman and Hinton 2012). The mean square starts at 1.
    """

    def make_rule(n):
        mean_square = _MovingAverage(np.ones(n), gamma)
        return lambda g, i: step_size * g / (np.sqrt(mean_square.update(g**2)) + eps)

    return _descend(grad, x0, callback, num_iters, make_rule)


def adam(grad, x0, callback=None, num_iters=100, step_size=0.001, b1=0.9, b2=0.999, eps=10**-8):
    """Minimise a function by Adam: moving averages of gradients over roots of those of their squares.

    Parameters
    ----------
    grad, x0, callback, num_iters
        As for `sgd`; 100 steps by default.
    step_size : float, default 0.001
        The size of a step along a constant gradient.
    b1, b2 : float, default 0.9 and 0.999
        The parts of the mean and of the mean square that are kept from step to step.
    eps : float, default 1e-8
        Added to the root of the mean square.

    Returns
    -------
    object
        The last point, of the structure of ``x0``.

    Notes
    -----
    Kingma and Ba (2015), algorithm 1: both averages start at zero, for which dividing by 1 - b**t corrects in step t.
    """

    def make_rule(n):
        mean, mean_square = _MovingAverage(np.zeros(n), b1), _MovingAverage(np.zeros(n), b2)

        def rule(g, i):
            unbiased_mean = mean.update(g) / (1 - b1 ** (i + 1))
            unbiased_square = mean_square.update(g**2) / (1 - b2 ** (i + 1))
            return step_size * unbiased_mean / (np.sqrt(unbiased_square) + eps)

        return rule

    return _descend(grad, x0, callback, num_iters, make_rule)
