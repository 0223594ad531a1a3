"""The operators on functions: what they return, for which inputs, and what they refuse."""

import pickle
import warnings

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import (
    builtins,
    checkpoint,
    deriv,
    differential_operators,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)
from fastgrad.differential_operators import make_jvp_reversemode
from fastgrad.extend import defvjp, primitive
from fastgrad.tracer import isbox
from fastgrad.wrap_util import unary_to_nary

X = onp.array([0.5, 1.5, -0.7])
W = onp.array([[1.0, 2.0, 0.5], [-1.0, 0.3, 2.0]])


def vector_field(x):
    """Return a vector in R^2 for one in R^3."""
    return np.dot(W, np.sin(x)) + x[0] * x[:2]


def vector_field_jacobian(x):
    j = W * onp.cos(x)
    return j + onp.array([[2 * x[0], 0.0, 0.0], [x[1], x[0], 0.0]])


def energy(x):
    return np.sum(x**4.0) + x[0] * x[1] * x[2]


def energy_gradient(x):
    return 4 * x**3 + onp.array([x[1] * x[2], x[0] * x[2], x[0] * x[1]])


def energy_hessian(x):
    off = onp.array([[0.0, x[2], x[1]], [x[2], 0.0, x[0]], [x[1], x[0], 0.0]])
    return onp.diag(12 * x**2) + off


# ---------------------------------------------------------------------------------------------- argnum, keywords, names


def three(x, y, z=2.0, *, power=1.0):
    return x * x * y * z**power


@pytest.mark.parametrize(
    ("argnum", "expected"),
    [
        (0, 2 * 3.0 * 5.0 * 2.0),
        (1, 9.0 * 2.0),
        (2, 45.0),
        ((0,), (60.0,)),
        ((0, 1), (60.0, 18.0)),
        ([1, 0], (18.0, 60.0)),
        ((2, 0, 1), (45.0, 60.0, 18.0)),
    ],
)
def test_argnum(argnum, expected):
    args = (3.0, 5.0, 2.0)
    assert grad(three, argnum)(*args) == expected
    assert grad(three, argnum=argnum)(*args) == expected
    assert value_and_grad(three, argnum)(*args) == (90.0, expected)
    assert elementwise_grad(three, argnum)(*args) == expected
    vjp, value = make_vjp(three, argnum)(*args)
    assert value == 90.0
    assert vjp(1.0) == expected
    if isinstance(argnum, (tuple, list)):
        assert type(grad(three, argnum)(*args)) is tuple


@pytest.mark.parametrize("argnum", [0, 1, (0, 1), [2, 0]])
def test_argnum_in_forward_mode(argnum):
    partials = (60.0, 18.0, 45.0)
    seed = 1.0 if isinstance(argnum, int) else (1.0,) * len(argnum)
    expected = partials[argnum] if isinstance(argnum, int) else sum(partials[i] for i in argnum)
    value, tangent = make_jvp(three, argnum)(3.0, 5.0, 2.0)(seed)
    assert (value, tangent) == (90.0, expected)


def test_a_negative_argnum_counts_from_the_end():
    assert grad(three, -1)(3.0, 5.0, 2.0) == 45.0


def test_keyword_arguments_are_passed_on():
    assert grad(three)(3.0, 5.0, power=2.0) == 120.0
    assert value_and_grad(three, 1)(3.0, 5.0, z=3.0, power=2.0) == (405.0, 81.0)
    assert hessian(three)(3.0, 5.0, z=1.0, power=7.0) == 10.0
    assert hessian_tensor_product(three)(3.0, 5.0, 1.0, power=0.0) == 10.0
    assert tensor_jacobian_product(three)(3.0, 5.0, 2.0, power=0.0) == 60.0
    assert make_jvp(three)(3.0, 5.0, power=2.0)(1.0)[1] == 120.0
    assert grad_named(three, "y")(3.0, 5.0, power=2.0) == 36.0


@pytest.mark.parametrize("argnum", ["x", 1.0, None, {0}])
def test_argnum_of_another_type_is_refused(argnum):
    with pytest.raises((AssertionError, TypeError)):
        grad(three, argnum)(3.0, 5.0)


def test_argnum_out_of_range():
    with pytest.raises((IndexError, TypeError)):
        grad(three, 5)(3.0, 5.0)


UNARY = [grad, value_and_grad, elementwise_grad, deriv, jacobian, hessian, holomorphic_grad, grad_and_aux, make_vjp]


@pytest.mark.parametrize("operator", [*UNARY, make_jvp, make_hvp, make_jvp_reversemode])
def test_names_say_what_the_function_is(operator):
    assert operator(three).__name__ == f"{operator.__name__}_of_three_wrt_argnum_0"
    assert operator(three, (0, 1)).__name__ == f"{operator.__name__}_of_three_wrt_argnum_(0, 1)"
    assert "three" in operator(three).__doc__


@pytest.mark.parametrize("operator", UNARY)
def test_operators_have_a_docstring(operator):
    assert len(operator.__doc__.split()) > 5


def test_a_callable_without_a_name_can_be_differentiated():
    class Square:
        def __call__(self, x):
            return x * x

    assert grad(Square())(3.0) == 6.0
    assert "[unknown name]" in grad(Square()).__name__


def test_unary_to_nary_makes_an_operator():
    @unary_to_nary
    def doubled_vjp(fun, x, scale=2.0):
        vjp, _ = make_vjp(fun)(x)
        return scale * vjp(1.0)

    assert doubled_vjp(three)(3.0, 5.0) == 120.0
    assert doubled_vjp(three, 1)(3.0, 5.0) == 36.0
    assert doubled_vjp(three, 1, scale=1.0)(3.0, 5.0) == 18.0
    assert doubled_vjp(three).__name__ == "doubled_vjp_of_three_wrt_argnum_0"


# ------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("operator", [grad, value_and_grad])
@pytest.mark.parametrize(
    "f",
    [lambda x: x * onp.ones(2), lambda x: x * 1j, lambda x: builtins.tuple((x, x))],
    ids=["array", "complex", "tuple"],
)
def test_grad_is_for_real_scalar_outputs(operator, f):
    with pytest.raises(TypeError, match="only applies to real scalar-output functions.*jacobian"):
        operator(f)(1.0)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_an_output_of_one_element_counts_as_a_scalar(shape):
    assert grad(lambda x: np.reshape(x * x, shape))(3.0) == 6.0


def test_elementwise_grad_is_for_real_outputs():
    with pytest.raises(TypeError, match="only applies to real-output functions"):
        elementwise_grad(lambda x: x * 1j)(1.0)


@pytest.mark.parametrize("output", ["text", None, {1, 2}], ids=repr)
@pytest.mark.filterwarnings("ignore:Output seems independent")
def test_an_output_that_is_no_vector_is_refused(output):
    with pytest.raises(TypeError, match="returned (a str|None|a set)"):
        grad(lambda x: output)(1.0)


def test_holomorphic_grad_warns_about_a_real_input():
    with pytest.warns(UserWarning, match="Input to holomorphic_grad is not complex"):
        holomorphic_grad(lambda x: x * x)(1.0)


# ---------------------------------------------------------------------------------------------------------- first order


def test_grad_and_value_and_grad():
    onp.testing.assert_allclose(grad(energy)(X), energy_gradient(X))
    value, g = value_and_grad(energy)(X)
    assert value == energy(X)
    onp.testing.assert_allclose(g, energy_gradient(X))


def test_elementwise_grad_sums_the_columns_of_the_jacobian():
    onp.testing.assert_allclose(elementwise_grad(np.tanh)(X), 1 - onp.tanh(X) ** 2)
    onp.testing.assert_allclose(elementwise_grad(vector_field)(X), vector_field_jacobian(X).sum(axis=0))


def test_elementwise_grad_of_a_broadcasting_function():
    column, row = onp.array([[1.0], [2.0]]), X
    f = lambda a, b: a * b**2  # noqa: E731
    ga, gb = elementwise_grad(f, (0, 1))(column, row)
    onp.testing.assert_allclose(ga, onp.full((2, 1), onp.sum(X**2)))
    onp.testing.assert_allclose(gb, 2 * X * 3.0)
    assert (ga.shape, gb.shape) == ((2, 1), (3,))
    assert onp.shape(elementwise_grad(f)(2.0, row)) == ()


def test_deriv_is_the_pushforward_of_ones():
    assert deriv(lambda x: x**3)(2.0) == 12.0
    onp.testing.assert_allclose(deriv(lambda x: x * onp.ones(3) * x)(2.0), onp.full(3, 4.0))
    onp.testing.assert_allclose(deriv(vector_field)(X), vector_field_jacobian(X).sum(axis=1))


def test_jacobian():
    onp.testing.assert_allclose(jacobian(vector_field)(X), vector_field_jacobian(X))


@pytest.mark.parametrize("in_shape", [(), (2,), (2, 3), (1, 1)])
@pytest.mark.parametrize("out_shape", [(), (3,), (2, 2), (1,)])
def test_the_shape_of_a_jacobian(in_shape, out_shape):
    weights = onp.random.default_rng(1).normal(size=out_shape + in_shape)
    x = onp.ones(in_shape)
    f = lambda x: np.tensordot(weights, x, axes=len(in_shape))  # noqa: E731
    j = jacobian(f)(x)
    assert onp.shape(j) == out_shape + in_shape
    onp.testing.assert_allclose(j, weights)


def test_jacobian_by_a_later_argument():
    f = lambda a, x: np.dot(a, x)  # noqa: E731
    onp.testing.assert_array_equal(jacobian(f, 1)(W, X), W)
    assert jacobian(f, 0)(W, X).shape == (2, 2, 3)


def test_make_jvp():
    push = make_jvp(vector_field)(X)
    for v in onp.eye(3):
        value, tangent = push(v)
        onp.testing.assert_allclose(value, vector_field(X))
        onp.testing.assert_allclose(tangent, vector_field_jacobian(X) @ v)


def test_make_jvp_reversemode():
    push = make_jvp_reversemode(vector_field)(X)
    v = onp.array([1.0, -2.0, 0.5])
    onp.testing.assert_allclose(push(v), vector_field_jacobian(X) @ v)
    onp.testing.assert_allclose(push(2 * v), 2 * vector_field_jacobian(X) @ v)


def test_holomorphic_grad():
    z = 1.0 + 2.0j
    assert holomorphic_grad(lambda z: z**3.0)(z) == pytest.approx(3 * z**2)
    assert holomorphic_grad(np.exp)(z) == pytest.approx(onp.exp(z))
    zs = onp.array([z, 0.5j])
    onp.testing.assert_allclose(holomorphic_grad(lambda z: np.sum(np.sin(z)))(zs), onp.cos(zs))


def test_tensor_jacobian_product():
    j = vector_field_jacobian(X)
    v = onp.array([2.0, -1.0])
    onp.testing.assert_allclose(tensor_jacobian_product(vector_field)(X, v), v @ j)
    onp.testing.assert_allclose(vector_jacobian_product(vector_field)(X, v), v @ j)
    by_matrix = tensor_jacobian_product(lambda a, x: np.outer(x, x) * a, 1)
    t = onp.arange(9.0).reshape(3, 3)
    onp.testing.assert_allclose(by_matrix(2.0, X, t), 2.0 * (t @ X + X @ t))
    assert vector_jacobian_product is tensor_jacobian_product


def test_grad_and_aux():
    g, aux = grad_and_aux(lambda x: (np.sum(x**2), x * 3.0))(X)
    onp.testing.assert_allclose(g, 2 * X)
    onp.testing.assert_allclose(aux, 3 * X)
    assert type(aux) is onp.ndarray
    g, aux = grad_and_aux(lambda x, y: (x * y, builtins.dict({"seen": x})), 1)(3.0, 5.0)
    assert g == 3.0
    assert aux == {"seen": 3.0}


def test_grad_named():
    assert grad_named(three, "x")(3.0, 5.0) == 60.0
    assert grad_named(three, "z")(3.0, 5.0, 2.0) == 45.0
    with pytest.raises(ValueError, match="missing"):
        grad_named(three, "missing")


def test_multigrad_dict():
    gradients = multigrad_dict(lambda x, y, z: three(x, y, z))(3.0, 5.0, 2.0)
    assert list(gradients.items()) == [("x", 60.0), ("y", 18.0), ("z", 45.0)]


def test_multigrad_dict_fills_in_defaults_and_takes_keywords():
    def f(x, y=2.0):
        return x * y**2

    assert dict(multigrad_dict(f)(3.0)) == {"x": 4.0, "y": 12.0}
    assert dict(multigrad_dict(f)(y=1.0, x=3.0)) == {"x": 1.0, "y": 6.0}


def test_multigrad_dict_with_variable_arguments():
    def f(x, *rest, **named):
        return x * rest[0] + rest[1] ** 2 * named["k"]

    gradients = multigrad_dict(f)(2.0, 3.0, 4.0, k=5.0)
    assert gradients["x"] == 3.0
    assert tuple(gradients["rest"]) == (2.0, 40.0)
    assert dict(gradients["named"]) == {"k": 16.0}


# --------------------------------------------------------------------------------------------------------- second order


def test_hessian():
    onp.testing.assert_allclose(hessian(energy)(X), energy_hessian(X))
    assert hessian(lambda x: x**3)(2.0) == 12.0
    matrix = onp.array([[1.0, 2.0], [3.0, 4.0]])
    h = hessian(lambda m: np.sum(m**2.0) / 2.0)(matrix)
    onp.testing.assert_allclose(h, onp.eye(4).reshape(2, 2, 2, 2))


def test_hessian_of_a_vector_function():
    h = hessian(lambda x: np.array([x[0] * x[1], x[2] ** 2]))(X)
    assert h.shape == (2, 3, 3)
    assert h[0].tolist() == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert h[1].tolist() == onp.diag([0.0, 0.0, 2.0]).tolist()


@pytest.mark.parametrize("product", [hessian_tensor_product, hessian_vector_product])
def test_hessian_vector_products(product):
    v = onp.array([1.0, -2.0, 0.5])
    onp.testing.assert_allclose(product(energy)(X, v), energy_hessian(X) @ v)
    assert hessian_vector_product is hessian_tensor_product


def test_hessian_tensor_product_of_a_matrix_argument():
    f = lambda scale, m: scale * np.sum(m**3.0)  # noqa: E731
    m, t = onp.array([[1.0, 2.0], [3.0, 4.0]]), onp.array([[1.0, 0.0], [-1.0, 2.0]])
    onp.testing.assert_allclose(hessian_tensor_product(f, 1)(2.0, m, t), 12.0 * m * t)


def test_make_hvp():
    hvp, g = make_hvp(energy)(X)
    onp.testing.assert_allclose(g, energy_gradient(X))
    for v in onp.eye(3):
        onp.testing.assert_allclose(hvp(v), energy_hessian(X) @ v)


def test_make_ggnvp_against_the_explicit_matrix():
    v = onp.array([1.0, -2.0, 0.5])
    j = vector_field_jacobian(X)
    onp.testing.assert_allclose(make_ggnvp(vector_field)(X)(v), j.T @ j @ v)
    loss = lambda y: np.sum(y**4.0)  # noqa: E731
    h = onp.diag(12.0 * vector_field(X) ** 2)
    onp.testing.assert_allclose(make_ggnvp(vector_field, loss)(X)(v), j.T @ h @ j @ v)
    shifted = lambda a, x: a + vector_field(x)  # noqa: E731
    onp.testing.assert_allclose(make_ggnvp(shifted, f_argnum=1)(0.0, X)(v), j.T @ j @ v)


# ----------------------------------------------------------------------------------------------------------- containers


def model(params, scale):
    hidden = np.tanh(np.dot(params["layers"][0]["w"], params["x"]) + params["layers"][0]["b"])
    return np.sum(hidden * params["layers"][1]) * scale


def test_nested_containers_as_inputs():
    params = {"layers": [{"w": W, "b": onp.zeros(2)}, onp.array([1.0, -1.0])], "x": X}
    g, gs = grad(model, (0, 1))(params, 2.0)
    assert sorted(g) == ["layers", "x"]
    hidden = onp.tanh(W @ X)
    db = 2.0 * (1 - hidden**2) * onp.array([1.0, -1.0])
    onp.testing.assert_allclose(g["layers"][0]["b"], db)
    onp.testing.assert_allclose(g["layers"][0]["w"], onp.outer(db, X))
    onp.testing.assert_allclose(g["layers"][1], 2.0 * hidden)
    onp.testing.assert_allclose(g["x"], W.T @ db)
    assert gs == pytest.approx(hidden[0] - hidden[1])
    assert [type(g), type(g["layers"]), type(g["layers"][0])] == [dict, list, dict]


# ----------------------------------------------------------------------------------------------------------- checkpoint


def test_checkpoint_keeps_value_gradient_and_second_order():
    calls = []

    def block(x, y):
        calls.append(1)
        return np.sin(x) * y**2

    checked = checkpoint(block)
    assert checked(0.5, 2.0) == block(0.5, 2.0)
    assert grad(checked, (0, 1))(0.5, 2.0) == pytest.approx((4 * onp.cos(0.5), 4 * onp.sin(0.5)))
    assert grad(grad(checked))(0.5, 2.0) == pytest.approx(-4 * onp.sin(0.5))
    onp.testing.assert_allclose(
        hessian(lambda v: checked(v[0], v[1]))(onp.array([0.5, 2.0])),
        [
            [-4 * onp.sin(0.5), 4 * onp.cos(0.5)],
            [4 * onp.cos(0.5), 2 * onp.sin(0.5)],
        ],
    )
    calls.clear()
    grad(checked)(0.5, 2.0)
    assert len(calls) == 2


def test_checkpoint_of_arrays_with_keywords():
    def block(x, power=2.0):
        return np.sum(x**power)

    onp.testing.assert_allclose(grad(lambda x: checkpoint(block)(x, power=3.0) * 2.0)(X), 6 * X**2)


# ------------------------------------------------------------------------------------------------------ what users meet


def test_the_argument_may_be_given_by_keyword_or_left_to_its_default():
    def f(x, y=2.0, *, z=3.0):
        return x * y * z

    assert grad(f)(x=4.0) == 6.0
    assert grad(f, 1)(4.0) == 12.0
    assert grad(f, 1)(x=4.0, y=5.0, z=1.0) == 4.0
    assert grad(f, (0, 1))(4.0) == (6.0, 12.0)
    with pytest.raises(TypeError, match="missing"):
        grad(f)()
    with pytest.raises(TypeError, match="argnum 5"):
        grad(f, 5)(1.0)


@pytest.mark.parametrize("f", [lambda x: [x, x], lambda x: (x,), lambda x: {"a": x}])
@pytest.mark.parametrize("operator", [grad, value_and_grad])
def test_a_container_where_a_scalar_is_wanted_is_told_so(operator, f):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError, match="returned a (list|tuple|dict)"):
            operator(f)(1.0)


def test_containers_that_a_function_returns_are_traced():
    vjp, value = make_vjp(lambda x: {"a": [x, 2.0 * x], "b": (x * x, 1.0)})(3.0)
    assert value == {"a": [3.0, 6.0], "b": (9.0, 1.0)}
    assert vjp({"a": [1.0, 10.0], "b": (100.0, 1000.0)}) == 1.0 + 20.0 + 600.0
    _, tangent = make_jvp(lambda x: [x, (x * x,)])(3.0)(1.0)
    assert tangent == [1.0, (6.0,)]


def test_aux_is_plain_whatever_it_is():
    def f(x):
        return x * x, {"y": np.sin(x), "list": [x, 1], "name": "run", "none": None}

    gradient, aux = grad_and_aux(f)(2.0)
    assert gradient == 4.0
    assert aux == {"y": onp.sin(2.0), "list": [2.0, 1], "name": "run", "none": None}
    assert not any(map(isbox, (aux["y"], aux["list"][0])))


@pytest.mark.parametrize("mode", [grad, lambda f: lambda x: make_jvp(f)(x)(1.0)[1]])
def test_a_checkpoint_that_closes_over_a_traced_value(mode):
    def f(x):
        inner = checkpoint(lambda y: np.sin(y) * x)
        return inner(x * x)

    onp.testing.assert_allclose(mode(f)(1.3), 2 * 1.3**2 * onp.cos(1.3**2) + onp.sin(1.3**2))
    assert mode(lambda x: checkpoint(lambda y: y * x)(2.0))(1.3) == 2.0


def test_a_primitive_that_closes_over_a_traced_value_is_an_error():
    def f(x):
        @primitive
        def inner(y):
            return y * x

        defvjp(inner, lambda ans, y: lambda g: g)
        return inner(x)

    with pytest.raises(TypeError, match="inner uses a traced value"):
        grad(f)(1.0)


def test_operators_pickle_as_themselves():
    for name in differential_operators.__all__:
        operator = getattr(differential_operators, name)
        assert pickle.loads(pickle.dumps(operator)) is operator


def test_a_warning_names_the_line_of_the_user():
    with pytest.warns(UserWarning, match="independent of input") as caught:
        grad(lambda x: 1.0)(2.0)
        make_vjp(lambda x: 1.0)(2.0)
    assert [warning.filename for warning in caught] == [__file__, __file__]
