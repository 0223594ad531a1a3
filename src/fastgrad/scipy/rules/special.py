"""Rules of scipy.special, by the NIST Digital Library of Mathematical Functions (DLMF, https://dlmf.nist.gov).

Rules without an equation number come from differentiating the definition of the function. Derivatives of inverse
functions are reciprocals of those of the functions.
"""

import math

import numpy as onp
import scipy.special

from fastgrad._rules.direct import def_direct, def_elementwise, no_rule
from fastgrad.builtins import tuple as traced_tuple
from fastgrad.core import vspace
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import dtype_of, fit, is_complex, keep_reduced
from fastgrad.scipy.rules.partial_means import Law, partial_mean
from fastgrad.scipy.wrapping import special as sp
from fastgrad.tracer import getval

root_pi = math.sqrt(math.pi)
inv_root_pi = 1 / root_pi
ROOT_2PI, ROOT_2 = math.sqrt(2 * math.pi), math.sqrt(2)


def _elementwise(fun, *derivs):
    """Set rules as `def_elementwise` does; a string names an argument that the function has no derivative for."""
    if len(derivs) == 1:
        def_elementwise(fun, *derivs)
        return
    rules = [no_rule(fun.__name__, d) if type(d) is str else _times(d) for d in derivs]
    def_direct(fun, vjps=rules, jvps=rules, broadcasts=True)


def _times(deriv):
    """Return the rule for both modes, made from a derivative with two or three arguments."""
    if deriv.__code__.co_argcount == 3:
        return lambda g, ans, x, y: g * _as_precise(deriv(ans, x, y), ans)
    return lambda g, ans, x, y, z: g * _as_precise(deriv(ans, x, y, z), ans)


def _as_precise(x, ans):
    """Return x in single precision if ans is; Python numbers and float32 arrays can give float64."""
    single = dtype_of(ans).char
    return anp._astype(x, single) if single in "fF" and dtype_of(x).char in "dD" else x


# ------------------------------------------------------------------------------------------ the gamma function (DLMF 5)


def _polygamma(n, x):
    """Return the polygamma function in the precision of x; SciPy's returns float64 for float32."""
    if is_complex(x):
        raise NotImplementedError(f"psi and its derivatives have no derivative of order {n} at complex arguments")
    values = sp.polygamma(n, x)
    return values if dtype_of(x).char != "f" else anp._astype(values, "f")


def _rgamma_deriv(_ans, x):
    # Left of 1/2 by reflection (5.5.3): 1/gamma(x) = gamma(1 - x) sin(pi x) / pi is smooth at the poles of gamma.
    left = onp.real(getval(x)) < 0.5
    far, near = anp.where(left, 1.5, x), 1 - anp.where(left, x, 0.0)
    reflected = sp.gamma(near) * (anp.cos(math.pi * near) + sp.psi(near) * anp.sin(math.pi * near) / math.pi)
    return anp.where(left, -reflected, -sp.psi(far) * sp.rgamma(far))


def _multigammaln_deriv(_ans, a, d):
    return sum(sp.psi(a - 0.5 * j) for j in range(int(getval(d))))


# 5.2.2: psi = gamma' / gamma; 5.15: polygamma functions are derivatives of psi.
_elementwise(sp.gamma, lambda ans, x: ans * sp.psi(x))
_elementwise(sp.gammaln, lambda _ans, x: sp.psi(x))
_elementwise(sp.loggamma, lambda _ans, x: sp.psi(x))
_elementwise(sp.gammasgn, None)
_elementwise(sp.rgamma, _rgamma_deriv)
_elementwise(sp.psi, lambda _ans, x: _polygamma(1, x))
_elementwise(sp.polygamma, "n", lambda _ans, n, x: sp.polygamma(n + 1, x))
_elementwise(sp.multigammaln, _multigammaln_deriv, "d")

# 5.12.1: B(a, b) = gamma(a) gamma(b) / gamma(a + b).
_elementwise(
    sp.beta,
    lambda ans, a, b: ans * (sp.psi(a) - sp.psi(a + b)),
    lambda ans, a, b: ans * (sp.psi(b) - sp.psi(a + b)),
)
_elementwise(sp.betaln, lambda _ans, a, b: sp.psi(a) - sp.psi(a + b), lambda _ans, a, b: sp.psi(b) - sp.psi(a + b))


# ----------------------------------------------------------------- incomplete gamma and beta functions (DLMF 8.8, 8.17)


def _gamma_density(a, x):
    return anp.exp(sp.xlogy(a - 1, x) - x - sp.gammaln(a))


def _beta_density(a, b, x):
    return anp.exp(sp.xlogy(a - 1, x) + sp.xlog1py(b - 1, -x) - sp.betaln(a, b))


def _gamma_score(x, a):
    return anp.log(x) - sp.psi(a)


def _beta_score_a(x, a, b):
    return anp.log(x) - sp.psi(a) + sp.psi(a + b)


def _beta_score_b(x, a, b):
    return anp.log1p(-x) - sp.psi(b) + sp.psi(a + b)


_GAMMA_LAW = Law(
    cdf=lambda x, a: scipy.special.gammainc(a, x),
    sf=lambda x, a: scipy.special.gammaincc(a, x),
    ppf=lambda p, a: scipy.special.gammaincinv(a, p),
    isf=lambda p, a: scipy.special.gammainccinv(a, p),
    density=lambda x, a: _gamma_density(a, x),
    scores=(_gamma_score,),
    support=(0.0, math.inf),
)
_BETA_LAW = Law(
    cdf=lambda x, a, b: scipy.special.betainc(a, b, x),
    sf=lambda x, a, b: scipy.special.betainc(b, a, 1 - x),
    ppf=lambda p, a, b: scipy.special.betaincinv(a, b, p),
    isf=lambda p, a, b: 1 - scipy.special.betaincinv(b, a, p),
    density=lambda x, a, b: _beta_density(a, b, x),
    scores=(_beta_score_a, _beta_score_b),
    support=(0.0, 1.0),
    upper_is_exact=lambda _a, b: b >= 1,
)


def _gamma_shape(a, x):
    return partial_mean(_gamma_score, _GAMMA_LAW, x, a)


def _beta_shape(score, a, b, x):
    return partial_mean(score, _BETA_LAW, x, a, b)


# With respect to x by 8.8.13 and by differentiating 8.17.1, which give the densities of the gamma and beta
# distributions; with respect to the parameters by integration, see `partial_means`.
_elementwise(sp.gammainc, lambda _ans, a, x: _gamma_shape(a, x), lambda _ans, a, x: _gamma_density(a, x))
_elementwise(sp.gammaincc, lambda _ans, a, x: -_gamma_shape(a, x), lambda _ans, a, x: -_gamma_density(a, x))
_elementwise(
    sp.gammaincinv,
    lambda ans, a, _y: -_gamma_shape(a, ans) / _gamma_density(a, ans),
    lambda ans, a, _y: 1 / _gamma_density(a, ans),
)
_elementwise(
    sp.gammainccinv,
    lambda ans, a, _y: -_gamma_shape(a, ans) / _gamma_density(a, ans),
    lambda ans, a, _y: -1 / _gamma_density(a, ans),
)
_elementwise(
    sp.betainc,
    lambda _ans, a, b, x: _beta_shape(_beta_score_a, a, b, x),
    lambda _ans, a, b, x: _beta_shape(_beta_score_b, a, b, x),
    lambda _ans, a, b, x: _beta_density(a, b, x),
)
if hasattr(sp, "betaincc"):  # from SciPy 1.12 on
    _elementwise(
        sp.betaincc,
        lambda _ans, a, b, x: -_beta_shape(_beta_score_a, a, b, x),
        lambda _ans, a, b, x: -_beta_shape(_beta_score_b, a, b, x),
        lambda _ans, a, b, x: -_beta_density(a, b, x),
    )
_elementwise(
    sp.betaincinv,
    lambda ans, a, b, _y: -_beta_shape(_beta_score_a, a, b, ans) / _beta_density(a, b, ans),
    lambda ans, a, b, _y: -_beta_shape(_beta_score_b, a, b, ans) / _beta_density(a, b, ans),
    lambda ans, a, b, _y: 1 / _beta_density(a, b, ans),
)


def make_gammainc_vjp_arg1(sign):
    """Return the staged VJP of gammainc or gammaincc with respect to x.

    Parameters
    ----------
    sign : {1, -1}
        1 for gammainc, -1 for gammaincc.

    Returns
    -------
    callable
        ``rule(ans, a, x)`` returns the pullback.
    """

    def stage(_ans, a, x):
        return lambda g: fit(sign * g * _gamma_density(a, x), vspace(getval(x)))

    return stage


# ------------------------------------------------------------------------------------------- Bessel functions (DLMF 10)


def _circular(fun):
    """Return the derivative of J, Y or H with respect to x (10.6.1)."""
    return lambda _ans, n, x: 0.5 * (fun(n - 1, x) - fun(n + 1, x))


def _decaying(fun):
    """Return the derivative of K with respect to x (10.29.1)."""
    return lambda _ans, n, x: -0.5 * (fun(n - 1, x) + fun(n + 1, x))


def _whole(derivative):
    """Return the derivative of a function that truncates its order to an integer."""
    return lambda ans, n, x: derivative(ans, onp.trunc(n), x)


# 10.6.1 and 10.6.3.
_elementwise(sp.j0, lambda _ans, x: -sp.j1(x))
_elementwise(sp.y0, lambda _ans, x: -sp.y1(x))
_elementwise(sp.j1, lambda _ans, x: 0.5 * (sp.j0(x) - sp.jv(2, x)))
_elementwise(sp.y1, lambda _ans, x: 0.5 * (sp.y0(x) - sp.yn(2.0, x)))
for _fun in (sp.jn, sp.jv, sp.yv, sp.hankel1, sp.hankel2):
    _elementwise(_fun, "v", _circular(_fun))
_elementwise(sp.yn, "n", _whole(_circular(sp.yn)))

# 10.29.1 and 10.29.3.
_elementwise(sp.i0, lambda _ans, x: sp.i1(x))
_elementwise(sp.i1, lambda _ans, x: 0.5 * (sp.i0(x) + sp.iv(2, x)))
_elementwise(sp.iv, "v", lambda _ans, n, x: 0.5 * (sp.iv(n - 1, x) + sp.iv(n + 1, x)))
_elementwise(sp.k0, lambda _ans, x: -sp.k1(x))
_elementwise(sp.k1, lambda _ans, x: -0.5 * (sp.k0(x) + sp.kn(2.0, x)))
_elementwise(sp.kn, "n", _whole(_decaying(sp.kn)))
_elementwise(sp.kv, "v", _decaying(sp.kv))

# Scaled by exp(-|Re x|), for K by exp(x), whose derivative is added.
_elementwise(sp.i0e, lambda ans, x: sp.i1e(x) - anp.sign(x) * ans)
_elementwise(sp.i1e, lambda ans, x: 0.5 * (sp.i0e(x) + sp.ive(2, x)) - anp.sign(x) * ans)
_elementwise(sp.k0e, lambda ans, x: ans - sp.k1e(x))
_elementwise(sp.k1e, lambda ans, x: ans - 0.5 * (sp.k0e(x) + sp.kve(2, x)))
_elementwise(sp.kve, "v", lambda ans, n, x: ans - 0.5 * (sp.kve(n - 1, x) + sp.kve(n + 1, x)))


def _ive_slope(n, x):
    return 0.5 * (sp.ive(n - 1, x) + sp.ive(n + 1, x))


def _ive_vjp(g, ans, n, x):
    # For complex x the scale is a function of the real part alone.
    scaled = g * ans
    return g * _ive_slope(n, x) - anp.sign(anp.real(x)) * (anp.real(scaled) if is_complex(x) else scaled)


def _ive_jvp(g, ans, n, x):
    return g * _ive_slope(n, x) - anp.sign(anp.real(x)) * anp.real(g) * ans


def_direct(sp.ive, vjps=(no_rule("ive", "v"), _ive_vjp), jvps=(no_rule("ive", "v"), _ive_jvp), broadcasts=True)


# --------------------------------------------------------------------------- the error function and its kin (DLMF 7, 6)

# By differentiating 7.2.1 to 7.2.5; wofz by 7.10.2.
_elementwise(sp.erf, lambda _ans, x: 2 * inv_root_pi * anp.exp(-x * x))
_elementwise(sp.erfc, lambda _ans, x: -2 * inv_root_pi * anp.exp(-x * x))
_elementwise(sp.erfcx, lambda ans, x: 2 * x * ans - 2 * inv_root_pi)
_elementwise(sp.erfi, lambda _ans, x: 2 * inv_root_pi * anp.exp(x * x))
_elementwise(sp.dawsn, lambda ans, x: 1 - 2 * x * ans)
_elementwise(sp.wofz, lambda ans, x: 2j * inv_root_pi - 2 * x * ans)
_elementwise(sp.erfinv, lambda ans, _x: root_pi / 2 * anp.exp(ans * ans))
_elementwise(sp.erfcinv, lambda ans, _x: -root_pi / 2 * anp.exp(ans * ans))
_elementwise(sp.ndtr, lambda _ans, x: anp.exp(-0.5 * x * x) / ROOT_2PI)
_elementwise(sp.log_ndtr, lambda ans, x: anp.exp(-0.5 * x * x - ans) / ROOT_2PI)
_elementwise(sp.ndtri, lambda ans, _x: ROOT_2PI * anp.exp(0.5 * ans * ans))
# By differentiating the integral of Owen (1956), Tables for computing bivariate normal probabilities.
_elementwise(
    sp.owens_t,
    lambda _ans, h, a: -anp.exp(-0.5 * h * h) * sp.erf(a * h / ROOT_2) / (2 * ROOT_2PI),
    lambda _ans, h, a: anp.exp(-0.5 * h * h * (1 + a * a)) / (2 * math.pi * (1 + a * a)),
)
# By differentiating 6.2.1 and 6.2.5; expn by 8.19.13.
_elementwise(sp.expi, lambda _ans, x: anp.exp(x) / x)
_elementwise(sp.exp1, lambda _ans, x: -anp.exp(-x) / x)
_elementwise(sp.expn, "n", _whole(lambda _ans, n, x: -sp.expn(n - 1, x)))


# -------------------------------------------------------------------------------------- exponentials, logarithms, roots

_elementwise(sp.expit, lambda ans: ans * (1 - ans))
_elementwise(sp.log_expit, lambda _ans, x: sp.expit(-x))
_elementwise(sp.logit, lambda _ans, x: 1 / (x * (1 - x)))
_elementwise(sp.log1p, lambda _ans, x: 1 / (1 + x))
_elementwise(sp.expm1, lambda ans: ans + 1)
_elementwise(sp.exp2, lambda ans: ans * math.log(2))
_elementwise(sp.exp10, lambda ans: ans * math.log(10))
_elementwise(sp.cbrt, lambda ans: 1 / (3 * ans * ans))
_elementwise(sp.cosm1, lambda _ans, x: -anp.sin(x))


def _xlogy_y(_ans, x, y):
    zero = onp.logical_and(getval(x) == 0, getval(y) == 0)
    return x / (anp.where(zero, 1, y) if onp.any(zero) else y)


def _xlog1py_y(_ans, x, y):
    return _xlogy_y(None, x, 1 + y)


_elementwise(sp.xlogy, lambda _ans, _x, y: anp.log(y), _xlogy_y)
_elementwise(sp.xlog1py, lambda _ans, _x, y: anp.log1p(y), _xlog1py_y)
_elementwise(sp.entr, lambda _ans, x: -anp.log(x) - 1)
_elementwise(sp.rel_entr, lambda _ans, x, y: anp.log(x / y) + 1, lambda _ans, x, y: -x / y)
_elementwise(sp.kl_div, lambda _ans, x, y: anp.log(x / y), lambda _ans, x, y: 1 - x / y)


# -------------------------------------------------------------------------------------------- softmax and its logarithm


def _weights(ans, a, axis, b, return_sign):
    """Return exp(a) / sum, which times b is the derivative of the logarithm of the sum, and the shape of the terms."""
    shape = anp.shape(a) if b is None else onp.broadcast_shapes(anp.shape(a), anp.shape(b))
    log = keep_reduced(ans[0] if return_sign else ans, shape, axis)
    if b is None and onp.any(getval(log) == -onp.inf):
        log = anp.where(log == -onp.inf, 0, log)  # all terms are 0, and so are their weights
    weights = anp.exp(a - log)
    return weights / keep_reduced(ans[1], shape, axis) if return_sign else weights, shape


def _sum_cotangent(g, ans, return_sign):
    """Return the cotangent of log s for those of log|s| and of the sign s / |s|; a real sign is constant."""
    if not return_sign:
        return g
    log_g, sign_g = g[0], g[1]
    return log_g - 1j * anp.real(1j * sign_g * ans[1]) if _has_complex_sign(ans) else log_g


def _has_complex_sign(ans):
    """Return whether the sign is s / |s|; in older SciPy it is that of the real part and the logarithm is complex."""
    return is_complex(ans[1]) and not is_complex(ans[0])


def _logsumexp_back(g, ans, a, axis=None, b=None, keepdims=False, return_sign=False):
    weights, shape = _weights(ans, a, axis, b, return_sign)
    cotangent = keep_reduced(_sum_cotangent(g, ans, return_sign), shape, axis) * weights
    return fit(cotangent if b is None else cotangent * b, vspace(getval(a)))


def _logsumexp_b_back(g, ans, a, axis=None, b=None, keepdims=False, return_sign=False):
    weights, shape = _weights(ans, a, axis, b, return_sign)
    cotangent = keep_reduced(_sum_cotangent(g, ans, return_sign), shape, axis) * weights
    return fit(cotangent if anp.shape(cotangent) == shape else anp.broadcast_to(cotangent, shape), vspace(getval(b)))


def _sum_tangent(terms, ans, axis, keepdims, return_sign):
    """Return the tangent of the answer, of which ``terms`` are the terms of the tangent of log s."""
    total = anp.sum(terms, axis=axis, keepdims=keepdims)
    shape = anp.shape(ans[0] if return_sign else ans)
    if anp.shape(total) != shape:
        total = anp.reshape(total, shape)  # SciPy turns a number into an array of one axis, and keeps that
    if not return_sign:
        return total
    sign = ans[1]
    if _has_complex_sign(ans):
        return traced_tuple((anp.real(total), 1j * anp.imag(total) * sign))
    return traced_tuple((total, 0 * sign))


def _logsumexp_forward(g, ans, a, axis=None, b=None, keepdims=False, return_sign=False):
    terms = g * _weights(ans, a, axis, b, return_sign)[0]
    return _sum_tangent(terms if b is None else terms * b, ans, axis, keepdims, return_sign)


def _logsumexp_b_forward(g, ans, a, axis=None, b=None, keepdims=False, return_sign=False):
    return _sum_tangent(g * _weights(ans, a, axis, b, return_sign)[0], ans, axis, keepdims, return_sign)


def make_grad_logsumexp(ans, x, axis=None, b=1.0, keepdims=False):
    """Return the pullback of logsumexp with respect to x.

    Parameters
    ----------
    ans : array_like
        The value.
    x, axis, b, keepdims
        The arguments, as for `scipy.special.logsumexp`.

    Returns
    -------
    callable
        Takes the cotangent of the value to that of x.
    """
    return lambda g: _logsumexp_back(g, ans, x, axis, b, keepdims)


def fwd_grad_logsumexp(g, ans, x, axis=None, b=1.0, keepdims=False):
    """Return the tangent of logsumexp for a tangent of x.

    Parameters
    ----------
    g : array_like
        The tangent, of the shape of x.
    ans : array_like
        The value.
    x, axis, b, keepdims
        The arguments, as for `scipy.special.logsumexp`.

    Returns
    -------
    array_like
        The tangent of the value.
    """
    return _logsumexp_forward(g, ans, x, axis, b, keepdims)


def_direct(
    sp.logsumexp,
    vjps=(_logsumexp_back, None, _logsumexp_b_back),
    jvps=(_logsumexp_forward, None, _logsumexp_b_forward),
)


def _softmax_rule(g, ans, _x, axis=None):
    return ans * (g - anp.sum(g * ans, axis=axis, keepdims=True))


def_direct(sp.softmax, vjps=(_softmax_rule,), jvps=(_softmax_rule,))
def_direct(
    sp.log_softmax,
    vjps=(lambda g, ans, _x, axis=None: g - anp.exp(ans) * anp.sum(g, axis=axis, keepdims=True),),
    jvps=(lambda g, ans, _x, axis=None: g - anp.sum(anp.exp(ans) * g, axis=axis, keepdims=True),),
)
