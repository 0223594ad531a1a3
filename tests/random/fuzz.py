"""Call everything with anything: python tests/random/fuzz.py [--calls N] [--seed S] [--replay NUMBER].

Every call has a number, which together with the seed decides what it does. Workers make the calls; one that crashes is
reported with the number of the call, and replaced. A finding is a crash, a call that does not end, an error that no
caller should see, a value that is not NumPy's, and two modes of differentiation that do not agree.
"""

import argparse
import collections
import faulthandler
import operator
import os
import random
import re
import resource
import struct
import subprocess
import sys
import tempfile
import types
import warnings
from pathlib import Path

import numpy as onp
import scipy.linalg
import scipy.special

import fastgrad
import fastgrad.builtins
import fastgrad.core
import fastgrad.differential_operators
import fastgrad.misc.flatten
import fastgrad.numpy as anp
import fastgrad.scipy.linalg
import fastgrad.scipy.special
import fastgrad.tracer
import fastgrad.util
from fastgrad import make_jvp, make_vjp

sys.path.append(str(Path(__file__).resolve().parents[1] / "rules"))
import checks
import random_programs as programs
from fuzz_values import Unpleasant, anything, keywords, small

BATCH = 50_000
SECONDS = 60
# Findings that were examined, with the reason why they are no faults of fastgrad.
KNOWN = {
    r"integrate\.odeint: ": "the tolerances were drawn too",
    r"solve_(sylvester|continuous_lyapunov): ": "SciPy's is wrong of a real and a complex matrix, and of none",
    r"linalg\.qr \w+: the modes differ|corrcoef: the modes differ": "of columns that depend on one another",
    r"linalg\.norm: |nanvar: ": "a list as `ord` or `ddof`",
    r"linalg\.eig: another value": "arrays in other memory have their eigenvalues in another order",
    r"where: NumPy None": "None as a value",
    r"solve_triangular: the modes differ": "SciPy and Python disagree whether `lower=0.3` is true",
    r"(astype|make_diagonal|select|block|tensorinv): NumPy (Type|Attribute)Err.*, here None": "lists and numbers do",
    r"NumPy TypeError.*unexpected keyword argument 'out'.*, here None": "out=None says nothing",
    r"worker gave 1\tTimeout.* in diff ": "so many differences, their number being drawn, take NumPy for ever",
    r"where: NumPy's value is another": "a number or a list where nothing is an array, as in autograd",
}
# Errors that no wrong call may raise.
NEVER = (SystemError, NameError, AssertionError, RecursionError, ReferenceError)

# --------------------------------------------------------------------------------------------------------- what to call

FUNCTION_TYPES = (fastgrad.tracer.Primitive, types.FunctionType)
# Functions that read or write files, change settings, or return uninitialized memory.
LEFT_OUT = {
    *(
        "load",
        "save",
        "savez",
        "savez_compressed",
        "savetxt",
        "loadtxt",
        "genfromtxt",
        "fromfile",
        "fromregex",
        "empty",
    ),
    *("set_printoptions", "printoptions", "setbufsize", "seterr", "seterrcall", "info", "show_config", "show_runtime"),
    *("empty_like", "nested_iters", "test", "frompyfunc"),
}


def functions_of(ours, theirs, ruled=False):
    """Return the functions of a namespace that this package has, or those with a rule: name, ours and theirs."""
    names = sorted(set(dir(ours)) & set(dir(theirs)) - LEFT_OUT)
    found = ((name, getattr(ours, name), getattr(theirs, name)) for name in names if not name.startswith("_"))
    return [
        (name, our, their)
        for name, our, their in found
        if our is not their and isinstance(our, FUNCTION_TYPES) and (not ruled or our in fastgrad.core.primitive_vjps)
    ]


FUNCTIONS = [
    *functions_of(anp, onp),
    *functions_of(anp.linalg, onp.linalg),
    *functions_of(anp.fft, onp.fft),
    *functions_of(fastgrad.scipy.special, scipy.special, ruled=True),
    *functions_of(fastgrad.scipy.linalg, scipy.linalg, ruled=True),
]
# `where` is left out: NumPy 2.4 writes out of bounds if it is wider than the other arguments.
OPERATORS = [
    getattr(operator, name)
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "and_", "or_", "xor", "divmod"),
        *("lt", "le", "eq", "ne", "gt", "ge", "contains", "getitem", "iadd", "imul", "isub", "ipow", "imatmul"),
    )
    if hasattr(operator, name)
] + [divmod]
UNARY = [
    *(operator.neg, operator.pos, operator.abs, operator.invert, operator.not_, operator.index, operator.truth),
    *(len, iter, list, tuple, dict, float, int, complex, bool, str, repr, hash, round, sum, min, max, sorted, next),
]
METHODS = sorted(name for name in dir(onp.ndarray) if not name.startswith("_") and name not in ("tofile", "dump"))
DIFFERENTIATORS = [
    getattr(fastgrad.differential_operators, name)
    for name in (
        *("grad", "jacobian", "jacfwd", "jacrev", "hessian", "elementwise_grad", "value_and_grad", "grad_and_aux"),
        *("deriv", "holomorphic_grad", "make_vjp", "make_jvp", "make_hvp", "make_jvp_reversemode", "checkpoint"),
        *("hessian_vector_product", "vector_jacobian_product", "tensor_jacobian_product", "make_ggnvp", "grad_named"),
        *("multigrad_dict", "hessian_tensor_product"),
    )
]
CONTAINER_FUNCTIONS = [
    fastgrad.builtins.list,
    fastgrad.builtins.tuple,
    fastgrad.builtins.dict,
    fastgrad.builtins.isinstance,
]
# Functions that change rules or classes permanently are not called.
ENGINE = [
    value
    for module in (fastgrad.core, fastgrad.tracer, fastgrad.util, fastgrad.misc.flatten)
    for name, value in sorted(vars(module).items())
    if callable(value)
    and getattr(value, "__module__", "").startswith("fastgrad")
    and not any(word in name for word in ("def", "register", "primitive", "set_", "subvals", "toposort", "check"))
]

# ------------------------------------------------------------------------------------------------------------ the calls


class Finding(Exception):
    """A fault, described in words."""


def outcome(call, never=NEVER):
    """Return the outcome of a call: (value, None) or (None, error)."""
    try:
        return call(), None
    except never:
        raise
    except Exception as error:
        return None, error


def same(a, b):
    """Return whether two results agree in type and, up to rounding, in value."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if not isinstance(a, (onp.ndarray, onp.generic, float, complex)):
        return True
    a, b = onp.asarray(a), onp.asarray(b)
    if a.shape != b.shape or a.dtype.newbyteorder("=") != b.dtype.newbyteorder("="):
        return False
    if a.dtype.kind not in "fc" or a.dtype.char in "gGe":
        return True
    eps = onp.finfo(a.dtype).eps
    with onp.errstate(all="ignore"):
        finite = onp.abs(b[onp.isfinite(b)])
        near = onp.allclose(a, b, rtol=1e4 * eps, atol=1e3 * eps * onp.max(finite, initial=0.0), equal_nan=True)
    return bool(near)


def check_modes(fun, x, value, name):
    """Check that the derivatives of both modes are each other's transpose where both are finite."""
    if not (isinstance(value, (onp.ndarray, onp.generic, float, complex)) and onp.asarray(value).dtype.char in "fdFD"):
        return
    if not isinstance(x, (onp.ndarray, onp.generic, float, complex)) or onp.asarray(x).dtype.char not in "fdFD":
        return
    rng = onp.random.default_rng(0)
    v, g = (tangent_like(rng, a) for a in (x, value))
    pushed, error = outcome(lambda: make_jvp(fun)(x)(v)[1])
    pulled, other_error = outcome(lambda: make_vjp(fun)(x)[0](g))
    if error or other_error:
        return
    if onp.shape(pulled) != onp.shape(x) or onp.shape(pushed) != onp.shape(value):
        raise Finding(f"{name}: a cotangent of shape {onp.shape(pulled)} for {onp.shape(x)}")
    with onp.errstate(all="ignore"):
        one, other = onp.real(onp.multiply(g, pushed)), onp.real(onp.multiply(pulled, v))
        single = {onp.asarray(a).dtype.char for a in (x, value)} & set("fF")
        scale = onp.sum(onp.abs(one)) + onp.sum(onp.abs(other)) + (1e-4 if single else 1e-6)
        error = onp.abs(onp.sum(one) - onp.sum(other)) / scale
    # If numbers are this large, intermediate ones may have overflowed.
    if scale < 1e150 and error > (2e-2 if single else 1e-6):
        raise Finding(f"{name}: the modes differ, {onp.sum(one)} and {onp.sum(other)}")


def tangent_like(rng, x):
    x = onp.asarray(x)
    v = rng.standard_normal(x.shape)
    return (v + 1j * rng.standard_normal(x.shape) if x.dtype.kind == "c" else v).astype(x.dtype.newbyteorder("="))[()]


def call_function(pick):
    """Call a function with any arguments: value or error are NumPy's, traced or not, and the modes agree."""
    name, ours, theirs = pick(FUNCTIONS)
    number = getattr(theirs, "nin", None) if pick(range(8)) else None
    args = [anything(pick) for _ in range(number or pick((0, 1, 1, 1, 2, 2, 2, 3, 4)))]
    kwargs = keywords(pick)
    yield lambda: f"{name} of {describe(args)} {describe(kwargs)}"
    check_function(pick, name, ours, theirs, args, kwargs)


def call_case(pick):
    """Make a call of the table of rules with one argument or keyword replaced."""
    case = pick(checks.SMOOTH)
    args, kwargs = [*programs.arguments(case)], dict(case.sample.kwargs)
    place = pick(range(len(args)))
    if pick((True, False)) or not kwargs:
        args[place] = anything(pick) if pick(range(4)) else relaid(pick, args[place])
    others = sorted(set(kwargs) - {"where"})
    if others and pick((True, False)):
        kwargs[pick(others)] = small(pick)
    elif pick(range(3)) == 0:
        kwargs.update(keywords(pick))
    yield lambda: f"{case} with {describe(args)} {describe(kwargs)}"
    check_function(pick, case.row.name, case.row.function(anp), case.row.function(onp), args, kwargs)


def relaid(pick, x):
    """Return the same numbers in memory of another layout, and perhaps of another dtype."""
    if not isinstance(x, onp.ndarray):
        return x
    return programs.laid_out(x.astype(pick((x.dtype, x.dtype, "f", "D", "i", ">f8"))), pick(programs.LAYOUTS))


def check_function(pick, name, ours, theirs, args, kwargs):
    """Compare a call with NumPy's, on concrete and on traced values, and the modes with one another."""
    copies = [onp.array(a, copy=True, subok=True) if type(a) is onp.ndarray else a for a in args]
    want, error = outcome(lambda: theirs(*copies, **kwargs), ())
    never = () if type(error) in NEVER else NEVER
    got, our_error = outcome(lambda: ours(*args, **kwargs), never)
    if error is None and our_error is not None:  # the copies are aligned, contiguous and writable
        error = outcome(lambda: theirs(*args, **kwargs), ())[1]
    if (error is None) != (our_error is None):
        raise Finding(f"{name}: NumPy {error!r:.90}, here {our_error!r:.90}")
    # Elements that `where` leaves out are uninitialized; so are NumPy's transforms of empty arrays.
    undefined = (
        {"out", "where"} & set(kwargs)
        or len(args) > getattr(theirs, "nin", 9)
        or "fft" in name
        and any(getattr(x, "size", 1) == 0 for x in args)
    )
    if error is None and not same(got, want) and not undefined:
        raise Finding(f"{name}: NumPy's value is another")
    if not args:
        return
    place = pick(range(len(args)))

    def fun(x):
        return ours(*args[:place], x, *args[place + 1 :], **kwargs)

    traced, traced_error = outcome(lambda: make_vjp(fun)(args[place])[1], never)
    x = args[place]
    # Indices are left out: a plain array converts a traced index by itself.
    comparable = isinstance(x, (onp.ndarray, float, complex)) and onp.asarray(x).dtype.kind in "fc"
    comparable = comparable and not isinstance(want, (list, tuple))
    if error is None and traced_error is None and comparable and not undefined:
        # A traced Python number may have become a NumPy number.
        if not same(traced, type(traced)(want) if isinstance(want, (float, complex)) else want):
            raise Finding(f"{name}: another value when traced")
    if error is None and traced_error is None:
        check_modes(fun, args[place], traced, name)


def call_operator(pick):
    """Use an operator or a method of a box."""
    x, y = anything(pick), anything(pick)
    binary, unary, method = pick(OPERATORS), pick(UNARY), pick(METHODS)
    args, kwargs = [anything(pick) for _ in range(pick((0, 0, 1, 2)))], keywords(pick)
    fun = pick(
        (
            lambda x: binary(x, y),
            lambda x: binary(y, x),
            lambda x: binary(x, x),
            lambda x: unary(x),
            lambda x: getattr(x, method)(*args, **kwargs) if callable(getattr(x, method)) else getattr(x, method),
            lambda x: x[y],
            lambda x: x[tuple(args)],
        )
    )
    name = f"{binary.__name__}, {unary.__name__} or {method}"
    yield lambda: f"{name} of {describe([x, y])} {describe(args)} {describe(kwargs)}"
    value, error = outcome(lambda: make_vjp(fun)(x)[1])
    if error is None:
        check_modes(fun, x, value, name)


def call_differentiator(pick):
    """Differentiate any function at any value, and call the result with anything."""
    inner = pick(
        (anp.sum, anp.sin, anp.exp, lambda x: x, lambda x, y=2.0: x * y, lambda *xs: xs[-1], anp.linalg.inv, None)
    )
    program = programs.random_program(pick)
    fun = pick(
        (inner, inner, lambda *xs: program(anp, *xs), lambda *xs: anp.sum(program(anp, *xs)), lambda x: {"a": x})
    )
    ways = [pick(DIFFERENTIATORS) for _ in range(pick((1, 1, 2, 3)))]
    argnum, args = pick((None, None, 0, 1, -1, (0, 1), "x")), [anything(pick) for _ in range(pick((0, 1, 1, 2)))]
    more = [anything(pick) for _ in range(pick((1, 1, 2)))]
    names = [way.__name__ for way in ways]
    yield lambda: f"{names} of {inner} or {program} by {argnum} at {describe(args)} along {describe(more)}"
    made, error = fun, None
    for way in ways:
        made, error = outcome(lambda way=way, made=made: way(made) if argnum is None else way(made, argnum))
        if error is not None:
            return
    result, error = outcome(lambda: made(*args))
    for item in result if isinstance(result, tuple) else (result,):
        if callable(item):
            outcome(lambda item=item: item(*more))
            outcome(lambda item=item: item(*args))


def call_engine(pick):
    """Call one of the engine's own functions with anything."""
    fun = pick(ENGINE)
    values = [anything(pick) for _ in range(3)]
    arguments = pick(range(5))
    order = [pick(range(12)) for _ in range(arguments)]
    yield lambda: f"{getattr(fun, '__name__', fun)} of {order} among {describe(values)}"

    def body(x):
        pool = [
            *values,
            x,
            getattr(x, "_node", None),
            fastgrad.core.VJPNode,
            fastgrad.core.JVPNode,
            anp.sin,
            [x],
            (x, 1.0),
        ]
        result, _ = outcome(lambda: fun(*[pool[i % len(pool)] for i in order]))
        return result if pick((True, False)) else x

    outcome(lambda: make_vjp(body)(values[0])[0](values[1]))
    outcome(lambda: make_jvp(body)(values[0])(values[1]))


def call_containers(pick):
    """Use lists, tuples and dicts as arguments and values."""
    tree, other = [anything(pick, 1) for _ in range(pick(range(4)))], anything(pick)
    tree = pick((list, tuple, lambda items: dict(zip("abc", items, strict=False))))(tree)
    make = pick(CONTAINER_FUNCTIONS)
    binary, key = pick(OPERATORS), small(pick)
    fun = pick(
        (
            lambda x: make(x),
            lambda x: make([x, x]),
            lambda x: binary(x, other),
            lambda x: x[key],
            lambda x: sum(anp.sum(item) for item in x),
            lambda x: [item for item in x],
            lambda x: x + x,
            lambda x: anp.concatenate(x),
            lambda x: {"a": x},
        )
    )
    yield lambda: f"{make} {binary} {key} of {describe([tree, other])}"
    outcome(lambda: make_vjp(fun)(tree)[0](other))
    outcome(lambda: make_vjp(fun)(tree)[0](tree))
    outcome(lambda: make_jvp(fun)(tree)(tree))
    outcome(lambda: fastgrad.grad(fun)(tree))


def call_program(pick):
    """Differentiate a correct program in both modes."""
    program = programs.random_program(pick)
    inputs = [programs.random_input(pick, pick("ddfD")) for _ in range(2)]
    yield lambda: f"{program} of {describe(inputs)}"

    def fun(x):
        return program(anp, x, inputs[1])

    value = make_vjp(fun)(inputs[0])[1]
    check_modes(fun, inputs[0], value, "a program")


KINDS = [
    *([call_function] * 6 + [call_case] * 4 + [call_operator] * 4 + [call_differentiator, call_engine] * 2),
    *(call_containers, call_program),
]


def describe(values):
    """Return a description of values, a few words each."""
    if isinstance(values, dict):
        return "{" + ", ".join(f"{key}: {describe([value])}" for key, value in values.items()) + "}"
    words = []
    for x in values:
        if isinstance(x, onp.ndarray):
            flags = "".join(letter for letter in "CFAW" if x.flags[letter])
            words.append(f"{type(x).__name__}({x.shape}, {x.dtype}, {flags})")
        elif isinstance(x, (list, tuple, dict)):
            words.append(f"{type(x).__name__}{describe(x if isinstance(x, dict) else list(x))}")
        else:
            words.append(f"{x!r:.60}" if not isinstance(x, Unpleasant) else "Unpleasant")
    return "[" + ", ".join(words) + "]"


# ---------------------------------------------------------------------------------------------------------- the workers


def one_call(seed, number):
    """Make a call; return the fault found, or None, and a description of the call."""
    rng = random.Random(seed << 40 | number)
    steps = rng.choice(KINDS)(rng.choice)
    with onp.errstate(all="ignore"):
        what = next(steps)
        found = failure(steps)
    return found, what() if found else ""


def failure(steps):
    """Run the remaining steps of a call and return the fault found, or None."""
    try:
        for _ in steps:
            pass
    except Finding as finding:
        return str(finding)
    except MemoryError:
        return None
    except Exception as error:
        place = error.__traceback__
        while place.tb_next is not None:
            place = place.tb_next
        where = f"{Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}"
        return f"{type(error).__name__} at {where}: {error!s:.100}"
    return None


def work(seed, first, last, folder):
    """Make calls and print the findings; the number of the current call stands in a file."""
    if "FASTGRAD_SANITIZE" not in os.environ:
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    sys.setrecursionlimit(600)
    warnings.simplefilter("ignore")
    with open(Path(folder) / "now", "r+b", buffering=0) as now:
        for number in range(first, last):
            os.pwrite(now.fileno(), struct.pack("q", number), 0)
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            found, what = one_call(seed, number)
            faulthandler.cancel_dump_traceback_later()
            if found is not None:
                print(f"{number}\t{found}\t{what}".replace("\n", " "), flush=True)


def run(seed, first, last, folder):
    """Make the calls of a batch in worker processes and return the findings."""
    findings = []
    while first < last:
        now = Path(folder) / "now"
        now.write_bytes(struct.pack("q", first))
        command = [sys.executable, "-X", "faulthandler", __file__, "--worker", str(first), str(last), folder]
        done = subprocess.run([*command, "--seed", str(seed)], capture_output=True, text=True, errors="replace")
        findings += [line.split("\t") for line in done.stdout.splitlines() if line.count("\t") == 2]
        if done.returncode == 0:
            break
        number = struct.unpack("q", now.read_bytes())[0]
        trace = " ".join(done.stderr.split())[:1500]
        findings.append([str(number), f"worker gave {done.returncode}", trace])
        first = number + 1
    return findings


def main():
    """Make the calls and print one finding of each kind, with the number of findings of that kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--replay", type=int, help="make this one call, here")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return work(options.seed, int(options.worker[0]), int(options.worker[1]), options.worker[2])
    if options.replay is not None:
        faulthandler.enable()
        warnings.simplefilter("ignore")
        return print(*one_call(options.seed, options.replay), sep="\n")
    kinds, known, examples = collections.Counter(), collections.Counter(), {}
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, options.calls, BATCH):
            for number, found, what in run(options.seed, first, min(first + BATCH, options.calls), folder):
                reason = next(
                    (reason for pattern, reason in KNOWN.items() if re.search(pattern, f"{found}\t{what}")), None
                )
                (known if reason else kinds)[reason or found] += 1
                if not reason and examples.setdefault(found, number) == number:
                    print(f"{number}: {found}\n    {what}", flush=True)
    for reason, times in known.items():
        print(f"{times} times no fault of ours: {reason}")
    print(f"{options.calls} calls with seed {options.seed}: {sum(kinds.values())} findings of {len(kinds)} kinds")
    return int(bool(kinds))


if __name__ == "__main__":
    sys.exit(main())
