"""Discrete Fourier transforms beyond the table: conventions, theorems, refusals, and NumPy's habits with odd inputs."""

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import elementwise_grad, grad, hessian, jacobian, make_jvp, make_vjp
from fastgrad.test_util import check_grads

NUMPY_1 = int(onp.__version__.split(".")[0]) < 2
TRANSFORMS = "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn".split()


def draw(*shape, complex=False):
    return onp.random.randn(*shape) + (1j * onp.random.randn(*shape) if complex else 0.0)


def pull(f, x, g):
    return make_vjp(f)(x)[0](g)


# ---------------------------------------------------------------------------------------------------------- conventions


@pytest.mark.parametrize("name", ["fft", "ifft"])
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_the_pullback_is_the_transposed_matrix(name, norm):
    fun = getattr(onp.fft, name)
    matrix = fun(onp.eye(5), norm=norm)
    g = draw(5, complex=True)
    assert onp.allclose(pull(lambda z: getattr(np.fft, name)(z, norm=norm), draw(5, complex=True), g), g @ matrix)


def test_a_real_argument_has_a_real_cotangent():
    g = draw(6, complex=True)
    cotangent = pull(np.fft.fft, draw(6), g)
    assert cotangent.dtype == float
    assert onp.allclose(cotangent, (g @ onp.fft.fft(onp.eye(6))).real)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_single_precision_stays_single(name):
    x = draw(4, 4).astype("f")
    vjp, answer = make_vjp(getattr(np.fft, name))(x)
    assert vjp(onp.ones_like(answer)).dtype == onp.float32


@pytest.mark.parametrize("n", [6, 7, 8])
@pytest.mark.parametrize("name", ["irfft", "hfft"])
def test_imaginary_parts_that_the_inverse_drops_have_no_gradient(name, n):
    z = draw(n // 2 + 1, complex=True)
    gradient = pull(lambda z: getattr(np.fft, name)(z, n), z, draw(n))
    unused = [0, -1] if n % 2 == 0 else [0]
    assert onp.all(gradient[unused].imag == 0.0)
    used = onp.delete(gradient, unused)
    assert onp.all(abs(used.imag) > 1e-12)
    check_grads(lambda z: getattr(np.fft, name)(z, n))(z)


# ------------------------------------------------------------------------------------------------------------- theorems


@pytest.mark.parametrize("n", [7, 8])
def test_parsevals_theorem(n):
    x = draw(n)
    assert onp.allclose(grad(lambda x: np.sum(abs(np.fft.fft(x, norm="ortho")) ** 2))(x), 2.0 * x)
    assert onp.allclose(hessian(lambda x: np.sum(abs(np.fft.fft(x)) ** 2))(x), 2.0 * n * onp.eye(n))


@pytest.mark.parametrize("n, m", [(5, 4), (6, 3)])
def test_convolution_theorem(n, m):
    a, v, size = draw(n), draw(m), n + m - 1

    def by_spectrum(a, v):
        return np.fft.irfft(np.fft.rfft(a, size) * np.fft.rfft(v, size), size)

    for argnum in (0, 1):
        assert onp.allclose(jacobian(by_spectrum, argnum)(a, v), jacobian(np.convolve, argnum)(a, v))


@pytest.mark.parametrize("shape", [(4,), (5,), (3, 4), (4, 3)])
def test_a_real_transform_and_its_inverse_cancel(shape):
    x, g = draw(*shape), draw(*shape)

    def there_and_back(x):
        return np.fft.irfftn(np.fft.rfftn(x, axes=range(-len(shape), 0)), shape, range(-len(shape), 0))

    assert onp.allclose(pull(there_and_back, x, g), g)
    assert onp.allclose(make_jvp(there_and_back)(x)(g)[1], g)


def test_a_spectrum_of_a_spectrum_to_third_order():
    def f(x):
        return np.sum(np.real(np.fft.fft(np.fft.rfft(x) ** 2, 3)))

    x = draw(5)
    third = jacobian(hessian(lambda x: f(x) * f(x)))(x)
    assert onp.allclose(third, onp.transpose(third, (2, 0, 1)))
    assert onp.any(third)
    check_grads(lambda x: f(x) * f(x), order=3)(x)


def test_shifts_undo_one_another():
    x, g = draw(5, 4), draw(5, 4)
    for axes in (None, 0, (0, 1), -1):
        assert onp.array_equal(pull(lambda x, a=axes: np.fft.fftshift(x, a), x, g), onp.fft.ifftshift(g, axes))
        assert onp.array_equal(pull(lambda x, a=axes: np.fft.ifftshift(x, a), x, g), onp.fft.fftshift(g, axes))


# ----------------------------------------------------------------------------------------------- arguments and refusals


def test_repeated_axes_are_transformed_again():
    x, g = draw(4, complex=True), draw(4, complex=True)
    matrix = onp.fft.fft(onp.eye(4))
    assert onp.allclose(pull(lambda z: np.fft.fftn(z, axes=(0, 0)), x, g), g @ matrix @ matrix)


def test_no_axes_at_all():
    x, g = draw(3, complex=True), draw(3, complex=True)
    assert onp.array_equal(pull(lambda z: np.fft.fftn(z, axes=()), x, g), g)


@pytest.mark.skipif(NUMPY_1, reason="NumPy 1 does not warn")
@pytest.mark.parametrize("name", ["fftn", "rfftn", "irfftn"])
def test_sizes_without_axes_are_those_of_the_last_axes(name):
    x = draw(2, 4, 5)
    with pytest.warns(DeprecationWarning):
        check_grads(lambda x: getattr(np.fft, name)(x, s=(3, 6)))(x)


@pytest.mark.skipif(NUMPY_1, reason="NumPy 1 does not warn")
@pytest.mark.parametrize("name", ["fftn", "rfftn", "irfftn"])
@pytest.mark.parametrize("s", [(None, 6), (6, None), (None, None)])
def test_sizes_that_are_none(name, s):
    with pytest.warns(DeprecationWarning):
        check_grads(lambda x: getattr(np.fft, name)(x, s=s, axes=(0, 1)))(draw(4, 5))


@pytest.mark.skipif(NUMPY_1, reason="the keyword out came with NumPy 2.0")
@pytest.mark.parametrize("name", TRANSFORMS)
def test_out_is_refused(name):
    x = draw(4, 4)
    out = onp.empty_like(getattr(onp.fft, name)(x))

    def f(x):
        return getattr(np.fft, name)(x, out=out)

    with pytest.raises(NotImplementedError, match=f"{name} .*'out'"):
        make_vjp(f)(x)[0](out)
    with pytest.raises(NotImplementedError, match=f"{name} .*'out'"):
        make_jvp(f)(x)(x)


def test_a_traced_spacing_of_frequencies_is_refused():
    with pytest.raises(NotImplementedError, match="fftfreq"):
        grad(lambda d: np.sum(np.fft.fftfreq(4, d)))(0.5)


@pytest.mark.parametrize("name", ["fft", "ifft", "irfft"])
def test_power_of_a_batch(name):
    x = draw(3, 2, 6)

    def power(x):
        return np.sum(abs(getattr(np.fft, name)(x, 5, axis=1)) ** 2, axis=1)

    per_batch = [elementwise_grad(lambda row: power(row[None]))(row) for row in x]
    assert onp.allclose(elementwise_grad(power)(x), per_batch)
