"""Makes a Python process serve fastgrad as autograd from its start.

`fastgrad.install_as_autograd` and `python -m fastgrad` put this folder on PYTHONPATH, so that every child process runs
this file. It costs very little, as fastgrad is not imported until the process imports autograd.
"""

import os
import sys


class WaitingForAutograd:
    """Finder that installs fastgrad in autograd's place, and replaces itself, at the first import of autograd."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        """Return the spec of autograd, if this Python has fastgrad; no module of autograd is asked for before that.

        Python holds an import lock during this call, so nothing may be imported here that another thread could be
        importing.
        """
        if name != "autograd":
            return None
        from importlib.util import find_spec, spec_from_loader

        try:
            fastgrad_spec = find_spec("fastgrad")
        except ValueError:  # sys.modules has an object without a spec there
            return None
        if fastgrad_spec is None:
            return None
        spec = spec_from_loader(name, InstallingLoader(), origin=fastgrad_spec.origin)
        spec.submodule_search_locations = fastgrad_spec.submodule_search_locations
        return spec

    @classmethod
    def find_distributions(cls, context):
        """Return the distributions that state the version of the mirrored autograd."""
        if not context.name or context.name.lower() != "autograd":
            return []
        try:
            import fastgrad
        except ModuleNotFoundError as error:
            if error.name != "fastgrad":
                raise
            return []
        return fastgrad._substitute.install.installed_finder().find_distributions(context)


class InstallingLoader:
    """Loader of autograd that installs fastgrad in its place."""

    def create_module(self, spec):
        """Install fastgrad and return it."""
        import fastgrad  # the import of a submodule could find fastgrad half imported by another thread

        self.loader = fastgrad._substitute.install.installed_finder().find_spec(spec.name).loader
        return self.loader.create_module(spec)

    def exec_module(self, module):
        """Run the same step of the loader that serves from now on."""
        self.loader.exec_module(module)


def run_other_sitecustomize():
    """Run the sitecustomize that this one hides by being earlier on the path."""
    for finder in sys.meta_path[1:]:
        spec = finder.find_spec("sitecustomize", None)
        if spec is not None:
            from importlib.util import module_from_spec

            sys.modules["sitecustomize"] = module_from_spec(spec)
            spec.loader.exec_module(sys.modules["sitecustomize"])
            return


sys.path[:] = [path for path in sys.path if path != os.path.dirname(__file__)]
sys.meta_path.insert(0, WaitingForAutograd)
run_other_sitecustomize()
