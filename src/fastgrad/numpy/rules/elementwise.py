"""Elementwise functions: both modes from one derivative per argument.

The derivatives are those of a table of calculus, such as Abramowitz and Stegun (1964), "Handbook of Mathematical
Functions", chapter 4. Where one does not exist, its limit, a subgradient or zero stands in. Cotangents pair with
tangents by Re sum(g * v), without conjugation: so the VJP of a holomorphic function multiplies by its derivative as the
JVP does, and the functions that are not holomorphic (abs, conj, real, imag, angle) have a rule for each mode.
"""

import numpy as onp

from fastgrad._rules.direct import ByExponent, def_direct, def_elementwise
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.batching import broadcasting, first_argument
from fastgrad.numpy.broadcasting import dtype_of, is_complex, replace_zero
from fastgrad.tracer import getval

PI = onp.pi
LOG2, LOG10 = float(onp.log(2.0)), float(onp.log(10.0))

# --------------------------------------------------------------------------------------------------------- one argument

def_elementwise(anp.negative, "negate")
def_elementwise(anp.positive, "identity")
def_elementwise(anp.exp, "ans")
def_elementwise(anp.exp2, lambda ans: ans * LOG2)
def_elementwise(anp.expm1, lambda ans: ans + 1)
def_elementwise(anp.log, "over arg0")
def_elementwise(anp.log2, lambda _ans, x: 1 / (x * LOG2))
def_elementwise(anp.log10, lambda _ans, x: 1 / (x * LOG10))
def_elementwise(anp.log1p, lambda _ans, x: 1 / (x + 1))
def_elementwise(anp.sqrt, lambda ans: 0.5 / ans)
def_elementwise(anp.cbrt, lambda ans: 1 / (3 * ans * ans))
def_elementwise(anp.square, lambda _ans, x: 2 * x)
def_elementwise(anp.reciprocal, lambda ans: -ans * ans)

def_elementwise(anp.sin, lambda _ans, x: anp.cos(x))
def_elementwise(anp.cos, lambda _ans, x: -anp.sin(x))
def_elementwise(anp.tan, lambda ans: 1 + ans * ans)
def_elementwise(anp.arcsin, lambda _ans, x: 1 / anp.sqrt(1 - x * x))
def_elementwise(anp.arccos, lambda _ans, x: -1 / anp.sqrt(1 - x * x))
def_elementwise(anp.arctan, lambda _ans, x: 1 / (1 + x * x))
def_elementwise(anp.sinh, lambda _ans, x: anp.cosh(x))
def_elementwise(anp.cosh, lambda _ans, x: anp.sinh(x))
def_elementwise(anp.tanh, lambda ans: 1 - ans * ans)
def_elementwise(anp.arcsinh, lambda _ans, x: 1 / anp.sqrt(x * x + 1))
# The product of two roots, not the root of the product, which has another branch cut in the complex plane.
def_elementwise(anp.arccosh, lambda _ans, x: 1 / (anp.sqrt(x - 1) * anp.sqrt(x + 1)))
def_elementwise(anp.arctanh, lambda _ans, x: 1 / (1 - x * x))

for _fun in (anp.deg2rad, anp.radians):
    def_elementwise(_fun, lambda _ans: PI / 180)
for _fun in (anp.rad2deg, anp.degrees):
    def_elementwise(_fun, lambda _ans: 180 / PI)


def _sinc_deriv(_ans, x):
    # (cos y - sin y / y) pi / y for y = pi x; near 0, where the difference cancels, its Taylor series. Both branches
    # are finite everywhere, so that the derivatives of `where` are finite too.
    y = PI * x
    near = abs(getval(y)) < 0.5
    far_y = anp.where(near, 1.0, y)
    far = PI * (anp.cos(far_y) - anp.sin(far_y) / far_y) / far_y
    z = anp.where(near, y, 0.0)
    z2 = z * z
    series = 0.0
    for n in range(7, 0, -1):  # sum of (-1)^n 2n y^(2n - 1) / (2n + 1)!
        series = series * z2 + (-1) ** n * 2 * n / float(onp.prod(onp.arange(1.0, 2 * n + 2)))
    return anp.where(near, PI * z * series, far)


def_elementwise(anp.sinc, _sinc_deriv)


# ------------------------------------------------------------------------------------------------------ complex numbers


def _phase(x):
    """Return conj(x) / |x|, by which the derivative of |x| pairs with tangents; 0 at 0."""
    return anp.conj(x) / replace_zero(anp.abs(x), 1.0)


def _absolute_vjp(g, _ans, x):
    return g * (_phase(x) if is_complex(x) else anp.sign(x))


def _absolute_jvp(g, _ans, x):
    return anp.real(g * _phase(x)) if is_complex(x) else g * anp.sign(x)


def _absolute_deriv(_ans, x):
    return anp.sign(x)


def _fabs_vjp(g, _ans, x):
    return g * anp.sign(x)


def _conjugate_vjp(g, _ans, _x):
    return anp.conj(g)


def _real_vjp(g, _ans, vs_x):
    return g + 0j if vs_x.iscomplex else g


def _imag_vjp(g, _ans, vs_x):
    return -1j * g if vs_x.iscomplex else 0 * g


def _real_if_close_vjp(g, _ans, vs_x, *args, **kwargs):
    return g + 0j if vs_x.iscomplex and not is_complex(g) else g


def _real_if_close_jvp(g, ans, _x, *args, **kwargs):
    return g if is_complex(ans) else anp.real(g)


def_direct(anp.absolute, vjps=(_absolute_vjp,), jvps=(_absolute_jvp,), compiled=(_absolute_deriv,))
def_direct(anp.fabs, vjps=(_fabs_vjp,), jvps=(_fabs_vjp,))
def_direct(anp.conjugate, vjps=(_conjugate_vjp,), jvps=("same",))
def_direct(anp.real, vjps=(_real_vjp,), jvps=("same",), batch=first_argument(anp.real))
def_direct(anp.imag, vjps=(_imag_vjp,), jvps=("same",), batch=first_argument(anp.imag))
def_direct(anp.real_if_close, vjps=(_real_if_close_vjp,), jvps=(_real_if_close_jvp,))


def _angle_factor(x, deg):
    """Return -i conj(x) / |x|^2 = -i / x, by which the derivative of the angle of x pairs with tangents."""
    factor = -1j / x if is_complex(x) else anp.zeros_like(x)
    return factor * (180 / PI) if deg else factor


def _angle_vjp(g, _ans, z, deg=False):
    return g * _angle_factor(z, deg)


def _angle_jvp(g, _ans, z, deg=False):
    return anp.real(g * _angle_factor(z, deg))


def_direct(anp.angle, vjps=(_angle_vjp,), jvps=(_angle_jvp,))


def _nan_to_num_vjp(g, _ans, x, *args, **kwargs):
    return anp.where(anp.isfinite(x), g, 0)


def_direct(anp.nan_to_num, vjps=(_nan_to_num_vjp,), jvps=(_nan_to_num_vjp,))

# -------------------------------------------------------------------------------------------------------- two arguments

def_elementwise(anp.add, "identity", "identity")
def_elementwise(anp.subtract, "identity", "negate")
def_elementwise(anp.multiply, "arg1", "arg0")
def_elementwise(anp.divide, "over arg1", lambda ans, _x, y: -ans / y)

# The most common exponents, without a call of pow.
_BY_EXPONENT = {
    2: lambda _ans, x, _y: 2 * x,
    3: lambda _ans, x, _y: 3 * (x * x),
    4: lambda _ans, x, _y: 4 * (x * x * x),
    0.5: lambda _ans, x, _y: 0.5 / anp.sqrt(x),
    1.5: lambda _ans, x, _y: 1.5 * anp.sqrt(x),
    -0.5: lambda _ans, x, _y: -0.5 / (x * anp.sqrt(x)),
    -1: lambda _ans, x, _y: -1 / (x * x),
    -2: lambda _ans, x, _y: -2 / (x * x * x),
    None: lambda _ans, x, y: y * x ** (y - 1),
}


def _power_deriv_base(_ans, x, y):
    if type(y) in (int, float):
        return _BY_EXPONENT.get(y, _BY_EXPONENT[None])(_ans, x, y) if y else 0.0
    return y * x ** anp.where(y, y - 1, 1.0)


def _power_deriv_exponent(ans, x, _y):
    if type(x) in (int, float):
        return ans * (float(onp.log(x)) if x else 0.0)  # a Python float, so that float32 stays float32
    return ans * anp.log(replace_zero(x, 1.0))


_POWER_BASE = ByExponent(_power_deriv_base, _BY_EXPONENT)
def_elementwise(anp.power, _POWER_BASE, _power_deriv_exponent)
def_elementwise(anp.float_power, _POWER_BASE, _power_deriv_exponent)

def_elementwise(anp.remainder, "identity", lambda _ans, x, y: -anp.floor(x / y))
def_elementwise(anp.fmod, "identity", lambda _ans, x, y: -anp.trunc(x / y))
def_elementwise(anp.copysign, lambda ans, x, _y: anp.sign(ans) * anp.sign(x), None)
def_elementwise(anp.hypot, lambda ans, x, _y: x / replace_zero(ans, 1.0), lambda ans, _x, y: y / replace_zero(ans, 1.0))
def_elementwise(anp.arctan2, lambda _ans, y, x: x / (x * x + y * y), lambda _ans, y, x: -y / (x * x + y * y))
def_elementwise(anp.logaddexp, lambda ans, x, _y: anp.exp(x - ans), lambda ans, _x, y: anp.exp(y - ans))
def_elementwise(anp.logaddexp2, lambda ans, x, _y: anp.exp2(x - ans), lambda ans, _x, y: anp.exp2(y - ans))


def_elementwise(anp.heaviside, None, lambda _ans, x, _h: x == 0)
def_elementwise(anp.ldexp, lambda _ans, x, exponent: onp.ldexp(onp.ones((), dtype_of(x)), exponent), None)


# -------------------------------------------------------------------------------------------- choices between arguments


def _where_scalars_too(condition, x, y):
    """Return ``where(condition, x, y)``, but a scalar if condition and x are: ``where`` makes an array of scalars."""
    if anp.ndim(condition) or anp.ndim(x):
        return anp.where(condition, x, y)
    return x if condition else y


def _masked(condition, g):
    """Return g where a condition holds, else 0."""
    if anp.ndim(condition) or anp.ndim(g):
        return anp.where(condition, g, 0)
    return (1.0 if condition else 0.0) * g


# Multiplication by 0, 1/2 or 1 is its own transpose, so that one function serves both modes here.


def _maximum_vjp(g, ans, one, other):
    """Return the share of one argument in g: all of it, half of it in a tie, or nothing."""
    return _masked(one == ans, _where_scalars_too(one == other, 0.5 * g, g))


def _maximum_vjp_x(g, ans, x, y):
    return _maximum_vjp(g, ans, x, y)


def _maximum_vjp_y(g, ans, x, y):
    return _maximum_vjp(g, ans, y, x)


_MAXIMUM = (_maximum_vjp_x, _maximum_vjp_y)
for _fun in (anp.maximum, anp.minimum, anp.fmax, anp.fmin):
    def_direct(_fun, vjps=_MAXIMUM, jvps=_MAXIMUM, broadcasts=True, compiled=("maximum left", "maximum right"))


def _where_vjp_x(g, _ans, condition, _x, _y):
    return anp._original_where(condition, g, 0)


def _where_vjp_y(g, _ans, condition, _x, _y):
    return anp._original_where(condition, 0, g)


_WHERE = (None, _where_vjp_x, _where_vjp_y)
def_direct(anp._original_where, vjps=_WHERE, jvps=_WHERE, broadcasts=True, batch=broadcasting(anp._original_where))


def _clip_vjp_a(g, ans, _a, a_min=None, a_max=None, **bounds):
    a_min, a_max = bounds.get("min", a_min), bounds.get("max", a_max)
    inside = True
    for bound in (a_min, a_max):
        if bound is not None:
            inside = anp.logical_and(inside, anp.not_equal(ans, bound))
    return _masked(inside, g)


def _clip_vjp_min(g, ans, _a, a_min=None, a_max=None, **bounds):
    below = anp.equal(ans, a_min)
    return _masked(below if a_max is None else anp.logical_and(below, anp.not_equal(ans, a_max)), g)


def _clip_vjp_max(g, ans, _a, _a_min=None, a_max=None, **bounds):
    return _masked(anp.equal(ans, a_max), g)


_CLIP = (_clip_vjp_a, _clip_vjp_min, _clip_vjp_max)
def_direct(anp.clip, vjps=_CLIP, jvps=_CLIP, broadcasts=True)
