"""Special functions beyond the table."""

import numpy as onp
import pytest
import scipy.linalg
import scipy.special
import scipy.stats

import fastgrad.numpy as np
from fastgrad import grad, make_jvp
from fastgrad.scipy import special
from fastgrad.test_util import check_grads


def both_modes(fun, *args, order=2):
    check_grads(fun, modes=["rev", "fwd"], order=order)(*args)


def test_logsumexp_of_minus_infinity():
    x = onp.array([1.0, -onp.inf, 2.0])
    share = 1 / (1 + onp.exp(1.0))
    onp.testing.assert_allclose(grad(special.logsumexp)(x), [share, 0, 1 - share])
    onp.testing.assert_allclose(make_jvp(special.logsumexp)(x)(onp.ones(3))[1], 1.0)
    # All terms are zero.
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
