"""The modules of fastgrad.scipy: names, rules and imports."""

import importlib
import inspect
import pickle
import subprocess
import sys
import types

import pytest
import table

from fastgrad.core import primitive_jvps, primitive_vjps
from fastgrad.scipy import integrate, linalg, signal, special
from fastgrad.scipy.stats import norm, poisson

DISTRIBUTIONS = ("beta", "chi2", "dirichlet", "gamma", "multivariate_normal", "norm", "poisson", "t")
MODULES = ("special", "linalg", "signal", "integrate", *[f"stats.{name}" for name in DISTRIBUTIONS])


def test_fastgrad_alone_does_not_import_scipy():
    code = "import fastgrad, sys; import fastgrad.numpy; assert 'scipy' not in sys.modules"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_without_scipy_the_error_says_what_to_install():
    code = "import sys; sys.modules['scipy'] = None; import fastgrad.scipy.stats"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'fastgrad[scipy]'" in run.stderr.splitlines()[-1]


# Helpers of autograd's rules, which are not functions of SciPy.
NOT_FOLLOWED = {"einsum_tensordot"}


@pytest.mark.parametrize("module", MODULES)
def test_every_name_of_autograds_exists(module):
    pytest.importorskip("autograd")
    theirs = vars(importlib.import_module(f"autograd.scipy.{module}"))
    mine = vars(importlib.import_module(f"fastgrad.scipy.{module}"))
    home = {"autograd.tracer", f"autograd.scipy.{module}"}
    names = [
        name
        for name, value in theirs.items()
        if not name.startswith("_")
        and (isinstance(value, float) or (inspect.isfunction(value) and value.__module__ in home))
        and name != "primitive"
    ]
    assert names and sorted(set(names) - set(mine) - NOT_FOLLOWED) == []


@pytest.mark.parametrize("module", MODULES)
def test_every_function_with_a_rule_there_has_both_here(module):
    oracle = pytest.importorskip("autograd.core")
    theirs = importlib.import_module(f"autograd.scipy.{module}")
    mine = importlib.import_module(f"fastgrad.scipy.{module}")
    functions = {n: v for n, v in vars(theirs).items() if isinstance(v, types.FunctionType)}
    ruled = [name for name, value in functions.items() if value in oracle.primitive_vjps]
    assert ruled
    for name in ruled:
        fun = integrate._odeint if name == "odeint" else getattr(mine, name)
        assert fun in primitive_vjps and fun in primitive_jvps, name


def test_every_function_with_a_rule_has_a_row_of_its_own():
    rows = {row.name for row in table.ROWS}
    for module in MODULES:
        seen = {}
        for name, fun in vars(importlib.import_module(f"fastgrad.scipy.{module}")).items():
            if isinstance(fun, type(special.gamma)) and fun in primitive_vjps and not name.startswith("_"):
                seen.setdefault(fun, []).append(name)
        for fun, names in seen.items():
            home = fun.__module__.removeprefix("fastgrad.scipy.")
            assert home != module or any(f"{module}.{name}" in rows for name in names), names


@pytest.mark.parametrize(
    "fun", [special.gamma, special.logsumexp, linalg.sqrtm, signal.convolve, norm.pdf, poisson.logpmf]
)
def test_primitives_pickle_by_name(fun):
    assert pickle.loads(pickle.dumps(fun)) is fun
