"""Wrong or unusual input: either an error that names the mistake and the remedy, or the right result."""

import numpy as onp
import pytest

import fastgrad
import fastgrad.numpy as np
from fastgrad import differential_operators, elementwise_grad, grad, jacobian, make_jvp, make_vjp, value_and_grad
from fastgrad.extend import primitive

pytestmark = [
    pytest.mark.filterwarnings("ignore:Output seems independent"),
    pytest.mark.filterwarnings("ignore:Input to holomorphic_grad"),
]

X = onp.array([0.5, 1.5, 2.5])
OBJECTS = onp.array([1.0, 2.0, 3.0], dtype=object)
RECORDS = onp.zeros(2, dtype=[("a", "f8"), ("b", "f8")])
MASKED = onp.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])


def kept_from_another_trace():
    kept = []
    grad(lambda x: (kept.append(x * 2.0), x)[1])(1.0)
    return kept[0]


def kept_from_forward_mode():
    kept = []
    make_jvp(lambda x: (kept.append(x * 2.0), x)[1])(1.0)(1.0)
    return kept[0]


def products(operator):
    """Apply an operator to a function at a point, and return the result as numbers."""
    name = operator.__name__
    return {
        "make_vjp": lambda f, x: operator(f)(x)[0](x),
        "make_jvp": lambda f, x: operator(f)(x)(x),
        "make_jvp_reversemode": lambda f, x: operator(f)(x)(x),
        "make_hvp": lambda f, x: operator(f)(x)[0](x),
        "make_ggnvp": lambda f, x: operator(f)(x)(x),
        "hessian_tensor_product": lambda f, x: operator(f)(x, x),
        "tensor_jacobian_product": lambda f, x: operator(f)(x, x),
        "grad_and_aux": lambda f, x: operator(lambda x: (f(x), None))(x),
        "grad_named": lambda f, x: operator(f, "x")(x),
    }.get(name, lambda f, x: operator(f)(x))


OPERATORS = {
    name: products(getattr(differential_operators, name))
    for name in differential_operators.__all__
    if name not in ("checkpoint", "hessian_vector_product", "vector_jacobian_product")
}
SCALAR_ONLY = {"grad", "value_and_grad", "make_hvp", "hessian_tensor_product", "grad_named", "multigrad_dict"}
every_operator = pytest.mark.parametrize("name", OPERATORS)

# ------------------------------------------------------------------------------------------- what a function may return

REFUSED = {
    "None": (lambda x: None, "returned None; it needs a return statement"),
    "text": (lambda x: "text", "returned a str.*return a float"),
    "bytes": (lambda x: b"text", "returned a bytes.*return a float"),
    "a type": (lambda x: float, "returned a type"),
    "a function": (lambda x: lambda: x, "returned a function"),
    "a generator": (lambda x: (x for _ in range(2)), "returned a generator"),
    "a set of traced values": (lambda x: {x}, "returned a set of traced values; return a list or tuple"),
    "a masked array": (lambda x: MASKED, "returned a MaskedArray"),
    "a structured array": (lambda x: RECORDS, "returned an array of dtype .*'a'"),
    "an array of text": (lambda x: onp.array(["a"]), "returned an array of dtype <U1"),
    "dates": (lambda x: onp.array(["2020-01-01"], "M8[D]"), "returned an array of dtype datetime64"),
    "objects with traced values": (
        lambda x: onp.array([x, x], dtype=object),
        r"array of objects with traced values.*fastgrad\.numpy\.array or stack",
    ),
    "one object that is traced": (lambda x: onp.array([x], dtype=object), "array of objects with traced values"),
    "a value of another trace": (lambda x: KEPT[0], "kept from a trace that is over.*getval"),
    "a sum with one": (lambda x: x + KEPT[0], "kept from a trace that is over|of another trace|in forward mode on"),
}
KEPT = []


@every_operator
@pytest.mark.parametrize("returned", REFUSED)
@pytest.mark.parametrize("kept", [kept_from_another_trace, kept_from_forward_mode])
def test_what_is_no_value_is_refused(name, returned, kept, monkeypatch):
    uses_kept = returned in ("a value of another trace", "a sum with one")
    if (
        not uses_kept
        and kept is kept_from_forward_mode
        or (name, returned) == ("tensor_jacobian_product", "a masked array")
    ):
        return  # one of the two cases suffices; a product with a constant is a constant
    f, message = REFUSED[returned]
    monkeypatch.setitem(globals(), "KEPT", [kept()])
    if returned == "a sum with one" and name in ("hessian", "hessian_tensor_product", "make_hvp"):
        assert OPERATORS[name](f, 1.5) == 0.0  # a value of the outer of two traces is a constant to the inner one
        return
    if name in ("holomorphic_grad", "make_ggnvp", "tensor_jacobian_product"):
        message = None  # these operators call functions on the returned value
    with pytest.raises((TypeError, ValueError, AttributeError), match=message) as error:
        OPERATORS[name](f, 1.5)
    assert type(error.value) is TypeError or not message


NOT_SCALAR = [
    lambda x: [x],
    lambda x: (x, x),
    lambda x: {"a": x},
    lambda x: [1.0],
    lambda x: x * onp.ones(3),
    lambda x: x * 1j,
    lambda x: 3,
    lambda x: True,
    lambda x: onp.int64(3),
    lambda x: x > 0,
    lambda x: OBJECTS,
]


@pytest.mark.parametrize("f", NOT_SCALAR)
@pytest.mark.parametrize("operator", [grad, value_and_grad])
def test_what_is_no_real_scalar_is_refused(operator, f):
    caller = "Grad" if operator is grad else "value_and_grad"
    kind = type(f(1.5)).__name__.replace("complex", "complex128")
    with pytest.raises(TypeError, match=f"{caller} only applies to real scalar.*jacobian.*returned a {kind}"):
        operator(f)(1.5)


@pytest.mark.parametrize("f", [lambda x: 3, lambda x: True, lambda x: onp.int64(3), lambda x: x > 0])
@pytest.mark.parametrize("operator", [elementwise_grad, jacobian, fastgrad.jacrev, fastgrad.deriv])
def test_integers_and_booleans_have_no_derivative(operator, f):
    with pytest.raises(TypeError, match="integers and booleans have no derivative; use a float"):
        operator(f)(1.5)


@pytest.mark.parametrize(
    "f", [lambda x: 3.0, lambda x: onp.array([3]), lambda x: onp.float32(2), lambda x: float("nan")]
)
def test_the_derivative_of_a_constant_is_zero(f):
    assert grad(f)(1.5) == 0.0
    assert onp.all(jacobian(f)(1.5) == 0.0)
    assert make_jvp(f)(1.5)(1.0)[1] == 0.0


@pytest.mark.parametrize("f", [lambda x: [x], lambda x: (x, x), lambda x: {"a": x}])
def test_jacobians_are_of_arrays(f):
    for operator in (jacobian, fastgrad.jacrev, fastgrad.hessian):
        with pytest.raises(TypeError, match="from an array to an array; flatten"):
            operator(f)(1.5)


def test_values_of_another_trace_that_are_mixed_in():
    kept = []

    def outer(x):
        kept.append(np.sin(x))
        return x * x

    grad(outer)(2.0)
    for operator in (grad, elementwise_grad, jacobian, lambda f: lambda x: make_vjp(f)(x)[0](1.0)):
        with pytest.raises(TypeError, match="a traced value that was kept from a trace that is over; keep its plain"):
            operator(lambda x: kept[0] * x)(3.0)
        with pytest.raises(TypeError, match="kept from a trace that is over"):
            operator(lambda x: x * kept[0])(3.0)
    # A value of a surrounding trace is a constant to the inner one.
    assert grad(lambda y: grad(lambda x: x * y)(3.0))(2.0) == 1.0
    assert grad(lambda y: make_jvp(lambda x: x * y)(3.0)(1.0)[1])(2.0) == 1.0


def test_a_value_kept_from_an_earlier_forward_trace():
    kept = kept_from_forward_mode()
    for f in (lambda x: kept, lambda x: kept * x, lambda x: x * kept, lambda x: np.sin(kept)):
        with pytest.raises(TypeError, match="kept from a trace that is over|in forward mode"):
            make_jvp(f)(2.0)(1.0)
        with pytest.raises((TypeError, RuntimeError), match="kept from a trace|used up|over"):
            grad(f)(2.0)


# ---------------------------------------------------------------------------------------------------- where it is asked

POINTS = {
    "None": (None, "NoneType.*choose another argument with argnum"),
    "text": ("text", "<class 'str'>.*values that are traced are floats"),
    "int": (3, "<class 'int'>.*use a float, 3.0 instead of 3"),
    "bool": (True, "<class 'bool'>.*use a float"),
    "numpy int": (onp.int64(3), "numpy.int64.*use a float"),
    "numpy bool": (onp.bool_(True), "numpy.bool.*use a float"),
    "masked": (MASKED, r"MaskedArray.*x\.filled"),
    "matrix": (onp.ones((2, 2)).view(onp.matrix), r"matrix.*pass numpy\.asarray of it"),
    "set": ({1.0}, "<class 'set'>"),
    "range": (range(3), "<class 'range'>"),
    "function": (onp.sin, "ufunc"),
}


@every_operator
@pytest.mark.parametrize("point", POINTS)
def test_what_cannot_be_differentiated_is_refused(name, point):
    x, message = POINTS[point]
    with pytest.raises(TypeError, match=message):
        OPERATORS[name](lambda x: np.sum(x * x), x)


def test_pandas_is_told_what_to_pass():
    pandas = pytest.importorskip("pandas")
    for value in (pandas.Series(X), pandas.DataFrame({"a": X})):
        with pytest.raises(TypeError, match=r"pass x\.to_numpy\(\)"):
            grad(lambda x: np.sum(x * x))(value)


@pytest.mark.parametrize("x", [onp.array([1, 2, 3]), onp.array([True, False]), onp.array([200], "u1")])
def test_arrays_of_integers_are_right_or_refused(x):
    with pytest.raises(TypeError, match="multiply|sum of a traced value gave .*int.*use a float"):
        grad(lambda x: np.sum(x * x))(x)
    onp.testing.assert_allclose(grad(lambda x: np.sum(np.sin(1.0 * x)))(x), onp.cos(1.0 * x))


@pytest.mark.parametrize("x", [RECORDS, onp.array(["a", "b"]), onp.array(["2020-01-01"], "M8[D]")])
def test_arrays_that_are_not_numeric_are_refused_by_numpy(x):
    with pytest.raises(TypeError, match="ufunc 'multiply'"):
        grad(lambda x: np.sum(x * x))(x)


@pytest.mark.parametrize("order", [1, -1])
def test_sparse_and_other_cotangents_of_integers(order):
    parts = [lambda x: np.sum(x * 0.5), lambda x: np.sum(x[onp.array([0, 0, 1])] * 2.5), lambda x: np.sum(x[0:2] * 1.5)]
    found = grad(lambda x: sum(part(x) for part in parts[::order]))(onp.array([1, 2, 3]))
    onp.testing.assert_array_equal(found, [7.0, 4.5, 0.5])


def test_arrays_of_objects_that_are_numbers():
    onp.testing.assert_array_equal(grad(lambda x: np.sum(x * x))(OBJECTS), 2 * OBJECTS)
    onp.testing.assert_array_equal(make_jvp(lambda x: x * x)(OBJECTS)(onp.ones(3))[1], 2 * OBJECTS)


@pytest.mark.parametrize("x", [[1, 2.0], {"a": 1, "b": 2.0}, [None, 1.0], {"a": "s", "b": 1.0}, (True, 1.0)])
def test_containers_with_what_cannot_be_traced(x):
    first, second = ("a", "b") if isinstance(x, dict) else (0, 1)
    with pytest.raises(TypeError, match="int|NoneType|str|bool"):
        grad(lambda x: x[second] ** 2)(x)
    with pytest.raises(TypeError, match="int|NoneType|str|bool|unsupported"):
        grad(lambda x: x[first] * 2.0 + x[second] ** 2)(x)


def test_ragged_lists_and_lists_are_no_arrays():
    for x in ([1.0, 2.0], [[1.0], [1.0, 2.0]]):
        with pytest.raises(TypeError, match="SequenceBox"):
            grad(lambda x: x * x)(x)
    found = grad(lambda x: x[0][0] * x[1][1])([[1.0], [1.0, 2.0]])
    assert found == [[2.0], [0.0, 1.0]]


# -------------------------------------------------------------------------------------------------------------- argnums


def two(x, y):
    return x * y**2


ARGNUMS = [
    (2, "argnum 2 names an argument that two does not have: it has 2"),
    (-3, "argnum -3 names an argument that two does not have: it has 2"),
    ((0, 5), r"argnum \(0, 5\) names an argument that two does not have"),
    ("x", "argnum is a position.*'x'"),
    (1.0, "argnum is a position.*1.0"),
    (True, "argnum is a position.*True"),
    (None, "argnum is a position.*None"),
    ((0, "a"), r"argnum is a position.*\(0, 'a'\)"),
    ((0.0,), "argnum is a position"),
    (((0,),), "argnum is a position"),
    (range(2), "argnum is a position"),
    ((0, 0), r"argnum \(0, 0\) names an argument twice; name each once"),
    ((1, -1), r"argnum \(1, -1\) names an argument twice"),
]


@pytest.mark.parametrize("operator", [grad, value_and_grad, elementwise_grad, make_vjp, make_jvp])
@pytest.mark.parametrize("argnum, message", ARGNUMS, ids=repr)
def test_wrong_argnums_are_refused(operator, argnum, message):
    with pytest.raises((TypeError, ValueError), match=message):
        operator(two, argnum)(2.0, 3.0)
    with pytest.raises((TypeError, ValueError), match=message):
        operator(two, argnum)(2.0, y=3.0)


@pytest.mark.parametrize("argnum, wanted", [(-1, 12.0), (-2, 9.0), (onp.int64(1), 12.0), (onp.uint8(0), 9.0)])
def test_right_argnums(argnum, wanted):
    assert grad(two, argnum)(2.0, 3.0) == wanted
    assert grad(two, (argnum,))(2.0, 3.0) == (wanted,)
    assert grad(two, [0, -1])(2.0, 3.0) == (9.0, 12.0)
    assert grad(two, ())(2.0, 3.0) == ()


CALLS = [
    (lambda: grad(two)(2.0, x=3.0), "multiple values for argument 'x'"),
    (lambda: grad(two)(2.0), "missing 1 required positional argument: 'y'"),
    (lambda: grad(two)(), "missing a required argument: 'x'"),
    (lambda: grad(two)(2.0, 3.0, z=1.0), "unexpected keyword argument 'z'"),
    (lambda: grad(None), "grad takes a function, not None"),
    (lambda: jacobian(3.0), "jacobian takes a function, not 3.0"),
    (lambda: fastgrad.checkpoint("f"), "checkpoint takes a function, not 'f'"),
    (lambda: primitive(None), "a primitive is made of a function, not of None"),
    (lambda: grad(), "fun"),
    (lambda: fastgrad.grad_named(two, "z"), "two has no parameter 'z'; it has x, y"),
    (lambda: fastgrad.grad_named(two, 1), "two has no parameter 1; it has x, y"),
]


@pytest.mark.parametrize("call, message", CALLS)
def test_wrong_calls(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


# ---------------------------------------------------------------------------------------------- cotangents and tangents


def field(x):
    return np.sin(x) * x


SEEDS = {
    "another length": (onp.ones(2), ValueError, r"of shape \(3,\), not of shape \(2,\)"),
    "more axes": (onp.ones((2, 3)), ValueError, r"of shape \(3,\), not of shape \(2, 3\)"),
    "a number": (2.0, ValueError, r"of shape \(3,\), not of shape \(\)"),
    "None": (None, TypeError, "not None; it is an array or a number"),
    "text": ("text", TypeError, "not 'text'"),
    "array of text": (onp.array(["a"] * 3), TypeError, "not an array of dtype <U1"),
    "records": (onp.zeros(3, RECORDS.dtype), TypeError, "not an array of dtype"),
    "ragged": ([1.0, [2.0]], TypeError, "not a list that makes no array|dtype object"),
    "dict": ({"a": 1.0}, TypeError, "not a dict"),
}


@pytest.mark.parametrize("seed", SEEDS)
def test_wrong_cotangents_and_tangents_are_refused(seed):
    g, error, message = SEEDS[seed]
    with pytest.raises(error, match="vjp takes a cotangent of the value.*" + message):
        make_vjp(field)(X)[0](g)
    with pytest.raises(error, match="jvp takes a tangent of the argument.*" + message):
        make_jvp(field)(X)(g)


@pytest.mark.parametrize(
    "g", [[1, 2, 3], (1.0, 2.0, 3.0), onp.array([1, 2, 3]), onp.array([[1.0], [2.0], [3.0]])[:, 0]]
)
def test_numbers_in_another_form_are_taken(g):
    wanted = onp.array([1.0, 2.0, 3.0]) * (onp.cos(X) * X + onp.sin(X))
    onp.testing.assert_allclose(make_vjp(field)(X)[0](g), wanted)
    onp.testing.assert_allclose(make_jvp(field)(X)(g)[1], wanted)


@pytest.mark.parametrize("g", [2, 2.0, onp.float32(2.0), onp.array(2.0), onp.array([2.0]), onp.array([[2]]), True + 1])
def test_one_number_in_any_form(g):
    assert make_vjp(lambda x: x**2)(3.0)[0](g) == 12.0
    value, tangent = make_jvp(lambda x: x**2)(3.0)(g)
    assert tangent == 12.0 and onp.shape(tangent) == ()
    onp.testing.assert_array_equal(make_vjp(lambda x: x[:1])(X)[0](g), [2.0, 0.0, 0.0])


def test_zero_is_the_zero_of_any_shape():
    onp.testing.assert_array_equal(make_vjp(field)(X)[0](0.0), onp.zeros(3))
    onp.testing.assert_array_equal(make_jvp(field)(X)(0)[1], onp.zeros(3))
