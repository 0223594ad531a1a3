"""Measure a few speeds and compare them with their targets: ``python benchmarks/targets.py``.

The measurements are those of ``suite/side_by_side.py``, which asv runs too. Exits with 1 if a target is missed or
cannot be measured.
"""

import operator
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from itertools import product

from suite.common import INPUTS, PROGRAMS
from suite.side_by_side import AgainstAutograd, AgainstNumpy, BoxedCalls

MEETS = {"<=": operator.le, ">=": operator.ge}
SPEEDUP_TARGETS = {("fan_out_1000", "scalar"): (">=", 40), ("fan_out_1000", "vector10"): (">=", 10)}
DESCRIPTIONS = {"sin_50": "50 chained sin", "fan_out_1000": "x = (x + x)/2, 1000 times"}


def figures():
    """Yield the name of each figure, its value (None if it cannot be measured) and its target (None if it has none)."""
    calls = BoxedCalls()
    yield "b * b of a boxed float, in us", calls.track_multiply(), ("<=", 0.25)
    yield "np.sin(b) / raw np.sin, one float64", calls.track_sin_cost(), ("<=", 1.6)
    for name, kind in product(PROGRAMS, INPUTS):
        speedup = speedup_over_autograd(name, kind)
        yield f"autograd / fastgrad: {DESCRIPTIONS[name]}, {kind}", speedup, SPEEDUP_TARGETS.get((name, kind))
    for name, kind in product(PROGRAMS, INPUTS):
        cost = AgainstNumpy().track_grad_cost(name, kind)
        yield f"gradient / function in NumPy: {DESCRIPTIONS[name]}, {kind}", cost, None


def speedup_over_autograd(name, kind):
    benchmark = AgainstAutograd()
    try:
        benchmark.setup(name, kind)
    except NotImplementedError:
        return None
    return benchmark.track_grad_speedup(name, kind)


def verdict(value, target):
    if target is None:
        return ""
    if value is None:
        return "not measured"
    comparison, limit = target
    return "pass" if MEETS[comparison](value, limit) else "FAIL"


def circumstances(names=("fastgrad", "autograd", "numpy")):
    """Return a line with the versions of the packages, the number of CPUs and the load average."""
    packages = []
    for name in names:
        try:
            packages.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            packages.append(f"{name} absent")
    load = f", load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"Python {platform.python_version()}, {', '.join(packages)}; {os.cpu_count()} CPUs{load}"


def print_figures(figures):
    """Print each figure with its target and verdict as it is measured, and return whether all targets were met."""
    print(f"{'figure':<66}{'value':>9}{'target':>9}  verdict")
    met = True
    for name, value, target in figures:
        shown_value = "-" if value is None else f"{value:.3g}"
        shown_target = "-" if target is None else "{} {}".format(*target)
        outcome = verdict(value, target)
        met &= outcome in ("", "pass")
        print(f"{name:<66}{shown_value:>9}{shown_target:>9}  {outcome}".rstrip(), flush=True)
    return met


def main():
    print(circumstances())
    return int(not print_figures(figures()))


if __name__ == "__main__":
    sys.exit(main())
