"""`def_composed` derives both modes from a composition and refuses arguments that the composition lacks."""

import warnings

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import grad, make_jvp, make_vjp
from fastgrad.extend import primitive
from fastgrad.numpy.composing import def_composed
from fastgrad.test_util import check_grads


def draw(*shape):
    return onp.random.randn(*shape)


def refused(f, x, match):
    """Check that both modes refuse an argument that has no rule."""
    with pytest.raises(NotImplementedError, match=match):
        vjp, answer = make_vjp(f)(x)
        vjp(onp.ones_like(answer))
    with pytest.raises(NotImplementedError, match=match):
        make_jvp(f)(x)(onp.ones_like(x))


def squared_distance(a, b, scale=1.0, offset=None, debug=False):
    return scale * onp.sum((a - b) ** 2)


def composed():
    """Return a primitive whose composition refuses `offset` and does not know `debug`."""
    fun = primitive(squared_distance)
    def_composed(fun, lambda a, b, scale=1.0, _offset=None: scale * np.sum((a - b) ** 2), constant=("scale",))
    return fun


def test_a_composition_gives_both_modes_to_any_order():
    fun = composed()
    check_grads(fun, (0, 1), order=3)(draw(3), draw(3))
    assert onp.allclose(grad(fun)(onp.arange(3.0), onp.ones(3), scale=2.0), [-4.0, 0.0, 4.0])


def test_a_composition_refuses_what_it_has_no_place_for():
    fun, x = composed(), draw(3)
    refused(lambda x: fun(x, 0.0, offset=1.0), x, "squared_distance .*'offset'")
    refused(lambda x: fun(x, 0.0, 1.0, 1.0), x, "squared_distance .*'offset'")
    refused(lambda x: fun(x, 0.0, debug=True), x, "squared_distance .*'debug'")
    refused(lambda s: fun(x, 0.0, s), 1.0, "squared_distance has no derivative with respect to 'scale'")
    assert grad(lambda x: fun(x, 0.0, offset=None, debug=False))(1.0) == 2.0


def test_a_composition_does_not_repeat_numpys_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = onp.array([1.0, onp.inf, 2.0, 3.0])
        assert onp.array_equal(grad(lambda x: np.quantile(x, 0.25))(x), [0.25, 0.0, 0.75, 0.0])


def test_out_is_refused():
    x = draw(3)
    refused(lambda x: np.nancumsum(x, out=onp.empty(3)), x, "nancumsum .*'out'")
    refused(lambda x: np.median(x, out=onp.empty(())), x, "median .*'out'")
    refused(lambda x: np.choose(onp.array([0, 1, 0]), [x, x], out=onp.empty(3)), x, "choose .*'out'")
