"""Failed allocations are errors, and leave the engine in order."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

# Run in a process of its own. `set_nomemory(start, stop)` makes the allocations from number `start` to `stop` fail.
ALLOCATIONS = """
import os, sys, warnings

import _testcapi
import numpy as onp

import fastgrad._rules.recording  # import it now: an import allocates much that is not fastgrad's
import fastgrad.numpy as np
from fastgrad import *
from fastgrad import differential_operators as operators
from fastgrad.core import VJPNode, backward_pass
from fastgrad.extend import defjvp, defvjp, primitive
from fastgrad.tracer import trace, trace_stack

warnings.simplefilter("error")
sys.unraisablehook = lambda info: None  # raised by generators that are closed while allocations fail
V, LONG, BIG = onp.linspace(0.1, 1.0, 3), onp.linspace(0.1, 1.0, 8), onp.linspace(0.1, 1.0, 5000)
M = onp.arange(1.0, 17.0).reshape(4, 4) / 10

cube = primitive(lambda x: x * x * x)
defvjp(cube, lambda ans, x: lambda g: 3.0 * x * x * g)
defjvp(cube, lambda g, ans, x: 3.0 * x * x * g)

class Sub(VJPNode):
    pass

def f(x):
    for _ in range(2):
        x = np.sin(x) * x + 0.5
    return x / (2.0 + x) - np.exp(-x) ** 2

remembered = checkpoint(f)
PROGRAMS = {
    "numbers": lambda: grad(lambda x: f(x) + x**3 + 2.0**x - np.maximum(x, 0.1))(0.3),
    "small arrays": lambda: grad(lambda x: np.sum(f(x)))(V),
    "large arrays": lambda: grad(lambda x: np.sum(f(x)))(BIG),
    "broadcasting": lambda: grad(lambda x: np.sum(f(x) * M[:, :3] + x[0]))(V),
    "containers": lambda: grad(lambda p: f(p["a"]) * p["b"][0] + np.sum(p["b"][1]))({"a": 0.3, "b": [2.0, V]}),
    "containers out": lambda: make_vjp(lambda x: (x * 2.0, [x * x]))(0.3)[0]((1.0, [1.0])),
    "reductions": lambda: grad(lambda x: np.sum(np.mean(x, axis=0) * np.max(x, axis=1)) + np.var(x))(M),
    "indexing": lambda: grad(lambda x: x[0] * x[1] + np.sum(x[1:] * x[:-1]) + np.sum(x[[0, 0, 1]]))(V),
    "products": lambda: grad(lambda x: np.sum(np.tanh(np.dot(M, x)) @ M))(M[0]),
    "shapes": lambda: grad(lambda x: np.sum(np.reshape(x, (2, 8))[1] * np.concatenate([x[0], x[1]])))(M),
    "array of numbers": lambda: grad(lambda x: np.sum(np.array([x[0] * 2.0, x[1]]) ** 2))(V),
    "jacobian": lambda: jacobian(lambda x: np.sin(x) * np.sum(x) + x[::-1])(LONG),
    "tall jacobian": lambda: jacobian(lambda x: np.concatenate([np.sin(x) * k for k in range(4)]))(V),
    "hessian": lambda: hessian(lambda x: np.sum(np.sin(x) * x[0]))(LONG),
    "forward": lambda: make_jvp(lambda x: f(x) * np.sum(x))(V)(V),
    "checkpoint": lambda: grad(lambda x: np.sum(remembered(x) * x))(V),
    "a user's primitive": lambda: grad(lambda x: np.sum(cube(x) * x))(V),
    "a user's primitive forward": lambda: make_jvp(lambda x: np.sum(cube(x) * x))(V)(V),
    "a user's node": lambda: backward_pass(1.0, trace(Sub.new_root(), lambda x: np.sum(f(x)), V)[1]),
    "nested": lambda: grad(lambda x: x * grad(lambda y: f(x * y))(2.0))(0.3),
    "products with the hessian": lambda: hessian_vector_product(lambda x: np.sum(f(x)))(V, V),
}

def flat(x):
    if isinstance(x, dict):
        return [flat(value) for value in x.values()]
    return [flat(value) for value in x] if isinstance(x, (list, tuple)) else onp.asarray(x).tolist()

def attempt(program, wanted, start, n):
    # Did every allocation succeed?
    result, code = None, True
    _testcapi.set_nomemory(start, start + n)
    try:
        try:
            result = program()
        finally:
            _testcapi.remove_mem_hooks()
    except (MemoryError, SystemError) as error:
        # NumPy's functions sometimes fail without setting an error, which CPython turns into a SystemError.
        assert type(error) is MemoryError or "without" in str(error) or "with an exception set" in str(error), error
        code = False
    else:
        assert flat(result) == wanted, (start, result, wanted)
    assert trace_stack.top == -1, start
    assert flat(program()) == wanted, start
    return code
"""

EACH = """
for name, program in PROGRAMS.items():
    print(name, end=": ", flush=True)
    wanted = flat(program())
    failures = 0
    for n in (1, 6):
        start, successes = 1, 0
        while successes < 30:  # in a row: by then the program ends before an allocation fails
            done = attempt(program, wanted, start, n)
            successes = successes + 1 if done else 0
            failures += not done
            start += 1
    print(failures)
"""

FIRST = """
# Each runs in a child that has computed no gradient: what is recorded at the first use is recorded completely or not.
onp.multiply(onp.sin(0.5), onp.exp(onp.cos(0.5)))  # NumPy's own first use is not tested here
def program():
    return round(grad(lambda x: np.exp(np.sin(x) * x))(0.5), 12)

wanted = round(float((0.5 * onp.cos(0.5) + onp.sin(0.5)) * onp.exp(0.5 * onp.sin(0.5))), 12)
start, codes = 1, []
while codes[-10:] != [0] * 10:
    child = os.fork()
    if child == 0:
        try:
            code = 0 if attempt(program, wanted, start, 1) else 3
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            # A failure in NumPy's own first use of a loop leaves NumPy's table half filled.
            code = 3 if "has already been registered" in str(error) else 4
        os._exit(code)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    assert codes[-1] in (0, 3), (start, codes[-1])
    start += 3
print("first use:", codes.count(3))
"""

# A program without fastgrad, to see whether this CPython survives failures: 3.13.0 does not.
PROBE = """
from _testcapi import remove_mem_hooks, set_nomemory

def call(f, **keywords):
    def wrapped(*args, **kwargs):
        if len(args) == 1 and not kwargs:
            return f(args[0])
        return f(*args, **kwargs)
    fields = {"fun": f.__name__, "doc": f.__doc__, **keywords}
    wrapped.__name__ = "wrapped_{fun}".format(**fields)
    return wrapped

def program():
    return call(lambda x: [x * 3.0, {"a": x, "b": [2.0 * x]}], b=1, c=2)(0.3)

for n in (1, 6):
    for start in range(1, 200):
        set_nomemory(start, start + n)
        result = None
        try:
            try:
                result = program()
            finally:
                remove_mem_hooks()
        except MemoryError as error:
            assert type(error) is MemoryError
"""


def python_survives():
    if os.environ.get("FASTGRAD_SANITIZE") == "refnanny":
        return False  # refnanny itself needs memory to count references
    try:
        return subprocess.run([sys.executable, "-c", PROBE], capture_output=True, timeout=60).returncode == 0
    except subprocess.TimeoutExpired:
        return False  # CPython 3.13.5 without the GIL does so


needs_failing_allocations = pytest.mark.skipif(
    not python_survives(),
    reason="this Python has no _testcapi.set_nomemory, which lets allocations fail, or does not survive that itself",
)


def failures_survived(code, **environment):
    """Run a script, and give how many allocations it had fail, by name of what it ran."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=300,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-200:] + done.stderr[-2000:]
    return {name: int(n) for name, n in (line.split(": ") for line in done.stdout.splitlines())}


@needs_failing_allocations
def test_a_failed_allocation_anywhere_is_an_error_and_the_next_gradient_is_right():
    # Without the inner loops NumPy would negate the numbers, and NumPy crashes if there is no memory for the result.
    failures = failures_survived(ALLOCATIONS + EACH, FASTGRAD_INNER_LOOPS="1")
    assert len(failures) == 21
    assert min(failures.values()) > 100


@needs_failing_allocations
@pytest.mark.skipif(not hasattr(os, "fork"), reason="each attempt is the first in a child of its own")
def test_a_failed_allocation_at_the_first_use_of_rules():
    assert failures_survived(ALLOCATIONS + FIRST)["first use"] > 20


def test_no_list_comprehensions_in_compiled_code():
    """Where the list cannot grow, the code that Cython 3.3.1 makes of one drops the item twice."""
    sources = list((Path(__file__).parents[2] / "src" / "fastgrad").rglob("*.p[yx][xi]"))
    if not sources:
        pytest.skip("the sources are not here")
    pattern = re.compile(r"^[^#\n]*\[[^\[\]#\n]*(\[[^\[\]\n]*\][^\[\]\n]*)* for \w.* in ", re.MULTILINE)
    found = {path.name: pattern.findall(path.read_text()) for path in sources}
    assert not [name for name, matches in found.items() if matches]
    assert pattern.search("x = [f(y[0]) for y in ys]")


ARRAYS = """
import resource
import numpy as onp
import fastgrad.numpy as np
from fastgrad import grad, make_jvp, checkpoint
from fastgrad.tracer import trace_stack

def f(x):
    y = np.sin(x * 2.0) * x[::-1]
    return np.sum(np.exp(-y) * y + np.maximum(x, 0.5)) + np.mean(np.reshape(y, (2, -1))[0] ** 2) + x[3]

X = onp.linspace(0.1, 1.0, 1 << 17)
SIZE = X.nbytes + (1 << 16)
def in_use():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()

_, most = resource.getrlimit(resource.RLIMIT_AS)
for name, program in {
    "grad": lambda: grad(f)(X),
    "forward": lambda: make_jvp(f)(X)(X)[1],
    "containers": lambda: grad(lambda p: f(p["x"]) + f(p["y"][0]))({"x": X, "y": [X]})["y"][0],
    "checkpoint": lambda: grad(checkpoint(f))(X),
}.items():
    wanted = program()
    failures, room, result = 0, 0, None
    while result is None:
        resource.setrlimit(resource.RLIMIT_AS, (in_use() + room * SIZE, most))
        try:
            result = program()
        except MemoryError:
            failures += 1
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
        assert trace_stack.top == -1
        room += 1
    onp.testing.assert_array_equal(result, wanted)
    onp.testing.assert_array_equal(program(), wanted)
    print(f"{name}: {failures}")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of memory that is kept, and /proc")
@pytest.mark.skipif(os.environ.get("FASTGRAD_SANITIZE") == "address", reason="the sanitizer stops at that limit")
def test_memory_that_runs_out_for_arrays_is_an_error():
    failures = failures_survived(ARRAYS, MALLOC_MMAP_THRESHOLD_="65536")
    assert len(failures) == 4
    assert min(failures.values()) >= 3
