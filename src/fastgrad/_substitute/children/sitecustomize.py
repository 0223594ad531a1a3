"""Have a Python process serve fastgrad as autograd, from its start.

`fastgrad.install_as_autograd` and `python -m fastgrad` put this folder on PYTHONPATH, so that every child process runs
this file. It costs next to nothing: fastgrad is imported when the process asks for autograd.
"""

import os
import sys


class WaitingForAutograd:
    """Has fastgrad installed in autograd's place, and itself replaced, when the process first asks for autograd."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        """Find autograd itself, if this Python has fastgrad; nothing of it is asked for before that.

        Python holds its import lock meanwhile, so nothing may be imported here that another thread could be importing.
        """
        if name != "autograd":
            return None
        from importlib.util import find_spec, spec_from_loader

        try:
            found = find_spec("fastgrad")
        except ValueError:  # sys.modules has something else there
            return None
        if found is None:
            return None
        spec = spec_from_loader(name, InstallingLoader(), origin=found.origin)
        spec.submodule_search_locations = found.submodule_search_locations
        return spec

    @classmethod
    def find_distributions(cls, context):
        """Find what says which autograd is mirrored."""
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
    """Loads autograd by installing fastgrad in its place."""

    def create_module(self, spec):
        """Install, and give fastgrad."""
        import fastgrad  # not a module of it, which could meet another thread's import of fastgrad half-way

        self.loader = fastgrad._substitute.install.installed_finder().find_spec(spec.name).loader
        return self.loader.create_module(spec)

    def exec_module(self, module):
        """Finish what the loader that serves from now on has begun."""
        self.loader.exec_module(module)


def run_other_sitecustomize():
    """Run the sitecustomize that this one hides, being earlier on the path."""
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
