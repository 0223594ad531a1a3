"""The table of hooks at the head of `hooks.pxi`, against the hooks that there are."""

import re
from pathlib import Path

import pytest

from fastgrad._engine.core import Hooks, connect

SOURCE = Path(__file__).parents[2] / "src" / "fastgrad" / "_engine" / "hooks.pxi"


@pytest.mark.skipif(not SOURCE.exists(), reason="the sources are not here")
def test_the_table_lists_every_hook():
    lines = SOURCE.read_text(encoding="utf-8").split("# hook ")[1].split("cdef class")[0].splitlines()[1:]
    listed = {name for line in lines if line for name in re.split(r"  +", line.removeprefix("# "))[0].split(", ")}
    assert listed == {name for name in dir(Hooks) if not name.startswith("_")}


def test_a_name_that_is_no_hook_is_refused():
    with pytest.raises(AttributeError, match="nothing"):
        connect(nothing=len)
