"""Discrete Fourier transforms: linear maps, along one axis after another.

The formulas follow from the matrices of the transforms. That of a complex transform is symmetric, so that its transpose
is the same transform with the same norm. A real transform keeps half of the spectrum: its transpose is the inverse of
the pair, with the scale on the other side, and with each frequency weighted once or, if it stands for its mirror image
too, twice. Before a transform an axis is cut or padded with zeros; the transpose pads or cuts it.
"""

import operator

import numpy as onp

from fastgrad._rules.direct import def_direct, refuse_keywords
from fastgrad.numpy import fft as anp_fft
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.batching import batch_axis, first_argument
from fastgrad.numpy.broadcasting import dtype_of, fit_dtype

_SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _resized(x, axis, length):
    """Return an array with an axis cut to a length or padded with zeros."""
    shape = anp.shape(x)
    if shape[axis] == length:
        return x
    if shape[axis] > length:
        return x[(slice(None),) * (axis % len(shape)) + (slice(length),)]
    missing = list(shape)
    missing[axis] = length - shape[axis]
    return anp.concatenate([x, onp.zeros(missing, dtype_of(x))], axis)


def _multiplicity(n, axis, x, single, double):
    """Return the weights of the frequencies of ``n`` points in half a spectrum.

    Frequency 0 and, if n is even, n / 2 are their own mirror images and have the weight ``single``, all others
    ``double``. The array broadcasts along ``axis`` of ``x`` and has its precision.
    """
    weights = onp.full(n // 2 + 1, double, dtype_of(x).char.lower())
    weights[0] = single
    if n % 2 == 0:
        weights[-1] = single
    shape = [1] * anp.ndim(x)
    shape[axis] = -1
    return weights.reshape(shape)


# -------------------------------------------------------------------------------------------------- transposed matrices
# The transposes of transforms of n points along an axis, without the cut or padding of the axis.


def _fft_transposed(g, _n, axis, norm):
    return anp_fft.fft(g, axis=axis, norm=norm)


def _ifft_transposed(g, _n, axis, norm):
    return anp_fft.ifft(g, axis=axis, norm=norm)


def _rfft_transposed(g, n, axis, norm):
    return anp_fft.irfft(anp.conj(g) * _multiplicity(n, axis, g, 1.0, 0.5), n, axis, _SWAPPED[norm])


def _irfft_transposed(g, n, axis, norm):
    spectrum = anp_fft.rfft(g, n, axis, _SWAPPED[norm])
    return anp.conj(spectrum) * _multiplicity(n, axis, spectrum, 1.0, 2.0)


# hfft is irfft of the conjugate, ihfft the conjugate of rfft, each with the other's norm; conj is its own transpose.


def _hfft_transposed(g, n, axis, norm):
    return anp.conj(_irfft_transposed(g, n, axis, _SWAPPED[norm]))


def _ihfft_transposed(g, n, axis, norm):
    return _rfft_transposed(anp.conj(g), n, axis, _SWAPPED[norm])


# -------------------------------------------------------------------------------------------------------- one dimension


def _def_transform(fun, transposed, halved=False):
    """Set the rules of a transform along one axis.

    Parameters
    ----------
    fun : Primitive
        Its parameters are an array, ``n``, ``axis``, ``norm`` and, since NumPy 2.0, ``out``.
    transposed : callable
        ``transposed(g, n, axis, norm)`` multiplies by the transposed matrix.
    halved : bool
        Whether the argument is half of a spectrum.
    """

    def vjp(g, _ans, vs_a, n=None, axis=-1, norm=None, out=None):
        refuse_keywords(fun.__name__, out=out)
        length = vs_a.shape[axis]
        n = operator.index(n) if n is not None else 2 * (length - 1) if halved else length
        return fit_dtype(_resized(transposed(g, n, axis, norm), axis, length), vs_a)

    def jvp(g, _ans, _a, n=None, axis=-1, norm=None, out=None):
        refuse_keywords(fun.__name__, out=out)
        return fun(g, n, axis, norm)

    def batch(x, n=None, axis=-1, *args, **kwargs):
        return fun(x, n, batch_axis(axis), *args, **kwargs)

    def_direct(fun, vjps=(vjp,), jvps=(jvp,), batch=first_argument(batch))


_def_transform(anp_fft.fft, _fft_transposed)
_def_transform(anp_fft.ifft, _ifft_transposed)
_def_transform(anp_fft.rfft, _rfft_transposed)
_def_transform(anp_fft.irfft, _irfft_transposed, halved=True)
_def_transform(anp_fft.hfft, _hfft_transposed, halved=True)
_def_transform(anp_fft.ihfft, _ihfft_transposed)

# ------------------------------------------------------------------------------------------------------ many dimensions


def _lengths(shape, s, axes, halved):
    """Return the axes of a transform and the number of points along each, with NumPy's defaults filled in."""
    if axes is None:
        axes = range(len(shape)) if s is None else range(-len(s), 0)
    axes = [operator.index(axis) % len(shape) for axis in axes]
    if s is not None:
        # None and -1 leave the length of the axis; for half a spectrum None means the default length of irfft.
        full = [shape[axis] for axis in axes]
        if halved and s[-1] is None:
            full[-1] = 2 * (full[-1] - 1)
        return axes, [have if n is None or n == -1 else operator.index(n) for n, have in zip(s, full, strict=True)]
    lengths = [shape[axis] for axis in axes]
    if halved:
        lengths[-1] = 2 * (lengths[-1] - 1)
    return axes, lengths


def _fftn_steps(axes, lengths):
    return [(_fft_transposed, *step) for step in zip(axes[::-1], lengths[::-1], strict=True)]


def _ifftn_steps(axes, lengths):
    return [(_ifft_transposed, *step) for step in zip(axes[::-1], lengths[::-1], strict=True)]


def _rfftn_steps(axes, lengths):
    return [(_rfft_transposed, axes[-1], lengths[-1]), *_fftn_steps(axes[:-1], lengths[:-1])]


def _irfftn_steps(axes, lengths):
    return [*_ifftn_steps(axes[:-1], lengths[:-1])[::-1], (_irfft_transposed, axes[-1], lengths[-1])]


def _def_transform_nd(fun, steps, default_axes=None, halved=False):
    """Set the rules of a transform along several axes, which is a sequence of transforms along one.

    Parameters
    ----------
    fun : Primitive
        Its parameters are an array, ``s``, ``axes``, ``norm`` and, since NumPy 2.0, ``out``.
    steps : callable
        ``steps(axes, lengths)`` returns the transforms in order, each as the function of its transposed matrix, an
        axis, and the number of points. An axis may occur twice.
    default_axes : tuple of int, optional
    halved : bool
        Whether the argument is half of a spectrum.
    """

    def vjp(g, _ans, vs_a, s=None, axes=default_axes, norm=None, out=None):
        refuse_keywords(fun.__name__, out=out)
        shape, taken = list(vs_a.shape), []
        for transposed, axis, n in steps(*_lengths(shape, s, axes, halved)):
            taken.append((transposed, axis, n, shape[axis]))
            shape[axis] = n // 2 + 1 if transposed is _rfft_transposed else n
        for transposed, axis, n, length in reversed(taken):
            g = _resized(transposed(g, n, axis, norm), axis, length)
        return fit_dtype(g, vs_a)

    def jvp(g, _ans, _a, s=None, axes=default_axes, norm=None, out=None):
        refuse_keywords(fun.__name__, out=out)
        return fun(g, s, axes, norm)

    def_direct(fun, vjps=(vjp,), jvps=(jvp,))


for _name, _steps in (("fft", _fftn_steps), ("ifft", _ifftn_steps), ("rfft", _rfftn_steps), ("irfft", _irfftn_steps)):
    _def_transform_nd(getattr(anp_fft, _name + "n"), _steps, halved=_name == "irfft")
    _def_transform_nd(getattr(anp_fft, _name + "2"), _steps, default_axes=(-2, -1), halved=_name == "irfft")

# --------------------------------------------------------------------------------------------------------------- shifts


def _fftshift_vjp(g, _ans, _x, axes=None):
    return anp_fft.ifftshift(g, axes)


def _ifftshift_vjp(g, _ans, _x, axes=None):
    return anp_fft.fftshift(g, axes)


def_direct(anp_fft.fftshift, vjps=(_fftshift_vjp,), jvps=("same",))
def_direct(anp_fft.ifftshift, vjps=(_ifftshift_vjp,), jvps=("same",))
