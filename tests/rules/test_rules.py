"""Every rule of ``fastgrad.numpy`` against NumPy, differences and autograd, from the table of ``table.py``."""

import json
import pkgutil
import subprocess
import sys

import pytest
from checks import CASES, DIFFERENTIABLE, OF_MATRICES, REFUSED, SMOOTH, TWICE
from table import INTERNAL, ROWS, TABLES

import fastgrad.numpy.rules
import fastgrad.scipy.rules

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("error"),
    pytest.mark.filterwarnings("ignore:Output seems independent of input"),
    # Only NumPy 1 has msort; trapz warns from 2.0 on.
    pytest.mark.filterwarnings("ignore:.?(msort|trapz).? is deprecated:DeprecationWarning"),
]


def over(cases):
    return pytest.mark.parametrize("case", cases, ids=str)


@over(CASES)
def test_value_is_numpys(case):
    case.check_value()


@over(REFUSED)
def test_what_has_no_rule_is_refused(case):
    case.check_refusal()


@over(DIFFERENTIABLE)
def test_cotangents_are_like_the_arguments(case):
    case.check_cotangents()


@over(SMOOTH)
def test_vjp(case):
    case.check_vjp()


@over(SMOOTH)
def test_jvp(case):
    case.check_jvp()


@over(DIFFERENTIABLE)
def test_vjp_and_jvp_are_transposes(case):
    case.check_transpose()


@over(OF_MATRICES)
def test_the_memory_order_of_directions_makes_no_difference(case):
    case.check_layouts()


@pytest.mark.parametrize("first", ["VJP", "JVP"])
@over(TWICE)
def test_second_order(case, first):
    case.check_second_order(first)


@over(DIFFERENTIABLE)
def test_autograd_agrees(case):
    oracle = pytest.importorskip("autograd", reason="the comparison needs autograd itself")
    case.check_oracle(oracle.make_vjp, pytest.importorskip("autograd.numpy"))


# Run in a process of its own: other tests define primitives too.
LIST_RULES = """
import json
import pkgutil
import fastgrad.numpy as anp
import fastgrad.scipy
from fastgrad.core import primitive_jvps, primitive_vjps
elsewhere = {id(f) for m in (anp.random,) for f in vars(m).values()}
elsewhere -= {id(f) for f in vars(anp).values()}
rules = {}
for registry, mode in ((primitive_vjps, "VJP"), (primitive_jvps, "JVP")):
    for fun in registry:
        if id(fun) not in elsewhere:
            rules.setdefault(fun.__name__, []).append(mode)
print(json.dumps(rules))
"""


@pytest.fixture(scope="module")
def rules():
    run = subprocess.run([sys.executable, "-c", LIST_RULES], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_every_primitive_with_a_rule_has_a_row(rules):
    covered = {name for row in ROWS for name in row.covers or (row.name,)}
    assert sorted(set(rules) - covered - set(INTERNAL)) == []


def test_no_row_is_for_a_primitive_without_a_rule(rules):
    covered = {name for row in ROWS if row.exists for name in row.covers or (row.name,)}
    assert sorted(covered - set(rules)) == []


def test_every_primitive_has_both_rules(rules):
    assert {name: modes for name, modes in rules.items() if set(modes) != {"VJP", "JVP"}} == {}


def test_internal_primitives_exist(rules):
    assert sorted(set(INTERNAL) - set(rules)) == []


# Their primitives are tested with the containers, or have no rules.
WITHOUT_TABLE = {"containers", "nondifferentiable"}


def test_every_file_of_rules_has_a_table_of_its_name():
    files = {name for _, name, _ in pkgutil.iter_modules(fastgrad.numpy.rules.__path__)} - WITHOUT_TABLE
    files |= {f"scipy_{name}" for _, name, _ in pkgutil.iter_modules(fastgrad.scipy.rules.__path__)}
    assert sorted(files - {name.removeprefix("table_") for name in TABLES}) == []
