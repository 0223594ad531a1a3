"""Imports point down only: no module imports one of a layer above it, and no modules import each other in a circle.

The sources are read, not run, so that imports inside functions and those of compiled sources count like all others.
"""

import ast
import re
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "src"

# The layers from bottom to top. A module imports modules of its own layer and of the layers below it only. `x.*` stands
# for the package x and all modules in it that have no entry of their own. A layer that must call a function of a layer
# above it is handed that function by `connect`; the table in `_engine/hooks.pxi` lists all of these.
LAYERS = (
    # Where the user's code is on the stack.
    "fastgrad._diagnostics fastgrad._diagnostics.user_code",
    # What the engine takes from C and from Python's and NumPy's C API; locks.
    "fastgrad._engine fastgrad._engine.capi fastgrad._engine.threads",
    # Tracing: boxes, primitives, nodes, vector spaces; all that one call of a primitive touches.
    "fastgrad._engine.core",
    # The backward pass over the nodes.
    "fastgrad._engine.backward",
    # What errors say, and `fastgrad.debug`.
    "fastgrad._diagnostics.messages fastgrad._diagnostics.debug",
    # How rules are given to primitives, and what rules do to lists of arguments.
    "fastgrad._rules.*",
    # How an operator takes a function of many arguments as one of those that it differentiates by.
    "fastgrad.wrap_util",
    # Boxes and primitives at autograd's path.
    "fastgrad.tracer",
    # Both modes, vector spaces and rules at autograd's path.
    "fastgrad.core",
    # Traced lists, tuples and dicts; what users need for rules of their own.
    "fastgrad.builtins fastgrad.extend",
    # NumPy's functions as primitives.
    "fastgrad.numpy._namespace.* fastgrad.numpy.random",
    # The names of fastgrad.numpy, without rules.
    "fastgrad.numpy.numpy_wrapper",
    # NumPy's other namespaces, boxes and vector spaces of arrays, and what the rules have in common.
    "fastgrad.numpy._namespace.expired fastgrad.numpy.fft fastgrad.numpy.linalg",
    "fastgrad.numpy.numpy_boxes fastgrad.numpy.numpy_vspaces",
    "fastgrad.numpy.batching fastgrad.numpy.broadcasting fastgrad.numpy.composing fastgrad.numpy.fitting",
    # The rules of NumPy's functions.
    "fastgrad.numpy.rules.*",
    # Some of them at autograd's paths.
    "fastgrad.numpy.numpy_jvps fastgrad.numpy.numpy_vjps",
    # NumPy with all of its rules. From here on, modules are written as a user would write them.
    "fastgrad.numpy",
    # Jacobians from batches of rows or columns.
    "fastgrad._jacobians.*",
    # Operators: grad, jacobian and the others.
    "fastgrad._operators.*",
    "fastgrad.differential_operators",
    # What is built of operators: checks of gradients, optimizers, fixed points.
    "fastgrad.misc.* fastgrad.test_util",
    # SciPy's functions as primitives, then their rules, then its namespaces.
    "fastgrad.scipy.wrapping",
    "fastgrad.scipy.rules.*",
    "fastgrad.scipy.*",
    # How fastgrad stands in autograd's place.
    "fastgrad._substitute.*",
    # Helpers and names that autograd has deprecated; the path of a call, shown.
    "fastgrad.util fastgrad.paths",
    # The package, which only those import that stand outside: programs and plugins.
    "fastgrad",
    "fastgrad.__main__ fastgrad.as_autograd fastgrad._substitute.children.*",
)


class Arrow(NamedTuple):
    """An import of one module by another, and the line where it is written."""

    importer: str
    imported: str
    where: str


def read_modules(root):
    """Return {module: [path, ...]} for all modules under `root`; a .pxi belongs to the module that includes it."""
    modules = {}
    for path in sorted(root.rglob("*.p*")):
        if path.suffix in (".py", ".pyx", ".pxd"):
            parts = path.relative_to(root).with_suffix("").parts
            modules.setdefault(".".join(parts[:-1] if parts[-1] == "__init__" else parts), []).append(path)
    for paths in modules.values():
        for path in paths:  # which grows in the loop: an included file may include others
            paths += [found for found in included_by(path) if found not in paths]
    return modules


def included_by(path):
    """Return the files that a Cython source includes, which it names relative to its own folder."""
    if path.suffix == ".py":
        return []
    return [path.parent / name for name in re.findall(r"""^\s*include\s+["'](.+?)["']""", read_cython(path), re.M)]


COMMENT_OR_STRING = re.compile(
    r"""\#[^\n]* | (?P<quotes>"{3}|'{3}).*?(?P=quotes) | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'""", re.S | re.X
)


def read_cython(path):
    """Return the text of a Cython source without comments, and without strings that are more than one word."""

    def blank(match):
        return "\n" * match[0].count("\n") if match[0].startswith("#") or re.search(r"\s", match[0]) else match[0]

    return COMMENT_OR_STRING.sub(blank, path.read_text(encoding="utf-8").replace("\\\n", " "))


# An import statement, or a call that imports a module by its name.
CYTHON_IMPORT = re.compile(
    r"""(?:^|[;:]) [ \t]* (?P<statement> from\s+[.\w]+\s+c?import\b\s*(?:\([^)]*\)|[^;\n]+) | c?import\s+[^;\n]+)
    | \b (?P<call> (?:import_module|__import__)\(\s*(?:"[\w.]+"|'[\w.]+'))""",
    re.M | re.X,
)


def parse(path):
    """Return the syntax tree of a Python source, or of a Cython source's imports alone, on their lines."""
    if path.suffix == ".py":
        return ast.parse(path.read_text(encoding="utf-8"))
    text = read_cython(path)
    lines = [[] for _ in text.split("\n")]
    for match in CYTHON_IMPORT.finditer(text):
        code = match["call"] + ")" if match["call"] else re.sub(r"\bcimport\b", "import", match["statement"])
        lines[text.count("\n", 0, match.start(match.lastgroup))].append(" ".join(code.split()))
    return ast.parse("\n".join("; ".join(line) for line in lines))


def imported_names(node, package, modules):
    """Return the dotted names that a node of a syntax tree imports.

    `from x import y` imports the module x.y if there is one, and x if y is only a name in it.
    """
    if isinstance(node, ast.Import):
        bound = [alias.name.split(".")[0] for alias in node.names if not alias.asname]
        return [alias.name for alias in node.names] + bound
    if isinstance(node, ast.ImportFrom):
        above = package.split(".")[: 1 - node.level or None] if node.level else []
        base = ".".join([*above, *filter(None, [node.module])])
        names = [f"{base}.{alias.name}" for alias in node.names]
        return [name if name in modules else base for name in names]
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        function = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
        return [node.args[0].value] if function in ("import_module", "__import__") else []
    return []


def executed_modules(name, importer, modules):
    """Return the module of a dotted name, and the packages around it, whose `__init__` Python executes first.

    Packages that the importer is in itself are left out: theirs has begun before the importer.
    """
    while name and name not in modules:
        name = name.rpartition(".")[0]
    parts = name.split(".")
    packages = [".".join(parts[:end]) for end in range(1, len(parts))]
    around = [package for package in packages if package in modules and not importer.startswith(f"{package}.")]
    return [each for each in [*around, name] if each and each != importer]


def read_arrows(root):
    """Return the modules under `root`, and the imports of one by another."""
    modules = read_modules(root)
    arrows = []
    for importer, paths in modules.items():
        is_package = any(path.name == "__init__.py" for path in paths)
        package = importer if is_package else importer.rpartition(".")[0]
        for path in paths:
            for node in ast.walk(parse(path)):
                for name in imported_names(node, package, modules):
                    where = f"{path.relative_to(root).as_posix()}:{getattr(node, 'lineno', 0)}"
                    arrows += [Arrow(importer, each, where) for each in executed_modules(name, importer, modules)]
    return set(modules), sorted(set(arrows))


def layer_of(module, layers):
    """Return the number of a module's layer, by its own entry or that of the innermost package; None if it has none."""
    entries = {entry: number for number, layer in enumerate(layers) for entry in layer.split()}
    parts = module.split(".")
    wildcards = [".".join([*parts[:end], "*"]) for end in range(len(parts), 0, -1)]
    return next((entries[entry] for entry in [module, *wildcards] if entry in entries), None)


def shortest_path(start, end, graph):
    """Return the modules on a shortest path of one import or more, or None if there is none."""
    paths = [[start]]
    seen = set()
    for path in paths:
        for module in sorted(graph.get(path[-1], ())):
            if module == end:
                return [*path, end]
            if module not in seen:
                seen.add(module)
                paths.append([*path, module])
    return None


def find_circles(arrows):
    """Return the shortest circle of imports in each group of modules that lead to each other."""
    graph, where = {}, {}
    for arrow in arrows:
        graph.setdefault(arrow.importer, set()).add(arrow.imported)
        where.setdefault((arrow.importer, arrow.imported), arrow.where)
    circles = filter(None, [shortest_path(module, module, graph) for module in sorted(graph)])
    shown = {}  # by a module of the group
    for circle in sorted(circles, key=len):
        if not any(shortest_path(circle[0], a, graph) and shortest_path(a, circle[0], graph) for a in shown):
            steps = zip(circle, circle[1:], strict=False)
            shown[circle[0]] = "circle: " + ", ".join(f"{a} imports {b} ({where[a, b]})" for a, b in steps)
    return list(shown.values())


def find_faults(root, layers):
    """Return a sentence for each module without a layer, each import that points up and each circle."""
    modules, arrows = read_arrows(root)
    layer = {module: layer_of(module, layers) for module in modules}
    faults = [f"{module} is on no layer" for module in sorted(modules) if layer[module] is None]
    known = [arrow for arrow in arrows if layer[arrow.importer] is not None and layer[arrow.imported] is not None]
    faults += [
        f"up: {arrow.importer} imports {arrow.imported} ({arrow.where})"
        for arrow in known
        if layer[arrow.importer] < layer[arrow.imported]
    ]
    return faults + find_circles(arrows)


needs_sources = pytest.mark.skipif(not (SOURCES / "fastgrad" / "_engine" / "core.pyx").exists(), reason="no sources")


@needs_sources
def test_imports_point_down_only():
    faults = find_faults(SOURCES, LAYERS)
    assert not faults, "\n" + "\n".join(faults)


@needs_sources
def test_the_table_of_hooks_imports_nothing():
    modules = read_modules(SOURCES)
    hooks = SOURCES / "fastgrad" / "_engine" / "hooks.pxi"
    assert hooks in modules["fastgrad._engine.core"]
    assert [node for node in ast.walk(parse(hooks)) if isinstance(node, ast.Import | ast.ImportFrom | ast.Call)] == []


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


# A made-up package in which low stands below high.
LOW_AND_HIGH = ("p p.low.*", "p.high.*")


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("p/low/a.py", "import p.high.b as b", 1),
        ("p/low/a.py", "from p.high import b", 1),
        ("p/low/a.py", "from p.high.b import f, g", 1),
        ("p/low/a.py", "from p.high.b import *", 1),
        ("p/low/a.py", "from ..high import b", 1),
        ("p/low/__init__.py", "from ..high.b import f", 1),
        ("p/low/a.py", "def f():\n    from p.high.b import g", 2),
        ("p/low/a.py", "try:\n    pass\nfinally:\n    import os, p.high.b", 4),
        ("p/low/a.py", "import importlib\nimportlib.import_module('p.high.b').f()", 2),
        ("p/low/a.py", "from importlib import import_module\nimport_module('p.high.b.f')", 2),
        ("p/low/a.py", "__import__('p.high.b')", 1),
        ("p/low/a.pyx", "from p.high.b import f", 1),
        ("p/low/a.pyx", "from p.high.b cimport f", 1),
        ("p/low/a.pyx", "from ..high cimport b", 1),
        ("p/low/a.pyx", "cimport p.high.b as b", 1),
        ("p/low/a.pyx", '"""Text\nof a module."""  # with "quotes\ncdef f(): import os; import p.high.b', 3),
        ("p/low/a.pyx", "from p.high.b import (  # why\n    f,\n    g,\n)", 1),
        ("p/low/a.pyx", "cdef f():\n    return import_module('p.high.b').f", 2),
        ("p/low/a.pxd", "from p.high.b cimport f", 1),
        ("p/low/parts/c.pxi", "\ncdef f():\n    from p.high.b import g", 3),
    ],
)
def test_an_import_that_points_up_is_found(tmp_path, name, text, line):
    write(tmp_path, {"p/__init__.py": "", "p/low/__init__.py": "", "p/high/b.py": ""})
    write(tmp_path, {"p/low/core.pyx": 'include "parts/c.pxi"', "p/low/parts/c.pxi": ""})
    assert find_faults(tmp_path, LOW_AND_HIGH) == []
    write(tmp_path, {name: text})
    (fault,) = find_faults(tmp_path, LOW_AND_HIGH)
    importer = "p.low.core" if name.endswith(".pxi") else name[:-3].replace("/", ".").rstrip(".p")
    importer = {"p/low/__init__.py": "p.low", "p/low/parts/c.pxi": "p.low.core"}.get(name, "p.low.a")
    assert fault == f"up: {importer} imports p.high.b ({name}:{line})"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p/low/a.py", '"""An example.\n\n    from p.high import b\n"""\n# import p.high.b'),
        ("p/low/a.pyx", '"""An example.\n\nfrom p.high import b\n"""\n# import p.high.b\nrun("x; import p.high.b")'),
        ("p/low/a.py", "import os.path\nfrom numpy import sin\nfrom . import core\nimport high.b"),
        ("p/high/a.py", "import p\nfrom p.low import core\nimport p.high.b"),
        ("p/high/a.pyx", "cimport p\nfrom p.low.core cimport f"),
    ],
)
def test_text_and_imports_that_point_down_are_no_faults(tmp_path, name, text):
    write(tmp_path, {"p/__init__.py": "", "p/low/__init__.py": "", "p/low/core.pyx": "", "p/high/b.py": "", name: text})
    assert find_faults(tmp_path, LOW_AND_HIGH) == []


@pytest.mark.parametrize(
    ("files", "modules"),
    [
        ({"p/a.py": "import p.b as b", "p/b.py": "import p.a as a"}, "p.a p.b"),
        ({"p/a.py": "import p.b as b", "p/b.py": "def f():\n    from p import a"}, "p.a p.b"),
        ({"p/a.py": "from p import b", "p/b.py": "from p import c", "p/c.py": "from p import a"}, "p.a p.b p.c"),
        ({"p/__init__.py": "from p import a", "p/a.py": "from p import f"}, "p p.a"),
        (
            {
                "p/a.py": "from p.q import b",
                "p/q/__init__.py": "from p.q import c",
                "p/q/b.py": "",
                "p/q/c.py": "from p.a import f",
            },
            "p.a p.q p.q.c",
        ),
        ({"p/a.pyx": 'include "c.pxi"', "p/c.pxi": "from p.b import f", "p/b.py": "from p.a import g"}, "p.a p.b"),
        ({"p/a.pxd": "from p.b cimport f", "p/b.pyx": "from p.a import g"}, "p.a p.b"),
    ],
)
def test_a_circle_is_found(tmp_path, files, modules):
    write(tmp_path, {"p/__init__.py": "", **files})
    (fault,) = find_faults(tmp_path, ("p.*",))
    assert fault.startswith("circle: ")
    assert set(re.findall(r"(\S+) imports", fault)) == set(modules.split())


def test_a_package_may_import_its_modules_and_they_each_other(tmp_path):
    files = {
        "p/__init__.py": "from p.q import a",
        "p/q/__init__.py": "from . import a, b",
        "p/q/a.py": "from p.q import b",
    }
    write(tmp_path, {**files, "p/q/b.py": ""})
    assert find_faults(tmp_path, ("p.*",)) == []


def test_a_module_without_a_layer_is_found(tmp_path):
    write(tmp_path, {"p/__init__.py": "", "p/a.py": "", "p/b.py": ""})
    assert find_faults(tmp_path, ("p p.a",)) == ["p.b is on no layer"]
