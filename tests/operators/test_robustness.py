"""Wrong calls, hooks, kept boxes, changed graphs and integers cause neither a crash nor a wrong number."""

import gc
import weakref

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import checkpoint, core, grad, jacobian, make_jvp, value_and_grad
from fastgrad.core import JVPNode, VJPNode, backward_pass, primitive_jvps, primitive_vjps
from fastgrad.extend import defvjp, primitive
from fastgrad.numpy.numpy_boxes import ArrayBox
from fastgrad.tracer import getval, new_box, trace, trace_stack

V = onp.ones(3)

# --------------------------------------------------------------------------------------- calls with the wrong arguments


@pytest.mark.parametrize(
    "call", [lambda: np.multiply(V), lambda: np.add(1.0), lambda: np.sin(1.0, 2.0), lambda: np.sin()]
)
def test_a_ufunc_with_the_wrong_number_of_arguments_raises(call):
    with pytest.raises(TypeError):
        call()


def test_a_traced_ufunc_with_the_wrong_number_of_arguments_raises():
    with pytest.raises(TypeError):
        grad(lambda x: np.sum(np.multiply(x)))(V)


def test_an_output_given_by_position_is_filled_and_returned():
    out = onp.zeros(3)
    assert np.sin(V, out) is out
    onp.testing.assert_array_equal(out, onp.sin(V))
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        np.sin(V, out)


def test_a_list_that_holds_itself_is_an_error():
    endless = [1.0]
    endless.append(endless)
    with pytest.raises((RecursionError, ValueError)):
        np.sin(endless)
    with pytest.raises(ValueError, match="empty"):
        np.block([])


def test_partners_of_products_may_be_given_by_keyword():
    b = onp.array([1.0, 2.0, 3.0])
    for f in (
        lambda x: np.dot(x, b=b),
        lambda x: np.dot(a=x, b=b),
        lambda x: np.dot(b, b=x),
        lambda x: np.sum(np.outer(x, b=b)) / 6.0 * b[0],
    ):
        assert grad(f)(V).shape == (3,)
    onp.testing.assert_array_equal(grad(lambda x: np.dot(a=x, b=b))(V), b)
    places = onp.array([0, 1, 0])
    onp.testing.assert_array_equal(grad(lambda w: np.bincount(places, weights=w)[0])(V), [1.0, 0.0, 1.0])
    value, tangent = make_jvp(lambda x: np.linspace(start=x, stop=4.0, num=3))(2.0)(1.0)
    onp.testing.assert_array_equal(value, [2.0, 3.0, 4.0])
    onp.testing.assert_array_equal(tangent, [1.0, 0.5, 0.0])


# ------------------------------------------------------------------------------------------------ integers and booleans


@pytest.mark.parametrize(
    "f",
    [
        np.mean,
        np.std,
        np.var,
        lambda x: np.sum(np.sum(x, axis=0) * 2.5),
        lambda x: np.sum(x[0:2] * 2.5),
        lambda x: np.sum(x[[0, 0, 1]] * 2.5),
        lambda x: np.sum(np.dot(x, x) * 0.5),
        lambda x: np.sum(np.concatenate([x, x]) * 0.5),
    ],
)
def test_the_gradient_at_an_array_of_integers_is_that_at_the_floats(f):
    x = onp.array([[1, 2, 4], [3, 1, 7], [2, 2, 5]])
    onp.testing.assert_allclose(grad(f)(x), grad(f)(x.astype(float)))


# ---------------------------------------------------------------------------------------------------------------- hooks


def test_the_vjp_of_a_node_can_be_wrapped():
    seen = []
    _, node = trace(VJPNode.new_root(), lambda x: np.sin(x) * x, 1.0)
    wanted = backward_pass(1.0, node)
    pull = node.vjp

    def hooked(g):
        seen.append(g)
        return pull(g)

    node.vjp = hooked
    assert backward_pass(1.0, node) == wanted
    assert seen == [1.0]


def test_a_value_kept_from_one_gradient_does_not_spoil_the_next():
    kept = []

    def f(x):
        y = np.exp(np.sin(x))
        kept.append(y)
        return y * x

    first = grad(f)(1.0)
    onp.testing.assert_allclose(backward_pass(1.0, kept[0]._node), onp.exp(onp.sin(1.0)) * onp.cos(1.0))
    assert value_and_grad(f)(1.0)[1] == first


def test_what_nobody_keeps_is_released_as_the_pass_goes_back():
    alive = []

    class Tracked(onp.ndarray):
        pass

    first = []

    @primitive
    def watched(x):
        return x + 1.0

    def maker(ans, x):
        array = onp.zeros(3).view(Tracked)
        first.append(weakref.ref(array))
        return lambda g: (array, g)[1]

    @primitive
    def look(x):
        return x * 1.0

    def look_maker(ans, x):
        def vjp(g):
            gc.collect()
            alive.append(first[0]() is not None)
            return g

        return vjp

    defvjp(watched, maker)
    defvjp(look, look_maker)
    grad(lambda x: np.sum(watched(look(x))))(V)
    assert alive == [False]


# ------------------------------------------------------------------------------------------------------- changed graphs


def chain(x, kept):
    y = x
    for _ in range(20):
        y = np.sin(y)
    kept.append(y._node)
    return y * 1.0


def test_parents_changed_after_the_graph_was_ordered_are_an_error():
    kept = []
    vjp, _ = core.make_vjp(lambda x: chain(x, kept), 2.0)
    vjp(1.0)
    kept[0].parents = ()
    gc.collect()
    with pytest.raises(RuntimeError, match="changed"):
        vjp(1.0)
    kept[0].parents = (VJPNode.new_root(),) * 5000
    kept[0].vjp = lambda g: (g,) * 5000
    with pytest.raises(RuntimeError, match="changed"):
        vjp(1.0)


def test_a_cycle_is_an_error():
    node = VJPNode.new_root()
    node.parents = (node,)
    node.vjp = lambda g: (g,)
    with pytest.raises(ValueError, match="cycle"):
        backward_pass(1.0, node)
    node.parents = ()


def test_a_pullback_with_too_many_cotangents_is_an_error():
    node = VJPNode.new_root()
    node.vjp = lambda g: (g,)
    with pytest.raises(ValueError, match="1 cotangents for 0"):
        backward_pass(1.0, node)


# ------------------------------------------------------------------------------------------------ boxes without a trace


@pytest.mark.parametrize("f", [lambda b: b * 2, np.sin, lambda b: np.sum(b), lambda b: 2 - b])
def test_a_box_without_a_node_is_an_error(f):
    with pytest.raises(TypeError, match="node"):
        f(ArrayBox(1.0, 0, None))
    with pytest.raises(TypeError, match="node"):
        f(new_box(V, 0, None))


def test_a_value_kept_from_reverse_mode_in_forward_mode_is_an_error():
    kept, pushed = new_box(V, 0, VJPNode.new_root()), new_box(V, 0, JVPNode.new_root(V))
    with pytest.raises(TypeError, match="a trace that is over"):
        np.where([True, False, True], kept, pushed)


def test_a_value_kept_from_a_trace_is_no_part_of_a_later_one():
    kept = []
    grad(lambda x: (kept.append(x), x * x)[1])(3.0)
    make_jvp(lambda x: (kept.append(x), x * x)[1])(3.0)(7.0)
    for x in kept:
        for derivative in (grad, lambda f: lambda y: make_jvp(f)(y)(1.0), lambda f: grad(grad(f))):
            with pytest.raises(TypeError, match="kept from a trace that is over; keep its plain value"):
                derivative(lambda y, x=x: x * y**3)(2.0)
            assert getval(x) == 3.0
        assert grad(lambda y, x=x: getval(x) * y * y)(2.0) == 12.0


def test_a_value_kept_from_a_trace_inside_a_function_is_no_value_of_the_function():
    def f(x):
        kept = []
        grad(lambda y: (kept.append(y), x * y)[1])(2.0)
        return x * kept[0]

    for derivative in (grad(f), lambda x: make_jvp(f)(x)(1.0)):
        with pytest.raises(TypeError, match="f used a traced value that was kept from a trace that is over"):
            derivative(3.0)


def test_a_box_made_by_hand_outside_every_trace_is_a_constant_to_them():
    box = new_box(3.0, 0, VJPNode.new_root())
    slope = grad(lambda y: box * y * y)(2.0)
    assert isinstance(slope, ArrayBox) and slope._trace == 0 and getval(slope) == 12.0
    assert backward_pass(1.0, slope._node) == 4.0


def test_a_trace_context_is_entered_once():
    context = trace_stack.new_trace()
    context.__exit__(None, None, None)
    with context, pytest.raises(RuntimeError, match="open already"):
        context.__enter__()
    assert trace_stack.top == -1


# ----------------------------------------------------------------------------------------------------------- registries


def test_rules_of_one_mode_in_the_registry_of_the_other_are_taken_as_functions():
    @primitive
    def f(x):
        return x * 2.0

    primitive_jvps[f] = lambda argnums, gs, ans, args, kwargs: gs[0] * 2.0
    primitive_vjps[f] = primitive_jvps[f]
    with pytest.raises(TypeError):
        grad(f)(1.0)


@pytest.mark.parametrize("argnums", [(-1,), (1,), (0, 0, 5)])
def test_argnums_out_of_range_are_an_error(argnums):
    with pytest.raises(ValueError, match="argnum"):
        primitive_vjps[np.sin](argnums, 0.0, (0.0,), {})
    with pytest.raises(ValueError, match="argnum"):
        VJPNode(0.0, np.sin, (0.0,), {}, argnums, [VJPNode.new_root() for _ in argnums])
    with pytest.raises(ValueError, match="argnum"):
        JVPNode(0.0, np.sin, (0.0,), {}, argnums, [JVPNode.new_root(1.0) for _ in argnums])


def test_the_registries_can_be_copied():
    assert primitive_vjps.copy().keys() >= {np.sin, np.dot}


# ------------------------------------------------------------------------------- traced keywords of a user's primitives


def test_a_keyword_without_a_rule_reaches_the_function_as_it_is():
    @primitive
    def f(x, *, scale=1.0):
        return x * scale

    @primitive
    def g(x, w=None):
        return x * w

    defvjp(g, lambda ans, x, w=None: lambda h: h * w)
    assert grad(lambda s: f(2.0, scale=s))(3.0) == 2.0
    assert grad(lambda s: g(3.0, w=s))(2.0) == 3.0
    with pytest.raises(TypeError, match="'scale'"):
        grad(lambda s: f(s, scale=s))(3.0)

    remembered = checkpoint(lambda x, *, k: np.sin(x) * k)
    onp.testing.assert_allclose(grad(lambda s: remembered(2.0, k=s))(3.0), onp.sin(2.0))


def test_a_ufunc_that_a_user_made_a_primitive_of_serves_its_own_name():
    double = onp.frompyfunc(lambda x: 2.0 * x, 1, 1)
    traced_double = primitive(double)
    defvjp(traced_double, lambda ans, x: lambda g: 2.0 * g)
    assert grad(lambda x: double(x))(3.0) == 2.0


# keywords of ufuncs


@pytest.mark.parametrize("mode", [grad, lambda f: lambda x: make_jvp(f)(x)(x)])
def test_keywords_of_ufuncs_are_honoured_or_refused_by_name(mode):
    x = onp.array([0.5, 2.0], "f")
    mode(lambda x: np.sum(np.maximum(x, 1.0, dtype="d")))(x)
    mode(lambda x: np.sum(np.exp(x, casting="same_kind")))(x)
    with pytest.raises(NotImplementedError, match="exp .* '(where|out)'"):
        mode(lambda x: np.sum(np.exp(x, where=[True, False], out=onp.ones(2, "f"))))(x)
    with pytest.raises(NotImplementedError, match="matmul .* 'axes'"):
        mode(lambda x: np.sum(np.matmul(x[:, None], x[None], axes=[(0, 1), (0, 1), (0, 1)])))(x)


# ------------------------------------------------------------------------------------------ plain lists, outputs, kinds

OUTPUTS = [
    lambda x: np.take(x, [0, 2], out=onp.zeros(2)),
    lambda x: np.take(x, [0, 2], None, onp.zeros(2)),
    lambda x: np.outer(x, x, onp.zeros((3, 3))),
    lambda x: np.einsum("i,j->ij", x, x, out=onp.zeros((3, 3))),
    lambda x: np.dot(x, x, onp.zeros(())),
    lambda x: np.sin(x, onp.zeros(3)),
    lambda x: np.sum(x, out=onp.zeros(())),
]


@pytest.mark.parametrize("f", OUTPUTS)
@pytest.mark.parametrize("mode", [grad, lambda f: lambda x: make_jvp(f)(x)(x)])
def test_a_traced_value_is_not_put_into_an_array_of_the_users(mode, f):
    with pytest.raises(NotImplementedError, match="'out'"):
        mode(lambda x: np.sum(f(x)))(V)


KEYWORD_LISTS = [
    (lambda m: np.sum(np.outer(V, b=[m[0], m[1]])), [3.0, 3.0, 0.0]),
    (lambda m: np.sum(np.diff(V, append=[m[0], m[1]]) ** 2), [-4.0, 4.0, 0.0]),
    (lambda m: np.mean(a=[m[0], m[1]]), [0.5, 0.5, 0.0]),
    (lambda m: np.sum(np.clip([m[0], 5.0], 0.0, a_max=[9.0, m[1]])), [1.0, 1.0, 0.0]),
]


@pytest.mark.parametrize("f, wanted", KEYWORD_LISTS)
def test_a_list_with_traced_values_given_by_keyword_is_traced(f, wanted):
    x = onp.array([1.0, 3.0, 2.0])
    onp.testing.assert_allclose(grad(f)(x), wanted)
    onp.testing.assert_allclose(make_jvp(f)(x)(V)[1], sum(wanted))


COMPILED_LISTS = [
    (lambda x: np.linalg.solve(x[:, None] * onp.eye(3), [1, 2, 3]), [-1.0, -2.0, -3.0]),
    (lambda x: np.linalg.solve(x[:, None] * onp.eye(3), [1.0, 2.0, 3.0]), [-1.0, -2.0, -3.0]),
    (lambda x: np.insert([1.0, 2.0], 1, x[0]), [1.0, 0.0, 0.0]),
    (lambda x: np.where([True, False, True], x, [1, 2, 3]), [1.0, 0.0, 1.0]),
    (lambda x: x * [1, 2, 3], [1.0, 2.0, 3.0]),
]


@pytest.mark.parametrize("f, wanted", COMPILED_LISTS)
def test_a_plain_list_beside_a_traced_value_is_an_array(f, wanted):
    onp.testing.assert_allclose(grad(lambda x: np.sum(f(x)))(V), wanted, atol=1e-15)


def test_concatenation_by_columns_joins_the_last_axis():
    z = onp.ones((2, 3, 4))
    assert core.make_vjp(lambda z: np.c_[z, z], z)[1].shape == onp.c_[z, z].shape


def test_the_jacobian_of_a_complex_output():
    x = onp.array([1.0, 2.0])
    onp.testing.assert_allclose(jacobian(lambda x: np.exp(1j * x))(x), onp.diag(1j * onp.exp(1j * x)))
    onp.testing.assert_allclose(jacobian(np.fft.fft)(x), onp.fft.fft(onp.eye(2), axis=0))
    onp.testing.assert_allclose(jacobian(lambda z: z**2)(x + 1j), onp.diag(2 * (x + 1j)))


@pytest.mark.parametrize("f", [lambda x: np.maximum(x, 0.1), lambda x: np.minimum(x, 2.0), lambda x: np.clip(x, 0, 2)])
def test_the_gradient_of_a_scalar_choice_is_a_scalar(f):
    assert type(grad(f)(1.5)) is onp.float64
    assert type(core.make_vjp(lambda x: np.sum(x).astype("f"), V)[1]) is onp.float32


def test_a_sum_of_sparse_and_dense_cotangents_of_a_scalar():
    f = lambda x: (lambda y: np.sum(y[..., None] * y) + y**3)(np.sin(x))  # noqa: E731
    s, c = onp.sin(0.5), onp.cos(0.5)
    onp.testing.assert_allclose(grad(grad(f))(0.5), (2 + 6 * s) * c * c - (2 * s + 3 * s * s) * s)


IN_PLACE = {
    "copyto": lambda a, x: np.copyto(a, x),
    "fill_diagonal": lambda a, x: np.fill_diagonal(a, val=x),
    "place": lambda a, x: np.place(a, a > -1, x),
    "put": lambda a, x: np.put(a, [0], x),
    "put_along_axis": lambda a, x: np.put_along_axis(a, onp.zeros((1, 2), int), x, 0),
    "putmask": lambda a, x: np.putmask(a, a > -1, values=x),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_writing_a_traced_value_is_refused_before_anything_is_written(name):
    a = onp.zeros((2, 2))
    with pytest.raises(TypeError, match=f"{name} writes into its array.*build a new array"):
        grad(lambda x: IN_PLACE[name](a, x) or x)(1.5)
    assert not a.any()
    IN_PLACE[name](a, 1.5)
    expected = onp.zeros((2, 2))
    IN_PLACE[name](expected, onp.float64(1.5))
    assert a.any() and (a == expected).all()
