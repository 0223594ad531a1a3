"""Run the suite where faults in compiled code show: python tools/sanitize.py [MODE ...] [-- pytest arguments].

``address`` is a build with AddressSanitizer and UBSan, which see out-of-bounds and freed memory, overflows of integers
and misaligned access; ``refnanny`` one in which Cython counts the references that every function takes and drops;
``malloc`` is the ordinary build with CPython's checking allocator. The first two have environments in build/.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEBUG = ["-Csetup-args=-Dbuildtype=debugoptimized"]
BUILD_NEEDS = ["meson-python>=0.17", "meson>=1.5", "ninja", "Cython>=3.1", "numpy>=2.0"]
# Build arguments, the environment of the tests, pytest's arguments.
MODES = {
    "address": (
        [*DEBUG, "-Csetup-args=-Db_sanitize=address,undefined", "-Csetup-args=-Db_lundef=false"],
        # With malloc each Python object is a block of its own. CPython does not free everything at exit.
        {"PYTHONMALLOC": "malloc", "ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"},
        ["-n", "2"],
    ),
    # Its reports are printed where pytest would hide them.
    "refnanny": ([*DEBUG, "-Csetup-args=-Dc_args=-DCYTHON_REFNANNY=1"], {}, ["-s"]),
    "malloc": (None, {"PYTHONMALLOC": "debug", "PYTHONDEVMODE": "1"}, ["-n", "2"]),
}
# The beginnings of their reports.
REPORTS = ("REFNANNY:", "refnanny raised", "AddressSanitizer", "runtime error:", "Fatal Python error", "Debug memory")


def environment(name, build):
    """Build with further arguments, install into an environment of its own, and return its interpreter."""
    folder = ROOT / "build" / name
    python = folder / "venv" / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    subprocess.run([*pip, *BUILD_NEEDS], check=True)
    os.environ["PATH"] = os.pathsep.join([str(python.parent), os.environ["PATH"]])
    build = [*build, f"-Cbuild-dir={folder / 'objects'}"]
    subprocess.run([*pip, "--no-build-isolation", "--force-reinstall", "--no-deps", *build, ROOT], check=True)
    subprocess.run([*pip, "fastgrad[test,demo]"], check=True)
    return python


def preloaded():
    """Return the sanitizers' libraries, which must be loaded first in a program that is not built with them."""
    found = (["gcc", f"-print-file-name={name}"] for name in ("libasan.so", "libubsan.so"))
    return ":".join(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip() for command in found
    )


def run(mode, arguments):
    """Run the suite, and return whether it passed and nothing was reported."""
    build = MODES[mode][0]
    python = sys.executable if build is None else environment(mode, build)
    env = {**os.environ, **MODES[mode][1], "FASTGRAD_SANITIZE": mode, "PYTHONFAULTHANDLER": "1"}
    log = ROOT / "build" / mode / "report"
    for old in log.parent.glob("report*"):
        old.unlink()
    if mode == "address":
        env["LD_PRELOAD"] = preloaded()
        env["ASAN_OPTIONS"] += f":log_path={log}"
        env["UBSAN_OPTIONS"] += f":log_path={log}"
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *MODES[mode][2], *arguments]
    with subprocess.Popen(
        command, cwd=ROOT, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as tests:
        reports = []
        for line in tests.stdout:
            print(line, end="", flush=True)
            reports += [line] if any(word in line for word in REPORTS) else []
    for path in log.parent.glob("report*"):
        print(path.read_text(errors="replace"))
        reports.append(path.name)
    print(f"{mode}: pytest gave {tests.returncode}, {len(reports)} reports", flush=True)
    return tests.returncode == 0 and not reports


def main(arguments):
    """Run the modes named, or all."""
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    modes = arguments[:cut] or list(MODES)
    return int(not all([run(mode, arguments[cut + 1 :]) for mode in modes]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
