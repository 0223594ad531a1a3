"""Rules of users' functions: cotangents and tangents are checked, fitted or refused."""

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import checkpoint, grad, hessian, jacobian, make_jvp, make_vjp
from fastgrad.builtins import container_untake
from fastgrad.builtins import dict as traced_dict
from fastgrad.builtins import list as traced_list
from fastgrad.core import vspace
from fastgrad.extend import defjvp, defjvp_argnum, defvjp, defvjp_argnums, primitive


@pytest.mark.parametrize("define", [defvjp, lambda fun, rule: defvjp_argnums(fun, whole(rule))])
@pytest.mark.parametrize("before", [lambda x: x, lambda x: x * 2.0, np.sin, lambda x: x + np.ones(3)])
def test_a_complex_cotangent_of_a_real_argument_is_made_real(define, before):
    """Sparse solvers with complex matrices give such cotangents to their real entries (ceviche)."""

    @primitive
    def weighted(x):
        return onp.asarray(x) * 3.0

    define(weighted, lambda ans, x: lambda g: g * (3.0 + 2.0j))

    def f(x):
        return np.sum(weighted(before(x)) ** 2)

    x = onp.array([0.1, 0.2, 0.3])
    expected = grad(lambda x: np.sum((3.0 * before(x)) ** 2))(x)
    got = grad(f)(x)
    assert got.dtype == onp.float64
    onp.testing.assert_allclose(got, expected, rtol=1e-14)
    assert jacobian(lambda x: weighted(before(x)))(x).dtype == onp.float64
    second = grad(lambda x: np.sum(grad(f)(x) * x))(x)
    onp.testing.assert_allclose(second, grad(lambda x: np.sum(grad(lambda y: 9 * np.sum(before(y) ** 2))(x) * x))(x))


def whole(rule):
    def maker(argnums, ans, args, kwargs):
        pullback = rule(ans, *args)
        return lambda g: [pullback(g) for _ in argnums]

    return maker


def test_a_complex_cotangent_of_a_complex_argument_stays():
    @primitive
    def weighted(z):
        return onp.real(z) * 3.0

    defvjp(weighted, lambda ans, z: lambda g: g * (3.0 + 2.0j))
    assert grad(lambda z: weighted(z * 2.0))(1.0 + 1.0j) == 6.0 + 4.0j


def test_each_of_two_arguments_gets_a_cotangent_of_its_own_kind():
    @primitive
    def product(x, z):
        return onp.real(z) * x

    defvjp_argnums(product, lambda argnums, ans, args, kwargs: lambda g: [g * (3.0 + 2.0j) for _ in argnums])
    assert grad(product, (0, 1))(2.0, 1.0 + 1.0j) == (3.0, 3.0 + 2.0j)
    assert grad(lambda z, x: product(x, z), (0, 1))(1.0 + 1.0j, 2.0) == (3.0 + 2.0j, 3.0)


@pytest.mark.parametrize("define", [defvjp, lambda fun, rule: defvjp_argnums(fun, whole(rule))])
def test_a_rule_may_write_to_the_cotangent(define):
    """The ones that a large sum pulls back have memory of their own only where a user's rule may see them."""

    @primitive
    def tripled(x):
        return 3.0 * x

    def pullback(g):
        g *= 3.0
        return g

    define(tripled, lambda ans, x: pullback)
    x = onp.ones(100_000)
    onp.testing.assert_array_equal(grad(lambda x: np.sum(tripled(x)))(x), 3.0 * x)


def test_rules_for_a_function_that_is_no_primitive_are_taken_with_a_warning():
    def double(x):
        return 2 * x

    with pytest.warns(UserWarning, match="not a primitive"):
        defvjp(double, lambda ans, x: lambda g: 7 * g)
    with pytest.warns(UserWarning, match="not a primitive"):
        defjvp(double, lambda g, ans, x: 7 * g)
    assert grad(double)(1.0) == 2.0


def test_the_rule_speaks_for_a_container_of_values_closed_over():
    """PennyLane's `_execute` gets parameters, and tapes that hold the same parameters, still traced."""

    @primitive
    def run(parameters, tapes):
        return tuple(np.array(2.0 * tape) for tape in tapes)

    defvjp(run, lambda ans, parameters, tapes: lambda g: [2.0 * v for v in g], argnums=[0])
    defjvp_argnum(run, lambda argnum, g, ans, args, kwargs: tuple(2.0 * v for v in g))

    def f(x):
        results = run(traced_list([x, x * x]), [x, x * x])
        assert results[0] * results[1] == 4 * x**3
        return results[0] * results[-1]

    value = grad(f)(1.5)
    assert type(value) is onp.float64 and value == 12 * 1.5**2
    assert make_jvp(f)(1.5)(1.0) == (4 * 1.5**3, 12 * 1.5**2)
    assert grad(grad(f))(1.5) == 24 * 1.5
    assert hessian(f)(onp.float64(1.5)) == 24 * 1.5


def test_a_checkpoint_that_gives_a_container_of_what_it_closes_over_is_traced():
    def f(x):
        inner = checkpoint(lambda y: {"a": (x * y, [x])})
        result = inner(2.0 * x)["a"]
        return result[0] * result[1][0]

    assert grad(f)(1.5) == 6 * 1.5**2


def first_of_rule(rule):
    """Return a primitive that doubles the first item of a container, with the given rule."""

    @primitive
    def twice_first(p):
        return 2.0 * (p["a"] if isinstance(p, dict) else p[0])

    defvjp(twice_first, lambda ans, p: lambda g: rule(g))
    return twice_first


NESTED = {"a": 1.0, "rest": [2.0, (3.0, onp.ones(2))]}
OUGHT = r"the VJP of twice_first should give for argument 0 \(p\) a cotangent"


@pytest.mark.parametrize(
    ("p", "rule", "error", "message"),
    [
        (
            {"a": 1.0, "b": 2.0},
            lambda g: {"a": g * onp.ones(2), "b": 0.0},
            ValueError,
            r" with, at \['a'\], one of shape \(\)",
        ),
        ({"a": 1.0, "b": 2.0}, lambda g: {"a": 2 * g}, ValueError, " with the key 'b' too; zeros where"),
        ({"a": 1.0}, lambda g: {"a": 2 * g, "c": g}, ValueError, r" without the key 'c'; its keys are \['a'\]"),
        ({"a": 1.0, "b": 2.0}, lambda g: {"a": 2 * g, "c": 0.0}, ValueError, " with the key 'b' too; zeros where"),
        ({"a": 1.0}, lambda g: None, TypeError, r", a dict with the keys \['a'\], not None"),
        ({"a": 1.0}, lambda g: g, TypeError, r", a dict with the keys \['a'\], not a float"),
        ({"a": 1.0}, lambda g: {"a": None}, TypeError, r" with, at \['a'\], one, not None; it is an array or a number"),
        ([1.0, 2.0], lambda g: [2 * g], ValueError, " of length 2, not of length 1"),
        ((1.0, 2.0), lambda g: (g, g, g), ValueError, " of length 2, not of length 3"),
        ((1.0, 2.0), lambda g: 2 * g, TypeError, ", a tuple of length 2, not a float"),
        (
            NESTED,
            lambda g: {"a": 2 * g, "rest": [0.0, (0.0, onp.zeros(3) + g)]},
            ValueError,
            r" with, at \['rest'\]\[1\]\[1\], one",
        ),
        (
            NESTED,
            lambda g: {"a": 2 * g, "rest": [0.0, (0.0,)]},
            ValueError,
            r" with, at \['rest'\]\[1\], one of length 2",
        ),
    ],
)
@pytest.mark.parametrize("also_used", [False, True])
def test_a_cotangent_of_a_container_that_is_not_like_it_is_refused(p, rule, error, message, also_used):
    f = first_of_rule(rule)
    with pytest.raises(error, match=OUGHT + message):
        grad(lambda p: f(p) + (p["a" if "a" in p else 0] if also_used else 0.0))(p)


@pytest.mark.parametrize(
    ("p", "rule", "expected"),
    [
        ({"a": 1.0, "b": onp.ones(2)}, lambda g: {"b": 0.0, "a": 2}, {"a": 2.0, "b": onp.zeros(2)}),
        ({"a": 1.0, "b": onp.ones(2)}, lambda g: 0.0, {"a": 0.0, "b": onp.zeros(2)}),
        ({"a": onp.ones(2)}, lambda g: {"a": [2 * g[0], g[1]]}, {"a": onp.array([2.0, 1.0])}),
        ({"a": 1.0}, lambda g: {"a": g * (2.0 + 1.0j)}, {"a": 2.0}),
        ({"a": 1.0 + 1.0j}, lambda g: {"a": g * (2.0 + 1.0j)}, {"a": 2.0 + 1.0j}),
        ([1.0, 2.0], lambda g: (2 * g, 0), [2.0, 0.0]),
        ((1.0, 2.0), lambda g: onp.array([2.0, 0.0]) * g, (2.0, 0.0)),
        ({"a": 1.0, "name": "relu"}, lambda g: {"a": 2 * g}, {"a": 2.0}),
        ({"a": 1.0, "name": "relu"}, lambda g: {"a": 2 * g, "name": None}, {"a": 2.0, "name": None}),
        (NESTED, lambda g: {"a": 2 * g, "rest": [0, 0]}, {"a": 2.0, "rest": [0.0, (0.0, onp.zeros(2))]}),
    ],
)
def test_a_cotangent_of_a_container_in_another_form_is_fitted(p, rule, expected):
    f = first_of_rule(rule)
    assert_same(grad(lambda p: np.real(np.sum(f(p))))(p), expected)


def assert_same(got, expected):
    assert type(got) is type(expected) or not isinstance(expected, (dict, list, tuple))
    if isinstance(expected, dict | list | tuple):
        assert len(got) == len(expected)
        for key in expected if isinstance(expected, dict) else range(len(expected)):
            assert_same(got[key], expected[key])
    elif expected is None:
        assert got is None
    else:
        assert onp.shape(got) == onp.shape(expected) and onp.result_type(got) == onp.result_type(expected)
        onp.testing.assert_array_equal(got, expected)


def test_sparse_cotangents_of_containers_are_taken():
    f = first_of_rule(lambda g: container_untake(2 * g, "a", vspace({"a": 1.0, "b": 2.0})))
    assert_same(grad(lambda p: f(p) + p["b"])({"a": 1.0, "b": 2.0}), {"a": onp.float64(2.0), "b": onp.float64(1.0)})


def test_fitted_cotangents_of_containers_are_differentiated():
    f = first_of_rule(lambda g: traced_list([2 * g, 0.0]))
    second = grad(lambda x: grad(lambda p: f(p) ** 3 * p[1])((x, x))[0])
    assert second(1.5) == 72 * 1.5**2  # of 24 x**3


def test_jacobians_of_functions_of_containers_go_by_users_rules():
    f = first_of_rule(lambda g: {"a": 2 * g, "b": 0})
    got = jacobian(lambda x: f(traced_dict(a=x, b=onp.ones(2))))(onp.ones(3))
    onp.testing.assert_array_equal(got, 2 * onp.eye(3))


@pytest.mark.parametrize(
    ("tangent", "error", "message"),
    [
        (lambda g: {"a": g}, ValueError, "with the key 'b' too"),
        (lambda g: {"a": g, "b": [g]}, ValueError, r"with, at \['b'\], one of length 2, not of length 1"),
        (lambda g: {"a": onp.ones(2), "b": [g, g]}, ValueError, r"with, at \['a'\], one of shape \(\)"),
        (lambda g: 1.0, TypeError, r"a tangent, a dict with the keys \['a', 'b'\], not a float"),
        (lambda g: {"a": 1j, "b": [g, g]}, TypeError, "gave a complex tangent of a real value"),
    ],
)
def test_a_tangent_of_a_container_that_is_not_like_it_is_refused(tangent, error, message):
    @primitive
    def apart(x):
        return {"a": x, "b": [x, x]}

    defjvp(apart, lambda g, ans, x: tangent(g))
    with pytest.raises(error, match=f"the JVP of apart .*{message}"):
        make_jvp(lambda x: apart(x)["a"])(1.0)(1.0)


def test_a_tangent_of_a_container_in_another_form_is_fitted():
    @primitive
    def apart(x):
        return {"a": x, "b": [x, x]}

    defjvp(apart, lambda g, ans, x: {"a": g, "b": (0, 1)})
    _, tangent = make_jvp(apart)(1.0)(1.0)
    assert_same(tangent, {"a": 1.0, "b": [0.0, 1.0]})


@pytest.mark.parametrize(
    ("seed", "error", "message"),
    [
        (
            {"a": onp.ones((3, 3)), "b": 1.0},
            ValueError,
            r"with, at \['a'\], one of shape \(3,\), not of shape \(3, 3\)",
        ),
        ({"a": onp.ones(3)}, ValueError, "with the key 'b' too"),
        ({"a": onp.ones(3), "b": 1.0, "c": 1.0}, ValueError, "without the key 'c'"),
        ([onp.ones(3), 1.0], TypeError, r"a dict with the keys \['a', 'b'\], not a list"),
        (1.0, TypeError, r"a dict with the keys \['a', 'b'\], not a float"),
    ],
)
def test_what_a_pullback_or_pushforward_of_a_container_is_called_with_is_checked(seed, error, message):
    vjp, _ = make_vjp(lambda x: {"a": 2 * x, "b": np.sum(x)})(onp.ones(3))
    with pytest.raises(error, match=f"vjp takes a cotangent of the value.*{message}"):
        vjp(seed)
    jvp = make_jvp(lambda p: p["a"] * p["b"])({"a": onp.ones(3), "b": 2.0})
    with pytest.raises(error, match=f"jvp takes a tangent of the argument.*{message}"):
        jvp(seed)


def test_a_seed_of_a_container_in_another_form_is_fitted():
    vjp, _ = make_vjp(lambda x: {"a": 2 * x, "b": np.sum(x)})(onp.ones(3))
    onp.testing.assert_array_equal(vjp({"a": [1, 2, 3], "b": onp.ones((1, 1))}), [3.0, 5.0, 7.0])
    onp.testing.assert_array_equal(vjp({"a": 0, "b": 1}), onp.ones(3))


def test_a_list_that_holds_itself_is_an_error_not_a_crash():
    endless = [1.0]
    endless.append(endless)
    with pytest.raises(RecursionError):
        grad(first_of_rule(lambda g: [2 * g, 0]))(endless)


def total_of_rule(rule):
    @primitive
    def total(x):
        return onp.sum(x)

    defvjp(total, lambda ans, x: rule)
    return total


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("kind", [onp.matrix, onp.ma.array])
@pytest.mark.parametrize("x", [onp.array([[0.1, 0.2], [0.3, 0.4]]), onp.array([[0.1, 0.2], [0.3, 0.4]]) + 1.0j])
def test_a_cotangent_of_a_subclass_of_array_is_made_an_array(kind, x):
    """`scipy.sparse` returns `np.matrix`, whose `*` is the matrix product."""
    weights = onp.array([[1.0, 2.0], [3.0, 4.0]])

    @primitive
    def squared(x):
        return x * x

    defvjp(squared, lambda ans, x: lambda g: g * (2 * x))
    total = total_of_rule(lambda g: kind(g * weights))
    got = grad(lambda x: np.real(total(squared(x)) + np.sum(x)))(x)
    assert type(got) is onp.ndarray
    onp.testing.assert_allclose(got, 2 * weights * x + 1.0, rtol=1e-14)
    flat = grad(total_of_rule(lambda g: kind([[1.0, 2.0]])))(onp.ones(2))
    assert type(flat) is onp.ndarray
    onp.testing.assert_array_equal(flat, [1.0, 2.0])
    inside = first_of_rule(lambda g: {"a": kind([[2.0, 0.0]])})
    got = grad(lambda p: np.sum(inside(p)))({"a": onp.ones((1, 2))})["a"]
    assert type(got) is onp.ndarray


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("kind", [onp.matrix, onp.ma.array])
def test_tangents_and_seeds_of_a_subclass_of_array_are_made_arrays(kind):
    x = onp.array([[0.1, 0.2], [0.3, 0.4]])

    @primitive
    def double(x):
        return 2 * x

    defjvp(double, lambda g, ans, x: kind(2 * g))
    assert type(make_jvp(double)(x)(x)[1]) is onp.ndarray
    for g in (make_jvp(lambda x: x)(x)(kind(x))[1], make_vjp(lambda x: x)(x)[0](kind(x))):
        assert type(g) is onp.ndarray
        onp.testing.assert_array_equal(g, x)


def test_masked_elements_of_a_cotangent_are_refused():
    total = total_of_rule(lambda g: onp.ma.array([1.0, 2.0], mask=[True, False]))
    with pytest.raises(TypeError, match=r"the VJP of total .* not an array with masked elements"):
        grad(total)(onp.ones(2))


def test_a_traced_cotangent_of_a_number_in_another_shape_is_refused():
    total = total_of_rule(lambda g: g * 1.0)
    with pytest.raises(ValueError, match=r"the VJP of total .* of shape \(2,\), not of shape \(\)"):
        make_jvp(lambda a: make_vjp(total)(onp.ones(2))[0](a))(2.0)(1.0)


@pytest.mark.parametrize("nested", [False, True])
def test_a_value_kept_from_another_trace_in_the_cotangent_of_a_container_is_refused(nested):
    kept = []

    def rule(g):
        kept.append(g)
        return {"a": [kept[0]] if nested else kept[0], "b": 0.0}

    @primitive
    def first(p):
        return p["a"][0] if nested else p["a"]

    defvjp(first, lambda ans, p: rule)
    p = {"a": [1.0] if nested else 1.0, "b": 1.0}
    make_jvp(lambda a: make_vjp(first)(p)[0](a)["b"])(1.0)(1.0)
    with pytest.raises(TypeError, match="the VJP of .* used a traced value that was kept from a trace that is over"):
        grad(first)(p)
