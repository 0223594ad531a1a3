"""Compare fastgrad with other libraries, each on one thread: ``python benchmarks/compare.py``.

Runs ``programs.py`` on NumPy, fastgrad, and those of autograd, PyTorch and JAX that are installed; checks that their
gradients agree; prints times, and ratios of times with their targets. Exits with 1 if a target is missed.
"""

import argparse
import json
import os
import sys
import time
from itertools import pairwise

# Read when the libraries are loaded, so set before.
os.environ.update({f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")})
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_ENABLE_X64"] = "1"

import numpy
from libraries import SIDES, count_operations, flat, installed_sides, prepare
from programs import GROUPS, PROGRAMS
from suite.timing import ROUNDS, fastest
from targets import circumstances, print_figures

SMALL_PROGRAM = 20  # Operations; the target against jitted JAX is for programs up to this size.
LARGEST_JITTED = 4000  # Operations; XLA compiles a longer straight-line program for minutes.
EAGER_JAX_ROUNDS = 3
AGREEMENT = 1e-8

SUMMARIES = {"mean": lambda ratios: float(numpy.exp(numpy.mean(numpy.log(ratios)))), "worst": min}

#: Group, numerator, denominator, summary over the group's programs, target.
TARGETS = (
    ("scalar", "autograd", "fastgrad", "mean", (">=", 40)),
    ("scalar", "autograd", "fastgrad", "worst", (">=", 18)),
    ("scalar", "fastgrad", "numpy", "mean", ("<=", 12)),
    ("scalar", "torch", "fastgrad", "mean", (">=", 8)),
    ("small", "autograd", "fastgrad", "mean", (">=", 12)),
    ("small", "autograd", "fastgrad", "worst", (">=", 2.5)),
    ("small", "fastgrad", "numpy", "mean", ("<=", 1.8)),
    ("small", "torch", "fastgrad", "mean", (">=", 4)),
    ("large", "autograd", "fastgrad", "mean", (">=", 2)),
    ("large", "fastgrad", "numpy", "mean", ("<=", 2.5)),
    ("large", "torch", "fastgrad", "mean", (">=", 1)),
    ("short", "fastgrad", "jax_jitted", "mean", ("<=", 3)),
)
DESCRIPTIONS = {
    "scalar": "scalars",
    "small": "small arrays",
    "large": "large arrays",
    "short": f"up to {SMALL_PROGRAM} operations",
}


def arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=[program.name for program in PROGRAMS])
    parser.add_argument("--group", nargs="+", metavar="GROUP", choices=GROUPS, default=GROUPS)
    parser.add_argument("--sides", nargs="+", metavar="SIDE", choices=SIDES, default=list(SIDES))
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds in turns; the fastest counts")
    parser.add_argument("--cpu-time", action="store_true", help="measure CPU time instead: fairer on a busy machine")
    parser.add_argument("--chart", metavar="FILE", help="draw the times (needs matplotlib)")
    parser.add_argument("--json", metavar="FILE", help="write the times in seconds")
    options = parser.parse_args(argv)
    if options.chart and "fastgrad" not in options.sides:
        parser.error("the chart shows multiples of fastgrad's times: add fastgrad to --sides")
    return options


def sides_of(program, sides):
    """Return the sides that can run a program: without jitted JAX if compiling would take minutes."""
    if count_operations(program) > LARGEST_JITTED:
        return [side for side in sides if side != "jax_jitted"]
    return sides


def check_agreement(program, calls):
    """Raise if the libraries' gradients differ: a wrong gradient has no speed."""
    gradients = {side: flat(function(x)) for side, (function, x) in calls.items() if side != "numpy"}
    for (first, expected), (side, gradient) in pairwise(gradients.items()):
        error = numpy.max(numpy.abs(gradient - expected)) / numpy.max(numpy.abs(expected))
        if not error <= AGREEMENT:
            raise ArithmeticError(f"{program.name}: the gradients of {first} and {side} differ by {error:.1e}")


def measure(program, sides, rounds, clock):
    """Return the time of a call of each side, in seconds."""
    calls = {side: prepare(side, program) for side in sides_of(program, sides)}
    check_agreement(program, calls)
    statements = {side: ("function(x)", {"function": function, "x": x}) for side, (function, x) in calls.items()}
    eager_jax = statements.pop("jax", None)  # Slower than all others together, and in no target: timed apart.
    seconds = dict(zip(statements, fastest(*statements.values(), rounds=rounds, clock=clock), strict=True))
    if eager_jax:
        (seconds["jax"],) = fastest(eager_jax, rounds=min(rounds, EAGER_JAX_ROUNDS), clock=clock)
    return seconds


def print_times(programs, sides, rounds, clock):
    """Measure the programs, print a line each, and return the seconds by program and side."""
    print("Microseconds a gradient (numpy: the function alone), and ratios")
    ratios = [pair for pair in (("autograd", "fastgrad"), ("fastgrad", "numpy")) if set(pair) <= set(sides)]
    titles = [f"{side:>12}" for side in sides] + [f"{'/'.join(pair):>19}" for pair in ratios]
    print(f"{'':<24}{''.join(titles)}")
    results, group = {}, None
    for program in programs:
        if program.group != group:
            group = program.group
            print(group)
        seconds = results[program.name] = measure(program, sides, rounds, clock)
        cells = [f"{seconds[side] * 1e6:>12,.1f}" if side in seconds else f"{'-':>12}" for side in sides]
        cells += [f"{seconds[above] / seconds[below]:>19.1f}" for above, below in ratios]
        print(f"  {program.name:<22}{''.join(cells)}", flush=True)
    return results


def members(group):
    """Return the programs of a group; "short" are those of few operations in any group with targets."""
    if group == "short":
        return [p for p in PROGRAMS if p.group != "whole" and count_operations(p) <= SMALL_PROGRAM]
    return [program for program in PROGRAMS if program.group == group]


def figures(results):
    """Yield name, value and target for each target whose programs and sides were all measured."""
    for group, above, below, summary, target in TARGETS:
        measured = [results.get(program.name, {}) for program in members(group)]
        if all(above in seconds and below in seconds for seconds in measured):
            value = SUMMARIES[summary]([seconds[above] / seconds[below] for seconds in measured])
            yield f"{above} / {below}: {DESCRIPTIONS[group]}, {summary}", value, target


def main(argv=None):
    options = arguments(argv)
    programs = [p for p in PROGRAMS if p.group in options.group and (not options.only or p.name in options.only)]
    sides = [side for side in installed_sides() if side in options.sides]
    described = circumstances(dict.fromkeys(SIDES[side][0] for side in sides))
    if options.cpu_time:
        described += "; CPU time"
    print(described)
    clock = time.process_time if options.cpu_time else time.perf_counter
    results = print_times(programs, sides, options.rounds, clock)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"circumstances": described, "seconds": results}, file, indent=2)
    if options.chart:
        from chart import draw

        draw(programs, results, described, options.chart)
    print("\nRatios of times, as geometric means and the worst of a group")
    return int(not print_figures(figures(results)))


if __name__ == "__main__":
    sys.exit(main())
