"""Child processes of a program whose autograd is fastgrad."""

import os
import re
import subprocess
import sys
import textwrap

import pytest

import fastgrad

pytestmark = pytest.mark.slow

FOLDER = os.path.dirname(fastgrad.__file__)
INSTALL = "import fastgrad\nfastgrad.install_as_autograd()\n"


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


LIBRARY = """
import autograd
import autograd.numpy as np
from autograd import grad

def slope(x):
    return float(grad(np.sin)(x)), autograd.__version__

def is_box_class(kind):
    from autograd.numpy.numpy_boxes import ArrayBox
    return kind is ArrayBox
"""

PROGRAM = """
{first}
import multiprocessing, sys
import fastgrad
from library import is_box_class, slope

def own_slope(x):
    import autograd.numpy
    return slope(x), autograd is fastgrad

if __name__ == "__main__":
    from autograd.numpy.numpy_boxes import ArrayBox
    with multiprocessing.get_context("{method}").Pool(1) as pool:
        print(pool.map(slope, [0.0]), pool.map(own_slope, [0.0]), pool.map(is_box_class, [ArrayBox]))
"""


@pytest.mark.parametrize("first", ["", "import fastgrad; fastgrad.install_as_autograd('1.8')"])
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(tmp_path, method, first):
    import multiprocessing

    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    (tmp_path / "library.py").write_text(LIBRARY)
    (tmp_path / "program.py").write_text(PROGRAM.format(method=method, first=first))
    options = [] if first else ["-m", "fastgrad", "--mirror", "1.8"]
    result = run(*options, "program.py", cwd=tmp_path)
    assert result.stdout == "[(1.0, '1.8.0')] [((1.0, '1.8.0'), True)] [True]\n", result.stderr


def test_joblib(tmp_path):
    pytest.importorskip("joblib")
    (tmp_path / "library.py").write_text(LIBRARY)
    code = """
    from fastgrad import install_as_autograd
    install_as_autograd("1.8")
    import joblib
    from library import is_box_class, slope
    from autograd.numpy.numpy_boxes import ArrayBox
    import autograd.numpy as np
    power = lambda x: np.power(x, 3.0)
    jobs = [joblib.delayed(slope)(0.0), joblib.delayed(is_box_class)(ArrayBox), joblib.delayed(power)(2.0)]
    print(joblib.Parallel(n_jobs=2)(jobs))
    """
    result = run("-c", textwrap.dedent(code), cwd=tmp_path)
    assert re.fullmatch(r"\[\(1.0, '1.8.0'\), True, (np.float64\()?8.0\)?\]\n", result.stdout), result.stderr


def test_a_child_without_autograd_does_not_import_fastgrad():
    code = """
    import subprocess, sys
    show = "import sys; print('fastgrad' in sys.modules, any('children' in path for path in sys.path))"
    print(subprocess.check_output([sys.executable, "-c", show], text=True))
    """
    assert run_code(INSTALL + textwrap.dedent(code)) == "False False\n\n"


def test_a_sitecustomize_of_the_users_runs_too(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.marker = __file__")
    code = "import sys, sitecustomize, autograd; print(sys.marker == sitecustomize.__file__, autograd.__name__)"
    assert run_code(code, "-m", "fastgrad", PYTHONPATH=str(tmp_path)) == "True fastgrad\n"


def test_a_python_that_has_no_fastgrad_keeps_what_it_has(tmp_path):
    (tmp_path / "autograd.py").write_text("marker = 1")
    code = "import sys; sys.modules['fastgrad'] = None; sys.path.insert(0, sys.argv[1]); import autograd"
    code += "; print(autograd.marker)"
    children = os.path.join(FOLDER, "_substitute", "children")
    result = run("-c", code, tmp_path, PYTHONPATH=children)
    assert result.stdout == "1\n", result.stderr
