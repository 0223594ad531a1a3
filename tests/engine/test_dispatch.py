"""The table of paths at the head of `values/dispatch.pxi`, against the paths that calls take."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import fastgrad.numpy as np
from fastgrad._engine.core import inner_loop_dtypes
from fastgrad.paths import COLUMNS, path_of

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
