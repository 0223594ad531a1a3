"""A pytest plugin that puts fastgrad in autograd's place: ``pytest -p fastgrad.as_autograd``.

The workers of pytest-xdist are child processes and serve fastgrad as well. PYTEST_DONT_REWRITE: there are no
assertions to rewrite.
"""

from fastgrad._substitute.install import RELEASES, install_as_autograd


def pytest_addoption(parser):
    """Add the option for the release of autograd to mirror."""
    help_ = "which autograd fastgrad behaves like, where they differ (see fastgrad.install_as_autograd)"
    parser.getgroup("fastgrad").addoption("--autograd-mirror", choices=list(RELEASES), help=help_)


def pytest_load_initial_conftests(early_config):
    """Install before the first conftest.py is imported."""
    _install(early_config.known_args_namespace.autograd_mirror)


def pytest_configure(config):
    """Install if the plugin was named by a conftest.py, too late for the hook above."""
    _install(config.getoption("autograd_mirror", None))


def _install(mirror):
    try:
        install_as_autograd(mirror)
    except (RuntimeError, ValueError) as error:
        from pytest import UsageError  # which pytest shows without a traceback

        raise UsageError(str(error)) from None


def pytest_report_header():
    """Return the line of the report's header that names fastgrad."""
    from fastgrad import __version__

    return f"autograd: {__version__}, as mirrored by fastgrad"
