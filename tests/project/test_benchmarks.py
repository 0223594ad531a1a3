"""The table of benchmarks has a case for every primitive with rules, and each case runs in every mode."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("scipy", reason="the table has SciPy's functions too")

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"

# Run in a process of its own: other tests define primitives too, and the suite is no importable package.
REPORT = f"""
import importlib
import json
import pkgutil
import sys
import traceback
import warnings

sys.modules["asv"] = sys.modules["asv_runner"] = None  # importing them is now an error
sys.path.insert(0, {str(BENCHMARKS)!r})
warnings.simplefilter("error")
warnings.filterwarnings("ignore", ".?(msort|trapz).? is deprecated", DeprecationWarning)  # only with NumPy 1
from fastgrad import numpy as np
from fastgrad._rules.direct import registered
from fastgrad.builtins import container_take
from fastgrad.tracer import Box, Node, Primitive, trace
import suite
from suite.cases import CASES

for module in pkgutil.iter_modules(suite.__path__):
    importlib.import_module("suite." + module.name)


class Recorder(Node):
    def __init__(self, value, fun, args, kwargs, argnums, parents):
        recorded.add(fun)

    def initialize_root(self):
        pass


random = {{id(f) for f in vars(np.random).values()}} - {{id(f) for f in vars(np).values()}}
wanted = {{f for f in registered() if (f.vjp_rules or f.jvp_rules) and id(f) not in random}}
covered, idle, not_traced, failures = set(), [], [], {{}}
for name, case in CASES.items():
    recorded = set()
    try:
        trace(Recorder.new_root(), case, case.value)
    except Exception:
        failures[f"{{name}}, traced"] = traceback.format_exc(limit=-2)
    # A function that is no primitive counts for the primitives it calls; several variables are taken from a tuple.
    own = {{case.function}} if isinstance(case.function, Primitive) else recorded - {{container_take}}
    if not own & wanted:
        idle.append(name)
    if not own <= recorded:
        not_traced.append(name)
    covered |= own
for name, case in CASES.items():
    for mode in case.modes:
        try:
            getattr(case, mode)()()
        except Exception:
            failures[f"{{name}}, {{mode}}"] = traceback.format_exc(limit=-2)
report = dict(
    missing=sorted(f.__name__ for f in wanted - covered),
    idle=idle,
    not_traced=not_traced,
    failures=failures,
)
print(json.dumps(report))
"""


@pytest.fixture(scope="module")
def report():
    run = subprocess.run([sys.executable, "-c", REPORT], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_every_primitive_with_rules_has_a_case(report):
    assert report["missing"] == []


def test_every_case_is_of_a_primitive_with_rules(report):
    assert report["idle"] == []


def test_every_case_is_traced_by_its_primitive(report):
    assert report["not_traced"] == []


def test_every_case_runs_in_every_mode(report):
    assert report["failures"] == {}
