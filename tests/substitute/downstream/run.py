"""Run the libraries that build on autograd twice, on autograd and on fastgrad in its place: `make downstream`.

Each library of `libraries.toml` gets a virtual environment with autograd and fastgrad side by side. Its job, a file in
`jobs/`, must give the same results in both, and its own tests the same passes; the wall times go into a table. Exits
with 1 if a result differs or a test passes on autograd alone.
"""

import argparse
import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import venv
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import tomllib

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
FOLDER = Path(os.environ.get("FASTGRAD_DOWNSTREAM", ROOT / ".venv-downstream"))
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg", "PYTHONHASHSEED": "0"}
SIDES = ("autograd", "fastgrad")


def call(*command, **options):
    environment = os.environ | ONE_THREAD | {"PYTHONPATH": str(HERE)}
    return subprocess.run([str(part) for part in command], env=environment, **options)


def must(*command, **options):
    """Run a command whose output matters only if it fails."""
    done = call(*command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))} failed:\n{done.stdout[-3000:]}")


# --------------------------------------------------------------------------------------------------------- environments


def build_wheel():
    """Build the current fastgrad; all environments have the Python that runs this, so they share one wheel."""
    shutil.rmtree(FOLDER / "wheel", ignore_errors=True)
    must(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", FOLDER / "wheel", ROOT)
    (wheel,) = (FOLDER / "wheel").glob("*.whl")
    return wheel


def once(stamp, content, action):
    """Run `action` unless the stamp file says that it has been run for the same content."""
    if not stamp.exists() or stamp.read_text() != content:
        action()
        stamp.write_text(content)


class Library:
    """One line of the table: a library, its environment and what is run in it."""

    def __init__(self, name, entry, pins):
        self.name, self.entry = name, entry
        self.pins = pins | entry.get("pins", {})
        self.folder = FOLDER / name
        self.python = self.folder / "bin" / "python"
        self.job = HERE / "jobs" / f"{name.lower().replace('-', '_')}.py"

    def prepare(self, wheel):
        wanted = [*self.entry["requires"], *(f"{name}=={self.pins[name]}" for name in ("autograd", "numpy", "pytest"))]
        constraints = "".join(f"{name}=={version}\n" for name, version in self.pins.items())

        def make():
            venv.create(self.folder, clear=True, with_pip=True)
            (self.folder / "constraints.txt").write_text(constraints)
            pip = [self.python, "-m", "pip", "install", "--quiet"]
            must(*pip, "--prefer-binary", "-c", self.folder / "constraints.txt", *wanted)

        def install():
            must(self.python, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", wheel)

        once(self.folder / ".made", f"{wanted}\n{constraints}", make)
        once(self.folder / ".wheel", hashlib.sha256(wheel.read_bytes()).hexdigest(), install)

    # ------------------------------------------------------------------------------------------------------------- job

    def measure(self, side, output, *arguments):
        start = [self.python] if side == "autograd" else [self.python, "-m", "fastgrad"]
        must(*start, HERE / "measure.py", self.job, output, *arguments, cwd=output.parent)
        figures = json.loads(output.with_suffix(".json").read_text())
        if figures["served by"] != side:
            raise RuntimeError(f"{self.name}: the job ran on {figures['served by']}, not on {side}")
        return figures

    def run_job(self, rounds, seconds):
        """Run the job on both sides in turn, so that a change of the machine's speed affects both."""
        times = {side: [] for side in SIDES}
        with tempfile.TemporaryDirectory() as scratch:
            outputs = {side: Path(scratch) / side for side in SIDES}
            for _ in range(rounds):
                for side in SIDES:
                    times[side].append(self.measure(side, outputs[side], "--seconds", seconds)["time"])
            results = [np.load(outputs[side].with_suffix(".npz")) for side in SIDES]
            difference = greatest_difference(*results)
            share = self.measure("autograd", outputs["autograd"], "--seconds", seconds, "--share")["share"]
        return {side: min(times[side]) for side in SIDES} | {"difference": difference, "share": share}

    # ----------------------------------------------------------------------------------------------------------- suite

    def tests(self):
        """Return the folder of the library's tests: its unpacked sdist, or a folder of the installed package."""
        suite = self.entry["suite"]
        if "package" in suite:
            (folder,) = self.folder.glob(f"lib/python*/site-packages/{suite['package']}")
            return folder
        unpacked = self.folder / "sdist"

        def download():
            shutil.rmtree(unpacked, ignore_errors=True)
            options = ["--quiet", "--no-deps", "--no-binary", ":all:", "-d", unpacked]
            must(self.python, "-m", "pip", "download", *options, suite["sdist"])
            (archive,) = unpacked.glob("*.tar.gz")
            shutil.unpack_archive(archive, unpacked)

        once(self.folder / ".sdist", suite["sdist"], download)
        (folder,) = (path for path in unpacked.iterdir() if path.is_dir())
        return folder

    def run_suite(self, log):
        """Run the library's tests on both sides and return the sets of tests that pass."""
        passed, folder = {}, self.tests()
        for side in SIDES:
            with tempfile.TemporaryDirectory() as scratch:
                report = Path(scratch) / "report.xml"
                plugin = ["-p", "fastgrad.as_autograd"] if side == "fastgrad" else []
                options = ["-q", "-p", "no:cacheprovider", "-p", "seeded", f"--junitxml={report}", *plugin]
                with open(log.with_suffix(f".{side}.log"), "w") as output:
                    command = [self.python, "-m", "pytest", *options, *self.entry["suite"]["arguments"]]
                    call(*command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
                passed[side] = passes(report)
        return passed


def greatest_difference(expected, got):
    """Return the largest difference between two sets of arrays, relative to the largest element of each array."""
    if set(expected) != set(got):
        raise RuntimeError(f"the results are not of the same things: {sorted(set(expected) ^ set(got))}")
    differences = [0.0]
    for name in expected:
        a, b = expected[name], got[name]
        if a.shape != b.shape or a.dtype != b.dtype or (np.isnan(a) != np.isnan(b)).any():
            return math.inf
        scale = np.nanmax(np.abs(a), initial=0.0)
        differences.append(np.nanmax(np.abs(a - b), initial=0.0) / (scale or 1.0))
    return float(max(differences))


def passes(report):
    cases = ElementTree.parse(report).iter("testcase")
    return {(case.get("classname"), case.get("name")) for case in cases if not len(case.findall("*[@message]"))}


# ---------------------------------------------------------------------------------------------------------------- table

HEADER = (
    "| library | job | autograd | fastgrad | times as fast | share of autograd | difference | its tests passed |\n"
    "|---|---|---|---|---|---|---|---|"
)


def row(library, found):
    job, suite = found.get("job"), found.get("suite")
    title = library.job.read_text().split('"""')[1].split("\n")[0].rstrip(".")
    cells = [library.entry["requires"][0].replace("==", " "), title, *["-"] * 6]
    if job:
        version = "" if library.pins["autograd"].startswith("1.9") else f" ({library.pins['autograd']})"
        times = [f"{1e3 * job[side]:.3g} ms" for side in SIDES]
        cells[2:4] = times[0] + version, times[1]
        cells[4:7] = f"{job['autograd'] / job['fastgrad']:.1f}", f"{job['share']:.0%}", f"{job['difference']:.0e}"
    if suite:
        cells[7] = f"{suite['autograd']}, {suite['fastgrad']}"
    return "| " + " | ".join(cells) + " |"


def summary(jobs):
    ratios = [job["autograd"] / job["fastgrad"] for job in jobs]
    heavy = [ratio for ratio, job in zip(ratios, jobs, strict=True) if job["share"] > 0.6]
    mean = math.exp(np.mean(np.log(ratios)))
    lines = [f"Geometric mean over {len(ratios)} jobs: {mean:.2f}; least: {min(ratios):.2f}."]
    if heavy:
        mean = math.exp(np.mean(np.log(heavy)))
        lines.append(f"Where autograd's code takes over 60 % of the time: {mean:.2f}; least: {min(heavy):.2f}.")
    return "\n".join(lines)


def report(libraries, found):
    """Return the table of all results, of this run and of earlier ones."""
    rows = [row(library, found[library.name]) for library in libraries if library.name in found]
    jobs = [figures["job"] for figures in found.values() if "job" in figures]
    return "\n".join([HEADER, *rows, *(["", summary(jobs)] if jobs else [])]) + "\n"


def examine(library, found, args):
    """Run a library's job and tests, record the figures, and return the failures."""
    failures = []
    if not args.suites_only:
        found["job"] = library.run_job(args.rounds, args.seconds)
        if not found["job"]["difference"] <= library.entry.get("rtol", 1e-9):
            failures.append(f"the results differ by {found['job']['difference']:.1e}")
    if "suite" in library.entry and not args.jobs_only:
        passed = library.run_suite(FOLDER / library.name)
        found["suite"] = {side: len(passed[side]) for side in SIDES}
        lost = passed["autograd"] - passed["fastgrad"]
        failures.extend(f"{'::'.join(test)} passes on autograd alone" for test in sorted(lost))
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="the libraries to run; all by default")
    parser.add_argument("--jobs-only", action="store_true", help="leave the libraries' own tests out")
    parser.add_argument("--suites-only", action="store_true", help="leave the jobs out")
    parser.add_argument("--rounds", type=int, default=3, help="processes per side and job")
    parser.add_argument("--seconds", type=float, default=2.0, help="time spent on a job in each process")
    args = parser.parse_args()
    table = tomllib.loads((HERE / "libraries.toml").read_text())
    known = {name: Library(name, entry, table["pins"]) for name, entry in table["libraries"].items()}
    FOLDER.mkdir(exist_ok=True)
    figures = FOLDER / "figures.json"
    found = json.loads(figures.read_text()) if figures.exists() else {}
    wheel = build_wheel()
    failures = []
    for name in args.names or known:
        library = known[name]
        try:
            library.prepare(wheel)
            wrong = examine(library, found.setdefault(name, {}), args)
        except RuntimeError as error:
            wrong = [str(error)]
        failures.extend(f"{name}: {message}" for message in wrong)
        figures.write_text(json.dumps(found, indent=1))
        print(row(library, found.get(name, {})), *wrong, sep="\n", flush=True)
    (FOLDER / "table.md").write_text(report(known.values(), found))
    print("", report(known.values(), found), *failures, sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
