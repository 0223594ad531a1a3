"""The finder that serves autograd's modules: under each of their names it loads fastgrad's own module."""

import importlib
import sys
from importlib.machinery import ModuleSpec


def _is_autograds(name):
    return name == "autograd" or name.startswith("autograd.")


def _our_name(name):
    return name.replace("autograd", "fastgrad", 1)


class AutogradFinder:
    """Finder of autograd's modules: each is fastgrad's module of the same name.

    Parameters
    ----------
    version : str or None
        The version that `importlib.metadata` returns for autograd; None if it is that of the installed autograd.
    """

    def __init__(self, version):
        self.version = version

    def find_spec(self, name, path=None, target=None):
        """Return the spec of a module of autograd, without importing it, or None for other modules."""
        if not _is_autograds(name):
            return None
        from importlib.util import find_spec  # takes a millisecond, which the import of fastgrad saves

        spec = find_spec(_our_name(name))
        if spec is None:
            return None
        served = ModuleSpec(name, _Loader(), origin=spec.origin)
        served.submodule_search_locations = spec.submodule_search_locations
        return served

    def find_distributions(self, context):
        """Return the distributions that state the version of the mirrored autograd."""
        asked = context.name is None or context.name.lower() == "autograd"
        if self.version is None or not asked:
            return []
        from fastgrad._substitute.distribution import MirroredDistribution

        return [MirroredDistribution(self.version)]


class _Loader:
    """Loader of a module of autograd, which imports fastgrad's module."""

    def create_module(self, spec):
        module = importlib.import_module(_our_name(spec.name))
        self.spec = module.__spec__
        return module

    def exec_module(self, module):
        # The import system has replaced the module's own spec by the one of autograd's name.
        module.__spec__ = self.spec
        if module.__name__ == "fastgrad":
            for name in [name for name in list(sys.modules) if name.startswith("fastgrad.")]:
                sys.modules.setdefault(name.replace("fastgrad", "autograd", 1), sys.modules[name])
