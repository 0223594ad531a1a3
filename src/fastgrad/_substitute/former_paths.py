"""Modules under the paths they had before they moved, so that pickles made then still load."""

from importlib import import_module
from importlib.machinery import ModuleSpec

# Former path -> where its definitions are now.
MOVED = {
    "fastgrad._backward": ("fastgrad._engine.backward",),
    "fastgrad._batching": ("fastgrad._jacobians.batches",),
    "fastgrad._core": ("fastgrad._engine.core",),
    "fastgrad._debug": ("fastgrad._diagnostics.debug",),
    "fastgrad._distribution": ("fastgrad._substitute.distribution",),
    "fastgrad._formulas": ("fastgrad._rules.recording",),
    "fastgrad._mistakes": ("fastgrad._diagnostics.messages", "fastgrad.numpy.fitting"),
    "fastgrad._registries": ("fastgrad._rules.registries",),
    "fastgrad._signatures": ("fastgrad._rules.keywords",),
    "fastgrad._user_code": ("fastgrad._diagnostics.user_code",),
    "fastgrad.numpy.assembling": ("fastgrad.numpy._namespace.arrays", "fastgrad.numpy._namespace.functions"),
    "fastgrad.numpy.dropped": ("fastgrad.numpy._namespace.expired",),
    "fastgrad.numpy.rules.batching": ("fastgrad.numpy.batching", "fastgrad.numpy.rules.containers"),
    "fastgrad.numpy.rules.composed": ("fastgrad.numpy.composing", "fastgrad.numpy.rules.statistics"),
    "fastgrad.numpy.rules.construction": ("fastgrad.numpy.rules.joining",),
    "fastgrad.numpy.rules.untraced": ("fastgrad.numpy.rules.nondifferentiable",),
    "fastgrad.numpy.shortcuts": ("fastgrad.numpy._namespace.fast_calls",),
    "fastgrad.numpy.wrapping": ("fastgrad.numpy._namespace.wrapping",),
    "fastgrad.numpy.writing": ("fastgrad.numpy._namespace.in_place",),
    "fastgrad.scipy.rules.refusing": ("fastgrad._rules.direct",),
    "fastgrad.scipy.stats.location_scale": ("fastgrad.scipy.rules.location_scale",),
}


class FormerPathFinder:
    """Finder and loader of the modules in `MOVED`; last in ``sys.meta_path``, so that no other import meets it."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        """Return the spec of a moved module, without importing anything."""
        return ModuleSpec(name, FormerPathFinder) if name in MOVED else None

    @staticmethod
    def create_module(spec):
        """Return None, for Python to make an empty module."""
        return None

    @staticmethod
    def exec_module(module):
        """Fill the module with the present definitions."""
        for path in MOVED[module.__name__]:
            for name, value in vars(import_module(path)).items():
                if not name.startswith("__"):
                    setattr(module, name, value)
