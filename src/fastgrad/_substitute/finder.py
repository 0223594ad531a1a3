"""The finder that serves autograd's modules: under each of their names it loads fastgrad's own module."""

import importlib
import sys
from importlib.machinery import ModuleSpec


def _is_autograds(name):
    return name == "autograd" or name.startswith("autograd.")


def _our_name(name):
    return name.replace("autograd", "fastgrad", 1)


class AutogradFinder:
    """Finds each module of autograd: fastgrad's own of the same name.

    Parameters
    ----------
    version : str or None
        The version that `importlib.metadata` is to give for autograd; None leaves that to the autograd installed.
    """

    def __init__(self, version):
        self.version = version

    def find_spec(self, name, path=None, target=None):
        """Find one module, without importing it."""
        if not _is_autograds(name):
            return None
        from importlib.util import find_spec  # a millisecond that importing fastgrad need not take

        spec = find_spec(_our_name(name))
        if spec is None:
            return None
        found = ModuleSpec(name, _Loader(), origin=spec.origin)
        found.submodule_search_locations = spec.submodule_search_locations
        return found

    def find_distributions(self, context):
        """Find the distribution that says which autograd is mirrored."""
        asked = context.name is None or context.name.lower() == "autograd"
        if self.version is None or not asked:
            return []
        from fastgrad._substitute.distribution import MirroredDistribution

        return [MirroredDistribution(self.version)]


class _Loader:
    """Loads a module of autograd by importing fastgrad's."""

    def create_module(self, spec):
        module = importlib.import_module(_our_name(spec.name))
        self.spec = module.__spec__
        return module

    def exec_module(self, module):
        # Python has just set the spec, and only that, to the one it loads.
        module.__spec__ = self.spec
        if module.__name__ == "fastgrad":
            for name in [name for name in list(sys.modules) if name.startswith("fastgrad.")]:
                sys.modules.setdefault(name.replace("fastgrad", "autograd", 1), sys.modules[name])
