"""Paths of calls: the table in `values/dispatch.pxi` is true; values, warnings and errors are NumPy's on any path."""

import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as onp
import pytest

import fastgrad.numpy as np
from fastgrad._engine.core import inner_loop_dtypes
from fastgrad.paths import COLUMNS, path_of

# --------------------------------------------------------------------------------------------------- the table of paths

SOURCE = Path(__file__).parents[2] / "src" / "fastgrad" / "_engine" / "values" / "dispatch.pxi"


def table():
    """Return the rows of the table: a call and its path."""
    if not SOURCE.exists():
        return []
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("# call  "))
    rows = []
    for line in lines[start + 1 :]:
        if line == "#":
            break
        call, *path = re.split(r"  +", line.removeprefix("# "))
        rows.append((call, dict(zip(COLUMNS, path, strict=True))))
    return rows


@pytest.mark.skipif(not SOURCE.exists(), reason="the sources are not here")
def test_the_table_has_rows():
    assert len(table()) >= 10


@pytest.mark.skipif(not inner_loop_dtypes(np.sin), reason="NumPy's inner loops are switched off or were not found")
@pytest.mark.parametrize(("call", "path"), table(), ids=[call for call, _ in table()])
def test_a_call_takes_the_path_of_its_row(call, path):
    assert path_of(call) == path


@pytest.mark.parametrize("expression", ["np.sin(M)", "np.sin(B) * b"])
def test_other_than_one_traced_value_is_refused(expression):
    with pytest.raises(ValueError, match="exactly one of the traced values"):
        path_of(expression)


def test_more_than_one_call_is_refused():
    with pytest.raises(ValueError, match="more than one traced call"):
        path_of("np.sin(np.cos(B))")


def test_the_command_prints_the_path():
    done = subprocess.run(
        [sys.executable, "-m", "fastgrad.paths", "np.sum(B, axis=0)"], capture_output=True, text=True, check=True
    )
    assert "shortcut past NumPy's wrapper" in done.stdout
    assert subprocess.run([sys.executable, "-m", "fastgrad.paths"], capture_output=True).returncode == 2


# ------------------------------------------------------------------------------------------------------------- products

X = onp.linspace(0.1, 1.9, 7)


def shown(fun, *args):
    """Return the value of a call or the text of its error, and the warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            value = fun(*args)
        except FloatingPointError as error:
            value = str(error)
    return value, sorted({str(w.message) for w in seen})


@pytest.mark.parametrize(
    "a, b",
    [
        (onp.full(3, 1e200), onp.full(3, 1e200)),
        (onp.full((3, 4), 1e200), onp.full(4, 1e200)),
        (onp.array([[onp.inf, 1.0, -onp.inf, 3.0]]), onp.ones((4, 1))),
        (onp.full((3, 4), 1e38, "f4"), onp.full((4, 5), 10, "f4")),
        (onp.array([1e200j, 1.0, 2.0]), onp.array([1e200j, 1.0, 2.0])),
        (onp.ones((3, 4)), onp.ones((4, 2))),
    ],
)
@pytest.mark.parametrize("name", ["dot", "matmul"])
@pytest.mark.parametrize("err", ["warn", "raise"])
def test_products_warn_as_numpy_does(name, a, b, err):
    with onp.errstate(all=err):
        found, wanted = shown(getattr(np, name), a, b), shown(getattr(onp, name), a, b)
    assert found[1] == wanted[1]
    if isinstance(wanted[0], str) or isinstance(found[0], str):
        assert found[0] == wanted[0]
    else:
        onp.testing.assert_array_equal(found[0], wanted[0])


def test_the_product_of_single_elements_has_numpys_sign():
    a, b = onp.array([-0.0]), onp.array([2.0])
    assert onp.signbit(np.matmul(a, b)) == onp.signbit(onp.matmul(a, b))


def test_complex_outer_products_by_matmul_are_numpys():
    rng = onp.random.default_rng(0)
    for n in range(1, 9):
        a, b = (rng.normal(size=shape) + 1j * rng.normal(size=shape) for shape in ((n, 1), (1, 9 - n)))
        assert np.matmul(a, b).tobytes() == onp.matmul(a, b).tobytes()


# ------------------------------------------------------------------------------------------------------------ shortcuts


@pytest.mark.parametrize(
    "name, args, keywords",
    [
        ("clip", (X, 1), {}),
        ("sum", (X,), {"keepdims": None}),
        ("sum", (X,), {"keepdims": "x"}),
        ("mean", (X,), {"keepdims": None}),
        ("sum", (X, 1), {}),
        ("sum", (X[None], (0, 0)), {}),
        ("sum", (X,), {"axis": 0.0}),
        ("mean", (X, 3), {}),
        ("max", (X[:0],), {}),
        ("squeeze", (X, 0), {}),
        ("expand_dims", (X, 7), {}),
        ("take", (X, [99]), {}),
        ("ravel", (X, "Z"), {}),
        ("argmax", (X[:0],), {}),
        ("cumsum", (X, 1), {}),
        ("transpose", (X, (1, 0)), {}),
    ],
)
def test_wrong_calls_are_refused_as_by_numpy(name, args, keywords):
    with pytest.raises(Exception) as wanted:  # noqa: PT011
        getattr(onp, name)(*args, **keywords)
    with pytest.raises(wanted.type):
        getattr(np, name)(*args, **keywords)
