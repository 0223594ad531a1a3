"""What the table of rules does not reach of fastgrad.scipy."""

import importlib
import inspect
import pickle
import subprocess
import sys
import types
import warnings

import numpy as onp
import pytest
import scipy.linalg
import scipy.special
import scipy.stats
import table

import fastgrad.numpy as np
from fastgrad import grad, hessian, jacobian, make_jvp, make_vjp
from fastgrad.builtins import tuple as traced_tuple
from fastgrad.core import primitive_jvps, primitive_vjps
from fastgrad.scipy import integrate, linalg, signal, special
from fastgrad.scipy.stats import beta, chi2, dirichlet, gamma, multivariate_normal, norm, poisson, t
from fastgrad.test_util import check_grads

DISTRIBUTIONS = ("beta", "chi2", "dirichlet", "gamma", "multivariate_normal", "norm", "poisson", "t")
MODULES = ("special", "linalg", "signal", "integrate", *[f"stats.{name}" for name in DISTRIBUTIONS])


def both_modes(fun, *args, order=2):
    check_grads(fun, modes=["rev", "fwd"], order=order)(*args)


# ---------------------------------------------------------------------------------------------------------- the modules


def test_fastgrad_alone_does_not_import_scipy():
    code = "import fastgrad, sys; import fastgrad.numpy; assert 'scipy' not in sys.modules"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_without_scipy_the_error_says_what_to_install():
    code = "import sys; sys.modules['scipy'] = None; import fastgrad.scipy.stats"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'fastgrad[scipy]'" in run.stderr.splitlines()[-1]


# What its helpers for its own rules are called; they are not functions of SciPy's.
NOT_FOLLOWED = {"einsum_tensordot"}


@pytest.mark.parametrize("module", MODULES)
def test_every_name_of_autograds_exists(module):
    pytest.importorskip("autograd")
    theirs = vars(importlib.import_module(f"autograd.scipy.{module}"))
    mine = vars(importlib.import_module(f"fastgrad.scipy.{module}"))
    home = {"autograd.tracer", f"autograd.scipy.{module}"}
    names = [
        name
        for name, value in theirs.items()
        if not name.startswith("_")
        and (isinstance(value, float) or (inspect.isfunction(value) and value.__module__ in home))
        and name != "primitive"
    ]
    assert names and sorted(set(names) - set(mine) - NOT_FOLLOWED) == []


@pytest.mark.parametrize("module", MODULES)
def test_every_function_with_a_rule_there_has_both_here(module):
    oracle = pytest.importorskip("autograd.core")
    theirs = importlib.import_module(f"autograd.scipy.{module}")
    mine = importlib.import_module(f"fastgrad.scipy.{module}")
    functions = {n: v for n, v in vars(theirs).items() if isinstance(v, types.FunctionType)}
    ruled = [name for name, value in functions.items() if value in oracle.primitive_vjps]
    assert ruled
    for name in ruled:
        fun = integrate._odeint if name == "odeint" else getattr(mine, name)
        assert fun in primitive_vjps and fun in primitive_jvps, name


def test_every_function_with_a_rule_has_a_row_of_its_own():
    rows = {row.name for row in table.ROWS}
    for module in MODULES:
        seen = {}
        for name, fun in vars(importlib.import_module(f"fastgrad.scipy.{module}")).items():
            if isinstance(fun, type(special.gamma)) and fun in primitive_vjps and not name.startswith("_"):
                seen.setdefault(fun, []).append(name)
        for fun, names in seen.items():
            home = fun.__module__.removeprefix("fastgrad.scipy.")
            assert home != module or any(f"{module}.{name}" in rows for name in names), names


@pytest.mark.parametrize(
    "fun", [special.gamma, special.logsumexp, linalg.sqrtm, signal.convolve, norm.pdf, poisson.logpmf]
)
def test_primitives_pickle_by_name(fun):
    assert pickle.loads(pickle.dumps(fun)) is fun


# ---------------------------------------------------------------------------------------------------- special functions


def test_logsumexp_of_minus_infinity():
    x = onp.array([1.0, -onp.inf, 2.0])
    share = 1 / (1 + onp.exp(1.0))
    onp.testing.assert_allclose(grad(special.logsumexp)(x), [share, 0, 1 - share])
    onp.testing.assert_allclose(make_jvp(special.logsumexp)(x)(onp.ones(3))[1], 1.0)
    # Nothing to share at all.
    assert list(grad(special.logsumexp)(onp.full(2, -onp.inf))) == [0, 0]


def test_logsumexp_takes_traced_lists_and_keywords():
    def value(x, b):
        return special.logsumexp([x, 2 * x, 1.0], b=np.array([b, 1.0, b]))

    both_modes(value, 0.3, 0.7)
    assert grad(lambda a: special.logsumexp(a=a))(onp.array([0.0, 0.0])) == pytest.approx([0.5, 0.5])


def test_logsumexp_with_sign_gives_a_tuple():
    x, b = onp.array([0.2, 0.5, -0.3]), onp.array([1.0, -2.0, 0.5])
    log, sign = special.logsumexp(x, b=b, return_sign=True)
    assert sign == -1

    def joint(x):
        log, sign = special.logsumexp(x, b=b, return_sign=True)
        return log * sign

    terms = b * onp.exp(x)
    onp.testing.assert_allclose(grad(joint)(x), -terms / terms.sum())


def test_order_of_bessel_functions_is_refused_by_name():
    with pytest.raises(NotImplementedError, match="jv has no derivative with respect to 'v'"):
        grad(special.jv)(1.5, 2.0)
    with pytest.raises(NotImplementedError, match="polygamma has no derivative with respect to 'n'"):
        make_jvp(special.polygamma)(1.0, 2.0)(1.0)


def test_rgamma_at_the_poles_of_gamma():
    # (-1)^n n!
    onp.testing.assert_allclose([grad(special.rgamma)(float(-n)) for n in range(5)], [1, -1, 2, -6, 24])


def test_xlogy_at_zero():
    assert grad(special.xlogy, 1)(0.0, 0.0) == 0
    assert grad(special.xlogy, 1)(0.0, 3.0) == 0
    assert grad(special.xlogy)(0.0, 3.0) == pytest.approx(onp.log(3.0))


def test_functions_without_rules_work_on_plain_values_and_say_so_on_traced_ones():
    assert special.ellipk(0.5) == scipy.special.ellipk(0.5)
    with pytest.raises(NotImplementedError, match="ellipk"):
        grad(special.ellipk)(0.5)


def test_staged_helpers_are_the_rules():
    x = onp.array([0.1, 0.7])
    y = special.logsumexp(x)
    onp.testing.assert_allclose(special.make_grad_logsumexp(y, x)(2.0), 2 * grad(special.logsumexp)(x))
    onp.testing.assert_allclose(special.fwd_grad_logsumexp(onp.ones(2), y, x), 1.0)
    assert special.make_gammainc_vjp_arg1(-1)(None, 1.5, 0.4)(1.0) == grad(special.gammaincc, 1)(1.5, 0.4)
    assert special.root_pi * special.inv_root_pi == pytest.approx(1)


@pytest.mark.parametrize(
    "a, x", [(0.05, 1e-5), (0.5, 0.3), (2.0, 6.0), (50.0, 45.0), (1e3, 1.05e3), (1.5, 30.0), (3.0, 0.0)]
)
def test_incomplete_gamma_function_of_any_shape(a, x):
    h = 1e-3 * a
    f = scipy.special.gammainc if x < a else scipy.special.gammaincc
    expected = (8 * (f(a + h, x) - f(a - h, x)) - (f(a + 2 * h, x) - f(a - 2 * h, x))) / (12 * h)
    got = grad(special.gammainc if x < a else special.gammaincc)(a, x)
    assert got == pytest.approx(expected, rel=1e-6, abs=1e-300)


def test_derivative_of_the_incomplete_beta_function_survives_nan_of_its_inverse():
    shapes = onp.array([1.01309485, 2.39495998])
    assert onp.all(onp.isfinite(grad(lambda b: np.sum(special.betainc(0.9627902, b, 0.86388884)))(shapes)))


# -------------------------------------------------------------------------------------------------------- distributions


@pytest.mark.parametrize("fun", [norm.pdf, norm.logpdf, norm.cdf, norm.sf, norm.logcdf, norm.logsf])
def test_traced_keywords(fun):
    for i in range(2):
        by_keyword = grad(lambda loc, scale: fun(0.3, scale=scale, loc=loc), i)(0.1, 1.3)
        assert by_keyword == grad(fun, i + 1)(0.3, 0.1, 1.3)
    assert grad(lambda s: fun(0.3, scale=s))(1.3) == grad(fun, 2)(0.3, 0.0, 1.3)


@pytest.mark.parametrize(
    "fun, shapes", [(gamma.pdf, {"a": 2.0}), (beta.pdf, {"a": 2.0, "b": 3.0}), (t.cdf, {"df": 3.0})]
)
def test_shapes_by_keyword(fun, shapes):
    values = tuple(shapes.values())
    for i, name in enumerate(shapes):
        rest = {k: v for k, v in shapes.items() if k != name}
        got = grad(lambda s, name=name, rest=rest: fun(0.4, scale=1.5, **{name: s}, **rest))(values[i])
        assert got == pytest.approx(grad(fun, i + 1)(0.4, *values, 0.0, 1.5))
    assert grad(lambda x: fun(x, loc=-0.1, **shapes))(0.4) == pytest.approx(grad(fun)(0.4, *values, -0.1))


@pytest.mark.parametrize("fun", [gamma.pdf, gamma.cdf, gamma.logpdf, gamma.logcdf, chi2.pdf, chi2.logcdf])
def test_outside_the_support(fun):
    x = onp.array([-1.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        by_x = grad(lambda x: fun(x, 1.5)[1] + fun(x, 1.5)[0])(x)
        by_shape = grad(lambda a: np.sum(make_vjp(lambda a: fun(x, a))(a)[0](onp.array([1.0, 0.0]))))(1.5)
    assert by_x[0] == 0 and by_x[1] != 0
    assert by_shape == 0


def test_lists_with_traced_values():
    def log_density(x, y):
        parts = norm.logpdf([x, y, 0.5], [0.0, x, y])
        return np.sum(parts) + multivariate_normal.logpdf([x, y], [y, 0.1], [[2.0, 0.3], [0.3, np.exp(x)]])

    both_modes(log_density, 0.4, -0.2)
    onp.testing.assert_allclose(grad(lambda x: np.sum(signal.convolve([x, 1.0], [1.0, x])))(2.0), 6.0)


def test_far_tails_keep_their_precision():
    assert grad(norm.logcdf)(-40.0) == pytest.approx(40.0, rel=1e-2)
    assert grad(norm.logsf)(40.0) == pytest.approx(-40.0, rel=1e-2)
    above, below = (scipy.stats.gamma.logsf(60.0, 2 + h) for h in (1e-5, -1e-5))
    expected = (above - below) / 2e-5
    assert grad(gamma.logsf, 1)(60.0, 2.0) == pytest.approx(expected, rel=1e-7)


def test_poisson_of_mean_zero():
    assert grad(poisson.pmf, 1)(0, 0.0) == -1
    with pytest.raises(NotImplementedError, match="poisson.pmf has no derivative with respect to 'k'"):
        grad(poisson.pmf)(1.0, 2.0)


def test_dirichlet_in_its_own_coordinates():
    x, alpha = onp.array([0.2, 0.5, 0.3]), onp.array([1.0, 2.5, 0.7])
    onp.testing.assert_allclose(grad(dirichlet.logpdf)(x, alpha), (alpha - 1) / x)
    onp.testing.assert_allclose(grad(dirichlet.pdf)(x, alpha), dirichlet.pdf(x, alpha) * (alpha - 1) / x)
    # An empty cell of weight one.
    assert grad(dirichlet.logpdf)(onp.array([0.0, 0.7, 0.3]), alpha)[0] == 0
    assert dirichlet.rvs(alpha, 4, random_state=1).shape == (4, 3)


FACTOR = onp.array([[1.0, 0.0, 0.0], [0.4, 1.2, 0.0], [-0.3, 0.2, 0.8]])
POINTS = onp.array([[0.3, -0.2, 0.5], [1.0, 0.4, -0.7]])


@pytest.mark.parametrize("name", ["pdf", "logpdf"])
def test_normal_in_symmetric_directions_of_the_covariance(name):
    fun = getattr(multivariate_normal, name)
    both_modes(lambda factor, x, mean: fun(x, mean, np.dot(factor, factor.T)), FACTOR, POINTS, onp.zeros(3))
    both_modes(lambda factor: multivariate_normal.entropy(None, np.dot(factor, factor.T)), FACTOR)
    gradient = grad(lambda cov: np.sum(fun(POINTS, onp.zeros(3), cov)))(FACTOR @ FACTOR.T)
    onp.testing.assert_allclose(gradient, gradient.T)


def test_normal_of_singular_covariance():
    factor = onp.array([[1.0, 0.0], [0.5, 1.0], [0.2, -0.4]])

    def log_density(factor, z):
        return multivariate_normal.logpdf(np.dot(factor, z), None, np.dot(factor, factor.T), allow_singular=True)

    both_modes(log_density, factor, onp.array([0.3, -0.6]), order=1)
    with pytest.raises(onp.linalg.LinAlgError):
        multivariate_normal.logpdf(onp.zeros(3), None, factor @ factor.T)


def test_normal_with_a_covariance_object():
    cov = FACTOR @ FACTOR.T
    objects = scipy.stats.Covariance.from_cholesky(FACTOR)
    for i, x in enumerate((POINTS, onp.ones(3))):
        by_object = grad(lambda *args: np.sum(multivariate_normal.logpdf(*args, objects)), i)(POINTS, onp.ones(3))
        by_matrix = grad(lambda *args: np.sum(multivariate_normal.logpdf(*args, cov)), i)(POINTS, onp.ones(3))
        onp.testing.assert_allclose(by_object, by_matrix)
        assert by_object.shape == x.shape


def test_covgrad_is_the_gradient():
    cov, mean = FACTOR @ FACTOR.T, onp.zeros(3)
    each = multivariate_normal.covgrad(POINTS, mean, cov)
    expected = grad(lambda cov: np.sum(multivariate_normal.logpdf(POINTS, mean, cov)))(cov)
    onp.testing.assert_allclose(each.sum(axis=0), expected)
    onp.testing.assert_allclose(multivariate_normal.covgrad(POINTS[0], mean, cov, True), each[0])


# ------------------------------------------------------------------------------------------------------- linear algebra

MATRIX = onp.array([[2.0, 0.3, -0.2], [0.1, 1.5, 0.4], [0.3, -0.1, 1.8]])


def test_entries_that_a_triangular_solve_does_not_read_get_nothing():
    for lower in (False, True):
        for unit in (False, True):
            gradient = grad(lambda a, o=(0, lower, unit): np.sum(linalg.solve_triangular(a, onp.ones(3), *o)))(MATRIX)
            unread = onp.triu(onp.ones((3, 3)), 0 if unit else 1).astype(bool)
            assert onp.all(gradient[unread if lower else unread.T] == 0)


def test_triangular_solve_checks_its_trans():
    with pytest.raises((ValueError, KeyError)):
        grad(lambda a: np.sum(linalg.solve_triangular(a, onp.ones(3), "X")))(MATRIX)


VECTOR, BANDS = onp.array([0.5, -1.0, 2.0]), onp.array([[0.0, 0.2, 0.1], [2.0, 3.0, 4.0], [0.3, 0.1, 0.0]])
STACKED = {
    "expm": linalg.expm,
    "inv": linalg.inv,
    "det": linalg.det,
    "sqrtm": linalg.sqrtm,
    "block_diag": lambda a: linalg.block_diag(a, MATRIX),
    "solve": lambda a: linalg.solve(a, MATRIX),
    "solve for a vector": lambda a: linalg.solve(a, VECTOR),
    "triangular": lambda a: linalg.solve_triangular(a, MATRIX, 1),
    "triangular for a vector": lambda a: linalg.solve_triangular(a, VECTOR),
    "triangular in its right side": lambda b: linalg.solve_triangular(MATRIX, b),
    "sylvester": lambda a: linalg.solve_sylvester(a, MATRIX, MATRIX),
    "banded": lambda a: linalg.solve_banded((1, 1), np.multiply(a, BANDS) + BANDS, MATRIX),
    "banded for a vector": lambda a: linalg.solve_banded((1, 1), np.multiply(a, BANDS) + BANDS, VECTOR),
}


@pytest.mark.parametrize("name", STACKED)
def test_stacks_of_matrices(name):
    fun = STACKED[name]
    stack = onp.stack([MATRIX, MATRIX.T])
    try:
        values = fun(stack)
    except ValueError:
        pytest.skip("this SciPy takes one matrix at a time")
    if onp.shape(values)[1:] != onp.shape(fun(stack[0])):
        pytest.skip("this SciPy takes one matrix at a time")
    together, _ = make_vjp(fun)(stack)
    pulled = together(onp.cos(values))
    onp.testing.assert_allclose(pulled, [make_vjp(fun)(a)[0](onp.cos(v)) for a, v in zip(stack, values, strict=True)])
    tangents = onp.sin(onp.arange(18.0)).reshape(2, 3, 3)
    pushed = make_jvp(fun)(stack)(tangents)[1]
    assert onp.sum(pushed * onp.cos(values)) == pytest.approx(onp.sum(pulled * tangents))


def test_options_without_a_derivative_are_refused():
    with pytest.raises(NotImplementedError, match="'assume_a'"):
        grad(lambda a: np.sum(linalg.solve(a, onp.ones(3), assume_a="sym")))(MATRIX)


def test_det_of_a_singular_matrix():
    singular = onp.array([[1.0, 2.0], [2.0, 4.0]])
    onp.testing.assert_allclose(grad(linalg.det)(singular), [[4.0, -2.0], [-2.0, 1.0]])


def test_square_root_of_a_real_matrix_with_a_complex_root():
    a = onp.array([[-1.0, 0.3], [0.2, 2.0]])
    assert onp.iscomplexobj(linalg.sqrtm(a))
    gradient = grad(lambda a: np.sum(np.imag(linalg.sqrtm(a))))(a)
    h = 1e-6
    moved = [onp.imag(scipy.linalg.sqrtm(a + s * h * onp.eye(2))).sum() for s in (1, -1)]
    assert not onp.iscomplexobj(gradient)
    assert onp.trace(gradient) == pytest.approx((moved[0] - moved[1]) / (2 * h), rel=1e-6)


def test_pullbacks_by_autograds_names():
    b = onp.array([1.0, 2.0, 3.0])
    x = linalg.solve_triangular(MATRIX, b)
    pulled = linalg.grad_solve_triangular(x, MATRIX, b)(onp.ones(3))
    onp.testing.assert_allclose(pulled, grad(lambda a: np.sum(linalg.solve_triangular(a, b)))(MATRIX))
    bands = onp.array([[0.0, 0.2, 0.1], [2.0, 3.0, 4.0]])
    x = linalg.solve_banded((0, 1), bands, b)
    for i, value in ((1, bands), (2, b)):
        expected = make_vjp(linalg.solve_banded, i)((0, 1), bands, b)[0](onp.ones(3))
        onp.testing.assert_allclose(linalg.grad_solve_banded(i, x, (0, 1), bands, b)(onp.ones(3)), expected)
        assert expected.shape == value.shape


# ---------------------------------------------------------------------------------------------------------- convolution


def test_convolution_is_numpys():
    a, b = onp.array([1.0, 2.0, -1.0, 0.5]), onp.array([0.5, 1.0, 3.0])
    for mode in ("full", "same", "valid"):
        onp.testing.assert_allclose(signal.convolve(a, b, mode=mode), onp.convolve(a, b, mode))
    onp.testing.assert_allclose(signal.convolve(b, a, mode="valid"), onp.convolve(b, a, "valid"))
    assert signal.convolve(onp.arange(3), onp.arange(2)).dtype == onp.arange(3).dtype


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_both_ways_to_convolve_agree(mode):
    rng = onp.random.default_rng(0)
    A, B = rng.standard_normal((4, 6, 2, 7)), rng.standard_normal((3, 2, 4, 2))
    axes, _ = signal.parse_axes(A.shape, B.shape, ([3, 1], [2, 0]), ([2], [1]), mode)
    gathered = signal._gather(A, B, axes["A"], axes["B"], mode)
    assert gathered.shape[:2] == (4, 2)
    onp.testing.assert_allclose(signal._scatter(A, B, axes["A"], axes["B"], mode), gathered)
    onp.testing.assert_allclose(signal.convolve(A, B, ([3, 1], [2, 0]), ([2], [1]), mode), gathered)


def test_convolution_names_what_it_cannot_do():
    with pytest.raises(ValueError, match="at least as large"):
        signal.convolve(onp.ones((4, 2)), onp.ones((2, 3)), mode="valid")
    with pytest.raises(ValueError, match="mode must be"):
        signal.convolve(onp.ones(3), onp.ones(2), mode="circular")


def test_axes_of_a_convolution():
    axes, shapes = signal.parse_axes((4, 2, 3), (3, 3, 2), ([0], [1]), ([1], [2]), "full")
    assert axes["A"] == {"conv": (0,), "dot": (1,), "ignore": (2,)}
    assert axes["out"] == {"ignore_A": (0,), "ignore_B": (1,), "conv": (2,)}
    assert shapes["out"] == {"ignore_A": (3,), "ignore_B": (3,), "conv": (6,)}
    x = onp.arange(6.0).reshape(2, 3)
    onp.testing.assert_array_equal(x[signal.flipped_idxs(2, [1])], x[:, ::-1])
    pulled = signal.grad_convolve(0, None, x[0], x[1])(onp.ones(5))
    onp.testing.assert_allclose(pulled, grad(lambda a: np.sum(signal.convolve(a, x[1])))(x[0]))


# --------------------------------------------------------------------------------------------------------------- odeint

TIGHT = {"rtol": 1e-11, "atol": 1e-11}
TIMES = onp.array([0.1, 0.4, 0.6])


def pendulum(y, t, pull, drag):
    return np.array([y[1], -pull * np.sin(y[0]) - drag * y[1] * t])


def test_odeint_to_second_order():
    def path(y0, pull, drag):
        return integrate.odeint(pendulum, y0, TIMES, (pull, drag), **TIGHT)

    both_modes(path, onp.array([0.5, -0.2]), 1.3, 0.4)


def test_odeint_with_a_nested_tuple_of_arguments():
    def end(args):
        return integrate.odeint(lambda y, t, p, q: -p[0] * y + q * p[1], onp.ones(2), TIMES, args, **TIGHT)[-1, 0]

    args = ((0.3, onp.array([1.0, 0.5])), 0.7)
    vjp, _ = make_vjp(end)(args)
    push = make_jvp(end)(args)
    (p0, p1), q = vjp(1.0)
    tangent = push(((1.0, onp.array([1.0, 2.0])), 0.5))[1]
    assert p0 + p1 @ [1.0, 2.0] + 0.5 * q == pytest.approx(tangent, rel=1e-8)
    h = 1e-5
    moved = [end(((0.3 + s * h, onp.array([1.0 + s * h, 0.5 + 2 * s * h])), 0.7 + 0.5 * s * h)) for s in (1, -1)]
    assert tangent == pytest.approx((moved[0] - moved[1]) / (2 * h), rel=1e-6)


def test_odeint_in_its_times():
    def end(t):
        return integrate.odeint(pendulum, onp.array([0.5, -0.2]), t, (1.3, 0.4), **TIGHT)[-1, 0]

    curvature = hessian(end)(TIMES)
    onp.testing.assert_allclose(curvature, curvature.T, atol=1e-7)
    h = 1e-5
    differences = [(grad(end)(TIMES + h * e) - grad(end)(TIMES - h * e)) / (2 * h) for e in onp.eye(3)]
    onp.testing.assert_allclose(curvature, differences, atol=1e-6)


def test_odeint_of_traced_values_at_two_levels():
    def inner(pull, drag):
        return grad(lambda d: integrate.odeint(pendulum, onp.ones(2), TIMES, (pull, d), **TIGHT)[-1, 0])(drag)

    def end(p):
        return integrate.odeint(pendulum, onp.ones(2), TIMES, (p[0], p[1]), **TIGHT)[-1, 0]

    mixed = grad(inner, 0)(1.3, 0.4)
    assert mixed == pytest.approx(hessian(end)(onp.array([1.3, 0.4]))[0, 1], rel=1e-6)


def test_odeint_refuses_what_is_no_array():
    with pytest.raises((NotImplementedError, TypeError)):
        grad(lambda y: integrate.odeint(lambda y, t: -y, y, TIMES, full_output=True)[0][0, 0])(1.0)


def test_odeint_names_a_traced_value_in_the_closure():
    def end(rate):
        return np.sum(integrate.odeint(lambda y, t: -rate * y, onp.ones(2), TIMES))

    with pytest.raises(NotImplementedError, match="hand it over in 'args'"):
        grad(end)(0.5)
    with pytest.raises(ValueError, match="inhomogeneous|sequence|size"):
        integrate.odeint(lambda y, t: [y, 1.0], onp.ones(2), TIMES)


def test_odeint_takes_positional_options():
    def slope(y, t):
        return -y * y

    def derivative(y, t):
        return -2 * onp.diag(y)

    by_position = grad(lambda y: np.sum(integrate.odeint(slope, y, TIMES, (), derivative)))(onp.ones(2))
    onp.testing.assert_allclose(by_position, grad(lambda y: np.sum(integrate.odeint(slope, y, TIMES)))(onp.ones(2)))
    _, info = integrate.odeint(slope, onp.ones(2), TIMES, full_output=True)
    assert info["message"]


def test_odeint_by_autograds_names():
    y0, g = onp.array([0.5, -0.2]), onp.ones((3, 2))
    path = integrate.odeint(pendulum, y0, TIMES, (1.3, 0.4))
    pulled = integrate.grad_odeint(path, pendulum, y0, TIMES, traced_tuple((1.3, 0.4)))(g)
    expected = make_vjp(integrate.odeint, 1)(pendulum, y0, TIMES, (1.3, 0.4))[0](g)
    assert pulled[0] is None
    onp.testing.assert_allclose(pulled[1], expected)
    rule = integrate.argnums_unpack(lambda ans, x: lambda g: (None, g, 2 * g))
    assert rule((2, 1), None, (0.0,), {})(3.0) == (6.0, 3.0)


def test_jacobian_of_a_path():
    value = jacobian(lambda y0: integrate.odeint(lambda y, t: -y, y0, TIMES, **TIGHT))(onp.ones(2))
    decay = onp.exp(-(TIMES - TIMES[0]))
    onp.testing.assert_allclose(value, decay[:, None, None] * onp.eye(2), atol=1e-9)
