"""Lists, tuples and dicts as inputs and outputs, and gradients assembled from their items."""

import copy
import gc
import weakref
from collections import OrderedDict, namedtuple
from concurrent.futures import ThreadPoolExecutor

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import builtins as traced
from fastgrad import grad, grad_and_aux, hessian, jacobian, make_jvp, make_vjp, multigrad_dict
from fastgrad._engine.backward import pull_once
from fastgrad.builtins import (
    DictVSpace,
    ListVSpace,
    SequenceBox,
    SequenceVSpace,
    TupleVSpace,
)
from fastgrad.core import SparseObject, VJPNode, VSpace, vspace
from fastgrad.extend import defvjp, primitive
from fastgrad.misc.flatten import flatten
from fastgrad.numpy.numpy_vspaces import ArrayVSpace
from fastgrad.test_util import check_grads
from fastgrad.tracer import box_type_mappings, new_box

X = onp.array([1.0, 2.0])


def forward(f):
    return lambda x: make_jvp(f)(x)(1.0)[1]


def boxed(value):
    return new_box(value, 0, VJPNode.new_root())


# --------------------------------------------------------------------------------------------------------------- inputs


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_sequence_as_input(kind):
    g = grad(lambda p: np.sum(p[0] * p[1]) + p[2])(kind([X, 3.0 * X, 5.0]))
    assert type(g) is kind
    assert [onp.asarray(part).tolist() for part in g] == [[3.0, 6.0], [1.0, 2.0], 1.0]


def test_a_dict_as_input():
    g = grad(lambda p: np.sum(p["w"] * X) * p["b"])({"w": 2.0 * X, "b": 3.0})
    assert type(g) is dict
    assert list(g) == ["w", "b"]
    assert g["w"].tolist() == [3.0, 6.0]
    assert g["b"] == 10.0


def test_nested_containers_as_input():
    params = {"layers": [(X, 1.0), (2.0 * X, {"bias": 2.0})], "rate": 0.5}

    def f(p):
        (w0, b0), (w1, extra) = p["layers"]
        return np.dot(w0, w1) * b0 * extra["bias"] + p["rate"] ** 2

    g = grad(f)(params)
    assert vspace(g) == vspace(params)
    assert g["layers"][0][0].tolist() == [4.0, 8.0]
    assert g["layers"][0][1] == 20.0
    assert g["layers"][1][0].tolist() == [2.0, 4.0]
    assert g["layers"][1][1]["bias"] == 10.0
    assert g["rate"] == 1.0
    assert params["layers"][0][0].tolist() == [1.0, 2.0]


def test_elements_that_are_not_used_get_zeros():
    g = grad(lambda p: p["a"][1] ** 2)({"a": [X, 3.0], "b": (1.0 + 1.0j, X)})
    assert g["a"][0].tolist() == [0.0, 0.0]
    assert g["a"][1] == 6.0
    assert g["b"][0] == 0.0
    assert onp.iscomplexobj(g["b"][0])
    assert g["b"][1].tolist() == [0.0, 0.0]


def test_an_element_used_several_times():
    g = grad(lambda p: p[0] * p[0] + p[0] * p[1] + p[-1])([2.0, 3.0])
    assert [float(part) for part in g] == [7.0, 3.0]


@pytest.mark.parametrize("key", ["text", 3, (1, 2), None, 2.5])
def test_dict_keys_of_any_kind(key):
    g = grad(lambda p: p[key] ** 2)({key: 3.0, "other": 1.0})
    assert (g[key], g["other"]) == (6.0, 0.0)


def test_empty_containers_inside():
    g = grad(lambda p: p[0] ** 2)([3.0, [], {}, ()])
    assert g == [6.0, [], {}, ()]


@pytest.mark.parametrize("value", [[1], (1.0, "text"), {"a": None}], ids=repr)
def test_containers_of_other_values_have_no_vspace(value):
    with pytest.raises(TypeError, match="Can't find vector space"):
        vspace(value)


@pytest.mark.parametrize("value", [namedtuple("Pair", "a b")(1.0, 2.0), OrderedDict(a=1.0), {1.0, 2.0}], ids=repr)
def test_subclasses_and_other_containers_are_refused(value):
    with pytest.raises(TypeError, match="Can't differentiate w.r.t. type"):
        grad(lambda p: 1.0)(value)


# ------------------------------------------------------------------------------------- outputs, pullbacks, pushforwards


def test_container_outputs_of_make_vjp():
    vjp, value = make_vjp(lambda x: traced.tuple((np.sin(x), traced.dict(sq=x * x))))(X)
    assert type(value) is tuple
    onp.testing.assert_allclose(value[0], onp.sin(X))
    assert value[1]["sq"].tolist() == [1.0, 4.0]
    g = vjp((onp.ones(2), {"sq": onp.array([10.0, 0.0])}))
    onp.testing.assert_allclose(g, onp.cos(X) + onp.array([20.0, 0.0]))


def test_a_container_that_passes_through():
    vjp, value = make_vjp(lambda p: p)([1.0, X])
    assert value[0] == 1.0
    seed = [2.0, onp.ones(2)]
    assert vjp(seed)[0] == 2.0


def test_make_jvp_of_containers():
    push = make_jvp(lambda p: p["a"] * np.sum(p["b"][0]))({"a": 3.0, "b": [X]})
    value, tangent = push({"a": 1.0, "b": [onp.zeros(2)]})
    assert (value, tangent) == (9.0, 3.0)
    assert push({"a": 0.0, "b": [onp.array([1.0, 10.0])]})[1] == 33.0


def test_make_jvp_with_a_container_output():
    value, tangent = make_jvp(lambda x: traced.list([x * x, 2.0 * x, 7.0]))(3.0)(1.0)
    assert value == [9.0, 6.0, 7.0]
    assert tangent == [6.0, 2.0, 0.0]


def test_a_jacobian_through_containers():
    f = lambda x: np.stack([part * part for part in traced.list([x[0], x[1]])])  # noqa: E731
    assert jacobian(f)(X).tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_second_order_in_containers():
    def f(p):
        return p["a"] ** 3 * p["b"][0]

    inner = lambda p: grad(f)(p)["a"]  # noqa: E731
    g = grad(inner)({"a": 2.0, "b": [5.0]})
    assert g == {"a": 60.0, "b": [12.0]}
    of_vector = lambda x: (lambda q: q[0] ** 2 * q[1])(traced.tuple((x[0], x[1])))  # noqa: E731
    assert hessian(of_vector)(onp.array([3.0, 5.0])).tolist() == [[10.0, 6.0], [6.0, 0.0]]


def test_a_loop_over_a_traced_list_of_layers():
    layers = [(onp.full((2, 2), 0.1 * (k + 1)), onp.ones(2)) for k in range(3)]

    def f(layers):
        h = X
        for w, b in layers:
            h = np.tanh(np.dot(w, h) + b)
        return np.sum(h)

    g = grad(f)(layers)
    step = 1e-6
    for k in range(3):
        for part in (0, 1):
            shifted = [[onp.array(w), onp.array(b)] for w, b in layers]
            shifted[k][part][0] += step
            up = f(shifted)
            shifted[k][part][0] -= 2 * step
            numeric = (up - f(shifted)) / (2 * step)
            assert onp.sum(g[k][part][0]) == pytest.approx(numeric, rel=1e-5)


def test_printing():
    assert str(boxed([1.0])) == "Autograd SequenceBox with value [1.0]"
    assert str(boxed({"a": 1.0})) == "Autograd DictBox with value {'a': 1.0}"


@pytest.mark.parametrize("name", "exp ravel mean sum std squeeze diag atleast_2d hstack stack flip sort".split())
def test_a_traced_list_given_to_an_array_function_stands_for_its_array(name):
    f = getattr(np, name)
    gradient = grad(lambda x: np.sum(f(x) ** 2))([3.0, 1.0, 2.0])
    assert type(gradient) is list
    wanted = grad(lambda x: np.sum(f(x) ** 2))(onp.array([3.0, 1.0, 2.0]))
    onp.testing.assert_allclose(gradient, wanted)


def test_append_to_a_traced_list():
    onp.testing.assert_allclose(grad(lambda x: np.sum(np.append(x, 1.0) ** 2))([3.0, 2.0]), [6.0, 4.0])


def test_concatenation_by_index_of_plain_and_traced_values():
    assert np.r_[1, 2].tolist() == [1, 2]
    assert np.c_[[1, 2], [3, 4]].tolist() == [[1, 3], [2, 4]]
    onp.testing.assert_allclose(grad(lambda x: np.sum(np.r_[x, 1.0, x[0]] ** 2))(onp.array([3.0, 2.0])), [12.0, 4.0])
    onp.testing.assert_allclose(grad(lambda x: np.sum(np.c_[x, x * 2] ** 2))(onp.array([3.0, 2.0])), [30.0, 20.0])


def test_where_takes_keywords_and_gives_plain_values_for_plain_values():
    assert np.where(True, 1, 2) == 1 and type(np.where(True, 1, 2)) is int
    assert np.where([True, False], 1, y=2) == [1, 2]
    assert type(np.where(onp.array([True, False]), 1, 2)) is onp.ndarray
    with pytest.raises(ValueError, match="both or neither"):
        np.where([True], 1)
    onp.testing.assert_allclose(
        grad(lambda x: np.sum(np.where(x > 0, x=x**2, y=-x)))(onp.array([3.0, -2.0])), [6.0, -1.0]
    )


# ----------------------------------------------------------------------------------------------------- one node an item

NESTED = {"layers": [(X, 1.0), (2.0 * X, 3.0)], "rate": 0.5, "pair": (1.0 + 2.0j, 4.0)}

# ------------------------------------------------------------------------------------------ gradients put together once


def every_item(p):
    (w0, b0), (w1, b1) = p["layers"]
    total = np.sum(w0 * w1 * b0) * p["rate"] + p["layers"][0][1] ** 2 * b1
    return total + np.abs(p["pair"][0] * p["pair"][1]) ** 2


@pytest.fixture
def zeros_made(monkeypatch):
    made, zeros = [], ArrayVSpace.zeros
    monkeypatch.setattr(ArrayVSpace, "zeros", lambda self: made.append(self.shape) or zeros(self))
    return made


@pytest.fixture
def assembled(monkeypatch):
    made = []
    for space in (ListVSpace, TupleVSpace, DictVSpace):
        items = space._items
        monkeypatch.setattr(space, "_items", lambda self, d, items=items: made.append(type(self)) or items(self, d))
    return made


def test_a_gradient_is_put_together_once_without_zeros(zeros_made, assembled):
    g = grad(every_item)(NESTED)
    assert zeros_made == []
    assert sorted(space.__name__ for space in assembled) == ["DictVSpace", "ListVSpace"] + ["TupleVSpace"] * 3
    assert vspace(g) == vspace(NESTED)


def test_zeros_are_made_for_the_items_not_used(zeros_made):
    g = grad(lambda p: p["rate"] * np.sum(p["layers"][1][0]))(NESTED)
    assert sorted(zeros_made) == [(), (), (), (), (2,)]
    assert g["layers"][1][0].tolist() == [0.5, 0.5]


def test_the_same_as_autograd():
    autograd = pytest.importorskip("autograd")
    anp = autograd.numpy

    def theirs(p):
        (w0, b0), (w1, b1) = p["layers"]
        total = anp.sum(w0 * w1 * b0) * p["rate"] + p["layers"][0][1] ** 2 * b1
        return total + anp.abs(p["pair"][0] * p["pair"][1]) ** 2

    ours, wanted = grad(every_item)(NESTED), autograd.grad(theirs)(NESTED)
    onp.testing.assert_allclose(flatten(ours)[0], flatten(wanted)[0], rtol=1e-12)
    assert list(ours) == list(wanted)
    assert type(ours["rate"]) is type(wanted["rate"]) is onp.ndarray


def test_both_modes_agree_to_second_order():
    check_grads(every_item, modes=["fwd", "rev"], order=2)(NESTED)
    check_grads(lambda p: np.sum(p[0][0] * p[1]["a"] ** 2), modes=["fwd", "rev"], order=2)(([X], {"a": X, "b": 1.0}))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_cotangents_have_the_dtype_and_shape_of_their_items(dtype):
    values = [onp.ones((2, 3), dtype), onp.asarray(2.0, dtype), onp.zeros((0, 2), dtype), onp.ones((3, 2), dtype).T]
    g = grad(lambda p: np.real(np.sum(p[0] * p[1] * p[3]) + np.sum(p[2])))(values)
    assert [(part.shape, part.dtype) for part in g] == [(v.shape, v.dtype) for v in values]


def test_items_of_a_gradient_share_no_memory():
    """Optimizers change the items of a gradient in place, one by one."""
    seed = onp.ones(2)
    vjp, _ = make_vjp(lambda p: (lambda a, b, c: a + b + c[0] + p["d"].T)(p["a"], p["b"], p["c"]))(
        {"a": X, "b": 2.0 * X, "c": [3.0 * X], "d": X}
    )
    g = vjp(seed)
    for part in (g["a"], g["b"], g["c"][0], g["d"]):
        part *= 5.0
    assert seed.tolist() == [1.0, 1.0]
    assert [part.tolist() for part in (g["a"], g["b"], g["c"][0], g["d"])] == [[5.0, 5.0]] * 4
    assert vjp(seed)["a"].tolist() == [1.0, 1.0]


def test_one_nested_container_for_two_items_is_not_shared():
    vjp, _ = make_vjp(lambda p: p[0] + p[1])([[1.0, X], [2.0]])
    seed = [1.0, onp.ones(2), 4.0]
    g = vjp(seed)
    g[0][1][0] = 7.0
    assert seed[1].tolist() == [1.0, 1.0]
    same = primitive(lambda p: p[0][0] + p[1][0])
    defvjp(same, lambda ans, p: lambda g: (lambda part: [part, part])([g * onp.ones(1)]))
    g = grad(lambda p: same([2.0 * X][:0] or p)[0])([[onp.ones(1)], [onp.ones(1)]])
    assert [part[0].tolist() for part in g] == [[1.0], [1.0]]


def test_items_and_the_container_as_a_whole_add_up():
    @primitive
    def total(p):
        return np.sum(p["a"]) * p["b"]

    defvjp(total, lambda ans, p: lambda g: {"a": g * p["b"] * onp.ones(2), "b": g * np.sum(p["a"])})
    value = {"a": X, "b": 5.0}
    before_and_after = [
        lambda p: np.sum(p["a"]) * p["b"] + total(p),
        lambda p: total(p) + np.sum(p["a"]) * p["b"],
        lambda p: total(p) * 0.5 + np.sum(p["a"]) * p["b"] + total(p) * 0.5,
        lambda p: np.sum(p["a"]) * p["b"] + np.sum(copy.copy(p)["a"]) * copy.copy(p)["b"],
    ]
    for f in before_and_after:
        g = grad(f)(value)
        assert (g["a"].tolist(), g["b"]) == ([10.0, 10.0], 6.0)
        assert grad(lambda p, f=f: grad(f)(p)["b"])(value)["a"].tolist() == [2.0, 2.0]


def test_items_and_slices_add_up():
    f = lambda p: p[0] * p[1] + p[0:2][1] * 3.0 + p[0] + sum(p[::-1])  # noqa: E731
    assert grad(f)([2.0, 3.0, 4.0]) == [5.0, 6.0, 1.0]
    assert grad(lambda p: grad(f)(p)[1] ** 2)([2.0, 3.0, 4.0]) == [12.0, 0.0, 0.0]


def test_a_cotangent_of_another_shape_is_an_error():
    @primitive
    def total(x):
        return onp.sum(x)

    defvjp(total, lambda ans, x: lambda g: 1.0)
    with pytest.raises(ValueError, match="VJP of total"):
        grad(lambda p: total(p[0]))([X, 1.0])


def test_a_list_that_shrank_is_an_error():
    values = [1.0, 2.0]
    make, _ = make_vjp(lambda p: (p[0], values.append(3.0), p[2] * 2.0)[2])(values)
    with pytest.raises(RuntimeError, match="changed after items of it"):
        make(1.0)


def test_nothing_outlives_the_gradient():
    made = []

    def f(p):
        made.extend(weakref.ref(box._node) for box in (p, p["a"], p["c"], p["c"][0]))
        out = p["a"] * p["c"][0]
        made.append(weakref.ref(out._node))
        return np.sum(out)

    gc.collect()
    gc.disable()
    try:
        value = {"a": onp.ones(3), "c": (onp.ones(3), 1.0)}
        g = grad(f)(value)
        again = grad(lambda p: np.sum(grad(f)(p)["a"]))(value)
        gone = weakref.ref(g["a"])
        held = weakref.ref(value["a"])
        del g, again, value
        assert [ref for ref in (*made, gone, held) if ref() is not None] == []
    finally:
        gc.enable()


def test_one_item_in_two_nested_gradients():
    def f(p):
        inner = grad(lambda q: q["a"] ** 2 * p["a"] + q["b"])(p)
        return inner["a"] * p["b"]

    assert grad(f)({"a": 3.0, "b": 5.0}) == {"a": 60.0, "b": 18.0}
    forward_over = lambda v: make_jvp(lambda p: grad(lambda q: q["a"] ** 3 * q["b"])(p)["a"])(v)  # noqa: E731
    value, tangent = forward_over({"a": 2.0, "b": 5.0})({"a": 1.0, "b": 0.0})
    assert (value, tangent) == (60.0, 60.0)
    push = make_jvp(lambda p: p["a"] ** 2 * p["b"])
    assert grad(lambda x: push({"a": x, "b": 3.0})({"a": 1.0, "b": 0.0})[1])(2.0) == 6.0


def test_threads_may_take_items_of_one_container():
    def f(p):
        with ThreadPoolExecutor(4) as pool:
            taken = list(pool.map(lambda i: p["x"][i % 5] * p["y"], range(200)))
        return sum(taken)

    g = grad(f)({"x": [1.0, 2.0, 3.0, 4.0, 5.0], "y": 2.0})
    assert g == {"x": [80.0] * 5, "y": 600.0}


def test_named_tuples_and_several_arguments():
    a = onp.array([[2.0, 0.3], [0.3, 1.0]])
    result = grad(lambda a: (lambda r: r.eigenvalues[0] * r[0][1] + np.sum(r.eigenvectors[0] ** 2))(np.linalg.eigh(a)))
    onp.testing.assert_allclose(onp.sum(result(a) * onp.eye(2)), 3.0, rtol=1e-10)
    g = grad(lambda x, y, z: np.sum(x * y) + z, (0, 2, 1))(X, 2.0 * X, 1.0)
    assert type(g) is tuple
    assert (g[0].tolist(), g[1], g[2].tolist()) == ([2.0, 4.0], 1.0, [1.0, 2.0])
    (g, aux) = grad_and_aux(lambda p: (p["a"] * p["b"], p["a"]))({"a": 2.0, "b": 3.0})
    assert (g, aux) == ({"a": 3.0, "b": 2.0}, 2.0)
    assert multigrad_dict(lambda x, *rest, k=3.0: x * rest[0] * k)(2.0, 5.0) == {"x": 15.0, "rest": (6.0,), "k": 10.0}


class Point(tuple):
    """A container of a user's, whose vector space says how to make one."""


class PointVSpace(SequenceVSpace):
    def _make(self, values):
        return Point(values)


@pytest.fixture
def point():
    SequenceBox.register(Point)
    PointVSpace.register(Point)
    yield Point((3.0, 4.0))
    del box_type_mappings[Point], VSpace.mappings[Point]


def test_a_users_container_with_a_space_of_its_own(point):
    seen = []
    g = grad(lambda p: seen.extend([p[0], p[0]]) or p[0] ** 2 * p[1])(point)
    assert seen[0] is seen[1]
    assert type(g) is Point and g == (24.0, 9.0)
    g = grad(lambda p: grad(lambda q: q[0] ** 2 * q[1])(p)[0])(point)
    assert type(g) is Point and g == (8.0, 6.0)


def test_a_graph_used_up_says_so_of_items_too():
    vjp, _ = make_vjp(lambda p: p["a"])({"a": 1.0})
    assert pull_once(vjp, 2.0) == {"a": 2.0}
    with pytest.raises(RuntimeError, match="used up"):
        vjp(2.0)


def test_the_node_of_an_item_gives_a_sparse_cotangent():
    node = boxed({"a": 1.0, "b": X})["a"]._node
    (sparse,) = node.vjp(3.0)
    assert isinstance(sparse, SparseObject)
    total = sparse.mut_add(sparse.vs.zeros())
    assert (total["a"], total["b"].tolist()) == (3.0, [0.0, 0.0])
