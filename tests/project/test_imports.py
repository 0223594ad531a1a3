"""The modules that `import fastgrad` imports, and those that wait for their first use."""

import subprocess
import sys

import numpy as onp
import pytest

import fastgrad.numpy as np


def fresh(code):
    """Return the words that ``code`` prints in a new interpreter."""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(result.stdout.split())


@pytest.fixture(scope="module")
def added():
    """Return the modules that fastgrad imports and NumPy does not."""
    return fresh("import numpy, sys; old = set(sys.modules); import fastgrad; print(*(set(sys.modules) - old))")


@pytest.mark.parametrize("name", ["scipy", "autograd", "numpy.random", "string"])
def test_the_import_leaves_slow_modules_alone(added, name):
    assert "fastgrad.numpy.linalg" in added
    assert not {module for module in added if module == name or module.startswith(f"{name}.")}


@pytest.mark.parametrize(
    "code",
    [
        "import fastgrad.numpy as np; print(np.random.__name__)",
        "from fastgrad.numpy import random; print(random.__name__)",
        "from fastgrad.numpy import *; print(random.__name__)",
        "import fastgrad.numpy.random; print(fastgrad.numpy.random.__name__)",
        "import fastgrad.numpy as np; print(*dir(np)); np.random; print(np.random.__name__)",
    ],
)
def test_random_is_there_when_it_is_asked_for(code):
    printed = fresh(code)
    assert "fastgrad.numpy.random" in printed
    assert len(printed) == 1 or "random" in printed


def test_random_numbers_are_those_of_numpy():
    np.random.seed(1)
    drawn = np.random.randn(3)
    onp.random.seed(1)
    assert drawn.tolist() == onp.random.randn(3).tolist()


def test_a_name_that_numpy_has_not_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"module 'fastgrad\.numpy' has no attribute 'no_such_name'"):
        np.no_such_name  # noqa: B018
