"""fastgrad in autograd's place: under its names are fastgrad's own modules, in this process and in its children."""

import importlib
import os
import re
import sys
from threading import RLock

from fastgrad._engine import core as _core
from fastgrad._substitute.finder import AutogradFinder, _is_autograds

# The two kinds of behaviour there are to mirror, and the release that stands for each.
RELEASES = {"1.8": "1.8.0", "1.9": "1.9.1"}

# A folder for PYTHONPATH: its sitecustomize has a new Python process serve autograd as well.
_CHILDREN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "children")

_TOO_LATE = (
    "autograd itself is already imported (from {path}), and what imported it would go on using it. Call "
    "fastgrad.install_as_autograd() before the first import of autograd and of any library that uses it, or run the "
    "program with `python -m fastgrad`, its tests with `pytest -p fastgrad.as_autograd`; a notebook's kernel has to "
    "be restarted first"
)


def install_as_autograd(mirror=None):
    """Have ``import autograd``, and the import of every module of it, give fastgrad's own modules.

    Call it before anything imports autograd. Python processes that this one starts do the same. To call it again
    changes nothing, unless it is with another ``mirror``.

    Parameters
    ----------
    mirror : {"1.8", "1.9"}, optional
        Which autograd to behave like where the two differ, and whose version to give. With "1.9" NumPy's ufuncs ask
        traced arrays, which have an ``__array_ufunc__``, as xarray needs it; with "1.8" they do not. Nor do they while
        a traced subclass of ndarray with an ``__array_ufunc__`` of its own is registered, as PennyLane needs it. By
        default what the environment variable ``FASTGRAD_MIRROR`` says, else like the autograd that is installed, else
        "1.9".

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
    """Take back what `install_as_autograd` did; modules that were imported meanwhile keep what they have."""
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
    """Give the finder of autograd's modules, installing first if need be."""
    with _LOCK:
        install_as_autograd()
        return _installed.finder


_installed = None
_LOCK = RLock()  # threads that import autograd at once


def _refuse_if_late():
    loaded = [name for name in list(sys.modules) if _is_autograds(name)]
    if loaded:
        path = getattr(sys.modules[min(loaded)], "__file__", None)
        raise RuntimeError(_TOO_LATE.format(path=path))


def _set_finder(finder):
    """Put the finder before all others, or take it out, and in the same step the one by which a child process waits.

    That is the one of children/sitecustomize.py. Between two steps another thread could import autograd itself.
    """
    others = [each for each in sys.meta_path if getattr(each, "__name__", type(each).__name__) not in _FINDERS]
    sys.meta_path[:] = [finder, *others] if finder else others


_FINDERS = ("AutogradFinder", "WaitingForAutograd")


class _Installation:
    """All that is changed while fastgrad is in autograd's place, and how to undo it."""

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
    """Choose what to mirror: the behaviour, its version, and whether the installed autograd has that version."""
    installed = _installed_version()
    series = installed and _series_of(installed)
    mirror = mirror or os.environ.get("FASTGRAD_MIRROR") or series or "1.9"
    check_mirror(mirror)
    answers = mirror == series
    return mirror, installed if answers else RELEASES[mirror], answers


def _installed_version():
    """Give the version of the autograd that is installed, if it is: past the finders that ask for this very answer."""
    from importlib import metadata  # which takes longer to import than all of this module

    context = metadata.DistributionFinder.Context(name="autograd")
    return next((found.version for found in metadata.MetadataPathFinder().find_distributions(context)), None)


def check_mirror(mirror):
    """Refuse a mirror that there is not."""
    if mirror not in RELEASES:
        raise ValueError(f"there is no mirror {mirror!r} of autograd, only {' and '.join(RELEASES)}")


def _series_of(version):
    numbers = [int(digits) for digits in re.findall(r"\d+", version)[:2]]
    return "1.8" if numbers < [1, 9] else "1.9"


def environment_of_children(mirror):
    """Give the environment variables by which a new Python process serves autograd from its start."""
    paths = _path_without_children()
    variables = {"PYTHONPATH": os.pathsep.join([_CHILDREN, paths] if paths else [_CHILDREN])}
    return variables if mirror is None else {**variables, "FASTGRAD_MIRROR": mirror}


def _path_without_children():
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join(path for path in paths if path and path != _CHILDREN)


def _rename_classes(old, new):
    """Have boxes, nodes and vector spaces say that their modules are ``new``'s: autoray and PennyLane go by that."""
    _core.name_types(new)
    classes = [_core.Box, _core.Node, _core.VSpace]
    for cls in classes:
        classes.extend(cls.__subclasses__())
        package, _, rest = cls.__module__.partition(".")
        if package == old and not rest.startswith("_"):
            cls.__module__ = f"{new}.{rest}"
