"""The tools of ``fastgrad.misc``: flattening, replayed and full graphs, optimizers and fixed points."""

import gc
import weakref
from functools import partial

import numpy as onp
import pytest

import fastgrad.builtins as ab
import fastgrad.numpy as np
from fastgrad import deriv, grad, hessian, jacobian, make_jvp
from fastgrad.misc import const_graph, flatten, optimizers, tracers
from fastgrad.misc.fixed_points import fixed_point
from fastgrad.misc.flatten import flatten_func
from fastgrad.misc.tracers import ConstGraphNode, FullGraphNode, const_graph_unary, full_graph
from fastgrad.test_util import check_grads


def same_structure(x, y):
    if isinstance(x, dict):
        return type(x) is type(y) and x.keys() == y.keys() and all(same_structure(x[k], y[k]) for k in x)
    if isinstance(x, (list, tuple)):
        return type(x) is type(y) and len(x) == len(y) and all(map(same_structure, x, y))
    return onp.shape(x) == onp.shape(y) and onp.array_equal(x, y)


# ----------------------------------------------------------------------------------------------------------- flattening


@pytest.mark.parametrize(
    "structure",
    [
        {"b": 1.0, "a": onp.ones(2)},
        {2: 1.0, 10: 2.0, 1: 3.0},
        {"a": [], "b": {}, "c": (), "d": 1.0},
        [onp.ones((0, 3)), 1.0],
        [1.0, onp.array([1 + 2j])],
        onp.arange(6.0).reshape(2, 3).T,
        [(1.0, {"k": onp.ones((1, 2))}), 3.0],
        2.0,
    ],
    ids=str,
)
def test_unflatten_undoes_flatten(structure):
    vector, unflatten = flatten(structure)
    assert vector.ndim == 1
    assert same_structure(unflatten(vector), structure)


def test_dicts_are_flattened_in_the_order_of_their_keys():
    assert onp.array_equal(flatten({"b": [1.0, 2.0], "a": 3.0})[0], [3.0, 1.0, 2.0])


@pytest.mark.parametrize(
    "structure",
    [
        {"b": 1.0, "a": onp.ones(2)},
        {2: 1.0, 10: 2.0},
        [onp.ones(2, "f"), 1.0],
    ],
    ids=str,
)
def test_flatten_is_autograds(structure):
    oracle = pytest.importorskip("autograd.misc", reason="the comparison needs autograd itself")
    (vector, unflatten), (theirs, their_unflatten) = flatten(structure), oracle.flatten(structure)
    assert vector.dtype == theirs.dtype and onp.array_equal(vector, theirs)
    assert same_structure(unflatten(2.0 * vector), their_unflatten(2.0 * theirs))


def test_dicts_whose_keys_have_no_order_are_flattened():
    vector, unflatten = flatten({"b": 1.0, 1: 2.0})
    assert sorted(vector) == [1.0, 2.0]
    assert unflatten(vector) == {"b": 1.0, 1: 2.0}


@pytest.mark.filterwarnings("ignore:Output seems independent of input")
def test_empty_containers():
    for empty in ([], {}, ()):
        vector, unflatten = flatten(empty)
        assert vector.shape == (0,)
        assert same_structure(unflatten(vector), empty)


def test_flatten_and_unflatten_are_differentiated():
    x = onp.arange(3.0)
    _, unflatten = flatten({"a": 0.5, "b": onp.ones(2)})

    def f(x):
        parameters = unflatten(x)
        return parameters["a"] * np.sum(flatten(parameters)[0] ** 2)

    check_grads(f)(x)


def test_flat_functions():
    example = {"b": 2.0, "a": onp.ones(2)}
    flat, unflatten, vector = flatten_func(lambda p, c: {"y": c * p["a"] ** 2, "x": p["b"]}, example)
    assert onp.array_equal(vector, [1.0, 1.0, 2.0])
    assert onp.array_equal(flat(vector, 3.0), [2.0, 3.0, 3.0])
    assert same_structure(unflatten(vector), example)


# ------------------------------------------------------------------------------------------------------ replayed graphs


def test_a_constant_graph_runs_its_function_once():
    calls = []

    def f(x, y):
        calls.append((x, y))
        return np.sin(x) * y + 2.0

    replayed = const_graph(f)
    for x, y in [(1.0, 2.0), (2.0, 3.0), (onp.ones(3), 2.0)]:
        assert onp.array_equal(replayed(x, y), onp.sin(x) * y + 2.0)
    assert grad(replayed, 0)(2.0, 3.0) == 3.0 * onp.cos(2.0)
    assert grad(replayed, 1)(2.0, 3.0) == onp.sin(2.0)
    assert len(calls) == 1
    assert replayed.__name__ == "f"


def test_constant_first_arguments_and_keywords():
    replayed = const_graph(lambda a, x, b: a * np.sin(x) + b, 2.0, b=0.5)
    assert replayed(1.0) == 2.0 * onp.sin(1.0) + 0.5
    assert replayed(2.0) == 2.0 * onp.sin(2.0) + 0.5


def test_a_graph_recorded_under_a_derivative():
    replayed = const_graph_unary(lambda x: np.sum(x**3))
    assert onp.array_equal(grad(replayed)(onp.arange(3.0)), [0.0, 3.0, 12.0])
    assert replayed(onp.ones(2)) == 2.0
    assert onp.array_equal(hessian(replayed)(onp.ones(2)), 6.0 * onp.eye(2))
    assert deriv(replayed)(2.0) == 12.0


def test_a_value_used_twice_by_one_call():
    replayed = const_graph_unary(lambda x: np.sin(x) * np.sin(x) + x * x)
    assert [replayed(x) for x in (1.0, 2.0)] == [onp.sin(x) ** 2 + x * x for x in (1.0, 2.0)]


def test_containers_go_through_a_constant_graph():
    replayed = const_graph(lambda d, x: ab.tuple((d["a"] * x, d["b"])))
    replayed({"a": 1.0, "b": 2.0}, 1.0)
    assert replayed({"a": 3.0, "b": 4.0}, 2.0) == (6.0, 4.0)
    assert grad(lambda d: replayed(d, 2.0)[0])({"a": 3.0, "b": 4.0}) == {"a": 2.0, "b": 0.0}


def test_the_identity_is_replayed():
    replayed = const_graph_unary(lambda x: x)
    assert [replayed(x) for x in (1.0, 2.0)] == [1.0, 2.0]


def test_a_list_of_traced_values_is_replayed():
    replayed = const_graph_unary(lambda x: [np.sin(x), x])
    for x in (1.0, 2.0):
        assert replayed(x) == [onp.sin(x), x]


@pytest.mark.filterwarnings("ignore:Output seems independent of input")
def test_a_graph_needs_an_output_that_depends_on_the_input():
    replayed = const_graph_unary(lambda x: onp.pi)
    for _ in range(2):
        with pytest.raises(ValueError, match="Output is independent of input"):
            replayed(1.0)


def test_a_failed_recording_is_tried_again():
    errors = [ValueError("no data yet")]

    def f(x):
        if errors:
            raise errors.pop()
        return 2.0 * x

    replayed = const_graph_unary(f)
    with pytest.raises(ValueError, match="no data yet"):
        replayed(1.0)
    assert [replayed(1.0), replayed(3.0)] == [2.0, 6.0]


def test_a_constant_graph_keeps_no_value_alive():
    class Array(onp.ndarray):
        pass

    seen = []

    def f(x):
        y = np.sin(x)
        seen.append(weakref.ref(y._value))
        return np.sum(y)

    replayed = const_graph_unary(f)
    replayed(onp.ones(3))
    gc.collect()
    assert seen[0]() is None
    assert ConstGraphNode.new_root().parents == []


# ---------------------------------------------------------------------------------------------------------- full graphs


def test_a_full_graph_tells_how_each_value_was_made():
    end = full_graph(lambda x, y: np.sin(x) + y, 1.0, 2.0)
    assert isinstance(end, FullGraphNode)
    assert end.value == onp.sin(1.0) + 2.0
    fun, args, kwargs, sources = end.recipe
    assert (fun, args, kwargs) == (np.add, (onp.sin(1.0), 2.0), {})
    assert [(argnum, node.value) for argnum, node in sources] == [(0, onp.sin(1.0)), (1, 2.0)]
    sine = sources[0][1]
    assert sine.recipe[0] is np.sin and sine.recipe[1] == (1.0,)
    assert end.parents == [node for _, node in sources]


def test_keywords_of_a_full_graph_are_constant():
    end = full_graph(lambda x, y: x * y, 3.0, y=2.0)
    assert end.value == 6.0 and [argnum for argnum, _ in end.recipe[3]] == [0]


def test_the_root_of_a_full_graph():
    root = FullGraphNode.new_root()
    fun, *rest = root.recipe
    assert root.value is None and fun(5.0) == 5.0 and rest == [(), {}, []]


def test_the_names_of_misc():
    assert tracers.const_graph is const_graph


# ----------------------------------------------------------------------------------------------------------- optimizers

PARAMETERS = {"w": [onp.array([1.0, -2.0]), 0.5], "b": (onp.ones((2, 2)),)}


def quadratic(p, i):
    return np.sum((p["w"][0] - 1.0) ** 2) + (p["w"][1] + i / 50) ** 2 + np.sum(p["b"][0] ** 2 * onp.array([1.0, 10.0]))


@pytest.mark.parametrize("name", ["sgd", "rmsprop", "adam"])
@pytest.mark.parametrize("options", [{}, {"num_iters": 7, "step_size": 0.03}])
def test_optimizers_take_autograds_steps(name, options):
    oracle = pytest.importorskip("autograd.misc.optimizers", reason="the comparison needs autograd itself")
    ours = getattr(optimizers, name)(grad(quadratic), PARAMETERS, **options)
    theirs = getattr(oracle, name)(grad(quadratic), PARAMETERS, **options)
    vector, _ = flatten(ours)
    assert onp.allclose(vector, flatten(theirs)[0], rtol=1e-13, atol=1e-15)
    assert not onp.allclose(vector, flatten(PARAMETERS)[0])
    assert same_structure(optimizers.sgd(grad(quadratic), PARAMETERS, num_iters=0), PARAMETERS)


@pytest.mark.parametrize(
    "name, options",
    [("sgd", {"mass": 0.5}), ("rmsprop", {"gamma": 0.5, "eps": 1e-2}), ("adam", {"b1": 0.5, "b2": 0.7, "eps": 1e-2})],
)
def test_options_of_optimizers(name, options):
    oracle = pytest.importorskip("autograd.misc.optimizers", reason="the comparison needs autograd itself")
    ours = getattr(optimizers, name)(grad(quadratic), PARAMETERS, None, 5, 0.1, *options.values())
    theirs = getattr(oracle, name)(grad(quadratic), PARAMETERS, None, 5, 0.1, **options)
    default = getattr(oracle, name)(grad(quadratic), PARAMETERS, None, 5, 0.1)
    assert onp.allclose(flatten(ours)[0], flatten(theirs)[0], rtol=1e-13, atol=1e-15)
    assert not onp.allclose(flatten(ours)[0], flatten(default)[0])


@pytest.mark.parametrize("name", ["sgd", "rmsprop", "adam"])
def test_optimizers_reach_the_minimum(name):
    options = {"num_iters": 4000, "step_size": {"sgd": 0.1, "rmsprop": 0.001, "adam": 0.01}[name]}
    x = getattr(optimizers, name)(lambda x, i: 2.0 * (x - onp.array([1.0, 2.0])), onp.zeros(2), **options)
    assert onp.allclose(x, [1.0, 2.0], atol=2e-3)


@pytest.mark.parametrize("name", ["sgd", "rmsprop", "adam"])
def test_callbacks_see_the_point_before_each_step_and_its_gradient(name):
    seen = []
    optimizers.__dict__[name](grad(quadratic), PARAMETERS, callback=lambda p, i, g: seen.append((i, p, g)), num_iters=3)
    assert [i for i, _, _ in seen] == [0, 1, 2]
    assert same_structure(seen[0][1], PARAMETERS)
    for i, p, g in seen:
        assert same_structure(g, grad(quadratic)(p, i))


# --------------------------------------------------------------------------------------------------------- fixed points


def newton_map(a):
    return lambda x: 0.5 * (x + a / x)


def distance(x, y):
    return np.max(np.abs(x - y))


def square_root(a, x0=1.0):
    return fixed_point(newton_map, a, x0, distance, 1e-13)


def test_a_fixed_point_and_its_derivatives():
    assert square_root(2.0) == pytest.approx(2.0**0.5, rel=1e-15)
    assert grad(square_root)(2.0) == pytest.approx(0.5 * 2.0**-0.5, rel=1e-12)
    assert deriv(square_root)(2.0) == pytest.approx(0.5 * 2.0**-0.5, rel=1e-12)
    for outer in (grad, deriv):
        for inner in (grad, deriv):
            assert outer(inner(square_root))(2.0) == pytest.approx(-0.25 * 2.0**-1.5, rel=1e-10)


def test_the_start_does_not_matter():
    assert grad(square_root, 1)(2.0, 1.5) == 0.0
    assert make_jvp(square_root, 1)(2.0, 1.5)(1.0)[1] == 0.0


def linear_map(parameters):
    matrix, shift = parameters
    return lambda x: np.dot(np.tanh(matrix), x) + shift


def test_fixed_points_of_vectors_that_depend_on_containers():
    matrix, shift = 0.2 * onp.random.randn(3, 3), onp.random.randn(3)

    def iterated(matrix, shift):
        return fixed_point(linear_map, ab.tuple((matrix, shift)), onp.zeros(3), distance, 1e-14)

    def solved(matrix, shift):
        x = onp.zeros(3)
        for _ in range(80):
            x = np.dot(np.tanh(matrix), x) + shift
        return x

    assert onp.allclose(iterated(matrix, shift), solved(matrix, shift), rtol=1e-12)
    for argnum in (0, 1):
        assert onp.allclose(jacobian(iterated, argnum)(matrix, shift), jacobian(solved, argnum)(matrix, shift))
    check_grads(iterated, (0, 1))(matrix, shift)


def test_a_fixed_point_that_is_a_container():
    def step(a, point):
        x, y = point
        return ab.tuple((0.5 * np.cos(y) * a, 0.3 * x + a))

    def between(p, q):
        return abs(p[0] - q[0]) + abs(p[1] - q[1])

    def f(a):
        x, y = fixed_point(lambda a: partial(step, a), a, (0.0, 0.0), between, 1e-14)
        return x * y

    for a in (0.3, 0.7):
        assert grad(f)(a) == pytest.approx((f(a + 1e-6) - f(a - 1e-6)) / 2e-6, rel=1e-7)
        assert deriv(f)(a) == pytest.approx(grad(f)(a), rel=1e-11)
