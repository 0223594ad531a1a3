"""Fixed points of parametrised maps, differentiated implicitly."""

from fastgrad.builtins import tuple
from fastgrad.core import defjvp, defvjp, make_jvp, make_vjp, primitive, vspace

__all__ = ["fixed_point", "fixed_point_jvp", "fixed_point_vjp"]


@primitive
def fixed_point(f, a, x0, distance, tol):
    """Iterate a map until it moves its point no more.

    Parameters
    ----------
    f : callable
        ``f(a)`` gives the map, a contraction near the fixed point.
    a : object
        What the map depends on, of any type that can be traced; the fixed point is differentiated with respect to it.
    x0 : object
        Where to start. The fixed point does not depend on it.
    distance : callable
        ``distance(x, y)``, a number; also of cotangents and tangents.
    tol : float
        The iteration stops when a step is no longer than this.

    Returns
    -------
    object
        The last point.

    Examples
    --------
    >>> from fastgrad import grad
    >>> from fastgrad.misc.fixed_points import fixed_point
    >>> def newton_step(a):
    ...     return lambda x: 0.5 * (x + a / x)
    >>> def root(a):
    ...     return fixed_point(newton_step, a, 1.0, lambda x, y: abs(x - y), 1e-12)
    >>> print(round(root(4.0), 6), round(float(grad(root)(4.0)), 6))
    2.0 0.25
    """
    step = f(a)
    x, previous = step(x0), x0
    while distance(x, previous) > tol:
        x, previous = step(x), x
    return x


# With x = F(a, x), dx = A da + X dx, A and X the Jacobians of F. The tangent dx is a fixed point itself, and so is u,
# u = g + X' u, of which the cotangent A' u is made (Christianson 1994). Both converge as the iteration of F does, and
# are differentiated in turn as fixed points are.


def fixed_point_vjp(ans, f, a, x0, distance, tol):
    """Give the pullback of `fixed_point` to ``a``, given the fixed point ``ans`` and the arguments of the call."""

    def adjoint_map(context):
        a, x, g = context
        pull, _ = make_vjp(f(a), x)
        return lambda u: vspace(g).add(g, pull(u))

    def pullback(g):
        u = fixed_point(adjoint_map, tuple((a, ans, g)), g, distance, tol)
        pull, _ = make_vjp(lambda a: f(a)(ans), a)
        return pull(u)

    return pullback


def fixed_point_jvp(v, ans, f, a, x0, distance, tol):
    """Give the tangent of `fixed_point` due to the tangent ``v`` of ``a``; ``ans`` is the fixed point."""

    def tangent_map(context):
        a, x, moved = context
        push = make_jvp(f(a), x)
        return lambda dx: vspace(moved).add(moved, push(dx)[1])

    moved = make_jvp(lambda a: f(a)(ans), a)(v)[1]
    return fixed_point(tangent_map, tuple((a, ans, moved)), moved, distance, tol)


defvjp(fixed_point, None, fixed_point_vjp, None)
defjvp(fixed_point, None, fixed_point_jvp, None)
