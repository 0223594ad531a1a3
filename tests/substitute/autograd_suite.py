"""Run autograd's own tests, from its source distribution, with fastgrad in its place.

Further arguments are passed on to pytest. Nothing of the suite is kept here: it is fetched anew.
"""

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

RELEASE = "autograd==1.9.1"
NOT_WANTED = {
    "tests/test_fft.py::test_rfftn_odd_not_implemented": "wants an error where fastgrad has the derivative",
}


def fetch(folder):
    """Download and unpack the source distribution, and return its folder."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", folder]
    subprocess.run([*pip, RELEASE], check=True)
    (archive,) = Path(folder).glob("autograd-*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    return archive.with_name(archive.name.removesuffix(".tar.gz"))


def main(arguments):
    with tempfile.TemporaryDirectory() as folder:
        release = fetch(folder)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "fastgrad.as_autograd", "-p", "no:cacheprovider"]
        # The suite's own settings require plugins for coverage and for parallel runs.
        command += ["-o", "required_plugins=", "-o", "addopts=", "-W", "ignore"]
        command += [*(f"--deselect={name}" for name in NOT_WANTED), *arguments, "tests"]
        return subprocess.run(command, cwd=release).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
