"""The documentation is correct: its code runs and returns what it says, links exist, and no public name is missing.

All blocks of a page are one program. In a ```python block, a comment behind an expression is compared with its value if
it is a value itself (``grad(f)(1.0)  # 0.5403``), to as many digits as it has; ```pycon blocks are doctests. A block
that cannot run follows a line ``<!-- not run: why -->``.
"""

import ast
import doctest
import importlib.util
import inspect
import io
import pkgutil
import re
import tokenize
import warnings
from pathlib import Path

import numpy as np
import pytest

import fastgrad.numpy as anp
from fastgrad._engine.core import inner_loop_dtypes
from fastgrad.paths import path_of

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "benchmarks" / "README.md"]

FENCE = re.compile(
    r"^(?:<!-- not run: (?P<reason>.+?) -->\n+)?```(?P<kind>python|pycon)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)
NUMBER = re.compile(r"\.(\d*)(?:e([+-]?\d+))?")
VALUES = {"__builtins__": {}, "nan": np.nan, "inf": np.inf}


needs_numpy_2 = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="the documentation shows what NumPy 2 prints"
)


def name(path):
    return path.relative_to(ROOT).as_posix()


# ------------------------------------------------------------------------------------------------------------ code


def blocks(path):
    """Yield kind, code and first line of the blocks of a page that can be run."""
    text = path.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        if match["reason"] is None:
            yield match["kind"], match["code"], text.count("\n", 0, match.start("code"))


def comments(code):
    """Return the comment of each line that has one."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return {token.start[0]: token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT}


def value_of(comment):
    """Return the value that a comment states, or None if it is prose."""
    try:
        return eval(comment, VALUES)
    except (SyntaxError, NameError, TypeError):
        assert not re.match(r"[-\d\[({]", comment), f"neither prose nor a value: {comment}"
        return None


def agree(found, stated, error):
    if isinstance(stated, dict):
        return found.keys() == stated.keys() and all(agree(found[key], stated[key], error) for key in stated)
    if isinstance(stated, tuple) or isinstance(found, list | tuple):
        return len(found) == len(stated) and all(agree(f, s, error) for f, s in zip(found, stated, strict=True))
    if isinstance(stated, bool | str):
        return found == stated
    found, stated = np.asarray(found), np.asarray(stated)
    return found.shape == stated.shape and np.allclose(found, stated, rtol=0, atol=error, equal_nan=True)


def last_digit(comment):
    """Return the largest error with which a value still rounds to the digits written."""
    digits = [int(exponent or 0) - len(decimals) for decimals, exponent in NUMBER.findall(comment)]
    return 0.51 * 10.0 ** max(digits, default=-12)


def run_python(code, first, path, namespace):
    tree = ast.parse(code)
    stated = comments(code)
    for statement in tree.body:
        comment = stated.get(statement.end_lineno)
        ast.increment_lineno(statement, first)
        if not (isinstance(statement, ast.Expr) and comment):
            exec(compile(ast.Module([statement], []), path, "exec"), namespace)
            continue
        found = eval(compile(ast.Expression(statement.value), path, "eval"), namespace)
        value = value_of(comment)
        if value is not None:
            place = f"{path}:{statement.end_lineno}"
            assert agree(found, value, last_digit(comment)), f"{place}: {found!r} is not {comment}"


def run_doctest(code, first, path, namespace):
    test = doctest.DocTestParser().get_doctest(code, {}, Path(path).name, str(path), first)
    test.globs = namespace
    report = io.StringIO()
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, _ = doctest.DocTestRunner(optionflags=options).run(test, out=report.write, clear_globs=False)
    assert not failed, report.getvalue()


@needs_numpy_2
@pytest.mark.parametrize("path", [page for page in PAGES if any(blocks(page))], ids=name)
def test_code_runs(path):
    pytest.importorskip("scipy")
    namespace = {"__name__": "page"}
    for kind, code, first in blocks(path):
        with warnings.catch_warnings():
            if kind == "pycon":
                run_doctest(code, first, path, namespace)
            else:
                warnings.simplefilter("error")
                run_python(code, first, str(path), namespace)


@pytest.mark.parametrize(
    "code",
    ["1.0 + 1  # 3.0", "1 + 1  # 3", "(1.0, 2.5)  # (1.0, 2.4)", "{'a': 1.0}  # {'b': 1.0}", "[1.0]  # [1.0, 2.0]"],
)
def test_wrong_values_are_found(code):
    with pytest.raises(AssertionError, match=r"page:5: .* is not"):
        run_python(code, 4, "page", {})
    with pytest.raises(AssertionError, match="Expected:"):
        run_doctest(">>> 1 + 1\n3\n", 4, ROOT / "page", {})


@pytest.mark.skipif(not inner_loop_dtypes(anp.sin), reason="NumPy's inner loops are switched off or were not found")
def test_the_page_of_paths_is_true():
    text = (ROOT / "docs" / "design" / "values.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| (.+) \| (.+) \| (.+) \| (.+) \|$", text, re.M)
    rows = [row for row in rows if row[1].startswith("`")]
    assert len(rows) >= 10
    for call, *path in rows:
        assert list(path_of(call).values()) == [part.strip("`") for part in path]


# ----------------------------------------------------------------------------------------------------------- links


def prose(path):
    return re.sub(r"^ *```.*?^ *```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)


def described(path):
    """Return the names that a page of the reference describes, by docstring or by hand."""
    return set(re.findall(r"^(?:::: |### )(fastgrad\.[\w.]+)$", prose(path), re.M))


def anchors(path):
    """Return the anchors of a page: those of the names it describes, and those of its headings."""
    found = described(path)
    for heading in re.findall(r"^#+ (.+)$", prose(path), re.M):
        found.add(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"))
    return found


@pytest.mark.parametrize("path", TEXTS, ids=name)
def test_links_lead_somewhere(path):
    for target, anchor in re.findall(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)", prose(path)):
        if target.startswith("https://"):
            continue
        other = (path.parent / target).resolve() if target else path
        assert other.is_file() and other.is_relative_to(ROOT), f"no {target}"
        assert not anchor or anchor in anchors(other), f"{target} has no {anchor}"


# ------------------------------------------------------------------------------------------------------- reference


@needs_numpy_2
@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "reference").glob("*.md")), ids=name)
def test_docstrings_are_true(page):
    pytest.importorskip("scipy")
    for member in sorted(described(page)):
        doc = inspect.getdoc(pkgutil.resolve_name(member))
        assert doc, f"{member} has no docstring"
        run_doctest(doc, 0, member, {})


@pytest.mark.parametrize(
    "module, page",
    [
        ("fastgrad", "operators"),
        ("fastgrad.extend", "extend"),
        ("fastgrad.misc.flatten", "misc"),
        ("fastgrad.misc.optimizers", "misc"),
        ("fastgrad.test_util", "misc"),
    ],
)
def test_reference_has_every_public_name(module, page):
    page = (ROOT / "docs" / "reference" / page).with_suffix(".md")
    left_out = {"primitive", "scalar_close"} if module != "fastgrad.extend" else set()
    wanted = {f"{module}.{member}" for member in importlib.import_module(module).__all__ if member not in left_out}
    assert wanted - described(page) == set()


def load_hook():
    spec = importlib.util.spec_from_file_location("docs_hook", ROOT / "tools" / "docs_hook.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tables_tell_what_has_a_rule():
    pytest.importorskip("scipy")
    hook = load_hook()
    tables = {module: hook.functions(f"fastgrad.{module}") for module in ("numpy", "numpy.linalg", "scipy.special")}
    by = {module: {function: args for function, args, _ in rows} for module, (rows, _) in tables.items()}
    assert by["numpy"]["arctan2"] == "`x1`, `x2`"
    assert by["numpy"]["average"] == "`a`, `weights`", "a rule by 'axis' gives zero"
    assert by["numpy"]["where"] == "composed"
    assert by["numpy.linalg"]["solve"] == "`a`, `b`"
    assert by["scipy.special"]["iv"] == "`x2`", "by the order there is a refusal"
    assert {"sign", "argmax", "floor"} <= set(tables["numpy"][1])
    assert not {"sign", "put", "polyfit", "pi", "primitive", "array_from_args"} & set(by["numpy"])


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=name)
def test_links_out_of_docs_are_pages_of_the_site(page):
    hook = load_hook()
    for target in re.findall(
        r"\]\(((?:\.\./)+[^)\s#]*)", hook.relinked(prose(page), page.relative_to(ROOT / "docs").as_posix())
    ):
        assert ((page.parent / target).resolve()).is_relative_to(ROOT / "docs"), (
            f"{target} is not in tools/docs_hook.py"
        )


def test_reference_has_every_module():
    text = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
    for module in ("numpy", "numpy.linalg", "numpy.fft", "scipy.special", "scipy.linalg", "scipy.signal"):
        assert f"<!-- functions of fastgrad.{module} -->" in text
    for family in (ROOT / "src" / "fastgrad" / "scipy" / "stats").glob("*.pyi"):
        assert f"<!-- functions of fastgrad.scipy.stats.{family.stem} -->" in text


# ---------------------------------------------------------------------------------------------------------- errors

# Errors that no user sees, and MemoryError.
INTERNAL = {"NotBatchable", "MemoryError"}
RAISED = re.compile(
    r'(?:\b(?:raise|return) |warnings\.|super\(\)\.)(\w+Error|NotBatchable|warn|__init__)\(\s*f?"([^"\n]*)"'
)
# Errors of these files that reproduce an error of NumPy or SciPy, and one that stays inside the engine.
LEFT_OUT = {
    "_engine/values/array_building.pxi": "ValueError",
    "_engine/nodes/batch.pxi": "__init__",
    "_engine/tracing/array_boxes.pxi": "TypeError: iteration over a 0-d array",
    "numpy/_namespace/arrays.py": "ValueError",
    "numpy/_namespace/expired.py": "AttributeError",
    "numpy/_namespace/functions.py": "ValueError",
    "numpy/linalg.py": "ValueError",
    "numpy/random.py": "AttributeError",
    "scipy/signal.py": "ValueError",
}


def errors():
    """Yield the errors and warnings in fastgrad's sources that have a message: file, type and fixed parts."""
    package = ROOT / "src" / "fastgrad"
    for path in sorted(path for path in package.rglob("*") if path.suffix in (".py", ".pyx", ".pxi")):
        text = re.sub(r'"\s*\n\s*f?"', "", path.read_text(encoding="utf-8"))  # adjacent literals are one string
        file = path.relative_to(package).as_posix()
        for kind, message in RAISED.findall(text):
            left_out = file in LEFT_OUT and f"{kind}: {message}".startswith(LEFT_OUT[file])
            if kind not in INTERNAL and not left_out:
                yield file, kind, [part.strip() for part in re.split(r"\{[^}]*\}|\\n", message)]


def test_faq_has_every_error():
    faq = re.sub(r"\s+", " ", (ROOT / "docs" / "faq.md").read_text(encoding="utf-8").replace("\\", ""))
    found = list(errors())
    assert len(found) > 50
    assert [error for error in found if not all(part in faq for part in error[2])] == []
