"""Installation of fastgrad in autograd's place, in this process and in its children."""

import importlib
import os
import re
import sys
from threading import RLock

from fastgrad._engine import core as _core
from fastgrad._substitute.finder import AutogradFinder, _is_autograds

# The series of autograd whose behaviour can be mirrored, and the version that is stated for each.
RELEASES = {"1.8": "1.8.0", "1.9": "1.9.1"}

# On PYTHONPATH, this folder's sitecustomize makes each new Python process serve autograd as well.
_CHILDREN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "children")

_TOO_LATE = (
    "autograd itself is already imported (from {path}), and what imported it would go on using it. Call "
    "fastgrad.install_as_autograd() before the first import of autograd and of any library that uses it, or run the "
    "program with `python -m fastgrad`, its tests with `pytest -p fastgrad.as_autograd`; a notebook's kernel has to "
    "be restarted first"
)


def install_as_autograd(mirror=None):
    """Make ``import autograd``, and the import of each module of it, load fastgrad's own modules.

    Call it before anything imports autograd. Python processes that this one starts do the same. Further calls have no
    effect, except with another ``mirror``.

    Parameters
    ----------
    mirror : {"1.8", "1.9"}, optional
        The autograd to behave like where the two differ, and whose version to state. With "1.9" traced arrays have an
        ``__array_ufunc__``, so that NumPy's own ufuncs work on them, which xarray needs; with "1.8" they have none.
        They have none either while a traced subclass of ndarray with its own ``__array_ufunc__`` is registered, which
        PennyLane needs. The default is the value of the environment variable ``FASTGRAD_MIRROR`` or else the series of
        the installed autograd or else "1.9".

    Raises
    ------
    RuntimeError
        If autograd itself is already imported.
    ValueError
        If there is no such mirror.
    """
    global _installed
    with _LOCK:
        if mirror is not None:
            check_mirror(mirror)
        if _installed is not None:
            if mirror in (None, _installed.mirror):
                return
            uninstall_as_autograd()
        _refuse_if_late()
        _installed = _Installation(mirror)


def uninstall_as_autograd():
    """Undo `install_as_autograd`; modules that have imported autograd meanwhile keep what they imported."""
    global _installed
    with _LOCK:
        _set_finder(None)
        if _installed is not None:
            _installed.undo()
            _installed = None
        os.environ.update(PYTHONPATH=_path_without_children())
        if not os.environ["PYTHONPATH"]:
            del os.environ["PYTHONPATH"]


def installed_finder():
    """Return the finder of autograd's modules, after installing it if it is not."""
    with _LOCK:
        install_as_autograd()
        return _installed.finder


_installed = None
_LOCK = RLock()  # several threads may import autograd at once


def _refuse_if_late():
    loaded = [name for name in list(sys.modules) if _is_autograds(name)]
    if loaded:
        path = getattr(sys.modules[min(loaded)], "__file__", None)
        raise RuntimeError(_TOO_LATE.format(path=path))


def _set_finder(finder):
    """Insert the finder before all others, or remove it if None, and remove that of children/sitecustomize.py.

    Both are done in one step: between two, another thread could import autograd itself.
    """
    others = [each for each in sys.meta_path if getattr(each, "__name__", type(each).__name__) not in _FINDERS]
    sys.meta_path[:] = [finder, *others] if finder else others


_FINDERS = ("AutogradFinder", "WaitingForAutograd")


class _Installation:
    """The state that is changed while fastgrad is in autograd's place; it is changed by the constructor."""

    def __init__(self, mirror):
        self.mirror, self.version, answers = _choose(mirror)
        self.finder = AutogradFinder(None if answers else self.version)
        self.mirror_before = os.environ.get("FASTGRAD_MIRROR")
        sys.modules["fastgrad"].__version__ = self.version
        _rename_classes("fastgrad", "autograd")
        _core.allow_ufunc_dispatch(self.mirror != "1.8")
        importlib.import_module("fastgrad.numpy._namespace.expired").offer(True)
        os.environ.update(environment_of_children(mirror))
        _set_finder(self.finder)

    def undo(self):
        """Restore the state of before."""
        for name in [name for name in list(sys.modules) if _is_autograds(name)]:
            del sys.modules[name]
        del sys.modules["fastgrad"].__version__
        _rename_classes("autograd", "fastgrad")
        _core.allow_ufunc_dispatch(True)
        importlib.import_module("fastgrad.numpy._namespace.expired").offer(False)
        os.environ.pop("FASTGRAD_MIRROR", None)
        if self.mirror_before is not None:
            os.environ["FASTGRAD_MIRROR"] = self.mirror_before


def _choose(mirror):
    """Return the series to mirror, its version, and whether the installed autograd is of that series."""
    installed = _installed_version()
    series = installed and _series_of(installed)
    mirror = mirror or os.environ.get("FASTGRAD_MIRROR") or series or "1.9"
    check_mirror(mirror)
    answers = mirror == series
    return mirror, installed if answers else RELEASES[mirror], answers


def _installed_version():
    """Return the version of the installed autograd, or None; asks Python's own finder, not the ones of this package."""
    from importlib import metadata  # takes longer to import than all of this module

    context = metadata.DistributionFinder.Context(name="autograd")
    return next((found.version for found in metadata.MetadataPathFinder().find_distributions(context)), None)


def check_mirror(mirror):
    """Raise ValueError if there is no such mirror."""
    if mirror not in RELEASES:
        raise ValueError(f"there is no mirror {mirror!r} of autograd, only {' and '.join(RELEASES)}")


def _series_of(version):
    numbers = [int(digits) for digits in re.findall(r"\d+", version)[:2]]
    return "1.8" if numbers < [1, 9] else "1.9"


def environment_of_children(mirror):
    """Return the environment variables that make a new Python process serve autograd from its start."""
    paths = _path_without_children()
    variables = {"PYTHONPATH": os.pathsep.join([_CHILDREN, paths] if paths else [_CHILDREN])}
    return variables if mirror is None else {**variables, "FASTGRAD_MIRROR": mirror}


def _path_without_children():
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join(path for path in paths if path and path != _CHILDREN)


def _rename_classes(old, new):
    """Replace the package in ``__module__`` of boxes, nodes and vector spaces, which autoray and PennyLane read."""
    _core.name_types(new)
    classes = [_core.Box, _core.Node, _core.VSpace]
    for cls in classes:
        classes.extend(cls.__subclasses__())
        package, _, rest = cls.__module__.partition(".")
        if package == old and not rest.startswith("_"):
            cls.__module__ = f"{new}.{rest}"
