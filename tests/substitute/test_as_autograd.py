"""fastgrad in autograd's place: its modules, and the release of autograd that it mirrors.

Code that installs fastgrad runs in a process of its own, because other tests use autograd itself.
"""

import os
import re
import subprocess
import sys
import textwrap
from importlib.metadata import version

import numpy as onp
import pytest

import fastgrad
from fastgrad._substitute import install as _substitute
from fastgrad.numpy.numpy_boxes import ArrayBox

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


# ---------------------------------------------------------------------------------------------------------- the modules


def test_every_module_is_fastgrads_own_before_and_after_imports():
    code = """
    import importlib, pkgutil, sys
    import autograd.scipy.stats.norm           # before anything else of either
    import fastgrad.scipy.signal
    from autograd.numpy import numpy_vjps
    names = [info.name for info in pkgutil.walk_packages(fastgrad.__path__, "fastgrad.") if "__main__" not in info.name]
    for name in names:
        theirs = importlib.import_module(name.replace("fastgrad", "autograd", 1))
        assert theirs is sys.modules[name], name
        assert theirs.__name__ == theirs.__spec__.name == name
    assert numpy_vjps is fastgrad.numpy.numpy_vjps
    assert sys.modules["autograd"] is fastgrad
    assert sys.modules["autograd.scipy.signal"] is fastgrad.scipy.signal
    seen = {info.name for info in pkgutil.walk_packages(sys.modules["autograd"].__path__, "autograd.")}
    assert seen >= {"autograd.numpy.numpy_boxes", "autograd.scipy.stats.norm"}
    print(len(names))
    """
    assert int(run_code(INSTALL + textwrap.dedent(code))) > 50


def test_loaded_modules_are_there_as_soon_as_autograd_is():
    code = """
    import sys
    import autograd
    names = ("tracer", "builtins", "numpy", "numpy.linalg", "numpy.numpy_boxes")
    print(all(sys.modules["autograd." + name] is sys.modules["fastgrad." + name] for name in names))
    """
    assert run_code(INSTALL + textwrap.dedent(code)) == "True\n"


def test_all_forms_of_import():
    code = """
    import importlib, importlib.util, inspect, pickle
    assert importlib.util.find_spec("autograd.numpy.random").name == "autograd.numpy.random"
    import autograd
    import autograd.numpy as np
    import autograd.numpy.random as npr
    from autograd import *
    from autograd.numpy.numpy_boxes import ArrayBox
    from autograd.extend import VSpace, primitive
    assert grad is fastgrad.grad and np is fastgrad.numpy and npr is np.random
    assert importlib.util.find_spec("autograd") is not None
    for kept in (ArrayBox, np.sin, grad, np.linalg.svd, autograd.builtins.SequenceBox, VSpace):
        assert pickle.loads(pickle.dumps(kept)) is kept
    assert b"autograd.numpy.numpy_boxes" in pickle.dumps(ArrayBox)
    assert inspect.getmodule(ArrayBox) is autograd.numpy.numpy_boxes
    assert inspect.getmodule(grad) is autograd.differential_operators
    assert importlib.reload(autograd.util) is fastgrad.util
    assert importlib.reload(autograd) is fastgrad and autograd.__version__
    assert autograd.grad(np.sin)(0.0) == 1.0
    """
    run_code(INSTALL + textwrap.dedent(code))


def test_a_module_that_autograd_has_not():
    result = run("-c", INSTALL + "import autograd.nothing")
    assert "ModuleNotFoundError: No module named 'autograd.nothing'" in result.stderr


def test_without_scipy_the_usual_error():
    code = """
    import sys
    sys.modules["scipy"] = None
    import autograd.numpy
    try:
        import autograd.scipy.stats
    except ImportError as error:
        print(type(error).__name__, error.name, "autograd.scipy" in sys.modules)
    """
    assert run_code(INSTALL + textwrap.dedent(code)) == "ModuleNotFoundError scipy False\n"


def test_too_late_says_what_to_do():
    code = "import fastgrad, autograd.core\nfastgrad.install_as_autograd()"
    result = run("-c", code)
    assert result.returncode == 1
    assert re.search(
        r"RuntimeError: .* already imported \(from .*autograd.__init__.py\).*before the first", result.stderr
    )
    again = "\ntry:\n    fastgrad.install_as_autograd()\nexcept RuntimeError:\n    print(autograd.__name__, "
    again += "fastgrad.numpy.numpy_boxes.ArrayBox.__module__)"
    shown = run_code("import fastgrad, autograd.core" + again)
    assert shown == "autograd fastgrad.numpy.numpy_boxes\n"


def test_installing_twice_and_taking_it_back():
    code = """
    import os, sys
    import fastgrad
    from fastgrad.numpy.numpy_boxes import ArrayBox
    before = dict(os.environ), list(sys.meta_path), set(vars(fastgrad)), ArrayBox.__array_ufunc__
    fastgrad.install_as_autograd("1.8")
    fastgrad.install_as_autograd()
    assert len(sys.meta_path) == len(before[1]) + 1
    import autograd.numpy
    assert autograd is fastgrad and autograd.__version__ == "1.8.0"
    fastgrad.install_as_autograd("1.9")
    assert autograd.__version__ == "1.9.1" and hasattr(ArrayBox, "__array_ufunc__")
    fastgrad.install_as_autograd("1.8")
    assert not hasattr(ArrayBox, "__array_ufunc__")
    fastgrad.uninstall_as_autograd()
    fastgrad.uninstall_as_autograd()
    assert before == (dict(os.environ), list(sys.meta_path), set(vars(fastgrad)), ArrayBox.__array_ufunc__)
    assert ArrayBox.__module__ == "fastgrad.numpy.numpy_boxes"
    import autograd.numpy.numpy_boxes as theirs
    assert theirs.ArrayBox is not ArrayBox
    print(theirs.__file__)
    """
    assert FOLDER not in run_code(code)


def test_what_autograd_alone_brings_along():
    names = ("extend", "misc", "numpy", "scipy", "tracer")
    code = f"import autograd; print(*(hasattr(autograd, name) for name in {names}))"
    brought = run_code(code)
    assert "True" in brought.split()[0]
    ours = run_code(INSTALL + code).split()
    assert all(mine == "True" for mine, theirs in zip(ours, brought.split(), strict=True) if theirs == "True")


def test_taking_back_reaches_what_waits_and_what_starts_later():
    code = """
    import subprocess, sys
    {first}
    import fastgrad
    fastgrad.uninstall_as_autograd()
    import autograd
    show = "import autograd; print(autograd.__name__)"
    print(autograd.__name__, subprocess.check_output([sys.executable, "-c", show], text=True).strip())
    """
    for first in ("", "import autograd"):
        assert run_code(textwrap.dedent(code).format(first=first), "-m", "fastgrad") == "autograd autograd\n"


def test_taking_back_keeps_what_the_program_put_on_the_path():
    code = """
    import os
    os.environ["PYTHONPATH"] += os.pathsep + "mine"
    fastgrad.uninstall_as_autograd()
    print(os.environ["PYTHONPATH"])
    """
    assert run_code(INSTALL + textwrap.dedent(code)) == "mine\n"


def test_threads_that_install_at_once():
    code = """
    import sys, threading
    import fastgrad
    sys.setswitchinterval(1e-6)
    before, barrier, errors = list(sys.meta_path), threading.Barrier(8), []
    def install():
        barrier.wait()
        try:
            fastgrad.install_as_autograd()
        except Exception as error:
            errors.append(error)
    threads = [threading.Thread(target=install) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(errors, len(sys.meta_path) - len(before))
    fastgrad.uninstall_as_autograd()
    print(sys.meta_path == before)
    """
    assert run_code(code) == "[] 1\nTrue\n"


def test_threads_that_ask_for_autograd_at_once_in_a_child():
    code = """
    import importlib.metadata, importlib.util, sys, threading
    sys.setswitchinterval(1e-6)
    barrier, answers = threading.Barrier(6), []
    def version():
        return importlib.metadata.version("autograd")
    def imported():
        import autograd.numpy
        return autograd.__name__
    def found():
        return "fastgrad" in importlib.util.find_spec("autograd").origin
    def ask(question):
        barrier.wait()
        answers.append(question())
    threads = [threading.Thread(target=ask, args=(question,)) for question in 2 * [version, imported, found]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(*sorted(map(str, answers)))
    """
    assert run_code(code, "-m", "fastgrad", "--mirror", "1.8") == "1.8.0 1.8.0 True True fastgrad fastgrad\n"


def test_the_classes_say_that_they_are_autograds():
    code = """
    from autograd.builtins import DictBox, SequenceBox
    from autograd.core import JVPNode, SparseBox, VJPNode
    from autograd.numpy.numpy_boxes import ArrayBox
    from autograd.numpy.numpy_vspaces import ArrayVSpace, ComplexArrayVSpace
    from autograd.tracer import Box
    kinds = [Box, ArrayBox, SequenceBox, DictBox, SparseBox, VJPNode, JVPNode, ArrayVSpace, ComplexArrayVSpace]
    print(*(f"{kind.__module__}.{kind.__name__}" for kind in kinds), repr(ArrayBox))
    class Mine(Box):
        pass
    fastgrad.uninstall_as_autograd()
    print(*(kind.__module__ for kind in kinds), Mine.__module__)
    """
    installed, taken_back = run_code(INSTALL + textwrap.dedent(code)).splitlines()
    assert installed.split()[:9] == [
        "autograd.tracer.Box",
        "autograd.numpy.numpy_boxes.ArrayBox",
        "autograd.builtins.SequenceBox",
        "autograd.builtins.DictBox",
        "autograd.core.SparseBox",
        "autograd.core.VJPNode",
        "autograd.core.JVPNode",
        "autograd.numpy.numpy_vspaces.ArrayVSpace",
        "autograd.numpy.numpy_vspaces.ComplexArrayVSpace",
    ]
    assert installed.endswith(" <class 'autograd.numpy.numpy_boxes.ArrayBox'>")
    assert taken_back == re.sub(r"autograd(\.[\w.]+)\.\w+", r"fastgrad\1", installed.partition(" <")[0]) + " __main__"


# -------------------------------------------------------------------------------------------- which autograd it mirrors

VERSIONS = "import autograd, importlib.metadata as m; print(autograd.__version__, m.version('autograd'))"


@pytest.mark.parametrize(
    ("options", "environment", "expected"),
    [
        ([], {}, version("autograd")),
        (["--mirror", "1.8"], {}, "1.8.0"),
        (["--mirror=1.9"], {"FASTGRAD_MIRROR": "1.8"}, "1.9.1"),
        ([], {"FASTGRAD_MIRROR": "1.8"}, "1.8.0"),
    ],
)
def test_the_version_is_that_of_the_mirrored_autograd(options, environment, expected):
    assert run_code(VERSIONS, "-m", "fastgrad", *options, **environment) == f"{expected} {expected}\n"
    ask_first = "from importlib.metadata import version; print(version('autograd'))"
    assert run_code(ask_first, "-m", "fastgrad", *options, **environment) == f"{expected}\n"


@pytest.mark.parametrize("name", ["Autograd", "AUTOGRAD", "autograd"])
def test_the_names_of_distributions_have_no_case(name):
    code = f"from importlib.metadata import version; print(version({name!r}))"
    assert run_code(code, "-m", "fastgrad", "--mirror", "1.8") == "1.8.0\n"
    code = f"""
    from importlib.metadata import distributions, packages_distributions, version
    fastgrad.install_as_autograd("1.8")
    versions = [found.version for found in distributions() if found.name == "autograd"]
    print(version({name!r}), versions[0], set(packages_distributions()["autograd"]))
    """
    assert run_code(INSTALL + textwrap.dedent(code)) == "1.8.0 1.8.0 {'autograd'}\n"


@pytest.mark.parametrize(
    ("installed", "expected"), [(None, "1.9.1"), ("1.7.0", "1.7.0"), ("1.8.0", "1.8.0"), ("1.10rc1", "1.10rc1")]
)
def test_the_installed_autograd_is_mirrored_if_nothing_else_is_asked(monkeypatch, installed, expected):
    monkeypatch.delenv("FASTGRAD_MIRROR", raising=False)
    monkeypatch.setattr(_substitute, "_installed_version", lambda: installed)
    mirror, mirrored, answers = _substitute._choose(None)
    assert (mirrored, answers) == (expected, installed is not None)
    assert mirror == ("1.8" if installed in ("1.7.0", "1.8.0") else "1.9")


def test_the_distribution_of_the_mirrored_version():
    code = """
    import importlib.metadata
    fastgrad.uninstall_as_autograd()
    fastgrad.install_as_autograd("1.8")
    found = importlib.metadata.distribution("autograd")
    print(found.metadata["Name"], found.version, found.files, found.requires)
    """
    assert run_code(INSTALL + textwrap.dedent(code)) == "autograd 1.8.0 None None\n"


def test_a_mirror_that_there_is_not():
    with pytest.raises(ValueError, match="no mirror '1.4' of autograd, only 1.8 and 1.9"):
        _substitute._choose("1.4")


def test_a_wrong_mirror_leaves_what_is_installed():
    code = """
    try:
        fastgrad.install_as_autograd("1.4")
    except ValueError:
        import autograd
        print(autograd is fastgrad)
    """
    assert run_code(INSTALL + textwrap.dedent(code)) == "True\n"


def test_a_wrong_mirror_of_the_environment():
    result = run("-m", "fastgrad", "-c", "print('runs')", FASTGRAD_MIRROR="1.4")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("python -m fastgrad: there is no mirror '1.4'")
    code = """
    for _ in range(2):
        try:
            import autograd
        except ValueError as error:
            print(error)
    """
    children = os.path.join(FOLDER, "_substitute", "children")
    shown = run_code(code, PYTHONPATH=children, FASTGRAD_MIRROR="1.4")
    assert shown == 2 * "there is no mirror '1.4' of autograd, only 1.8 and 1.9\n"


UFUNCS = """
import sys
import numpy as onp
import autograd.numpy as np
from autograd import grad
from autograd.core import VSpace
from autograd.numpy.numpy_boxes import ArrayBox
from autograd.numpy.numpy_vspaces import ArrayVSpace
from autograd.tracer import Box
X = onp.array([1.0, 2.0, 3.0])

class Tensor(onp.ndarray):  # as PennyLane's: takes every ufunc, and has NumPy do it
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [onp.asarray(i) if isinstance(i, Tensor) else i for i in inputs]
        return onp.asarray(super().__array_ufunc__(ufunc, method, *plain, **kwargs)).view(Tensor)

def in_place(x):
    total = onp.zeros(3)
    held = total
    total += x * x
    total -= 3.0 * x
    assert not held.any()
    return np.sum(total)

assert grad(in_place)(X).tolist() == [-1.0, 1.0, 3.0]
"""


@pytest.mark.parametrize("mirror", ["1.8", "1.9"])
def test_arrays_in_place_and_tensors_in_both_mirrors(mirror):
    code = UFUNCS + textwrap.dedent("""
    t = (2.0 * X).view(Tensor)
    Box.type_mappings[Tensor] = lambda value, trace, node: ArrayBox(value, trace, node)
    VSpace.mappings[Tensor] = ArrayVSpace
    for f in (lambda x: t * x, lambda x: x * t, lambda x: np.multiply(t, x), lambda x: t - 1.0 + x * t):
        derivative = grad(lambda x: np.sum(f(x)))(X)
        assert derivative.tolist() == [2.0, 4.0, 6.0], derivative
    assert grad(in_place)(X).tolist() == [-1.0, 1.0, 3.0]
    del Box.type_mappings[Tensor], VSpace.mappings[Tensor]
    print(hasattr(ArrayBox, "__array_ufunc__"))
    """)
    assert run_code(code, "-m", "fastgrad", "--mirror", mirror) == f"{mirror == '1.9'}\n"


def test_types_that_override_ufuncs_decide_as_long_as_they_are_registered():
    kinds = [type(name, (onp.ndarray,), {"__array_ufunc__": lambda *args, **kwargs: NotImplemented}) for name in "AB"]
    plain = type("Plain", (onp.ndarray,), {})
    mappings, has_own = ArrayBox.type_mappings, lambda: "__array_ufunc__" in vars(ArrayBox)
    mappings[plain] = ArrayBox
    assert has_own()
    mappings[kinds[0]] = mappings[kinds[1]] = ArrayBox
    assert not has_own()
    del mappings[kinds[0]], mappings[plain]
    assert not has_own()
    assert mappings.pop(kinds[1]) is ArrayBox
    assert has_own()
    assert mappings.pop(kinds[1], None) is None


def test_numpys_own_ufuncs_on_a_box():
    code = UFUNCS + "print(grad(lambda x: np.sum(onp.exp(x)))(X).tolist() == onp.exp(X).tolist())"
    assert run_code(code, "-m", "fastgrad", "--mirror", "1.9") == "True\n"
    code = UFUNCS + "print(grad(lambda x: [kinds.append(type(onp.add(X, x))), x][1])(1.0))"
    code = code.replace("X = ", "kinds = []\nX = ") + "\nprint(kinds[0].__name__)"
    assert run_code(code, "-m", "fastgrad", "--mirror", "1.8") == "1.0\nndarray\n"
