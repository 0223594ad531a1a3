"""Pickling and copying: functions arrive in other processes or say why not, and copied boxes keep their trace."""

import copy
import functools
import importlib
import importlib.util
import inspect
import multiprocessing
import pickle
import pickletools
import pkgutil
import subprocess
import sys
import weakref

import numpy as onp
import pytest

import fastgrad
import fastgrad.numpy as np
from fastgrad import core, differential_operators, grad, make_jvp, make_vjp
from fastgrad._engine.core import DerivedFunction, Primitive
from fastgrad._substitute.former_paths import MOVED
from fastgrad.extend import defvjp, primitive, vspace
from fastgrad.misc.flatten import flatten, flatten_func
from fastgrad.misc.optimizers import adam, rmsprop, sgd
from fastgrad.misc.tracers import const_graph, const_graph_unary
from fastgrad.numpy.numpy_boxes import ArrayBox
from fastgrad.tracer import getval
from fastgrad.wrap_util import unary_to_nary

X = onp.array([0.3, -0.7, 1.1])
PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


def again(value, protocol=pickle.HIGHEST_PROTOCOL):
    """Return a value after pickling and unpickling it."""
    return pickle.loads(pickle.dumps(value, protocol))


def loss(x, scale=1.0):
    """Return a real number."""
    return np.sum(scale * np.sin(x) * x)


def field(x, scale=1.0):
    return scale * np.sin(x) * x


def with_aux(x):
    return loss(x), "more"


@primitive
def cube(x):
    return x**3


defvjp(cube, lambda ans, x: lambda g: 3.0 * g * x**2)


def cubes(x):
    return np.sum(cube(x))


@fastgrad.checkpoint
def remembered(x):
    """A decorated function."""
    return np.sum(np.exp(x) * x)


@grad
@fastgrad.checkpoint
def decorated_slope(x):
    return np.sum(x * x)


@unary_to_nary
def scaled_grad(fun, x, factor=1.0, *, shift=0.0):
    return factor * grad(fun)(x) + shift


class Model:
    def loss(self, x):
        return loss(x)

    slope = grad(loss, 1)


# ----------------------------------------------------------------------------------------------------------- primitives


def modules():
    """Return the names of the package's modules that can be imported here."""
    for module in pkgutil.walk_packages(fastgrad.__path__, "fastgrad."):
        if module.name.startswith("fastgrad.scipy") and importlib.util.find_spec("scipy") is None:
            continue
        if module.name not in ("fastgrad.__main__", "fastgrad.as_autograd"):
            yield module.name


@pytest.mark.parametrize("module", list(modules()))
def test_primitives_and_types_pickle_by_name(module):
    for name, value in vars(importlib.import_module(module)).items():
        if isinstance(value, Primitive) or inspect.isclass(value) and value.__module__.startswith("fastgrad"):
            for protocol in PROTOCOLS:
                assert again(value, protocol) is value, name


def test_primitives_that_are_methods_pickle_by_name():
    methods = [value for value in vars(ArrayBox).values() if isinstance(value, Primitive)]
    assert len(methods) > 10
    for method in [*methods, core.VSpace.add, core.VSpace.covector]:
        assert again(method) is method


def test_a_primitive_of_the_users_pickles_by_name():
    assert again(cube) is cube
    with pytest.raises((pickle.PicklingError, AttributeError), match="local"):
        pickle.dumps(primitive(lambda x: x))


# ------------------------------------------------------------------------------------------------------------ operators

OPERATORS = {
    name: getattr(differential_operators, name)
    for name in differential_operators.__all__
    if name not in ("make_ggnvp", "grad_named", "multigrad_dict", "grad_and_aux", "make_vjp", "make_hvp")
    and name != "hessian_vector_product"
    and name != "vector_jacobian_product"
}


def called(operator, derived, x):
    """Call the function that an operator returned, and return its result as numbers."""
    name = operator.__name__
    if name in ("hessian_tensor_product", "tensor_jacobian_product"):
        return derived(x, onp.ones(()) if name[0] == "t" else onp.ones(3))
    if name in ("make_jvp", "make_jvp_reversemode"):
        return derived(x)(onp.ones(3))
    if name == "deriv":
        return derived(x[0])
    if name == "holomorphic_grad":
        return derived(x + 0.5j)
    return derived(x)


def same(a, b):
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return onp.array_equal(a, b)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)
def test_what_an_operator_makes_pickles(operator, protocol):
    derived = operator(loss)
    back = again(derived, protocol)
    assert back is not derived and type(back) is type(derived)
    assert same(called(operator, back, X), called(operator, derived, X))
    for name in ("__name__", "__doc__", "__module__", "__qualname__"):
        assert getattr(back, name) == getattr(derived, name)
    assert inspect.signature(back) == inspect.signature(derived)
    assert again(operator) is operator


MADE = {
    "argnum": (grad(field, 1), (X[0], 2.0)),
    "argnums": (grad(loss, (0, 1)), (X, 2.0)),
    "list of argnums": (grad(loss, [1, 0]), (X, 2.0)),
    "keyword": (fastgrad.jacobian(field, argnum=0), (X, 3.0)),
    "more arguments": (scaled_grad(loss, 0, 3.0, shift=1.0), (X,)),
    "nested": (grad(grad(cubes)), (0.5,)),
    "nested with argnum": (grad(grad(field, 1), 0), (X[0], 2.0)),
    "of a partial": (grad(functools.partial(loss, scale=2.0)), (X,)),
    "of a method": (grad(Model().loss), (X,)),
    "of a primitive": (grad(cube), (2.0,)),
    "of numpy": (fastgrad.elementwise_grad(np.tanh), (X,)),
    "by name": (fastgrad.grad_named(loss, "scale"), (X, 2.0)),
    "by names": (fastgrad.multigrad_dict(loss), (X,)),
    "with auxiliary": (fastgrad.grad_and_aux(with_aux), (X,)),
    "checkpoint": (fastgrad.checkpoint(loss), (X,)),
    "grad of a checkpoint": (grad(fastgrad.checkpoint(loss)), (X,)),
    "decorated": (remembered, (X,)),
    "grad of a decorated": (grad(remembered), (X,)),
    "decorated twice": (decorated_slope, (X,)),
    "in a class": (Model.slope, (Model(), X)),
    "replayed": (const_graph(loss, scale=2.0), (X,)),
    "replayed, of one argument": (const_graph_unary(loss), (X,)),
    "of a vector": (flatten_func(loss, X)[0], (X,)),
    "pushforward": (make_jvp(loss)(X), (X,)),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("fun, args", MADE.values(), ids=MADE)
def test_made_functions_pickle(fun, args, protocol):
    back, expected = again(fun, protocol)(*args), fun(*args)
    if isinstance(expected, dict):
        assert back.keys() == expected.keys()
        back, expected = tuple(back.values()), tuple(expected.values())
    assert same(back, expected)


def test_products_that_are_made_at_a_point():
    made = again(fastgrad.make_ggnvp(field))
    onp.testing.assert_array_equal(made(X)(X), fastgrad.make_ggnvp(field)(X)(X))
    onp.testing.assert_array_equal(again(fastgrad.make_hvp(cubes))(X)[0](X), 6 * X * X)
    onp.testing.assert_array_equal(again(make_vjp(field))(X)[0](X), make_vjp(field)(X)[0](X))
    pull = make_vjp(field)(X)[0]
    with pytest.raises(TypeError, match="make_vjp in the other process"):
        pickle.dumps(pull)
    assert copy.deepcopy(pull) is pull and copy.copy(pull) is pull


def test_decorated_functions_pickle_by_name():
    assert again(remembered) is remembered
    assert again(decorated_slope) is decorated_slope


def test_a_function_that_does_not_pickle_says_so():
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(grad(lambda x: x))


def test_attributes_that_a_user_sets_arrive():
    derived = grad(loss)
    derived.note = "kept"
    derived.__name__ = "slope"
    back = again(derived)
    assert (back.note, back.__name__) == ("kept", "slope")
    assert "note" not in vars(again(grad(loss)))


@pytest.mark.parametrize("optimizer", [sgd, rmsprop, adam])
def test_optimizers_pickle_by_name(optimizer):
    assert again(optimizer) is optimizer


@pytest.mark.filterwarnings("ignore:Output seems independent")
@pytest.mark.parametrize(
    "structure", [1.5, X, [], {}, {"b": X, "a": (1.0, [2.0, onp.ones((2, 2), "f")]), "c": onp.ones(0)}, [1 + 2j, 3.0]]
)
def test_unflatten_pickles(structure):
    vector, unflatten = flatten(structure)
    back = again(unflatten)
    assert repr(back(2 * vector)) == repr(unflatten(2 * vector))
    assert unflatten.__name__ == "unflatten"
    assert again(back)(vector) is not None


# -------------------------------------------------------------------------------------------- still functions otherwise


def test_made_functions_behave_as_functions():
    slope = grad(loss)
    assert inspect.isroutine(slope) and callable(slope)
    assert copy.copy(slope) is slope and copy.deepcopy([slope])[0] is slope
    assert weakref.ref(slope)() is slope
    assert slope.__wrapped__ is loss
    assert slope.__code__ and slope.__defaults__ is None  # the attributes are those of the function inside
    assert repr(slope) == "<function grad_of_loss_wrt_argnum_0>"
    with pytest.raises(AttributeError, match="nothing"):
        slope.nothing  # noqa: B018
    slope.__doc__ = "Other."
    assert slope.__doc__ == "Other." and grad(loss).__doc__ != "Other."
    assert "an operator returned" in DerivedFunction.__doc__

    @functools.wraps(slope)
    def wrapper(x):
        return slope(x)

    assert wrapper.__name__ == "grad_of_loss_wrt_argnum_0" and wrapper.__doc__ == "Other."


def test_made_functions_bind_as_methods():
    class Bound:
        scale = 2.0

        def value(self, x):
            return self.scale * x * x

        slope = grad(value, 1)
        curvature = fastgrad.deriv(grad(value, 1), 1)

    assert Bound().slope(3.0) == 12.0 and Bound().curvature(3.0) == 4.0
    assert Bound.slope(Bound(), 3.0) == 12.0
    assert Bound.slope is Bound.__dict__["slope"]


@pytest.mark.parametrize("call", [lambda f: f(), lambda f: f(1.0, 2.0, 3.0), lambda f: f(1.0, nothing=2.0)])
def test_wrong_calls_raise_as_calls_of_the_function_do(call):
    with pytest.raises(TypeError, match="missing|positional|unexpected|takes"):
        call(grad(field))


@pytest.mark.parametrize("call", [grad(lambda x: 2.0), grad(lambda x, y: 2.0), fastgrad.hessian(lambda x: 2.0)])
def test_warnings_name_the_line_of_the_user(call):
    args = (1.0,) * len(inspect.signature(call).parameters)
    with pytest.warns(UserWarning, match="independent") as seen:
        call(*args)
    assert {warning.filename for warning in seen} == {__file__}
    with pytest.warns(UserWarning, match="not complex") as seen:
        fastgrad.holomorphic_grad(np.sin)(1.0)
    assert {warning.filename for warning in seen} == {__file__}


def test_a_made_function_in_a_cycle_is_collected():
    import gc

    def f(x):
        return x

    f.slope = grad(f)
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None


# ------------------------------------------------------------------------------------------------------ other processes


def test_spawned_processes():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        rows = [X, 2 * X]
        onp.testing.assert_array_equal(pool.map(grad(loss), rows), [grad(loss)(x) for x in rows])
        assert pool.map(grad(grad(cubes)), [0.5]) == [3.0]
        onp.testing.assert_array_equal(pool.map(decorated_slope, rows), 2 * onp.array(rows))
        onp.testing.assert_array_equal(pool.map(functools.partial(grad(loss), scale=2.0), [X])[0], grad(loss)(X, 2.0))
        with pytest.raises(TypeError, match="differentiate in the other process"):
            grad(lambda x: pool.apply(loss, (x,)))(X)


def test_joblib():
    joblib = pytest.importorskip("joblib")

    def local(x):
        return loss(x) ** 2

    rows = [X, 2 * X]
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(grad(local))(x) for x in rows)
    onp.testing.assert_array_equal(found, [grad(local)(x) for x in rows])


def test_dask():
    dask = pytest.importorskip("dask")

    def local(x):
        return loss(x) ** 2

    rows = [X, 2 * X]
    found = dask.compute(*(dask.delayed(grad(local))(x) for x in rows), scheduler="processes", num_workers=1)
    onp.testing.assert_array_equal(found, [grad(local)(x) for x in rows])


def test_cloudpickle_sends_functions_along():
    cloudpickle = pytest.importorskip("cloudpickle")
    slope = grad(lambda x: np.sum(x * x))
    onp.testing.assert_array_equal(pickle.loads(cloudpickle.dumps(slope))(X), 2 * X)


def test_a_decorated_function_of_main_goes_along_by_value():
    pytest.importorskip("cloudpickle")
    code = """
import pickle, fastgrad
import cloudpickle
@fastgrad.checkpoint
def layer(x): return x * x
def loss(x): return layer(x) * x
text = cloudpickle.dumps(fastgrad.grad(loss))
del layer, loss
print(pickle.loads(text)(2.0))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "12.0\n", run.stderr


# ----------------------------------------------------------------------------------------------------- boxes and copies


@pytest.mark.parametrize("x", [1.5, X, (X, 1.0), [X], {"a": X}], ids=lambda x: type(x).__name__)
def test_a_traced_value_does_not_pickle(x):
    kept = []
    core.make_vjp(lambda x: (kept.append(x), x)[1], x)
    for protocol in PROTOCOLS:
        with pytest.raises(TypeError, match=r"traced value \(\w+Box\) cannot be pickled.*getval.*other process"):
            pickle.dumps(kept[0], protocol)
    with pytest.raises(TypeError, match="traced value"):
        pickle.dumps({"deep": [kept[0]]})
    assert repr(again(getval(kept[0]))) == repr(x)


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_a_node_does_not_pickle(mode):
    kept = []
    (grad if mode == "reverse" else fastgrad.deriv)(lambda x: (kept.append(np.sin(x)), kept[0])[1])(1.0)
    for refused in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="JPNode|VJPNode|JVPNode.*cannot be pickled or copied.*differentiate there"):
            refused(kept[0]._node)


COPIES = [copy.copy, copy.deepcopy, lambda x: copy.deepcopy([x])[0], lambda x: copy.deepcopy({"a": (x,)})["a"][0]]


@pytest.mark.parametrize("copied", COPIES)
def test_a_copy_keeps_the_trace(copied):
    def f(x):
        return np.sum(np.sin(copied(x)) * copied(x * x))

    expected = grad(lambda x: np.sum(np.sin(x) * x * x))(X)
    onp.testing.assert_allclose(grad(f)(X), expected, rtol=1e-14)
    onp.testing.assert_allclose(make_jvp(f)(X)(X)[1], expected @ X, rtol=1e-14)
    assert grad(grad(lambda x: copied(x) ** 3))(2.0) == 12.0


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("container", [lambda x: (x, 1.0), lambda x: [2.0, x], lambda x: {"a": x}], ids="tld")
def test_a_copy_of_a_traced_container_keeps_the_trace(container, copied):
    key = {tuple: 0, list: 1, dict: "a"}[type(container(X))]
    found = grad(lambda c: np.sum(copied(c)[key] ** 2) + np.sum(c[key]))(container(X))
    onp.testing.assert_allclose(found[key], 2 * X + 1)
    # A container that is assembled while it is traced.
    found = grad(lambda x: np.sum(copied(container(x * x))[key] * x))(X)
    onp.testing.assert_allclose(found, 3 * X**2, rtol=1e-14)


@pytest.mark.parametrize(
    "value",
    [1.0, 2j, onp.ones((2, 3), order="F"), onp.ones(3, onp.float32), [1.0, (onp.ones(2), {"a": 1j})]],
    ids=["float", "complex", "matrix", "single", "nested"],
)
def test_vector_spaces(value):
    space = vspace(value)
    for again in (pickle.loads(pickle.dumps(space)), copy.deepcopy(space)):
        assert again == space and type(again) is type(space)
        assert getattr(again, "layout", None) == getattr(space, "layout", None)


# ------------------------------------------------------------------------------------- pickles of before modules moved

# What such pickles hold, by the path that they look it up at.
FORMER = {
    b"cfastgrad._backward\nadd_outgrads\n.": "fastgrad.core.add_outgrads",
    b"cfastgrad._backward\nmake_vjp\n.": "fastgrad.core.make_vjp",
    b"cfastgrad._backward\ntoposort\n.": "fastgrad.util.toposort",
    b"cfastgrad._core\nPrimitive\n.": "fastgrad.tracer.Primitive",
    b"cfastgrad._core\ngetval\n.": "fastgrad.tracer.getval",
    b"cfastgrad._core\nvspace\n.": "fastgrad.core.vspace",
    b"cfastgrad._debug\ndebug\n.": "fastgrad.debug",
    b"cfastgrad._jacobians\nby_rows\n.": "fastgrad._jacobians.jacobians.by_rows",
    b"cfastgrad._mistakes\nadvice\n.": "fastgrad._diagnostics.messages.advice",
    b"cfastgrad._mistakes\ncotangent_of_rule\n.": "fastgrad.numpy.fitting.cotangent_of_rule",
    b"cfastgrad._registries\nPrimitiveVJPs\n.": "fastgrad._rules.registries.PrimitiveVJPs",
    b"cfastgrad._rules\ndef_direct\n.": "fastgrad._rules.direct.def_direct",
    b"cfastgrad._substitute\ninstall_as_autograd\n.": "fastgrad.install_as_autograd",
    b"cfastgrad._user_code\nwarn\n.": "fastgrad._diagnostics.user_code.warn",
    b"cfastgrad.differential_operators\nggnvp_maker\n.": "fastgrad._operators.products.ggnvp_maker",
    b"cfastgrad.numpy.assembling\narray\n.": "fastgrad.numpy.array",
    b"cfastgrad.numpy.assembling\nconcatenate\n.": "fastgrad.numpy.concatenate",
    b"cfastgrad.numpy.assembling\nselect\n.": "fastgrad.numpy.select",
    b"cfastgrad.numpy.assembling\nwhere\n.": "fastgrad.numpy.where",
    b"cfastgrad.numpy.wrapping\nwrap_namespace\n.": "fastgrad.numpy.numpy_wrapper.wrap_namespace",
    b"cfastgrad.scipy.stats.location_scale\nFamily\n.": "fastgrad.scipy.rules.location_scale.Family",
}


@pytest.mark.parametrize("former, present", FORMER.items(), ids=FORMER.values())
def test_former_paths_in_pickles(former, present):
    if b"scipy" in former:
        pytest.importorskip("scipy")
    assert pickle.loads(former) is pkgutil.resolve_name(present)


def test_former_pickle_of_a_derived_function():
    slope = pickle.loads(
        b"cfastgrad._core\nmake_function\n(cfastgrad.differential_operators\ngrad\n(cfastgrad.numpy\nsin\nt}tR."
    )
    assert slope(0.5) == grad(np.sin)(0.5)


def test_former_pickle_of_a_vector_space():
    space = pickle.loads(
        b"cfastgrad._core\nspace_of\n(cfastgrad.numpy.numpy_vspaces\nArrayVSpace\n(I3\ntcnumpy\ndtype\n(S'f4'\ntRS'C'\ntR."
    )
    assert space == vspace(onp.ones(3, onp.float32))


@pytest.mark.parametrize("path", MOVED)
def test_former_paths_can_be_imported(path):
    if "scipy" in path:
        pytest.importorskip("scipy")
    assert importlib.import_module(path).__name__ == path


def test_a_path_that_never_was_is_not_found():
    with pytest.raises(ModuleNotFoundError, match="fastgrad._nothing"):
        importlib.import_module("fastgrad._nothing")


@pytest.mark.parametrize(
    "value",
    [
        *(operator(loss) for operator in OPERATORS.values()),
        fastgrad.make_ggnvp(field),
        remembered,
        vspace({"a": X}),
        getval,
    ]
    + [core.make_vjp, core.vspace, core.JVPNode, np.sin],
)
def test_new_pickles_refer_to_public_paths(value):
    opcodes = pickletools.genops(pickle.dumps(value, 2))
    paths = [argument for opcode, argument, _ in opcodes if opcode.name == "GLOBAL"]
    assert paths and not [path for path in paths if "._" in path.split(" ")[0].removeprefix("numpy._core")]
