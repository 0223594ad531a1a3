"""`python -m fastgrad`, the pytest plugin and the notebook extension."""

import os
import re
import subprocess
import sys
import textwrap
from importlib.metadata import version

import pytest

pytestmark = pytest.mark.slow


def run(*arguments, cwd=None, stdin=None, **environment):
    """Run Python with environment variables set or, if None, removed."""
    variables = {**os.environ, "FASTGRAD_MIRROR": None, "PYTHONPATH": None, **environment}
    variables = {name: value for name, value in variables.items() if value is not None}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, input=stdin, env=variables, capture_output=True, text=True, timeout=60)


def run_code(code, *options, **environment):
    """Run code that must succeed, and return what it prints."""
    result = run(*options, "-c", textwrap.dedent(code), **environment)
    assert result.returncode == 0, result.stderr
    return result.stdout


# ----------------------------------------------------------------------------------------------------- the command line

SCRIPT = """
import os, sys
def fail(how):
    if how == "exit":
        sys.exit(3)
    if how == "words":
        raise SystemExit("no more")
    if how == "break":
        raise KeyboardInterrupt
    if how == "error":
        raise ValueError("of the script's own")
    if how == "kill":
        os.kill(os.getpid(), 15)
    print(sys.argv, __name__, sys.path[0], __spec__ and __spec__.name, sys.flags.optimize, sys.stdin.read())
fail(sys.argv[1] if len(sys.argv) > 1 else "")
"""

COMMANDS = {
    "script": ["script.py", "show", "-m", "--mirror"],
    "exit code": ["script.py", "exit"],
    "exit message": ["script.py", "words"],
    "traceback": ["script.py", "error"],
    "signal": ["script.py", "kill"],
    "interrupted": ["script.py", "break"],
    "module": ["-m", "script", "show", "it"],
    "module traceback": ["-m", "script", "error"],
    "code": ["-c", SCRIPT, "show"],
    "code traceback": ["-c", SCRIPT, "error"],
    "optimised": ["-O", "script.py", "show"],
    "no such script": ["nowhere.py"],
    "no such module": ["-m", "nowhere"],
    "standard input": ["-", "show"],
    "no arguments": [],
    "session": ["-i", "-c", "print(1)"],
}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS.keys())
def test_a_program_runs_as_python_runs_it(tmp_path, arguments):
    (tmp_path / "script.py").write_text(SCRIPT)
    stdin = "1 / 0\n" if "-i" in arguments else SCRIPT
    expected, result = (
        run(*options, *arguments, cwd=tmp_path, stdin=stdin)
        for options in (["-X", "utf8"], ["-X", "utf8", "-m", "fastgrad"])
    )
    assert (result.returncode, result.stdout, result.stderr) == (
        expected.returncode,
        expected.stdout,
        expected.stderr,
    )


def test_a_script_gets_fastgrad(tmp_path):
    (tmp_path / "script.py").write_text("import autograd, fastgrad, sys\nprint(autograd is fastgrad, sys.argv[1:])")
    assert run("-m", "fastgrad", "script.py", "a", cwd=tmp_path).stdout == "True ['a']\n"
    assert run("-mfastgrad", "-m", "script", "b", cwd=tmp_path).stdout == "True ['b']\n"


@pytest.mark.parametrize(
    "options", [["-O", "-m", "fastgrad"], ["-Om", "fastgrad"], ["-Omfastgrad"], ["-m", "fastgrad"]]
)
def test_pythons_options_before_ours_count(options):
    expected = "0\n" if "-O" not in options[0] else "1\n"
    assert run_code("import sys; print(sys.flags.optimize)", *options) == expected


def test_help_and_refusals():
    assert run("-m", "fastgrad", "-h").stdout.startswith("usage: python -m fastgrad")
    for arguments in (["--mirror", "2"], ["--mirror="], ["--mirror"]):
        result = run("-m", "fastgrad", *arguments)
        assert result.returncode == 1
        assert "no mirror" in result.stderr
    assert "Python's options -E, -I and -S" in run("-I", "-m", "fastgrad", "-c", "").stderr


# ---------------------------------------------------------------------------------------------------- pytest, notebooks

CONFTEST = """
import autograd

def pytest_report_header():
    return f"conftest: {autograd.__name__} {autograd.__version__}"
"""

TESTS = """
import os
import autograd
import autograd.numpy as np
import pytest

@pytest.mark.parametrize("x", [0.0, 1.0, 2.0, 3.0])
def test_slope(x):
    assert autograd.__name__ == "fastgrad"
    assert autograd.__version__ == os.environ["EXPECTED"]
    assert autograd.grad(np.sin)(x) == np.cos(x)
"""


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        ([], {"EXPECTED": version("autograd")}),
        (["--autograd-mirror=1.8"], {"EXPECTED": "1.8.0"}),
        ([], {"EXPECTED": "1.8.0", "FASTGRAD_MIRROR": "1.8"}),
        (["-n2", "--autograd-mirror=1.8"], {"EXPECTED": "1.8.0"}),
    ],
    ids=["default", "option", "variable", "xdist"],
)
def test_the_pytest_plugin(tmp_path, options, environment):
    if "-n2" in options:
        pytest.importorskip("xdist")
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_it.py").write_text(TESTS)
    result = run("-m", "pytest", "-p", "fastgrad.as_autograd", "-W", "error", *options, cwd=tmp_path, **environment)
    assert "4 passed" in result.stdout, result.stdout + result.stderr
    assert f"conftest: fastgrad {environment['EXPECTED']}" in result.stdout
    assert f"autograd: {environment['EXPECTED']}, as mirrored by fastgrad" in result.stdout


def test_the_plugin_named_by_a_conftest(tmp_path):
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["fastgrad.as_autograd"]')
    (tmp_path / "test_it.py").write_text(TESTS)
    assert "4 passed" in run("-m", "pytest", cwd=tmp_path, EXPECTED=version("autograd")).stdout


def test_the_plugin_after_autograd(tmp_path):
    (tmp_path / "conftest.py").write_text('import autograd\npytest_plugins = ["fastgrad.as_autograd"]')
    result = run("-m", "pytest", cwd=tmp_path)
    assert result.returncode == 4
    assert re.fullmatch("ERROR: autograd itself is already imported .*", result.stderr.strip())


def test_the_notebook_extension():
    code = """
    import fastgrad
    fastgrad.load_ipython_extension(None)
    import autograd
    print(autograd is fastgrad)
    fastgrad.unload_ipython_extension(None)
    import autograd
    print(autograd is fastgrad)
    """
    assert run_code(code) == "True\nFalse\n"
