"""The sdist and the wheel contain what they should and nothing else, and any C compiler makes them."""

import importlib.util
import json
import posixpath
import re
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import requires
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

spec = importlib.util.spec_from_file_location("contents", ROOT / "tools" / "contents.py")
contents = importlib.util.module_from_spec(spec)
spec.loader.exec_module(contents)


def is_checkout():
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        return False
    return subprocess.run([git, "ls-tree", "HEAD"], cwd=ROOT, capture_output=True).returncode == 0


needs_build_tools = pytest.mark.skipif(
    not is_checkout() or importlib.util.find_spec("mesonbuild") is None or shutil.which("ninja") is None,
    reason="not a checkout, or meson or ninja is missing",
)


def meson(*arguments):
    done = subprocess.run([sys.executable, "-m", "mesonbuild.mesonmain", *map(str, arguments)], capture_output=True)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Return a build folder of the last commit, configured but not built."""
    build = tmp_path_factory.mktemp("distribution") / "build"
    meson("setup", build, ROOT)
    return build


@needs_build_tools
def test_sdist_has_what_it_should(build):
    meson("dist", "-C", build, "--allow-dirty", "--no-tests", "--formats", "gztar")
    (path,) = (build / "meson-dist").glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = [member.name for member in archive if member.isfile()]
    contents.check_sdist([*names, "fastgrad/PKG-INFO"])  # which the build backend adds


@needs_build_tools
def test_wheel_has_what_it_should(build):
    plan = json.loads((build / "meson-info" / "intro-install_plan.json").read_text())
    installed = [entry["destination"] for kind in plan.values() for entry in kind.values()]
    names = [posixpath.normpath(re.sub(r"^\{py_plat(lib)?\}/", "", name)) for name in installed]
    assert len(names) == len(set(names))
    tracked = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {contents.plain(name) for name in names} == contents.package_names(tracked.stdout.splitlines())


def test_contents_are_compared_both_ways(monkeypatch):
    tracked = ["LICENSE", ".github/workflows/wheels.yml", "src/fastgrad/core.py", "src/fastgrad/_engine/core.pyx"]
    monkeypatch.setattr(contents, "tracked", lambda: tracked)
    sdist = ["f-1/PKG-INFO", "f-1/LICENSE", "f-1/src/fastgrad/core.py", "f-1/src/fastgrad/_engine/core.pyx"]
    contents.check_sdist(sdist)
    metadata = [f"fastgrad-1.dist-info/{name}" for name in ("METADATA", "RECORD", "WHEEL", "licenses/LICENSE")]
    compiled = [
        "fastgrad/_engine/core.cpython-311-x86_64-linux-gnu.so",
        "fastgrad/_engine/backward.cp311-win_amd64.pyd",
    ]
    wheel = ["fastgrad/", *metadata, *compiled, "fastgrad/core.py"]
    contents.check_wheel(wheel)
    for check, names in (contents.check_sdist, sdist), (contents.check_wheel, wheel):
        with pytest.raises(AssertionError, match="missing: \\['[^']"):
            check(names[:-1])
        with pytest.raises(AssertionError, match="should not be there: \\['[^']"):
            check([*names, "fastgrad/stray.c"])


def test_stubs_stand_beside_their_modules():
    package = ROOT / "src" / "fastgrad"
    for stub in package.rglob("*.pyi"):
        assert stub.with_suffix(".py").exists() or stub.with_suffix(".pyx").exists(), stub


def test_distribution_needs_numpy_alone():
    needed = [need for need in requires("fastgrad") if "extra ==" not in need]
    assert len(needed) == 1 and needed[0].startswith("numpy")


@pytest.mark.parametrize("path", [*(ROOT / "src" / "fastgrad").rglob("*.p*x*")], ids=lambda path: path.name)
def test_own_c_is_standard(path):
    text = path.read_text(encoding="utf-8")
    for extension in ("__attribute__", "__builtin_", "__asm__", "typeof(", "_Complex", "<unistd.h>", "#pragma"):
        assert extension not in text


def test_flags_are_asked_for():
    """Only flags that the compiler was found to support are passed; definitions work with every compiler."""
    text = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "meson.build", *(ROOT / "src").rglob("meson.build"))
    )
    asked = re.sub(r"get_supported_arguments\([^)]*\)", "", text)
    assert [flag for flag in re.findall(r"'(-[^']*)'", asked) if not flag.startswith("-D")] == []
