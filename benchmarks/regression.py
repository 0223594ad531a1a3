"""Fail if a program has become much slower against autograd, the control: ``python benchmarks/regression.py``.

Times the gradients of ``programs.py`` on autograd and on fastgrad in turns, in CPU time, and compares their ratios with
those recorded in ``expected_ratios.json``; ``--record`` records new ones. Exits with 1 if a program's ratio falls short
in each of three measurements.
"""

import argparse
import json
import sys
import time
from pathlib import Path

# Sets the environment to one thread, which has to come before NumPy.
import compare
from programs import PROGRAMS
from targets import circumstances

EXPECTED = Path(__file__).with_name("expected_ratios.json")
SHORTFALL = 0.6  # Of what is expected. Other machines, and newer Pythons, reach 0.7 of it with nothing wrong.
ATTEMPTS = 3
ROUNDS = 7


def ratio(program):
    seconds = compare.measure(program, ["autograd", "fastgrad"], ROUNDS, time.process_time)
    return seconds["autograd"] / seconds["fastgrad"]


def best_ratio(program, enough):
    """Return the greatest of up to `ATTEMPTS` ratios, or the first that is enough, so that noise does not count."""
    best = 0.0
    for _ in range(ATTEMPTS):
        best = max(best, ratio(program))
        if best >= enough:
            break
    return best


def regressions(programs, expected):
    """Print a line for each program and return the names of those that fall short, or that have no record."""
    found = []
    print(f"{'autograd / fastgrad':<28}{'expected':>10}{'found':>10}")
    for program in programs:
        recorded = expected.get(program.name)
        if recorded is None:
            print(f"{program.name:<28}{'-':>10}{'-':>10}  not recorded: run with --record")
            found.append(program.name)
            continue
        got = best_ratio(program, SHORTFALL * recorded)
        verdict = "" if got >= SHORTFALL * recorded else "  REGRESSION"
        found.extend([program.name] if verdict else [])
        print(f"{program.name:<28}{recorded:>10.1f}{got:>10.1f}{verdict}", flush=True)
    return found


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help=f"write the ratios found to {EXPECTED.name}")
    options = parser.parse_args(argv)
    print(circumstances())
    if options.record:
        found = {program.name: round(ratio(program), 2) for program in PROGRAMS}
        EXPECTED.write_text(json.dumps(found, indent=2) + "\n")
        return 0
    return int(bool(regressions(PROGRAMS, json.loads(EXPECTED.read_text()))))


if __name__ == "__main__":
    sys.exit(main())
