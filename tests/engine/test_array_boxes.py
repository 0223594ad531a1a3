"""Boxes of arrays and numbers: operators, protocols, methods, and NumPy's own functions on them."""

import operator

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import elementwise_grad, grad
from fastgrad.core import VJPNode
from fastgrad.numpy.numpy_boxes import ArrayBox
from fastgrad.tracer import isbox, new_box

X = onp.array([1.5, 2.0, 3.0])
OFF_KINKS = onp.array([1.3, 2.3, 3.4])


def boxed(value):
    return new_box(value, 0, VJPNode.new_root())


def numeric(f, x, step=1e-6):
    """Return the gradient of the sum of ``f`` by central differences."""
    x = onp.asarray(x, dtype=float)
    out = onp.zeros(x.shape)
    for index in onp.ndindex(*x.shape):
        h = onp.zeros(x.shape)
        h[index] = step
        out[index] = (onp.sum(f(x + h)) - onp.sum(f(x - h))) / (2 * step)
    return out


# ------------------------------------------------------------------------------------------------------------ operators

BINARY = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "pow": operator.pow,
    "mod": operator.mod,
}
OTHERS = [
    2.5,
    2,
    True,
    onp.float64(2.5),
    onp.float32(2.5),
    onp.int64(2),
    onp.array(2.5),
    onp.array([2.2, 0.7, 1.1]),
    onp.array([[2.2], [0.7]]),
    onp.array([2, 3, 1]),
    [2.2, 0.7, 1.1],
    (2.2, 0.7, 1.1),
]


@pytest.mark.parametrize("other", OTHERS, ids=lambda v: f"{type(v).__name__}{onp.shape(v)}")
@pytest.mark.parametrize("value", [1.7, onp.float64(1.7), onp.array(1.7), OFF_KINKS], ids=repr)
@pytest.mark.parametrize("op", BINARY.values(), ids=BINARY)
@pytest.mark.parametrize("reflected", [False, True])
def test_binary_operators(op, value, other, reflected):
    array = onp.asarray(other) if isinstance(other, (list, tuple)) else other
    plain = lambda x: op(array, x) if reflected else op(x, array)  # noqa: E731
    seen = []

    def traced(x):
        y = op(other, x) if reflected else op(x, other)
        seen.append(y)
        return y

    g = elementwise_grad(traced)(value)
    assert type(seen[0]) is ArrayBox
    onp.testing.assert_allclose(seen[0]._value, plain(value), rtol=1e-12)
    assert onp.shape(g) == onp.shape(value)
    onp.testing.assert_allclose(g, numeric(plain, value), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("op", BINARY.values(), ids=BINARY)
def test_operators_between_boxes(op):
    y = onp.array([0.7, 1.4, 2.2])
    gx, gy = elementwise_grad(lambda x, y: op(x, y), (0, 1))(X, y)
    onp.testing.assert_allclose(gx, numeric(lambda x: op(x, y), X), rtol=1e-5, atol=1e-7)
    onp.testing.assert_allclose(gy, numeric(lambda y: op(X, y), y), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow])
def test_operators_of_a_box_with_itself(op):
    onp.testing.assert_allclose(
        elementwise_grad(lambda x: op(x, x))(X), numeric(lambda x: op(x, x), X), rtol=1e-5, atol=1e-7
    )


@pytest.mark.parametrize(
    "other", [onp.arange(12.0).reshape(4, 3), [[1.0, 2.0, 3.0]], X], ids=["matrix", "list", "vector"]
)
def test_matmul(other):
    f = lambda x: other @ x  # noqa: E731
    plain = onp.asarray(other)
    onp.testing.assert_allclose(elementwise_grad(f)(X), plain.sum(axis=0) if plain.ndim == 2 else plain)
    g = lambda x: x @ (plain.T if plain.ndim == 2 else other)  # noqa: E731
    onp.testing.assert_allclose(elementwise_grad(g)(X), elementwise_grad(f)(X))


def test_unary_operators():
    assert grad(lambda x: -x)(2.0) == -1.0
    assert grad(lambda x: abs(x))(-2.0) == -1.0
    assert elementwise_grad(lambda x: abs(-x))(X).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("op", [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow])
def test_augmented_assignment_to_a_box_rebinds_it(op):
    x = boxed(2.0)
    y = op(x, 3.0)
    assert x._value == 2.0
    assert y is not x
    assert y._value == op(2.0, 3.0)


@pytest.mark.parametrize("op", [operator.iadd, operator.isub, operator.imul, operator.itruediv])
def test_augmented_assignment_to_an_array_rebinds_the_name_to_the_traced_result(op):
    def f(x):
        total = onp.ones(3)
        kept = total
        total = op(total, x)
        assert type(total) is ArrayBox
        assert kept.tolist() == [1.0, 1.0, 1.0]
        return total

    plain = lambda x: op(onp.ones(3), x)  # noqa: E731
    onp.testing.assert_allclose(elementwise_grad(f)(X), numeric(plain, X), rtol=1e-6)


def test_a_loop_that_adds_boxes_to_an_array():
    def f(x):
        total = onp.zeros(3)
        for k in range(3):
            total += x * k
        return np.sum(total**2)

    onp.testing.assert_allclose(grad(f)(X), 18.0 * X)


def test_an_explicit_out_that_is_the_first_input_is_left_alone():
    target = onp.ones(3)
    result = onp.add(target, boxed(X), out=target)
    assert type(result) is ArrayBox
    assert result._value.tolist() == (1.0 + X).tolist()
    assert target.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("other", [None, "text", {}, object()], ids=lambda v: type(v).__name__)
def test_operators_with_other_objects_are_type_errors(other):
    for op in (operator.add, operator.mul):
        with pytest.raises(TypeError):
            op(boxed(2.0), other)
        with pytest.raises(TypeError):
            op(other, boxed(2.0))


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne])
@pytest.mark.parametrize("other", [2.0, 2, onp.float64(2.0), onp.array([2.0, 1.0, 3.0])], ids=repr)
def test_comparisons_are_plain(compare, other):
    for left, right in ((boxed(X), other), (other, boxed(X)), (boxed(X), boxed(onp.asarray(other) + 0.0 * X))):
        result = compare(left, right)
        assert type(result) is onp.ndarray
        assert result.dtype == bool
        plain = compare(*(side._value if isbox(side) else side for side in (left, right)))
        assert result.tolist() == plain.tolist()
    assert bool(compare(boxed(2.0), 2.0)) is compare(2.0, 2.0)
    assert not isbox(compare(boxed(2.0), boxed(2.0)))


def test_a_box_is_found_in_a_list():
    a, b = boxed(2.0), boxed(3.0)
    assert b in [a, b]
    assert [a, b].index(b) == 1


# ------------------------------------------------------------------------------------------------------------ protocols


def test_truth():
    assert boxed(1.0)
    assert not boxed(0.0)
    assert boxed(onp.array([2.0]))
    with pytest.raises(ValueError):
        bool(boxed(X))


def test_length_and_iteration():
    box = boxed(X)
    assert len(box) == 3
    elements = list(box)
    assert [type(element) for element in elements] == [ArrayBox] * 3
    assert [element._value for element in elements] == X.tolist()
    assert elementwise_grad(lambda x: sum(k * e for k, e in enumerate(x)))(X).tolist() == [0.0, 1.0, 2.0]
    first, *rest = boxed(onp.ones((2, 2)))
    assert first.shape == (2,)
    assert len(rest) == 1


@pytest.mark.parametrize("value", [1.0, onp.float64(1.0), onp.array(1.0)], ids=repr)
def test_a_scalar_has_no_length_and_cannot_be_iterated(value):
    with pytest.raises(TypeError):
        len(boxed(value))
    with pytest.raises(TypeError):
        list(boxed(value))


@pytest.mark.parametrize("convert", [float, int, complex, operator.index])
def test_a_conversion_to_a_python_number_is_refused(convert):
    """A Python number would be cut off from its derivative."""
    with pytest.raises(TypeError):
        convert(boxed(2.0))


def test_array_attributes():
    matrix = boxed(onp.ones((2, 3), onp.float32))
    assert (matrix.shape, matrix.ndim, matrix.size, matrix.dtype) == ((2, 3), 2, 6, onp.float32)
    scalar = boxed(2.0)
    assert (scalar.shape, scalar.ndim, scalar.size, scalar.dtype) == ((), 0, 1, float)
    assert type(matrix.shape) is tuple
    assert type(matrix.T) is ArrayBox
    assert matrix.T.shape == (3, 2)
    assert (boxed(boxed(X)).shape, boxed(boxed(X)).dtype) == ((3,), float)


def test_item_assignment_is_refused():
    with pytest.raises(TypeError, match="assignment"):
        boxed(X)[0] = 1.0


def test_the_array_namespace_is_our_numpy():
    namespace = boxed(X).__array_namespace__()
    assert namespace.sin is np.sin
    assert namespace.sum is np.sum


METHODS = [
    ("clip", (1.6, 2.5)),
    ("cumsum", ()),
    ("flatten", ()),
    ("max", ()),
    ("mean", ()),
    ("min", ()),
    ("prod", ()),
    ("ravel", ()),
    ("repeat", (2,)),
    ("reshape", ((3, 1),)),
    ("squeeze", ()),
    ("std", ()),
    ("sum", ()),
    ("swapaxes", (0, 0)),
    ("transpose", ()),
    ("var", ()),
    ("astype", (float,)),
]


@pytest.mark.parametrize(("name", "args"), METHODS, ids=[name for name, _ in METHODS])
def test_methods_are_traced(name, args):
    seen = []

    def f(x):
        y = getattr(x, name)(*args)
        seen.append(y)
        return y

    g = elementwise_grad(f)(X)
    plain = lambda x: getattr(x, name)(*args)  # noqa: E731
    assert type(seen[0]) is ArrayBox
    onp.testing.assert_allclose(seen[0]._value, plain(X))
    onp.testing.assert_allclose(g, numeric(plain, X), rtol=1e-6, atol=1e-8)


def test_the_trace_method():
    assert grad(lambda m: m.trace() ** 2)(onp.full((2, 2), 3.0)).tolist() == [[12.0, 0.0], [0.0, 12.0]]


OPTIONAL_METHODS = [("compress", ([True, False, True],)), ("cumprod", ()), ("take", ([2, 0, 2],)), ("diagonal", ())]


@pytest.mark.parametrize(("name", "args"), OPTIONAL_METHODS, ids=[name for name, _ in OPTIONAL_METHODS])
def test_methods_that_may_lack_a_rule_are_right_or_refused(name, args):
    x = onp.arange(9.0).reshape(3, 3) if name == "diagonal" else X
    f = lambda x: getattr(x, name)(*args)  # noqa: E731
    try:
        g = elementwise_grad(f)(x)
    except NotImplementedError as error:
        assert name in str(error) or "diagonal" in str(error)
    else:
        onp.testing.assert_allclose(g, numeric(f, x), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["all", "any", "argmax", "argmin", "argsort", "nonzero", "round"])
def test_methods_without_a_derivative_give_plain_values(name):
    result = getattr(boxed(X), name)()
    assert not isbox(result)
    onp.testing.assert_array_equal(result, getattr(X, name)())


def test_methods_take_keywords():
    g = grad(lambda x: x.sum(axis=0, keepdims=True).mean(axis=1)[0])(onp.ones((2, 4)))
    assert g.tolist() == [[0.25] * 4] * 2


# ------------------------------------------------------------------------------------------------- plain NumPy on boxes

UFUNC_CALLS = {
    "sin": lambda x: onp.sin(x),
    "exp": lambda x: onp.exp(x),
    "sqrt": lambda x: onp.sqrt(x),
    "add": lambda x: onp.add(x, onp.arange(3.0)),
    "multiply by a scalar": lambda x: onp.multiply(2.0, x),
    "power": lambda x: onp.power(x, 2.0),
    "maximum": lambda x: onp.maximum(x, 1.9),
    "arctan2": lambda x: onp.arctan2(x, onp.ones(3)),
    "array * box": lambda x: onp.arange(3.0) * x,
    "float64 * box": lambda x: onp.float64(2.0) * x,
    "float32 / box": lambda x: onp.float32(2.0) / x,
    "int64 - box": lambda x: onp.int64(2) - x,
    "column * box": lambda x: onp.ones((2, 1)) * x,
    "nested": lambda x: onp.log(onp.sin(x) ** 2 + onp.cosh(x)),
}


@pytest.mark.parametrize("name", UFUNC_CALLS)
def test_numpys_own_ufuncs_give_traced_results(name):
    f, seen = UFUNC_CALLS[name], []
    g = elementwise_grad(lambda x: (seen.append(f(x)), seen[-1])[1])(X)
    assert type(seen[0]) is ArrayBox
    onp.testing.assert_allclose(seen[0]._value, f(X))
    onp.testing.assert_allclose(g, numeric(f, X), rtol=1e-6, atol=1e-8)


def test_numpys_ufuncs_differentiate_again():
    assert grad(grad(lambda x: onp.sin(x) * x))(0.5) == pytest.approx(2 * onp.cos(0.5) - 0.5 * onp.sin(0.5))


@pytest.mark.parametrize("f", [onp.sum, onp.mean, onp.reshape], ids=lambda f: f.__name__)
def test_numpy_functions_that_call_a_method(f):
    args = ((3, 1),) if f is onp.reshape else ()
    call = lambda x: f(x, *args)  # noqa: E731
    onp.testing.assert_allclose(elementwise_grad(call)(X), numeric(call, X), rtol=1e-6)


def test_what_cannot_be_traced_is_refused():
    with pytest.raises(TypeError):
        onp.add.reduce(boxed(X))
    with pytest.raises(TypeError):
        onp.add(boxed(X), boxed(X), out=onp.ones(3))
    with pytest.raises(TypeError):
        onp.add.at(onp.ones(3), [0], boxed(1.0))


class Quantity:
    """A foreign array type that takes part in NumPy's dispatch."""

    def __init__(self, inner):
        self.inner = inner

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [i.inner if isinstance(i, Quantity) else i for i in inputs]
        return Quantity(getattr(ufunc, method)(*plain, **kwargs))

    def __mul__(self, other):
        return onp.multiply(self, other)

    def __rmul__(self, other):
        return onp.multiply(other, self)


@pytest.mark.parametrize(
    "multiply",
    [
        lambda box, q: box * q,
        lambda box, q: q * box,
        lambda box, q: np.multiply(box, q),
        lambda box, q: onp.multiply(q, box),
    ],
)
def test_a_foreign_array_type_gets_its_turn(multiply):
    seen = []

    def f(x):
        result = multiply(x, Quantity(onp.array([2.0, 3.0, 5.0])))
        seen.append(result)
        return np.sum(result.inner)

    assert grad(f)(X).tolist() == [2.0, 3.0, 5.0]
    assert type(seen[0]) is Quantity
    assert type(seen[0].inner) is ArrayBox


def test_a_box_inside_a_foreign_array_type():
    f = lambda x: np.sum(onp.sin(Quantity(x)).inner)  # noqa: E731
    onp.testing.assert_allclose(grad(f)(X), onp.cos(X))
