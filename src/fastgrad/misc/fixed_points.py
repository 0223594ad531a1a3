"""Fixed points of parametrised maps, differentiated implicitly."""

from fastgrad.builtins import tuple
from fastgrad.core import defjvp, defvjp, make_jvp, make_vjp, primitive, vspace

__all__ = ["fixed_point", "fixed_point_jvp", "fixed_point_vjp"]


@primitive
def fixed_point(f, a, x0, distance, tol):
    """Compute a fixed point of a map that depends on a parameter, by iteration.

    Parameters
    ----------
    f : callable
        ``f(a)`` returns the map, a function from points to points that is a contraction near the fixed point.
    a : object
        The parameter, of any type with a vector space. The fixed point is differentiated with respect to it alone.
    x0 : object
        The starting point, of any type with a vector space.
    distance : callable
        ``distance(x, y)`` returns a real number for two points, cotangents or tangents.
    tol : float
        The iteration stops when a step is not longer than this.

    Returns
    -------
    object
        The last point, of the type and shape of ``x0``.

    Notes
    -----
    The derivatives are those of the implicit function (Christianson 1994): with x = F(a, x) and the Jacobians A and X
    of F with respect to a and x, the tangent is dx = A da + X dx, and the cotangent of a is A' u with u = g + X' u.
    Both dx and u are computed as fixed points, which converge as fast as the iteration of F.

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


def fixed_point_vjp(ans, f, a, x0, distance, tol):
    """Return the pullback of `fixed_point` with respect to ``a``.

    Parameters
    ----------
    ans : object
        The fixed point.
    f, a, x0, distance, tol
        The arguments of the call.

    Returns
    -------
    callable
        Takes the cotangent of the fixed point to that of ``a``.
    """

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
    """Return the tangent of `fixed_point` for a tangent of ``a``.

    Parameters
    ----------
    v : object
        The tangent of ``a``.
    ans : object
        The fixed point.
    f, a, x0, distance, tol
        The arguments of the call.

    Returns
    -------
    object
        The tangent of the fixed point.
    """

    def tangent_map(context):
        a, x, moved = context
        push = make_jvp(f(a), x)
        return lambda dx: vspace(moved).add(moved, push(dx)[1])

    moved = make_jvp(lambda a: f(a)(ans), a)(v)[1]
    return fixed_point(tangent_map, tuple((a, ans, moved)), moved, distance, tol)


defvjp(fixed_point, None, fixed_point_vjp, None)
defjvp(fixed_point, None, fixed_point_jvp, None)
