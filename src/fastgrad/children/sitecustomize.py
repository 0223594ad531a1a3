"""Have a Python process serve fastgrad as autograd, from its start.

`fastgrad.install_as_autograd` and `python -m fastgrad` put this folder on PYTHONPATH, so that every child process runs
this file. It costs next to nothing: fastgrad is imported when the process asks for autograd.
"""

import os
import sys


class WaitingForAutograd:
    """Installs fastgrad in autograd's place when the process first asks for autograd or its version."""

    @classmethod
    def install(cls):
        """Install, and give the finder that serves from now on; None where this Python has no fastgrad."""
        sys.meta_path.remove(cls)
        try:
            from fastgrad import install_as_autograd
        except ModuleNotFoundError as error:
            if error.name != "fastgrad":
                raise
            return None
        install_as_autograd()
        return sys.meta_path[0]

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        """Find autograd itself; nothing of it is asked for before that."""
        finder = cls.install() if name == "autograd" else None
        return finder and finder.find_spec(name)

    @classmethod
    def find_distributions(cls, context):
        """Find what says which autograd is mirrored."""
        finder = cls.install() if context.name == "autograd" else None
        return finder.find_distributions(context) if finder else []


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
