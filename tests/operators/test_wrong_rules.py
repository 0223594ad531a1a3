"""Rules, spaces and boxes of users that are wrong or unusual: fitted, or refused with a remedy."""

import re
import warnings

import numpy as onp
import pytest

import fastgrad
import fastgrad.numpy as np
from fastgrad import core, grad, jacobian, make_jvp
from fastgrad.extend import Box, VSpace, defjvp, defjvp_argnums, defvjp, defvjp_argnum, defvjp_argnums, primitive
from fastgrad.tracer import new_box

pytestmark = [
    pytest.mark.filterwarnings("ignore:Output seems independent"),
    pytest.mark.filterwarnings("ignore:Input to holomorphic_grad"),
]

X = onp.array([0.5, 1.5, 2.5])


def kept_from_another_trace():
    kept = []
    grad(lambda x: (kept.append(x * 2.0), x)[1])(1.0)
    return kept[0]


# --------------------------------------------------------------------------------------------------------- users' rules


def ruled(rule, define="defvjp", n=1):
    """Return a primitive with this pullback of its first argument."""

    @primitive
    def bad(x, scale=1.0):
        return onp.sin(x) * scale if onp.iscomplexobj(x) else onp.sin(x) * scale

    if define == "defvjp":
        defvjp(bad, lambda ans, x, scale=1.0: lambda g: rule(g, x))
    elif define == "defvjp_argnum":
        defvjp_argnum(bad, lambda argnum, ans, args, kwargs: lambda g: rule(g, args[0]))
    elif define == "defvjp_argnums":
        defvjp_argnums(bad, lambda argnums, ans, args, kwargs: lambda g: [rule(g, args[0])] * n)
    elif define == "defjvp":
        defjvp(bad, lambda g, ans, x, scale=1.0: rule(g, x))
    else:
        defjvp_argnums(bad, lambda argnums, gs, ans, args, kwargs: rule(gs[0], args[0]))
    return bad


RULES = {
    "larger": (lambda g, x: onp.ones((2, 3)), ValueError, r"of shape \(3,\), not of shape \(2, 3\)"),
    "larger by broadcasting": (
        lambda g, x: g * onp.ones((3, 1)),
        ValueError,
        r"of shape \(3,\), not of shape \(3, 3\)",
    ),
    "smaller": (lambda g, x: onp.ones(2), ValueError, r"of shape \(3,\), not of shape \(2,\)"),
    "smaller, of one element": (lambda g, x: onp.ones(1), ValueError, r"of shape \(3,\), not of shape \(1,\)"),
    "a number": (lambda g, x: 2.0, ValueError, r"of shape \(3,\), not of shape \(\).*give each element its own"),
    "None": (lambda g, x: None, TypeError, "not None; it is an array or a number, zeros where there is no derivative"),
    "text": (lambda g, x: "text", TypeError, "not 'text'"),
    "dict": (lambda g, x: {}, TypeError, "not a dict"),
    "set": (lambda g, x: {1.0}, TypeError, "not a set"),
    "objects": (lambda g, x: onp.array([None] * 3), TypeError, r"dtype object; make arrays.*fastgrad\.numpy\.array"),
    "array of text": (lambda g, x: onp.array(["a"] * 3), TypeError, "dtype <U1"),
    "tuple": (lambda g, x: (1.0, 2.0), ValueError, r"not of shape \(2,\)"),
    "masked": (lambda g, x: onp.ma.array([1.0, 2.0]), ValueError, r"not of shape \(2,\)"),
}


@pytest.mark.parametrize("define", ["defvjp", "defvjp_argnum", "defvjp_argnums"])
@pytest.mark.parametrize("rule", RULES)
def test_wrong_cotangents_of_rules_are_refused(rule, define):
    rule, error, message = RULES[rule]
    bad = ruled(rule, define)
    subject = r"the VJP of bad should give for argument 0 \(x\) a cotangent.*"
    for f in (lambda x: np.sum(bad(x)), lambda x: np.sum(bad(x * 2.0) * 3.0), lambda x: bad(x, 2.0)[0]):
        with pytest.raises(error, match=subject + message):
            grad(f)(X)
    with pytest.raises(error, match=subject + message):
        jacobian(bad)(X)
    with pytest.raises(error, match=subject + message):
        grad(lambda p: np.sum(bad(p["a"])))({"a": X})


@pytest.mark.parametrize("define", ["defjvp", "defjvp_argnums"])
@pytest.mark.parametrize("rule", RULES)
def test_wrong_tangents_of_rules_are_refused(rule, define):
    rule, error, message = RULES[rule]
    bad = ruled(rule, define)
    for f in (bad, lambda x: np.sum(bad(x * 2.0))):
        with pytest.raises(error, match="the JVP of bad should give a tangent.*" + message):
            make_jvp(f)(X)(X)
    with pytest.raises(error, match="the JVP of bad"):
        fastgrad.jacfwd(bad)(X)


def test_a_rule_that_forgets_what_was_broadcast_is_told_how_to_sum():
    @primitive
    def plus(x, y):
        return x + y

    defvjp(plus, lambda ans, x, y: lambda g: g, lambda ans, x, y: lambda g: g)
    with pytest.raises(ValueError, match=r"VJP of plus .*argument 0 \(x\).*shape \(\), not of .*\(3,\).*unbroadcast_f"):
        grad(lambda x: np.sum(plus(x, X)))(1.0)
    with pytest.raises(ValueError, match=r"argument 1 \(y\)"):
        grad(lambda y: np.sum(plus(onp.ones((2, 3)), y)))(X)
    onp.testing.assert_array_equal(grad(lambda x: np.sum(plus(x, X)))(X), onp.ones(3))


RIGHT = {
    "a column": (lambda g, x: (g * np.cos(x))[:, None], onp.float64),
    "a row": (lambda g, x: (g * np.cos(x))[None], onp.float64),
    "a list": (lambda g, x: [g[i] * np.cos(x[i]) for i in range(3)], onp.float64),
    "a tuple": (lambda g, x: tuple(g * np.cos(x)), onp.float64),
}


@pytest.mark.parametrize("define", ["defvjp", "defvjp_argnums", "defjvp"])
@pytest.mark.parametrize("rule", RIGHT)
def test_what_has_the_same_numbers_is_right(rule, define):
    rule, dtype = RIGHT[rule]
    good = ruled(rule, define)
    if define == "defjvp":
        onp.testing.assert_allclose(make_jvp(good)(X)(onp.ones(3))[1], onp.cos(X))
        onp.testing.assert_allclose(fastgrad.jacfwd(good)(X), onp.diag(onp.cos(X)))
        return
    found = grad(lambda x: np.sum(good(x)))(X)
    assert found.dtype == dtype and found.shape == (3,)
    onp.testing.assert_allclose(found, onp.cos(X))
    second = grad(lambda x: np.sum(grad(lambda x: np.sum(good(x)))(x) * X))(X)
    onp.testing.assert_allclose(second, -onp.sin(X) * X)
    onp.testing.assert_allclose(jacobian(good)(X), onp.diag(onp.cos(X)))


@pytest.mark.parametrize("zero", [0, 0.0, onp.zeros(()), onp.zeros(1), False])
def test_zero_stands_for_zeros(zero):
    good = ruled(lambda g, x: zero)
    found = grad(lambda x: np.sum(good(x) + x))(X)
    onp.testing.assert_array_equal(found, onp.ones(3))
    found = grad(lambda x: np.sum(good(x)))(X)
    assert found.shape == (3,) and found.dtype == onp.float64 and not found.any()


@pytest.mark.parametrize("one", [1, True, onp.int32(1), onp.array(1), onp.ones((1, 1), int), onp.float32(1)])
def test_a_number_for_a_number(one):
    good = ruled(lambda g, x: one)
    found = grad(good)(0.5)
    assert found == 1.0 and onp.shape(found) == () and onp.asarray(found).dtype.kind == "f"
    assert make_jvp(ruled(lambda g, x: one, "defjvp"))(0.5)(1.0)[1] == 1.0


def test_integer_cotangents_are_those_of_the_floats():
    good = ruled(lambda g, x: onp.array([1, 2, 3]))
    found = grad(lambda x: np.sum(good(x)) + np.sum(good(x)) + np.sum(0.5 * x))(X)
    onp.testing.assert_array_equal(found, [2.5, 4.5, 6.5])
    onp.testing.assert_array_equal(grad(lambda x: np.sum(good(x)))(X).dtype, onp.float64)


def test_arguments_that_are_integers_may_have_integer_cotangents():
    """ceviche passes sparse matrices to a primitive as indices and entries, and its rule returns integer zeros."""

    @primitive
    def entries(values, places):
        return onp.bincount(places, weights=values, minlength=3)

    zeros = lambda ans, values, places: lambda g: onp.zeros(len(places), "i4")  # noqa: E731
    defvjp(entries, lambda ans, values, places: lambda g: g[places], zeros)

    def f(x):
        places = np.array([0, 2, 2], "i4") if not isinstance(x, tuple) else x[1]
        return np.sum(entries(x[0], places) ** 2) + np.sum(x[1][onp.array([0, 0])] * 0.5)

    values, places = grad(lambda v, p: f((v, p)), (0, 1))(X, onp.array([0, 2, 2], "i4"))
    onp.testing.assert_array_equal(values, [1.0, 8.0, 8.0])
    onp.testing.assert_array_equal(places, [1.0, 0.0, 0.0])
    bad = ruled(lambda g, x: onp.zeros(2, int))
    with pytest.raises(ValueError, match=r"of shape \(3,\), not of shape \(2,\)"):
        grad(lambda x: np.sum(bad(x * 1)))(onp.array([1, 2, 3]))


def test_complex_cotangents_and_tangents():
    good = ruled(lambda g, x: g * np.cos(x) * (1.0 + 2.0j))
    found = grad(lambda x: np.sum(good(x)))(X)
    assert found.dtype == onp.float64
    onp.testing.assert_allclose(found, onp.cos(X))
    z = X + 0.1j
    onp.testing.assert_allclose(grad(lambda z: np.sum(np.real(good(z))))(z), onp.cos(z) * (1 + 2j))
    with pytest.raises(TypeError, match="JVP of bad gave a complex tangent of a real value"):
        make_jvp(ruled(lambda g, x: g * (1.0 + 2.0j), "defjvp"))(X)(X)
    tangent = make_jvp(ruled(lambda g, x: g * np.cos(x) + 0j, "defjvp"))(X)(X)[1]
    assert tangent.dtype == onp.float64
    onp.testing.assert_allclose(tangent, onp.cos(X) * X)


@pytest.mark.parametrize("n", [0, 2, 3])
def test_the_wrong_number_of_cotangents_is_refused(n):
    with pytest.raises(
        ValueError, match=f"the VJP of bad gave {n} cotangents for 1 traced arguments; it must return one for"
    ):
        grad(lambda x: np.sum(ruled(lambda g, x: g, "defvjp_argnums", n)(x)))(X)


@pytest.mark.parametrize("given", [None, 1.0, onp.array(1.0), onp.float64(2.0)], ids=repr)
def test_what_is_no_sequence_of_cotangents_is_refused(given):
    @primitive
    def bad(x):
        return onp.sin(x)

    defvjp_argnums(bad, lambda argnums, ans, args, kwargs: lambda g: given)
    with pytest.raises(TypeError, match=f"the VJP of bad gave a {type(given).__name__}; it must return a sequence"):
        grad(bad)(0.5)


@pytest.mark.parametrize("given", [None, 3.0])
def test_a_maker_that_gives_no_function_is_an_error(given):
    @primitive
    def bad(scale, x):
        return onp.sin(x)

    message = "is made by a function that gave a " + type(given).__name__
    defvjp(bad, None, lambda ans, scale, x: given)
    for f in (bad, lambda scale, x: bad(scale * 1.0, x)):
        with pytest.raises(TypeError, match="the VJP of bad for argument 1 " + message):
            grad(f, 1)(1.0, 0.5)
    defvjp_argnums(bad, lambda argnums, ans, args, kwargs: given)
    with pytest.raises(TypeError, match="the VJP of bad " + message):
        grad(bad, 1)(1.0, 0.5)


@pytest.mark.parametrize("define", [defvjp, defjvp])
@pytest.mark.parametrize("rule", [3.0, "text", [], b"same"])
def test_what_is_no_rule_is_refused(define, rule):
    with pytest.raises(TypeError, match="Bad (VJP|JVP) .*'bad': a rule is a function or None"):
        define(ruled(lambda g, x: g), rule)


def test_a_rule_for_fewer_arguments_names_the_one_without():
    bad = ruled(lambda g, x: g)
    with pytest.raises(NotImplementedError, match=r"VJP of bad wrt argnum 1 \(scale\) not defined; define .*\.defvjp,"):
        grad(bad, 1)(1.0, 2.0)
    with pytest.raises(NotImplementedError, match=r"JVP of bad wrt argnum 0 \(x\) not defined; define .*\.defjvp,"):
        make_jvp(bad)(1.0)(1.0)


def test_a_cotangent_of_another_trace_is_no_answer():
    kept = kept_from_another_trace()
    bad = ruled(lambda g, x: kept)
    with pytest.raises(TypeError, match="trace that is over"):
        grad(bad)(0.5)


def test_arguments_that_are_no_arrays_are_not_checked():
    class Thing:
        pass

    @primitive
    def total(things, x):
        return onp.sum(x)

    defvjp(total, None, lambda ans, things, x: lambda g: g * onp.ones(3))
    onp.testing.assert_array_equal(grad(lambda x: total([Thing()], x))(X), onp.ones(3))


# -------------------------------------------------------------------------------------------------------- vector spaces


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


class PairBox(Box):
    __slots__ = ()


@primitive
def first(pair):
    return pair.a


defvjp(first, lambda ans, pair: lambda g: Pair(g, 0.0))


@pytest.fixture
def pairs(monkeypatch):
    monkeypatch.setitem(Box.type_mappings, Pair, PairBox)

    def register(maker):
        monkeypatch.setitem(VSpace.mappings, Pair, maker)

    return register


class NoSpace(VSpace):
    pass


@pytest.mark.parametrize(
    "maker, message",
    [
        (NoSpace, "NoSpace must define|unsupported operand"),
        (lambda value: None, "NoneType|VSpace"),
        (lambda value: 3.0, "float|VSpace"),
        (lambda: None, "argument"),
    ],
)
def test_an_unfinished_space_is_an_error(pairs, maker, message):
    pairs(maker)
    with pytest.raises((TypeError, NotImplementedError, AttributeError), match=message):
        grad(lambda p: first(p) * 2.0 + first(p))(Pair(1.0, 2.0))


@pytest.mark.parametrize("shape", ["text", None, 3, (2.0,), (-1,)], ids=repr)
def test_a_space_that_contradicts_itself_is_an_error(shape):
    space = core.vspace(X)
    with pytest.raises((TypeError, ValueError)):
        space.shape = shape
        space.zeros()


def test_a_box_of_the_wrong_kind_is_an_error():
    with pytest.raises(TypeError, match="no box is registered"):
        new_box(object(), 0, None)
    with pytest.raises(TypeError):
        Box(1.0, "level", None)


def test_no_warning_is_an_error_in_disguise():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        grad(lambda x: 3.0)(1.5)
    assert [re.match("Output seems", str(w.message)) is not None for w in seen] == [True]
