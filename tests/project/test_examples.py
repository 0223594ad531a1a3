"""The examples, run as a user runs them, in their short form; each must find the known result."""

import contextlib
import functools
import importlib.util
import io
from pathlib import Path

import numpy
import pytest

from fastgrad import jacobian

pytest.importorskip("matplotlib", reason="the examples need what fastgrad[demo] installs")
odeint = pytest.importorskip("scipy.integrate").odeint
multivariate_normal = pytest.importorskip("scipy.stats").multivariate_normal

ROOT = Path(__file__).resolve().parents[2]
NAMES = (
    "neural_network", "gaussian_process", "ode_fit", "kalman_filter", "hmc", "thin_film", "natural_gradient_vi",
)  # fmt: skip


@functools.cache
def load(name):
    """Import an example, which is no part of the package, from its file."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Return a function that runs an example once and returns its result, its picture and what it printed."""

    @functools.cache
    def run(name):
        output, printed = tmp_path_factory.mktemp("pictures") / f"{name}.png", io.StringIO()
        with contextlib.redirect_stdout(printed):
            found = load(name).main(["--quick", "--output", str(output)])
        return found, output.read_bytes(), printed.getvalue()

    return run


@pytest.mark.parametrize("name", NAMES)
def test_picture_and_report(quick, name):
    _, picture, printed = quick(name)
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(picture) > 20_000
    assert "gradient" in printed and len(printed.splitlines()) >= 3
    assert "nan" not in printed


def test_every_example_is_documented():
    page, makefile = (path.read_text() for path in (ROOT / "docs" / "examples.md", ROOT / "Makefile"))
    for name in NAMES:
        assert f"(pictures/{name}.png)" in page and f"examples/{name}.py" in page
        assert 10_000 < (ROOT / "docs" / "pictures" / f"{name}.png").stat().st_size < 120_000
    listed = next(line for line in makefile.splitlines() if line.startswith("EXAMPLES"))
    assert listed.split()[2:] == list(NAMES)


def check_gradient(module, name, *args):
    """Compare the gradient of a function of the module with a central difference, along one direction."""
    function, x = getattr(module, name), args[0]
    direction = numpy.random.default_rng(0).normal(size=x.shape)
    ahead, behind = (function(x + h * direction, *args[1:]) for h in (1e-5, -1e-5))
    value, gradient = module.value_and_grad(function)(*args)
    assert value == pytest.approx(function(*args), rel=1e-14)
    assert numpy.vdot(gradient, direction) == pytest.approx((ahead - behind) / 2e-5, rel=1e-5)


# Neural network


def test_hamiltonian_network_keeps_the_energy(quick):
    found = quick("neural_network")[0]
    plain, hamiltonian = found["ordinary network"], found["Hamiltonian network"]
    assert hamiltonian["drift"] < 0.12 < 0.2 < plain["drift"]
    for model in plain, hamiltonian:
        assert model["fit"].fun < 1.5 * load("neural_network").NOISE ** 2, "the noise is all that should be left"


def test_hamiltonian_flow_has_no_divergence(quick):
    nn, params = load("neural_network"), quick("neural_network")[0]["Hamiltonian network"]["params"]
    state = numpy.array([0.7, -0.4])
    slope = jacobian(lambda state: nn.hamiltonian_slopes(params, state[None])[0])(state)
    assert abs(numpy.trace(slope)) < 1e-12 < 0.5 < abs(slope[0, 1])
    step = 1e-6 * numpy.eye(2)
    ahead, behind = (nn.network(params, state + side * step)[:, 0] for side in (1.0, -1.0))
    dq, dp = (ahead - behind) / 2e-6
    numpy.testing.assert_allclose(nn.hamiltonian_slopes(params, state[None])[0], [dp, -dq], rtol=1e-7)


# Gaussian process


def test_hyperparameters_are_found(quick):
    gp, found = load("gaussian_process"), quick("gaussian_process")[0]
    assert numpy.all(numpy.abs(found["found"] - gp.TRUTH) < 3.0 * found["sd"])
    assert found["found"][2] == pytest.approx(5.0, abs=0.1)
    assert 0.85 < found["inside"] <= 1.0
    assert numpy.abs(found["fit"].jac).max() < 0.01


def test_marginal_likelihood():
    gp = load("gaussian_process")
    _, _, t, y = gp.simulate(30)
    log_h = numpy.log(gp.GUESS)
    expected = multivariate_normal(cov=gp.covariance(log_h, t)).logpdf(y)
    assert gp.negative_log_likelihood(log_h, t, y) == pytest.approx(-expected, rel=1e-10)
    check_gradient(gp, "negative_log_likelihood", log_h, t, y)


# Ordinary differential equation


def test_rates_are_the_published_ones(tmp_path):
    ode = load("ode_fit")
    with contextlib.redirect_stdout(io.StringIO()):
        found = ode.main(["--output", str(tmp_path / "ode_fit.png")])["found"]
    assert numpy.all(numpy.abs(found[:6] / ode.PUBLISHED[:6] - 1.0) < 0.05)


def test_errors_of_the_short_fit_cover_the_long_one(quick):
    ode, found = load("ode_fit"), quick("ode_fit")[0]
    assert numpy.all(numpy.abs(found["found"][:6] - ode.PUBLISHED[:6]) < 3.0 * found["sd"][:6])
    assert numpy.all(found["sd"] < 0.2 * found["found"])


def test_solution_is_that_of_odeint():
    ode = load("ode_fit")
    born, eaten, starved, fed = ode.PUBLISHED[:4]

    def slope(y, _):
        return [(born - eaten * y[1]) * y[0], (fed * y[0] - starved) * y[1]]

    times = numpy.arange(0.0, 20.1, 1.0 / ode.STEPS_A_YEAR)
    expected = odeint(slope, ode.PUBLISHED[4:6], times, rtol=1e-10, atol=1e-10)
    log_p = numpy.log(ode.PUBLISHED)
    numpy.testing.assert_allclose(numpy.exp(ode.log_populations(log_p, 20)), expected, rtol=2e-3)
    check_gradient(ode, "negative_log_likelihood", log_p, ode.PELTS)


# Kalman filter


def dense_covariance(kf, log_p, steps):
    """Return the covariance of the noiseless measurements, computed from the motion without a filter."""
    period, decay, process, _ = numpy.exp(log_p)
    lag = numpy.abs(numpy.subtract.outer(numpy.arange(steps), numpy.arange(steps)))
    variance = process**2 / (1.0 - numpy.exp(-2.0 / decay))
    return variance * numpy.exp(-lag / decay) * numpy.cos(2.0 * numpy.pi * lag / period)


def test_state_space_model_is_found(quick):
    kf, found = load("kalman_filter"), quick("kalman_filter")[0]
    assert numpy.all(numpy.abs(found["found"] - kf.TRUTH) < 3.0 * found["sd"])
    assert found["found"][0] == pytest.approx(25.0, abs=3.0)
    measured, filtered, smoothed = found["rms"]
    assert smoothed < 0.9 * filtered < 0.8 * measured


def test_filter_gives_the_likelihood_and_the_gradient_the_smoother(quick):
    kf, y = load("kalman_filter"), quick("kalman_filter")[0]["y"][:40]
    log_p = numpy.log(kf.GUESS)
    signal = dense_covariance(kf, log_p, len(y))
    total = signal + numpy.exp(2.0 * log_p[3]) * numpy.eye(len(y))
    expected = multivariate_normal(cov=total).logpdf(y)
    assert kf.negative_log_likelihood(log_p, y) == pytest.approx(-expected, rel=1e-10)
    numpy.testing.assert_allclose(kf.smoothed(log_p, y), signal @ numpy.linalg.solve(total, y), rtol=1e-8)
    check_gradient(kf, "negative_log_likelihood", log_p, y)


# Hamiltonian Monte Carlo


def test_posterior_is_that_of_quadrature(quick):
    hmc, found = load("hmc"), quick("hmc")[0]
    a, b = numpy.meshgrid(numpy.linspace(-8.0, 5.0, 300), numpy.linspace(-14.0, 4.0, 300), indexing="ij")
    x = hmc.scaled(hmc.TEMPERATURE)
    theta = numpy.stack([a.ravel(), b.ravel()])
    weights = numpy.exp([hmc.log_posterior(pair, x, hmc.DAMAGED) for pair in theta.T])
    weights /= weights.sum()
    mean = theta @ weights
    sd = numpy.sqrt(theta**2 @ weights - mean**2)
    numpy.testing.assert_allclose(found["mean"], mean, atol=0.1)
    numpy.testing.assert_allclose(found["sd"], sd, rtol=0.15)
    at_31 = weights @ (1.0 / (1.0 + numpy.exp(-theta[0] - theta[1] * hmc.scaled(31.0))))
    assert found["at_31"] == pytest.approx(at_31, abs=0.01)
    assert numpy.all(found["r_hat"] < 1.03)


def test_leapfrog_conserves_and_returns():
    hmc = load("hmc")
    target = hmc.Target(hmc.log_posterior, hmc.scaled(hmc.TEMPERATURE), hmc.DAMAGED)
    theta, momentum = numpy.array([-1.0, -2.0]), numpy.array([0.5, 1.0])
    log_p, gradient = target(theta)
    moved, speed, log_p_moved, gradient_moved = hmc.leapfrog(target, theta, momentum, gradient, 0.05, 40)
    assert numpy.abs(moved - theta).max() > 0.3
    before, after = log_p - 0.5 * momentum @ momentum, log_p_moved - 0.5 * speed @ speed
    assert after == pytest.approx(before, abs=5e-3)
    back, speed, *_ = hmc.leapfrog(target, moved, -speed, gradient_moved, 0.05, 40)
    numpy.testing.assert_allclose([back, speed], [theta, -momentum], atol=1e-10)
    assert target.calls == 81


def test_rejections_make_a_coarse_step_exact():
    """With a step of 1, as without warm-up, leapfrog alone would turn a variance of 1 into 4/3."""
    hmc = load("hmc")
    target = hmc.Target(lambda theta: -0.5 * hmc.np.sum(theta**2))
    chain, acceptance = hmc.sample(target, numpy.zeros(3), 3000, 0, numpy.random.default_rng(0))
    assert 0.8 < acceptance < 0.95
    numpy.testing.assert_allclose(chain.var(axis=0), 1.0, atol=0.1)


# Thin films


def test_coating_does_what_is_wanted(quick):
    found = quick("thin_film")[0]
    assert found["before"][0] > 0.1
    assert found["after"][0] < 0.03
    assert found["after"][1] > 0.95
    assert numpy.all((found["thicknesses"] >= 20.0 - 1e-9) & (found["thicknesses"] <= 400.0 + 1e-9))


def test_reflectance_of_what_textbooks_give():
    film = load("thin_film")
    wavelengths = numpy.array([550.0, 900.0])
    bare = ((film.GLASS - 1.0) / (film.GLASS + 1.0)) ** 2
    numpy.testing.assert_allclose(
        film.reflectance([], wavelengths, [(0.0, "s"), (0.0, "p")]), bare * numpy.ones((2, 1))
    )
    brewster = numpy.degrees(numpy.arctan(film.GLASS))
    assert film.reflectance([], wavelengths, [(brewster, "p")]).max() < 1e-12
    n = film.silica(550.0)
    assert n == pytest.approx(1.4599, abs=1e-4)
    quarter = film.reflectance([550.0 / (4.0 * n)], wavelengths[:1], [(0.0, "s")])
    assert quarter.item() == pytest.approx(((film.GLASS - n**2) / (film.GLASS + n**2)) ** 2, rel=1e-9)
    check_gradient(film, "mean_square_miss", film.quarter_waves(9, 900.0), numpy.linspace(420.0, 1000.0, 7))


# Variational inference


def test_natural_gradient_arrives_first(quick):
    gaps = quick("natural_gradient_vi")[0]["gaps"]
    plain, natural = gaps["plain gradient"], gaps["natural gradient"]
    assert plain[0] == natural[0] > 1.0
    assert natural[30] < 1e-6
    assert 0.05 < plain[60] < plain[0]
    assert min(plain.min(), natural.min()) > -1e-9, "nothing is above the highest"


def test_gaussian_is_near_the_posterior(quick):
    vi, found = load("natural_gradient_vi"), quick("natural_gradient_vi")[0]
    mean, sd = vi.exact_moments()
    assert numpy.all(numpy.abs(found["mean"] - mean) < 0.1 * sd)
    ratio = numpy.sqrt(numpy.diag(found["covariance"])) / sd
    assert numpy.all((ratio > 0.75) & (ratio < 1.0)), "the nearest Gaussian is a bit narrower"


def test_gaussian_is_stationary(quick):
    """The best precision is the mean curvature under it, and the mean slope is zero (Opper and Archambeau 2009)."""
    vi, found = load("natural_gradient_vi"), quick("natural_gradient_vi")[0]
    points, weights = vi.quadrature(12)
    theta = found["mean"] + points @ numpy.linalg.cholesky(found["covariance"]).T
    curvature = numpy.einsum("n,nij->ij", weights, [-vi.hessian(vi.log_joint)(row) for row in theta])
    numpy.testing.assert_allclose(curvature @ found["covariance"], numpy.eye(2), atol=2e-3)
    slope = weights @ numpy.array([vi.grad(vi.log_joint)(row) for row in theta])
    numpy.testing.assert_allclose(slope, 0.0, atol=1e-6)


def test_fisher_matrix_and_elbo():
    vi = load("natural_gradient_vi")
    phi = numpy.array([0.5, 8.0, 0.1, 1.2, -0.7])
    _, factor = vi.gaussian(phi)
    assert vi.divergence(phi, phi) == pytest.approx(0.0, abs=1e-15)
    fisher = vi.hessian(vi.divergence, 1)(phi, phi)
    numpy.testing.assert_allclose(fisher[:2, :2], numpy.linalg.inv(factor @ factor.T), rtol=1e-12)
    # The mean is orthogonal to the shape, in Fisher's measure.
    numpy.testing.assert_allclose(fisher[:2, 2:], 0.0, atol=1e-12)
    check_gradient(vi, "elbo", phi, *vi.quadrature(12))
