"""Elementwise functions, from their derivatives."""

import numpy as onp

from fastgrad._rules.direct import ByExponent, def_direct, def_elementwise
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import is_complex, replace_zero
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
# Two roots, not one of the product: the principal branch in the whole complex plane.
def_elementwise(anp.arccosh, lambda _ans, x: 1 / (anp.sqrt(x - 1) * anp.sqrt(x + 1)))
def_elementwise(anp.arctanh, lambda _ans, x: 1 / (1 - x * x))

for _fun in (anp.deg2rad, anp.radians):
    def_elementwise(_fun, lambda _ans: PI / 180)
for _fun in (anp.rad2deg, anp.degrees):
    def_elementwise(_fun, lambda _ans: 180 / PI)


def _sinc_deriv(_ans, x):
    # (cos y - sin y / y) pi / y for y = pi x, with its Taylor series about 0, where the difference cancels; both
    # branches are finite everywhere, so that where's own derivatives are.
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


# -------------------------------------------- complex numbers: cotangents pair with tangents by Re sum(g * v), not conj


def _phase(x):
    """Give conj(x) / |x|, the derivative of |x| in the pairing; 0 at 0."""
    return anp.conj(x) / replace_zero(anp.abs(x), 1.0)


def_direct(
    anp.absolute,
    vjps=(lambda g, _ans, x: g * (_phase(x) if is_complex(x) else anp.sign(x)),),
    jvps=(lambda g, _ans, x: anp.real(g * _phase(x)) if is_complex(x) else g * anp.sign(x),),
    compiled=(lambda _ans, x: anp.sign(x),),
)
def_direct(anp.fabs, vjps=(lambda g, _ans, x: g * anp.sign(x),), jvps=(lambda g, _ans, x: g * anp.sign(x),))
def_direct(anp.conjugate, vjps=(lambda g, _ans, _x: anp.conj(g),), jvps=("same",))
def_direct(anp.real, vjps=(lambda g, _ans, vs_x: g + 0j if vs_x.iscomplex else g,), jvps=("same",))
def_direct(anp.imag, vjps=(lambda g, _ans, vs_x: -1j * g if vs_x.iscomplex else 0 * g,), jvps=("same",))
def_direct(
    anp.real_if_close,
    vjps=(lambda g, _ans, vs_x, *args, **kwargs: g + 0j if vs_x.iscomplex and not is_complex(g) else g,),
    jvps=(lambda g, ans, _x, *args, **kwargs: g if is_complex(ans) else anp.real(g),),
)


def _angle_factor(x, deg):
    """Give the derivative of the angle of x in the pairing: -i conj(x) / |x|^2, which is -i / x."""
    factor = -1j / x if is_complex(x) else anp.zeros_like(x)
    return factor * (180 / PI) if deg else factor


def_direct(
    anp.angle,
    vjps=(lambda g, _ans, z, deg=False: g * _angle_factor(z, deg),),
    jvps=(lambda g, _ans, z, deg=False: anp.real(g * _angle_factor(z, deg)),),
)


def _nan_to_num_vjp(g, _ans, x, *args, **kwargs):
    return anp.where(anp.isfinite(x), g, 0)


def_direct(anp.nan_to_num, vjps=(_nan_to_num_vjp,), jvps=(_nan_to_num_vjp,))

# -------------------------------------------------------------------------------------------------------- two arguments

def_elementwise(anp.add, "identity", "identity")
def_elementwise(anp.subtract, "identity", "negate")
def_elementwise(anp.multiply, "arg1", "arg0")

def_elementwise(anp.divide, "over arg1", lambda ans, _x, y: -ans / y)


# The commonest exponents, without a call of pow.
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
        return ans * (float(onp.log(x)) if x else 0.0)  # a Python float, which leaves float32 what it is
    return ans * anp.log(replace_zero(x, 1.0))


_BASE = ByExponent(_power_deriv_base, _BY_EXPONENT)
def_elementwise(anp.power, _BASE, _power_deriv_exponent)
def_elementwise(anp.float_power, _BASE, _power_deriv_exponent)

def_elementwise(anp.remainder, "identity", lambda _ans, x, y: -anp.floor(x / y))
def_elementwise(anp.fmod, "identity", lambda _ans, x, y: -anp.trunc(x / y))
def_elementwise(anp.copysign, lambda ans, x, _y: anp.sign(ans) * anp.sign(x), None)
def_elementwise(anp.hypot, lambda ans, x, _y: x / replace_zero(ans, 1.0), lambda ans, _x, y: y / replace_zero(ans, 1.0))
def_elementwise(anp.arctan2, lambda _ans, y, x: x / (x * x + y * y), lambda _ans, y, x: -y / (x * x + y * y))
def_elementwise(anp.logaddexp, lambda ans, x, _y: anp.exp(x - ans), lambda ans, _x, y: anp.exp(y - ans))
def_elementwise(anp.logaddexp2, lambda ans, x, _y: anp.exp2(x - ans), lambda ans, _x, y: anp.exp2(y - ans))


def _share(g, ans, one, other):
    """Give what one of the two arguments of a maximum or minimum gets of g: all, half where they tie, or nothing."""
    return _only(one == ans, _choose(one == other, 0.5 * g, g))


def _choose(condition, x, y):
    """Choose element by element; for scalars a scalar, which ``where`` makes an array of."""
    if anp.ndim(condition) or anp.ndim(x):
        return anp.where(condition, x, y)
    return x if condition else y


def _only(condition, g):
    """Give g where a condition holds, else 0."""
    if anp.ndim(condition) or anp.ndim(g):
        return anp.where(condition, g, 0)
    return (1.0 if condition else 0.0) * g


_EXTREMUM = (lambda g, ans, x, y: _share(g, ans, x, y), lambda g, ans, x, y: _share(g, ans, y, x))
for _fun in (anp.maximum, anp.minimum, anp.fmax, anp.fmin):
    def_direct(_fun, vjps=_EXTREMUM, jvps=_EXTREMUM, broadcasts=True, compiled=("maximum left", "maximum right"))

# ------------------------------------------------------------------------------------------------------------ choosing


_WHERE = (
    None,
    lambda g, _ans, condition, _x, _y: anp._original_where(condition, g, 0),
    lambda g, _ans, condition, _x, _y: anp._original_where(condition, 0, g),
)
def_direct(anp._original_where, vjps=_WHERE, jvps=_WHERE, broadcasts=True)


def _clip_vjp_a(g, ans, _a, a_min=None, a_max=None, **bounds):
    a_min, a_max = bounds.get("min", a_min), bounds.get("max", a_max)
    inside = True
    for bound in (a_min, a_max):
        if bound is not None:
            inside = anp.logical_and(inside, anp.not_equal(ans, bound))
    return _only(inside, g)


def _clip_vjp_min(g, ans, _a, a_min=None, a_max=None, **bounds):
    below = anp.equal(ans, a_min)
    return _only(below if a_max is None else anp.logical_and(below, anp.not_equal(ans, a_max)), g)


def _clip_vjp_max(g, ans, _a, _a_min=None, a_max=None, **bounds):
    return _only(anp.equal(ans, a_max), g)


_CLIP = (_clip_vjp_a, _clip_vjp_min, _clip_vjp_max)
def_direct(anp.clip, vjps=_CLIP, jvps=_CLIP, broadcasts=True)
