"""Types, signatures, help and completion: what editors and type checkers show is correct."""

import importlib.util
import inspect
import os
import pydoc
import rlcompleter
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as onp
import pytest

import fastgrad
import fastgrad.numpy as np
from fastgrad import extend, grad
from fastgrad.differential_operators import make_jvp_reversemode
from fastgrad.wrap_util import unary_to_nary

TESTS = Path(__file__).resolve().parent
PACKAGE = Path(fastgrad.__file__).resolve().parent

STUBBED = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in sorted(PACKAGE.rglob("*.pyi"))
    # These stubs re-export the names of the installed NumPy and SciPy, so there is nothing to check.
    if path.relative_to(PACKAGE).parts[0] != "numpy" and path.stem not in ("linalg", "special")
]

needs_mypy = pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
needs_scipy = pytest.mark.skipif(importlib.util.find_spec("scipy") is None, reason="SciPy is not installed")

# Operators whose result takes the arguments of the function they are given.
OPERATORS = [
    getattr(fastgrad, name)
    for name in fastgrad.__all__
    if "fun" in inspect.signature(getattr(fastgrad, name)).parameters and name not in ("grad_named", "multigrad_dict")
]


def model(weights, data, *, scale=1.0):
    """The loss of a model."""
    return scale * np.sum((data @ weights) ** 2)


def run_mypy(module, *arguments, cwd):
    env = dict(os.environ)
    if PACKAGE.parent.name != "site-packages":  # mypy does not see an editable install
        env["MYPYPATH"] = str(PACKAGE.parent)
    done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True, env=env, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_mypy
def test_strict_type_check_of_what_a_user_writes(tmp_path):
    run_mypy("mypy", "--strict", "--follow-imports=silent", str(TESTS / "typing_sample.py"), cwd=tmp_path)


def test_what_a_user_writes_runs():
    runpy.run_path(str(TESTS / "typing_sample.py"), run_name="__main__")


@needs_mypy
@needs_scipy
def test_stubs_are_true(tmp_path):
    config = tmp_path / "mypy.ini"
    config.write_text("[mypy]\nignore_missing_imports = true\n")  # SciPy has no types
    allowed = str(TESTS / "stubtest_allowlist.txt")
    # stubtest would ask for a decorator on compiled classes that cannot share a subclass.
    options = ["--concise", "--ignore-disjoint-bases", "--ignore-unused-allowlist", "--allowlist", allowed]
    run_mypy("mypy.stubtest", "--mypy-config-file", str(config), *options, *STUBBED, cwd=tmp_path)


def test_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").exists()
    assert {"fastgrad._engine.core", "fastgrad._engine.backward"} <= set(STUBBED)


@pytest.mark.parametrize("name", fastgrad.__all__)
def test_public_names_have_signature_and_help(name):
    value = getattr(fastgrad, name)
    signature = inspect.signature(value)
    if name not in ("dict", "isinstance", "list", "tuple", "type"):
        assert not any("nary" in parameter for parameter in signature.parameters)
        assert value.__doc__.strip()[0].isupper()
        text = pydoc.render_doc(value)
        assert f"{value.__name__}{signature}" in pydoc.plain(text)


@pytest.mark.parametrize("name", extend.__all__)
def test_names_for_extension_have_help(name):
    assert inspect.getdoc(getattr(extend, name))


@pytest.mark.parametrize("operator", [*OPERATORS, make_jvp_reversemode], ids=lambda operator: operator.__name__)
def test_operators_take_a_function_and_an_argnum(operator):
    assert list(inspect.signature(operator).parameters)[0] == "fun"
    if operator is not fastgrad.checkpoint:
        assert inspect.signature(operator).parameters["argnum"].default == 0


@pytest.mark.parametrize("operator", [*OPERATORS, fastgrad.make_ggnvp], ids=lambda operator: operator.__name__)
def test_derived_functions_have_the_signature_of_the_function(operator):
    derived = operator(model)
    expected = inspect.signature(model)
    if operator in (fastgrad.hessian_tensor_product, fastgrad.tensor_jacobian_product):
        assert str(inspect.signature(derived)) == "(weights, data, tensor, /, *, scale=1.0)"
    else:
        assert inspect.signature(derived) == expected
    assert inspect.signature(grad(derived)) == inspect.signature(derived)


@pytest.mark.parametrize("operator", [fastgrad.multigrad_dict, lambda fun: fastgrad.grad_named(fun, "data")])
def test_operators_by_name_keep_the_signature(operator):
    assert inspect.signature(operator(model)) == inspect.signature(model)


def test_help_names_operator_function_and_argument():
    text = pydoc.plain(pydoc.render_doc(grad(model, 1)))
    assert "grad_of_model_wrt_argnum_1(weights, data, *, scale=1.0)" in text
    assert "grad of function model with respect to argument number 1" in text
    assert "The loss of a model." in text
    assert "(g, /)" in str(inspect.signature(fastgrad.make_vjp(model)(onp.ones(2), onp.eye(2))[0]))


def test_arguments_by_name_reach_a_derived_function():
    w, x = onp.array([1.0, 2.0]), onp.eye(2)
    first = fastgrad.elementwise_grad(model)
    # The signature of the inner function determines the position of the outer function's argument.
    found = fastgrad.jacobian(first, 0)(weights=w, data=x)
    onp.testing.assert_allclose(found, 2 * onp.eye(2))
    onp.testing.assert_allclose(fastgrad.grad_named(lambda a, b: a * b**2, "b")(2.0, 3.0), 12.0)


def test_functions_without_a_signature_are_taken():
    class Opaque:
        __signature__ = "no signature"

        def __call__(self, x):
            return x * x

    assert grad(Opaque())(3.0) == 6.0
    assert fastgrad.hessian_vector_product(Opaque())(3.0, 1.0) == 2.0


def test_own_operators_have_a_signature():
    @unary_to_nary
    def scaled_grad(fun, x, factor, *, shift=0.0):
        return factor * grad(fun)(x) + shift

    # `factor` has no default, so it cannot follow argnum.
    assert callable(scaled_grad)
    assert scaled_grad(lambda x: x * x, 0, 2.0, shift=1.0)(3.0) == 13.0

    @unary_to_nary
    def scaled_by_position(fun, x, factor, /):
        return factor * grad(fun)(x)

    assert scaled_by_position(lambda x: x * x, 0, 2.0)(3.0) == 12.0

    @unary_to_nary
    def shifted_grad(fun, x, shift=0.0):
        return grad(fun)(x) + shift

    assert str(inspect.signature(shifted_grad)) == "(fun, argnum=0, shift=0.0)"


def test_primitives_have_the_signature_of_their_function():
    @extend.primitive
    def cube(x, power=3):
        """The cube."""
        return x**power

    assert str(inspect.signature(cube)) == "(x, power=3)"
    assert "The cube." in pydoc.plain(pydoc.render_doc(cube))
    assert list(inspect.signature(np.tensordot).parameters) == ["a", "b", "axes"]


@pytest.mark.parametrize(
    "start, names",
    [
        ("fastgrad.", set(fastgrad.__all__)),
        ("np.", {"sin", "linalg", "random", "float64"}),
        ("extend.", set(extend.__all__)),
        ("box.", {"shape", "T", "sum", "reshape"}),
    ],
)
def test_completion(start, names):
    kept = []
    grad(lambda x: kept.append(x) or np.sum(x))(onp.ones(2))
    completer = rlcompleter.Completer({"fastgrad": fastgrad, "np": np, "extend": extend, "box": kept[0]})
    found = {name.rstrip("(").removesuffix("()") for name in completer.attr_matches(start)}
    assert {start + name for name in names} <= found
