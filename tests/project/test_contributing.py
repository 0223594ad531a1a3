"""The steps of CONTRIBUTING.md for a new function suffice: they are followed on a copy of the checkout.

The rules and rows of the guide's examples are removed from the copy. Then its code blocks are added to the files that
they name, and the checks of rules and benchmarks run there.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fastgrad._engine.backward
import fastgrad._engine.core

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "CONTRIBUTING.md"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all((ROOT / name).exists() for name in ("CONTRIBUTING.md", "benchmarks", "src/fastgrad")),
        reason="this is no checkout of the repository",
    ),
]
pytest.importorskip("scipy", reason="the table of rules has SciPy's functions too")

EXAMPLES = ("cbrt", "flip", "ediff1d")
# A fenced block whose first line names a file.
BLOCK = re.compile(r"^```python\n# (?P<file>\S+\.py)(?P<place>, in ROWS)?\n(?P<code>.*?)^```$", re.M | re.S)

HAVE_DERIVATIVES = """
import sys
import fastgrad
import fastgrad.numpy as np
print(fastgrad.__file__)
for name in sys.argv[1:]:
    try:
        fastgrad.elementwise_grad(getattr(np, name))(np.array([1.0, 2.0]))
    except NotImplementedError:
        print(name, "has none")
"""

# An editable install finds the package before sys.path does; here sys.path comes first, in child processes too.
SITECUSTOMIZE = """
import sys
from importlib.machinery import PathFinder
sys.meta_path.remove(PathFinder)
sys.meta_path.insert(0, PathFinder)
"""


def blocks():
    """Yield the file, the place in it and the text of each code block of the guide that names a file."""
    for match in BLOCK.finditer(GUIDE.read_text(encoding="utf-8")):
        yield match["file"], match["place"], match["code"]


def statements(code):
    """Return the definitions and lines of a block, which may stand apart in the source."""
    return [part.strip("\n") + "\n" for part in re.split(r"\n\n+(?=\S)", code)]


def removed(text, code):
    """Return a source without the statements of a block, each of which it has once."""
    for statement in statements(code):
        assert text.count(statement) == 1
        text = text.replace(statement, "")
    return text


def added(text, place, code):
    """Return a source with a block added: as the last rows of its table, above the table, or at the end."""
    if place:
        assert text.endswith("\n]\n"), "ROWS is the last statement of a table"
        return text.removesuffix("]\n") + code + "]\n"
    above, table, rows = text.partition("\nROWS = [\n")
    return f"{above}\n{code}\n{table}{rows}"


def copy_checkout(folder):
    """Copy what the checks of rules need, with the compiled modules at their places in the package."""
    unneeded = shutil.ignore_patterns("__pycache__", "*.pyx", "*.pxi", "*.pxd", ".asv")
    for name in ("src/fastgrad", "tests/rules", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name, ignore=unneeded)
    (folder / "tests" / "project").mkdir()
    for name in ("pyproject.toml", "tests/conftest.py", "tests/project/test_benchmarks.py"):
        shutil.copy(ROOT / name, folder / name)
    for module in (fastgrad._engine.core, fastgrad._engine.backward):
        shutil.copy(module.__file__, folder / "src" / "fastgrad" / "_engine")
    (folder / "src" / "sitecustomize.py").write_text(SITECUSTOMIZE)


def change(folder, how):
    """Remove all blocks of the guide from the files that they name, or add them."""
    for file, place, code in blocks():
        path = folder / file
        text = path.read_text(encoding="utf-8")
        path.write_text(removed(text, code) if how == "remove" else added(text, place, code), encoding="utf-8")


def run(folder, *arguments):
    """Run Python on the copy and return what it prints."""
    env = {**os.environ, "PYTHONPATH": str(folder / "src")}
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_blocks_are_lines_of_the_sources():
    assert len(list(blocks())) == 8
    for file, _, code in blocks():
        text = (ROOT / file).read_text(encoding="utf-8")
        for statement in statements(code):
            assert statement in text, f"{file} has no\n{statement}"


def test_following_the_guide_makes_every_check_pass(tmp_path):
    copy_checkout(tmp_path)
    change(tmp_path, "remove")
    package, *without = run(tmp_path, "-c", HAVE_DERIVATIVES, *EXAMPLES).splitlines()
    assert Path(package) == tmp_path / "src" / "fastgrad" / "__init__.py"
    assert without == [f"{name} has none" for name in EXAMPLES]

    change(tmp_path, "add")
    assert len(run(tmp_path, "-c", HAVE_DERIVATIVES, *EXAMPLES).splitlines()) == 1
    checks = ("tests/rules/test_rules.py", "tests/project/test_benchmarks.py")
    chosen = " or ".join([*(f"{name}-" for name in EXAMPLES), "primitive", "benchmarks"])
    report = run(tmp_path, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-k", chosen, *checks)
    for name in EXAMPLES:
        assert f"test_vjp[{name}-0-d] PASSED" in report
