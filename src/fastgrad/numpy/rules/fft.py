"""Discrete Fourier transforms: linear maps, one axis at a time.

The matrix of a complex transform is symmetric, so its transpose is the same transform with the same norm. A real
transform keeps half of the spectrum: its transpose is the other one of the pair, with the scale put on the other side
and each frequency counted once or, where it stands for its mirror image too, twice. Before a transform the axis is cut
or filled up with zeros; the transpose fills up or cuts.
"""

import operator

import numpy as onp

from fastgrad._rules.direct import def_direct
from fastgrad.numpy import fft as anp_fft
from fastgrad.numpy import numpy_wrapper as anp
from fastgrad.numpy.broadcasting import dtype_of, fit_dtype

_SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _resized(x, axis, length):
    """Cut an axis to a length, or fill it up with zeros."""
    shape = anp.shape(x)
    if shape[axis] == length:
        return x
    if shape[axis] > length:
        return x[(slice(None),) * (axis % len(shape)) + (slice(length),)]
    missing = list(shape)
    missing[axis] = length - shape[axis]
    return anp.concatenate([x, onp.zeros(missing, dtype_of(x))], axis)


def _multiplicity(n, axis, x, single, double):
    """Give ``single`` for the frequencies of ``n`` points that are their own mirror image, ``double`` for the others.

    Those are frequency 0 and, if n is even, n / 2. The array broadcasts along ``axis`` of ``x`` and has its precision.
    """
    weights = onp.full(n // 2 + 1, double, dtype_of(x).char.lower())
    weights[0] = single
    if n % 2 == 0:
        weights[-1] = single
    shape = [1] * anp.ndim(x)
    shape[axis] = -1
    return weights.reshape(shape)


# -------------------------------------------------------------------------------------------------- transposed matrices
# Of the transforms of n points along an axis, before the axis is cut or filled up.


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


def _refuse(name, out):
    if out is not None:
        raise NotImplementedError(
            f"{name} of a traced value has no derivative with 'out' given; use the returned array"
        )


def _def_transform(fun, transposed, halved=False):
    """Give the rules of a transform along one axis.

    Parameters
    ----------
    fun : Primitive
        Takes an array, ``n``, ``axis``, ``norm`` and, from NumPy 2.0 on, ``out``.
    transposed : callable
        ``transposed(g, n, axis, norm)``.
    halved : bool
        Whether the argument is a half of the spectrum.
    """

    def vjp(g, _ans, vs_a, n=None, axis=-1, norm=None, out=None):
        _refuse(fun.__name__, out)
        length = vs_a.shape[axis]
        n = operator.index(n) if n is not None else 2 * (length - 1) if halved else length
        return fit_dtype(_resized(transposed(g, n, axis, norm), axis, length), vs_a)

    def jvp(g, _ans, _a, n=None, axis=-1, norm=None, out=None):
        _refuse(fun.__name__, out)
        return fun(g, n, axis, norm)

    def_direct(fun, vjps=(vjp,), jvps=(jvp,))


_def_transform(anp_fft.fft, _fft_transposed)
_def_transform(anp_fft.ifft, _ifft_transposed)
_def_transform(anp_fft.rfft, _rfft_transposed)
_def_transform(anp_fft.irfft, _irfft_transposed, halved=True)
_def_transform(anp_fft.hfft, _hfft_transposed, halved=True)
_def_transform(anp_fft.ihfft, _ihfft_transposed)

# ------------------------------------------------------------------------------------------------------ many dimensions


def _lengths(shape, s, axes, halved):
    """Give the axes of a transform and the number of points along each, as NumPy fills in what was not given."""
    if axes is None:
        axes = range(len(shape)) if s is None else range(-len(s), 0)
    axes = [operator.index(axis) % len(shape) for axis in axes]
    if s is not None:
        # None and -1 leave the axis as it is; half a spectrum gives no length with None, as when it stands alone.
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
    """Give the rules of a transform along many axes, made of the ``steps(axes, lengths)`` that it takes one by one.

    Each step is a transposed matrix, an axis and a number of points. An axis may stand twice.
    """

    def vjp(g, _ans, vs_a, s=None, axes=default_axes, norm=None, out=None):
        _refuse(fun.__name__, out)
        shape, taken = list(vs_a.shape), []
        for transposed, axis, n in steps(*_lengths(shape, s, axes, halved)):
            taken.append((transposed, axis, n, shape[axis]))
            shape[axis] = n // 2 + 1 if transposed is _rfft_transposed else n
        for transposed, axis, n, length in reversed(taken):
            g = _resized(transposed(g, n, axis, norm), axis, length)
        return fit_dtype(g, vs_a)

    def jvp(g, _ans, _a, s=None, axes=default_axes, norm=None, out=None):
        _refuse(fun.__name__, out)
        return fun(g, s, axes, norm)

    def_direct(fun, vjps=(vjp,), jvps=(jvp,))


for _name, _steps in (("fft", _fftn_steps), ("ifft", _ifftn_steps), ("rfft", _rfftn_steps), ("irfft", _irfftn_steps)):
    _def_transform_nd(getattr(anp_fft, _name + "n"), _steps, halved=_name == "irfft")
    _def_transform_nd(getattr(anp_fft, _name + "2"), _steps, default_axes=(-2, -1), halved=_name == "irfft")

# --------------------------------------------------------------------------------------------------------------- shifts

def_direct(anp_fft.fftshift, vjps=(lambda g, _ans, _x, axes=None: anp_fft.ifftshift(g, axes),), jvps=("same",))
def_direct(anp_fft.ifftshift, vjps=(lambda g, _ans, _x, axes=None: anp_fft.fftshift(g, axes),), jvps=("same",))
