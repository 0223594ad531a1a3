"""Extend mkdocs for the build of the site (`make docs`).

Files of the repository outside of docs/ become pages, so that relative links to them work both on a git host and in the
site. The tables of functions are made from the registry of rules when the site is built.
"""

import importlib
import inspect
import pkgutil
import posixpath
import re
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Files outside of docs/ that pages may link to. A link to any other file is dead in the site, which is an error.
OUTSIDE = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "benchmarks/README.md",
    *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "examples").glob("*.py"))),
)
FOLDER = "repository"

_LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
_TABLE = re.compile(r"<!-- functions of ([\w.]+)(: constants)? -->")


# --------------------------------------------------------------------------------------------- files outside of docs/


def _page_of(path):
    """Return the page that a file of the repository becomes, or None if it does not become one."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path not in OUTSIDE:
        return None
    return posixpath.join(FOLDER, path if path.endswith(".md") else path + ".md")


def _text_of(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    return text if path.endswith(".md") else f"# {path}\n\n```python\n{text}```\n"


def on_files(files, config):
    """Add a page for each file outside of docs/."""
    from mkdocs.structure.files import File

    for path in OUTSIDE:
        files.append(File.generated(config, _page_of(path), content=_text_of(path)))
    return files


def relinked(markdown, page):
    """Return a page with its links changed from paths in the repository to paths in the site."""
    in_folder = page.startswith(FOLDER + "/")
    folder = posixpath.dirname(page.removeprefix(FOLDER + "/") if in_folder else "docs/" + page)

    def relink(match):
        target = _page_of(posixpath.normpath(posixpath.join(folder, match[2])))
        if target is None:
            return match[0]
        return match[1] + posixpath.relpath(target, posixpath.dirname(page) or ".") + match[3]

    return _LINK.sub(relink, markdown)


# --------------------------------------------------------------------------------------------- tables of functions


def _is_real(rule):
    """Return whether a rule computes a derivative; some rules refuse, or stand for zero."""
    from fastgrad._engine.core import rule_forms

    return rule is not None and rule.form != rule_forms["zero"] and getattr(rule.fun, "__name__", "") != "refuse"


def _by(fun, rules):
    """Return the names of the arguments that a primitive has a rule for in one mode, "all" if their number varies."""
    if rules is None:
        return ""
    if rules.whole is not None:
        return "all"
    covered = [i for i, rule in enumerate(rules.by_argnum) if _is_real(rule)]
    try:
        names = list(inspect.signature(fun).parameters)
    except (TypeError, ValueError):
        names = [str(i) for i in range(len(rules.by_argnum))]
    return ", ".join(f"`{names[i]}`" for i in covered)


def _modes(fun):
    """Return the arguments that a primitive can be differentiated with respect to, and the modes."""
    back, forth = _by(fun, fun.vjp_rules), _by(fun, fun.jvp_rules)
    if back and forth:
        return max(back, forth, key=len), "both"
    return back or forth, "reverse" if back else "forward"


def functions(namespace):
    """Return the functions that a namespace shares with NumPy's or SciPy's, sorted by whether they have rules.

    Returns
    -------
    with_rules : list of (name, arguments, modes)
        The functions that can be differentiated.
    constants : list of str
        The functions whose result is a constant to every trace.
    """
    from fastgrad._engine.core import Primitive
    from fastgrad.extend import VJPNode
    from fastgrad.numpy._namespace import in_place as writing

    mirrored = pkgutil.resolve_name(namespace.removeprefix("fastgrad."))
    with_rules, constants = [], []
    for name, value in sorted(vars(importlib.import_module(namespace)).items()):
        if name.startswith("_") or not hasattr(mirrored, name) or value is getattr(writing, name, None):
            continue
        if isinstance(value, types.FunctionType) and value.__module__.startswith("fastgrad."):
            with_rules.append((name, "composed", "both"))
        elif type(value) is Primitive and VJPNode in value.notrace:
            constants.append(name)
        elif type(value) is Primitive and (value.vjp_rules or value.jvp_rules):
            by, modes = _modes(value)
            if by:
                with_rules.append((name, by, modes))
            else:
                constants.append(name)
    return with_rules, constants


def _table(match):
    with_rules, constants = functions(match[1])
    if match[2]:
        return ", ".join(f"`{name}`" for name in constants) + "\n"
    if not with_rules:
        raise ValueError(f"{match[1]} has no function with a rule")
    rows = [f"| `{name}` | {by} | {modes} |" for name, by, modes in with_rules]
    return "\n".join(["| function | arguments | modes |", "| --- | --- | --- |", *rows]) + "\n"


def on_page_markdown(markdown, page, config, files):
    """Return the text of a page with the links and tables of the site."""
    return _TABLE.sub(_table, relinked(markdown, page.file.src_uri))
