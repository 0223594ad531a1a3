"""The names of autograd that libraries use, public or not: each test reproduces a use in released code."""

import functools
import importlib
import pathlib

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import builtins, core, grad, jacobian, make_vjp, tracer
from fastgrad.extend import defjvp, defvjp, defvjp_argnums, primitive, register_notrace
from fastgrad.numpy._namespace import expired
from fastgrad.numpy.numpy_boxes import ArrayBox

NAMES = (pathlib.Path(__file__).parent / "surface.txt").read_text().split()


def resolve(path):
    """Return the object that a dotted path below the package names."""
    parts = path.split(".")
    for i in range(len(parts), -1, -1):
        try:
            found = importlib.import_module(".".join(["fastgrad", *parts[:i]]))
        except ImportError:
            continue
        return functools.reduce(getattr, parts[i:], found)


@pytest.mark.filterwarnings("ignore:NumPy has dropped:DeprecationWarning")
@pytest.mark.parametrize("name", NAMES)
def test_the_name_is_there(name):
    expired.offer(True)
    try:
        resolve(name)  # or it is an AttributeError
    finally:
        expired.offer(False)


def test_box_classes_take_methods_and_properties(monkeypatch):
    monkeypatch.setattr(ArrayBox, "item", lambda self: self._value.item(), raising=False)
    monkeypatch.setattr(ArrayBox, "real", property(np.real))
    monkeypatch.setattr(tracer.Box, "__deepcopy__", lambda self, memo: "copied")
    seen = []

    def f(x):
        seen.append((np.sum(x).item(), type(x).__deepcopy__(x, {})))
        return np.sum(x.real)

    assert grad(f)(onp.ones(2)).tolist() == [1.0, 1.0]
    assert seen == [(2.0, "copied")]


def test_one_class_for_arrays_and_scalars():
    kinds = set()
    grad(lambda x: (kinds.add(type(x)), kinds.add(type(x[0])), np.sum(x))[-1])(onp.ones(2))
    grad(lambda x: (kinds.add(type(x)), x)[-1])(1.0)
    assert kinds == {ArrayBox}


def test_registries_hold_any_callable(monkeypatch):
    class Tensor(onp.ndarray):
        pass

    def refuse(tensor, *_):
        raise ArithmeticError("not trainable")

    monkeypatch.setitem(tracer.Box.type_mappings, Tensor, refuse)
    monkeypatch.setitem(core.VSpace.mappings, Tensor, core.VSpace.mappings[onp.ndarray])
    with pytest.raises(ArithmeticError, match="trainable"):
        grad(np.sum)(onp.ones(2).view(Tensor))
    assert core.vspace(onp.ones(2).view(Tensor)).shape == (2,)


def test_boxes_outside_a_trace_and_a_boxed_seed():
    # As in pymoo: no trace is open, and a pass runs once for each output.
    node = core.VJPNode.new_root()
    x = tracer.new_box(onp.array([1.0, 2.0]), 0, node)
    out = np.stack([x[0] * x[1], x[0] ** 3])
    rows = []
    for k in range(2):
        seed = onp.zeros(2)
        seed[k] = 1.0
        rows.append(core.backward_pass(tracer.new_box(seed, 0, core.VJPNode.new_root()), out._node)._value)
    assert onp.array(rows).tolist() == [[2.0, 1.0], [3.0, 0.0]]


def test_a_tuple_is_boxed_by_hand():
    # PennyLane finds out in this way whether a function is independent of its arguments.
    with tracer.trace_stack.new_trace() as level:
        boxed = tracer.new_box((1.0, onp.ones(2)), level, core.VJPNode.new_root())
        assert [item._trace for item in boxed] == [level, level]
        out = boxed[0] * 2.0
        assert tracer.isbox(out) and out._trace == level


def test_a_graph_is_walked_several_times():
    vjp, _ = make_vjp(lambda x: np.sin(x) * x)(onp.array([1.0, 2.0]))
    assert onp.array_equal(vjp(onp.ones(2)), vjp(onp.ones(2)))
    assert jacobian(lambda x: x * x)(onp.ones(2)).shape == (2, 2)


def test_primitives_bind_take_attributes_and_can_be_wrapped(monkeypatch):
    monkeypatch.setattr(ArrayBox, "conj", np.conj)
    assert grad(lambda x: np.sum(x.conj()))(onp.ones(2)).tolist() == [1.0, 1.0]
    wrapped = functools.wraps(np.nanmean)(lambda *args: np.nanmean(*args))
    assert wrapped.__name__ == np.nanmean.__name__ == "nanmean"
    assert not isinstance(np.sin, type) and callable(np.sin)


def test_namespaces_are_plain_modules(monkeypatch):
    monkeypatch.setattr(np, "permute_axes", np.transpose, raising=False)
    assert grad(lambda x: np.sum(np.permute_axes(x)))(onp.ones((2, 2))).shape == (2, 2)


def test_rules_of_built_in_functions_are_overridden():
    before = core.primitive_vjps[np.cbrt], core.primitive_jvps[np.cbrt]
    try:
        defvjp(np.cbrt, lambda ans, x: lambda g: 7.0 * g)
        defjvp(np.cbrt, lambda g, ans, x: 5.0 * g)
        assert grad(np.cbrt)(1.0) == 7.0
        assert core.make_jvp(np.cbrt, 1.0)(1.0)[1] == 5.0
    finally:
        core.primitive_vjps[np.cbrt], core.primitive_jvps[np.cbrt] = before
    assert abs(grad(np.cbrt)(1.0) - 1 / 3) < 1e-15


def test_rules_for_some_arguments_none_and_all_at_once():
    scale = primitive(lambda a, label, b: a * b)
    defvjp(scale, lambda ans, a, label, b: lambda g: g * b, None, argnums=(0, 2))
    assert grad(lambda a: scale(a, "label", 3.0))(2.0) == 3.0
    assert grad(lambda b: scale(2.0, "label", b))(3.0) == 0.0
    pair = primitive(lambda a, b: a * b)
    defvjp_argnums(pair, lambda argnums, ans, args, kwargs: lambda g: [g * args[1 - n] for n in argnums])
    assert grad(pair, (0, 1))(2.0, 3.0) == (3.0, 2.0)


def test_a_function_is_taken_out_of_the_trace():
    constant = primitive(lambda x: onp.full_like(x, 2.0))
    register_notrace(core.VJPNode, constant)
    assert grad(lambda x: np.sum(x * constant(x)))(onp.ones(2)).tolist() == [2.0, 2.0]


def test_traced_tuples_and_lists_are_made_and_recognised():
    def f(x):
        made = builtins.tuple([builtins.list([x, 2.0 * x]), x])
        assert builtins.isinstance(made, tuple) and builtins.isinstance(made[0], list)
        return made[0][1] * made[1]

    assert grad(f)(3.0) == 12.0


def test_users_primitives_are_handed_anything():
    pick = primitive(lambda x, tapes, **options: x[tapes["rows"]] * options["by"])
    defvjp(pick, lambda ans, x, tapes, **options: lambda g: onp.bincount(tapes["rows"], g * options["by"], len(x)))
    found = grad(lambda x: np.sum(pick(x, {"rows": [0, 0, 2]}, by=2.0)))(onp.ones(3))
    assert found.tolist() == [4.0, 0.0, 2.0]


def test_nodes_of_a_users_class_record_the_trace():
    class Names(tracer.Node):
        def __init__(self, value, fun, args, kwargs, parent_argnums, parents):
            self.names = [*parents[0].names, fun.__name__]

        def initialize_root(self):
            self.names = []

    _, node = tracer.trace(Names.new_root(), lambda x: np.exp(np.sin(x)), 0.5)
    assert node.names == ["sin", "exp"]
