"""Traced values in xarray, pydantic and IPython."""

import copy
import subprocess
import sys
from typing import Annotated, Any

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad import grad, hessian, make_jvp
from fastgrad.extend import Box
from fastgrad.numpy.numpy_boxes import ArrayBox

X = onp.array([1.0, 2.0, 3.0])
C = onp.array([0.5, -1.0, 4.0])


# ------------------------------------------------------------------------------------------------------------- xarray


def in_array(data):
    xarray = pytest.importorskip("xarray")
    return xarray.DataArray(data, dims="x", coords={"x": [10, 20, 30]})


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (lambda a, x: a * x, C),
        (lambda a, x: x * a, C),
        (lambda a, x: a + x, onp.ones(3)),
        (lambda a, x: x - a, onp.ones(3)),
        (lambda a, x: a / x, -C / X**2),
        (lambda a, x: x / a, 1 / C),
        (lambda a, x: 2.0**x * a, onp.log(2) * 2**X * C),
        (lambda a, x: -((a * x) ** 2), -2 * C**2 * X),
    ],
    ids=["a*x", "x*a", "a+x", "x-a", "a/x", "x/a", "2**x*a", "-(a*x)**2"],
)
def test_xarray_beside_a_traced_array(expression, expected):
    array = in_array(C)

    def total(x):
        product = expression(array, x)
        assert type(product) is type(array) and product.dims == ("x",) and isinstance(product.data, ArrayBox)
        return np.sum(product.data)

    onp.testing.assert_allclose(grad(total)(X), expected, rtol=1e-14)
    value, tangent = make_jvp(total)(X)(onp.ones(3))
    onp.testing.assert_allclose(tangent, onp.sum(expected), rtol=1e-14)


def test_xarray_around_a_traced_array():
    def total(x):
        array = in_array(x)
        assert isinstance(array.data, ArrayBox)
        return np.sum((array * array.sel(x=20)).data) + np.sum(onp.exp(array).data)

    # d/dx of sum_i x_i x_1 + exp(x_i)
    expected = onp.full(3, X[1]) + onp.exp(X)
    expected[1] += onp.sum(X)
    onp.testing.assert_allclose(grad(total)(X), expected, rtol=1e-14)
    mixed = onp.diag(onp.exp(X))
    mixed[1, :] += 1
    mixed[:, 1] += 1
    onp.testing.assert_allclose(hessian(total)(X), mixed, rtol=1e-14)


# ----------------------------------------------------------------------------------------------------------- pydantic


def test_pydantic_takes_boxes_for_fields():
    pydantic = pytest.importorskip("pydantic")

    class Model(pydantic.BaseModel, arbitrary_types_allowed=True):
        width: ArrayBox
        anything: Any
        box: Box | float

    def area(x):
        model = Model(width=x, anything=[x, {"x": x}], box=x)
        assert model.width is x and model.box is x
        again = model.model_copy(deep=True)
        return np.sum(again.width * again.anything[1]["x"] * model.box)

    onp.testing.assert_allclose(grad(area)(X), 3 * X**2)
    assert Model.model_validate({"width": ArrayBox(X, 0, None), "anything": 0, "box": 1.0}).box == 1.0
    with pytest.raises(pydantic.ValidationError, match="instance of ArrayBox"):
        Model(width=X, anything=0, box=1.0)


def test_pydantic_schema_given_to_the_class(monkeypatch):
    pydantic = pytest.importorskip("pydantic")
    from pydantic_core import core_schema

    def schema(cls, source, handler):
        serialized = core_schema.plain_serializer_function_ser_schema(lambda box: copy.copy(box)._value.tolist())
        return core_schema.any_schema(metadata={"title": cls.__name__}, serialization=serialized)

    monkeypatch.setattr(ArrayBox, "__get_pydantic_core_schema__", classmethod(schema), raising=False)
    Traced = Annotated[ArrayBox, pydantic.BeforeValidator(lambda value: value * 2.0)]

    class Model(pydantic.BaseModel):
        width: Traced

    written = []

    def area(x):
        model = Model(width=x)
        written.append(model.model_dump_json())
        return np.sum(model.width**2)

    onp.testing.assert_allclose(grad(area)(X), 8 * X)
    assert written == ['{"width":[2.0,4.0,6.0]}']


# ------------------------------------------------------------------------------------------------------------ IPython

NOTEBOOK = """
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance(colors="NoColor")

def cell(source):
    result = shell.run_cell(source)
    assert result.success, source

cell("%load_ext fastgrad")
cell("import autograd, fastgrad; from autograd import numpy as np")
cell("assert autograd is fastgrad and np is fastgrad.numpy")
cell("slope = autograd.grad(lambda x: np.sin(x) ** 2)(0.3)")
cell("assert abs(slope - np.sin(0.6)) < 1e-15")
cell("%reload_ext fastgrad")
cell("import autograd.scipy.stats as st; assert st is fastgrad.scipy.stats")
cell("%unload_ext fastgrad")
cell("import sys; assert 'autograd' not in sys.modules")
print(shell.user_ns["slope"])
"""


def test_the_magic_of_a_notebook(tmp_path):
    pytest.importorskip("IPython")
    command = [sys.executable, "-c", NOTEBOOK]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert float(done.stdout.split()[-1]) == pytest.approx(onp.sin(0.6))
