"""Break rules and lines of the engine one by one, and see whether a test notices.

python tools/mutate.py rules|engine [--number N] [--seed S] [--only TEXT]

A mutant is one small change of a source file: another operator, sign, constant or function, a dropped statement. Those
that pass the tests of what they touch are printed: either a test is missing, or the change makes no difference. It all
happens in an environment of its own in build/mutate; no file here is changed.
"""

import argparse
import ast
import concurrent.futures
import importlib
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import types
import warnings
from dataclasses import dataclass
from pathlib import Path

from sanitize import ROOT, environment

sys.path.insert(0, str(ROOT / "tests" / "rules"))
FOLDER = ROOT / "build" / "mutate"
SECONDS = 400
MEMORY = 6 << 30  # for what would allocate without an end
SOURCES = ROOT / "src/fastgrad"
RULES = [path for package in ("numpy", "scipy") for path in sorted((SOURCES / package / "rules").glob("*.py"))]
ENGINE = sorted(path for path in (SOURCES / "_engine").rglob("*.p*x*") if path.suffix in (".pyx", ".pxi"))


@dataclass(frozen=True)
class Mutant:
    """A change of a file: the text from `start` to `end` replaced."""

    path: Path
    line: int
    start: int
    end: int
    new: str
    names: frozenset = frozenset()  # the primitives concerned

    def text(self):
        old = self.path.read_text()
        return old[: self.start] + self.new + old[self.end :]

    def __str__(self):
        old = self.path.read_text()
        whole = old.splitlines()[self.line - 1].strip()
        return f"{self.path.relative_to(ROOT)}:{self.line}: {old[self.start : self.end]!r} -> {self.new!r} in: {whole}"


# ------------------------------------------------------------------------------------------------------------ rules

SWAPPED_FUNCTIONS = {
    **{"sin": "cos", "cos": "sin", "sinh": "cosh", "cosh": "sinh", "real": "imag", "imag": "real", "sqrt": "square"},
    **{"zeros": "ones", "ones": "zeros", "minimum": "maximum", "maximum": "minimum", "exp": "negative", "log": "exp"},
    **{"add": "subtract", "subtract": "add", "multiply": "divide", "tril": "triu", "triu": "tril", "abs": "negative"},
}
DROPPED_FUNCTIONS = {
    "conj",
    "conjugate",
    "transpose",
    "swapaxes",
    "real",
    "negative",
    "fit",
    "fit_dtype",
    "moveaxis",
    "flip",
    "sign",
}
SWAPPED_STRINGS = {
    **{"identity": "negate", "negate": "identity", "arg0": "arg1", "arg1": "arg0", "ans": "arg0", "same": None},
    **{"over arg0": "arg0", "over arg1": "arg1"},
}
SWAPPED_OPERATORS = {
    **{
        ast.Add: "-",
        ast.Sub: "+",
        ast.Mult: "/",
        ast.Div: "*",
        ast.Pow: "*",
        ast.Eq: "!=",
        ast.NotEq: "==",
        ast.Mod: "*",
    },
    **{ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Is: "is not", ast.IsNot: "is", ast.In: "not in"},
    **{ast.NotIn: "in", ast.MatMult: "*", ast.FloorDiv: "*"},
}


class Sites:
    """The places in a module of rules where something can be broken."""

    def __init__(self, path):
        self.path, self.source = path, path.read_text()
        self.starts = [0]
        for line in self.source.encode().splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        assert self.source.isascii(), path
        self.tree = ast.parse(self.source)
        self.uses = self._uses()
        self.found = []

    def _names(self, node):
        return {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)} | {
            n.id for n in ast.walk(node) if isinstance(n, ast.Name)
        }

    def _uses(self):
        """For each function or value of the module, its own name and those of what uses it."""
        own = {name: self._names(node) for node in self.tree.body for name in self._own(node)}
        users = {name: {name} for name in own}
        for _ in range(4):
            for name in own:
                users[name] |= {other for other, names in own.items() if names & users[name]}
        return users

    def _own(self, statement):
        """The names that a top-level statement gives to functions and values."""
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            return [statement.name]
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        return [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]

    def primitives(self, statement):
        """The primitives whose rules a top-level statement gives or helps to give, and the functions that use it."""
        concerned = {user for name in self._own(statement) for user in self.uses[name]}
        others = [node for node in self.tree.body if not self._own(node)]
        defined = {name for node in others if self._names(node) & concerned for name in self._defined(node)}
        return frozenset(defined | concerned | set(() if self._own(statement) else self._defined(statement)))

    def _defined(self, statement):
        """The first argument of def_elementwise and its like, or whatever a loop goes over: attributes and strings."""
        over = [n.iter for n in ast.walk(statement) if isinstance(n, ast.For)]
        calls = [n.args[0] for n in ast.walk(statement) if isinstance(n, ast.Call) and n.args]
        parts = [n for part in over + calls[:1] for n in ast.walk(part)]
        strings = {n.value for n in parts if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        return strings | {n.attr for n in parts if isinstance(n, ast.Attribute)}

    def at(self, line, column):
        return self.starts[line - 1] + column

    def span(self, node):
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)

    def add(self, node, start, end, new):
        if new is not None:
            self.found.append(Mutant(self.path, node.lineno, start, end, new, self.names))

    def between(self, node, left, right, new):
        """Put another operator between two operands."""
        start, end = self.span(left)[1], self.span(right)[0]
        gap = self.source[start:end]
        if gap.strip("() \n") and "#" not in gap:
            old = gap.strip("() \n")
            place = start + gap.index(old)
            self.add(node, place, place + len(old), new)

    def all(self):
        for statement in self.tree.body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                continue
            self.names = self.primitives(statement)
            for node in ast.walk(statement):
                self.visit(node)
        return self.found

    def visit(self, node):
        start, end = self.span(node) if hasattr(node, "lineno") and hasattr(node, "end_col_offset") else (0, 0)
        if isinstance(node, ast.BinOp):
            self.between(node, node.left, node.right, SWAPPED_OPERATORS.get(type(node.op)))
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            self.between(node, node.left, node.comparators[0], SWAPPED_OPERATORS.get(type(node.ops[0])))
        elif isinstance(node, ast.BoolOp):
            self.between(node, *node.values[:2], "or" if isinstance(node.op, ast.And) else "and")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
            self.add(node, start, self.span(node.operand)[0], "")
        elif isinstance(node, (ast.IfExp, ast.If)):
            test = self.span(node.test)
            self.add(node, *test, f"(not ({self.source[slice(*test)]}))")
        elif isinstance(node, ast.Constant):
            self.visit_constant(node, start, end)
        elif isinstance(node, ast.Attribute) and node.attr == "T":
            self.add(node, start, end, self.source[slice(*self.span(node.value))])
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in SWAPPED_FUNCTIONS and isinstance(node.func, ast.Attribute):
                place = self.span(node.func)[1]
                self.add(node, place - len(name), place, SWAPPED_FUNCTIONS[name])
            if name in DROPPED_FUNCTIONS and node.args:
                self.add(node, start, end, self.source[slice(*self.span(node.args[0]))])

    def visit_constant(self, node, start, end):
        if isinstance(node.value, bool):
            self.add(node, start, end, str(not node.value))
        elif isinstance(node.value, (int, float)):
            self.add(node, start, end, repr(node.value + 1))
        elif isinstance(node.value, str):
            other = SWAPPED_STRINGS.get(node.value)
            self.add(node, start, end, other and repr(other))


def noticed_by_rows(mutant):
    """Whether the table's checks of the primitives concerned fail, with the change made in a child of this process."""
    cases = cases_of(mutant)
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        signal.alarm(SECONDS)
        try:
            put_in_place(mutant)
            for case in cases:
                check(case)
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] != 0


def put_in_place(mutant):
    """Run the changed source of a module, which registers its rules, and change what others have of it."""
    name = ".".join(mutant.path.relative_to(ROOT / "src").with_suffix("").parts)
    before = vars(importlib.import_module(name))
    after = dict(before)
    exec(compile(mutant.text(), mutant.path, "exec"), after)
    for key, value in before.items():
        if isinstance(value, types.FunctionType) and value.__module__ == name:
            value.__code__, value.__defaults__ = after[key].__code__, after[key].__defaults__


def cases_of(mutant):
    """Return the cases of the table for the primitives concerned; without any, those of the table of the same file."""
    import checks
    from table import ROWS, TABLES

    rows = [row for row in ROWS if row.exists and mutant.names.intersection(row.covers or (row.name.split(".")[-1],))]
    rows = rows or [row for row in TABLES.get(f"table_{test_name(mutant.path)}", ()) if row.exists]
    return [case for row in rows for case in checks.cases_of(row)]


def check(case):
    """Check of a case what test_rules.py and test_batch_rules.py check."""
    import batch_checks

    if case.sample.refused:
        return case.check_refusal()
    case.check_value()
    if case.is_differentiated:
        case.check_cotangents()
        case.check_transpose()
        case.check_layouts()
        batch_checks.check_jacobian(case)
        if not case.sample.kink:
            case.check_vjp()
            case.check_jvp()
            if case.sample.order == 2 and not case.is_single:
                case.check_second_order("VJP")
                case.check_second_order("JVP")
                batch_checks.check_jacobian_of_pullback(case)


# ----------------------------------------------------------------------------------------------------------- engine

KEPT = "return raise cdef ctypedef def class pass if for else elif while with try except finally".split()
LINE_CHANGES = [
    *((r" == ", " != "), (r" != ", " == "), (r" <= ", " < "), (r" >= ", " > "), (r" < ", " <= "), (r" > ", " >= ")),
    *((r" and ", " or "), (r" or ", " and "), (r"\b(?<!is )not (?!in\b)", ""), (r" is not ", " is ")),
    *((r" is (?!not)", " is not "), (r" \+ 1\b", " + 2"), (r" - 1\b", ""), (r" \+ (?!1\b)", " - ")),
    *((r" - (?!1\b)", " + "), (r"\bTrue\b", "False"), (r"\bFalse\b", "True"), (r" \+= ", " -= "), (r" \* ", " + ")),
    *((r"\bbreak\b", "continue"), (r"\b0\b", "1"), (r"\b1\b", "0")),
    (rf"^(\s+)(?!(?:{'|'.join(KEPT)})\b|@|[A-Z]|\w+ = )(\w.*)$", r"\1pass"),  # a statement dropped
]
NOT_CODE = re.compile(
    r"^\s*(#|cdef (?!.* = )|cdef [^(]*,|ctypedef|c?import|from|@|else:|for |with |try:|except|def |class |global )"
)
CONDITION = re.compile(r"^(\s*(?:if|elif|while) )(.+):$")
DECLARATION = re.compile(r"^\s*cdef [\w. *]*?(\w+) = (.+)$")
SWITCH = """
cdef int fastgrad_mutant = int(__import__("os").environ.get("FASTGRAD_MUTANT", "0"))
"""


def code_lines(path):
    """The lines of a Cython file that are a statement each, outside docstrings, with their numbers and offsets."""
    offset, documented, depth = 0, False, 0
    for number, line in enumerate(path.read_text().splitlines(keepends=True), 1):
        quotes, code, before = line.count('"""'), line.split("  #")[0].rstrip(), depth
        depth += sum(code.count(c) for c in "([{") - sum(code.count(c) for c in ")]}")
        is_code = not documented and not quotes and not NOT_CODE.match(line) and code[:1] == " "
        if is_code and before == depth == 0 and not code.endswith("\\"):
            yield number, offset, code
        documented ^= quotes % 2
        offset += len(line)


def engine_mutants(path):
    """One-line changes of a Cython file."""
    for number, offset, code in code_lines(path):
        for pattern, new in LINE_CHANGES:
            for match in re.finditer(pattern, code):
                yield Mutant(path, number, offset + match.start(), offset + match.end(), match.expand(new))


def chosen_when_run(code, changed):
    """Write a line so that it is `changed[n]` when the program runs with FASTGRAD_MUTANT=n."""
    indent = code[: len(code) - len(code.lstrip())]
    if found := CONDITION.match(code):
        head, condition = found.groups()
        others = (f"<bint>({CONDITION.match(new)[2]}) if fastgrad_mutant == {n} else " for n, new in changed.items())
        return f"{head}({''.join(others)}<bint>({condition})):"
    if found := DECLARATION.match(code):
        ways = (
            f"{indent}if fastgrad_mutant == {n}: {found[1]} = {DECLARATION.match(new)[2]}" for n, new in changed.items()
        )
        return "\n".join([code, *ways])
    ways = [f"{indent}if fastgrad_mutant == {n}: {new.strip()}" for n, new in changed.items()]
    return "\n".join([*ways, f"{indent}else: {code.strip()}"]).replace(f"\n{indent}if", f"\n{indent}elif")


# ---------------------------------------------------------------------------------------------------------- running


def passes(*arguments, **env):
    """Whether tests pass, without waiting for ever."""
    command = [PYTHON, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", *arguments]
    env = {**os.environ, **env}
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, env=env)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode in (0, 5)


def test_name(path):
    """Return the name by which the tests of a source file are found: its own, with SciPy's marked as such."""
    return f"scipy_{path.stem}" if path.is_relative_to(SOURCES / "scipy") else path.stem


def tests_of(path):
    """Return the test files that bear the name of a source file."""
    return [str(found) for found in sorted((ROOT / "tests").rglob(f"test_{test_name(path)}.py"))]


def engine_tests(slow):
    """Return the test files that go through the engine: those marked as slow, or the others."""
    folders = ("engine", "operators", "random", "substitute") if slow else ("engine", "operators", "rules")
    files = [path for name in folders for path in sorted((ROOT / "tests" / name).glob("test_*.py"))]
    return [str(path) for path in files if ("pytest.mark.slow" in path.read_text()) == slow]


def survives_rules(mutant):
    """Return whether a change of a rule passes the tests of its file, and those that many rules take part in."""
    others = [*tests_of(mutant.path), *tests_of(SOURCES / "_engine/values/fused_derivatives.pxi")]
    return passes(*dict.fromkeys(others), "tests/random/test_properties.py")


def try_rule(mutant, installed):
    if noticed_by_rows(mutant):
        return False
    if QUICK:
        return True
    target = installed / mutant.path.relative_to(SOURCES)
    target.write_text(mutant.text())
    try:
        return survives_rules(mutant)
    finally:
        shutil.copy(mutant.path, target)


def tried_rules(mutants, chosen, installed, _jobs):
    """Try mutants of rules, one by one; give their numbers with whether they survived."""
    return ((number, try_rule(mutants[number], installed)) for number in chosen)


def try_engine(number, path):
    """Run the tests of the engine with one of the mutants that were compiled, first those of the file it is in."""
    mutant = {"FASTGRAD_MUTANT": str(number)}
    quick, slow = engine_tests(slow=False), engine_tests(slow=True)
    own = [file for file in tests_of(path) if file in quick]
    survived = (not own or passes(*own, **mutant)) and passes(*quick, **mutant)
    return number, survived and (QUICK or passes(*slow, **mutant))


def tried_engine(mutants, chosen, _installed, jobs):
    """Try mutants of the engine, several at once; give their numbers with whether they survived."""
    workers = concurrent.futures.ThreadPoolExecutor(jobs)
    futures = [workers.submit(try_engine, number, mutants[number].path) for number in chosen]
    return (future.result() for future in concurrent.futures.as_completed(futures))


def prepare():
    """Install what is changed in an environment of its own; give its interpreter and where it is."""
    python = environment("mutate", [])
    where = [python, "-c", "import fastgrad, os; print(os.path.dirname(fastgrad.__file__))"]
    return python, Path(subprocess.run(where, check=True, capture_output=True, text=True, cwd=FOLDER).stdout.strip())


def write_engine(mutants):
    """Write a copy of the engine's sources in which each mutant is a branch."""
    by_place = {}
    for number, mutant in mutants.items():
        by_place.setdefault((mutant.path, mutant.line), {})[number] = mutant
    for path in ENGINE:
        lines = path.read_text().splitlines()
        for line, _, code in list(code_lines(path)):
            here = by_place.get((path, line), {})
            changed = {n: mutant.text().splitlines()[line - 1].split("  #")[0].rstrip() for n, mutant in here.items()}
            lines[line - 1] = chosen_when_run(code, changed) if changed else lines[line - 1]
        text = "\n".join([*lines, ""])
        if path.suffix == ".pyx":
            text = text.replace("\ncnp.import_array()\n", "\ncnp.import_array()\n" + SWITCH)
            assert SWITCH in text
        (FOLDER / "source" / path.relative_to(ROOT)).write_text(text)


def refused_lines(mutants):
    """Return the lines of the written engine that Cython refuses, as (file name, line of the original)."""
    refused = set()
    for path in (p for p in ENGINE if p.suffix == ".pyx"):
        source = FOLDER / "source" / path.relative_to(ROOT)
        command = [PYTHON, "-m", "cython", "-3", "-I", FOLDER / "source/src", source, "-o", FOLDER / "refused.c"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=FOLDER / "source/src")
        for name, line in re.findall(r"^(?:.*/)?_engine/(.+\.p(?:yx|xi)):(\d+):\d+: ", done.stderr, re.MULTILINE):
            written = (source.parent / name).read_text().splitlines()[: int(line)]
            branches = re.findall(r"fastgrad_mutant == (\d+)", "\n".join(written[-8:]))
            refused.update((mutants[int(n)].path, mutants[int(n)].line) for n in branches if int(n) in mutants)
        if done.returncode and not refused:
            raise SystemExit(done.stderr)
    return refused


def prepare_engine(mutants, installed):
    """Compile all the mutants into one engine, and put its modules where they are imported; give those that compile."""
    shutil.rmtree(FOLDER / "source", ignore_errors=True)
    shutil.copytree(ROOT / "src", FOLDER / "source/src")
    for name in ("meson.build", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, FOLDER / "source")
    mutants = dict(enumerate(mutants, 1))
    write_engine(mutants)
    while refused := refused_lines(mutants):
        mutants = {n: mutant for n, mutant in mutants.items() if (mutant.path, mutant.line) not in refused}
        write_engine(mutants)
    if not (FOLDER / "engine").exists():
        setup = [PYTHON, "-m", "mesonbuild.mesonmain", "setup", "-Dbuildtype=debug", FOLDER / "engine"]
        subprocess.run([*setup, FOLDER / "source"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", FOLDER / "engine"], check=True, stdout=subprocess.DEVNULL)
    for module in (FOLDER / "engine/src/fastgrad/_engine").glob("*.so"):
        shutil.copy(module, installed / "_engine")
    if not (passes(*engine_tests(slow=False)) and passes(*engine_tests(slow=True))):
        raise SystemExit("the tests of the engine fail with no mutant chosen")
    return mutants


def main():
    """Try mutants and print those that survive."""
    global PYTHON, QUICK
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("rules", "engine"))
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="mutants of files, and of lines, that have this text")
    parser.add_argument("--jobs", type=int, default=2, help="mutants of the engine tried at once")
    parser.add_argument("--quick", action="store_true", help="run the quick tests alone: of rules, the table's")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    QUICK = options.quick
    if options.what == "rules":
        mutants = [mutant for path in RULES for mutant in Sites(path).all()]
    else:
        mutants = [mutant for path in ENGINE for mutant in engine_mutants(path)]
    PYTHON, installed = (None, None) if QUICK and options.what == "rules" else prepare()
    mutants = dict(enumerate(mutants, 1)) if options.what == "rules" else prepare_engine(mutants, installed)
    chosen = [n for n, mutant in mutants.items() if options.only in str(mutant)]
    chosen = random.Random(options.seed).sample(chosen, min(options.number, len(chosen)))
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", "Output seems independent of input")
    warnings.filterwarnings("ignore", ".*deprecated", DeprecationWarning)
    attempts = tried_rules if options.what == "rules" else tried_engine
    tried = survivors = 0
    for number, survived in attempts(mutants, chosen, installed, options.jobs):
        tried += 1
        survivors += survived
        print(f"{'SURVIVES' if survived else 'noticed'} {number}: {mutants[number]}", flush=True)
    print(f"{options.what}: {tried} mutants of {len(mutants)}, {survivors} survive", flush=True)
    return int(survivors > 0)


if __name__ == "__main__":
    sys.exit(main())
