"""The files that belong into the sdist and the wheel, according to git, and so independent of the build files."""

import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
COMPILED = ("_engine/core", "_engine/backward")
# Sources of the package that only the build needs.
SOURCES_ONLY = {".build", ".pxd", ".pxi", ".pyx"}
# Files that only the repository needs; .gitattributes keeps them out of the sdist.
REPOSITORY_ONLY = (".ci/", ".github/", ".gitattributes", ".gitignore", ".pre-commit-config.yaml")


def tracked():
    """Return the paths that the last commit has."""
    listing = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return listing.stdout.splitlines()


def sdist_names():
    """Return the names of the files that an sdist has, below its own folder."""
    return {name for name in tracked() if not name.startswith(REPOSITORY_ONLY)} | {"PKG-INFO"}


def package_names(names):
    """Return the files of the installed package, compiled modules without suffix, given those of the repository."""
    paths = [PurePosixPath(name).relative_to("src") for name in names if name.startswith("src/")]
    names = {str(path) for path in paths if path.suffix not in SOURCES_ONLY}
    return names | {f"fastgrad/{name}" for name in COMPILED}


def plain(name):
    """Return the name of a compiled module without the platform's suffix."""
    return re.sub(r"\.[^/]*\.(so|pyd)$", "", name)


def check_sdist(names):
    """Raise AssertionError if the files of an sdist are not those that belong there."""
    _compare({name.partition("/")[2] for name in names}, sdist_names())


def check_wheel(names):
    """Raise AssertionError if the files of a wheel are not those that belong there."""
    names = {plain(name) for name in names if not name.endswith("/")}
    metadata = {name for name in names if re.match(r"fastgrad-[^/]*\.dist-info/", name)}
    _compare(names - metadata, package_names(tracked()))
    expected = {"METADATA", "RECORD", "WHEEL", "licenses/LICENSE"}
    # auditwheel adds a list of the libraries it bundled, which is empty.
    _compare({name.partition("/")[2] for name in metadata} - {"sboms/auditwheel.cdx.json"}, expected)


def _compare(found, expected):
    missing, surplus = sorted(expected - found), sorted(found - expected)
    assert not missing and not surplus, f"missing: {missing}; should not be there: {surplus}"


def check(path):
    """Raise AssertionError if an sdist or a wheel does not have the files that belong there, or has others."""
    if str(path).endswith(".whl"):
        with zipfile.ZipFile(path) as archive:
            check_wheel(archive.namelist())
    else:
        with tarfile.open(path) as archive:
            check_sdist(member.name for member in archive if member.isfile())
    print(f"{path}: what belongs there, and nothing else", flush=True)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        check(name)
