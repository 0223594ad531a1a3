"""A pytest plugin that puts fastgrad in autograd's place: ``pytest -p fastgrad.as_autograd``.

Workers of pytest-xdist are child processes and do the same. PYTEST_DONT_REWRITE: there is nothing to rewrite.
"""

from fastgrad._substitute import RELEASES, install_as_autograd

__all__ = ["install_as_autograd"]


def pytest_addoption(parser):
    """Add the option that says which autograd to mirror."""
    help_ = "which autograd fastgrad behaves like, where they differ (see fastgrad.install_as_autograd)"
    parser.getgroup("fastgrad").addoption("--autograd-mirror", choices=list(RELEASES), help=help_)


def pytest_load_initial_conftests(early_config):
    """Install before the first conftest.py is imported."""
    install_as_autograd(early_config.known_args_namespace.autograd_mirror)


def pytest_configure(config):
    """Install where the plugin was named too late for the hook above: by a conftest.py."""
    install_as_autograd(config.getoption("autograd_mirror", None))


def pytest_report_header():
    """Say in the head of the report what the tests run on."""
    from fastgrad import __version__

    return f"autograd: {__version__}, as mirrored by fastgrad"
