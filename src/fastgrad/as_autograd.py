"""A pytest plugin that puts fastgrad in autograd's place: ``pytest -p fastgrad.as_autograd``.

Workers of pytest-xdist are child processes and do the same. PYTEST_DONT_REWRITE: there is nothing to rewrite.
"""

from fastgrad._substitute.install import RELEASES, install_as_autograd


def pytest_addoption(parser):
    """Add the option that says which autograd to mirror."""
    help_ = "which autograd fastgrad behaves like, where they differ (see fastgrad.install_as_autograd)"
    parser.getgroup("fastgrad").addoption("--autograd-mirror", choices=list(RELEASES), help=help_)


def pytest_load_initial_conftests(early_config):
    """Install before the first conftest.py is imported."""
    _install(early_config.known_args_namespace.autograd_mirror)


def pytest_configure(config):
    """Install where the plugin was named too late for the hook above: by a conftest.py."""
    _install(config.getoption("autograd_mirror", None))


def _install(mirror):
    try:
        install_as_autograd(mirror)
    except (RuntimeError, ValueError) as error:
        from pytest import UsageError  # which pytest shows without a traceback

        raise UsageError(str(error)) from None


def pytest_report_header():
    """Say in the head of the report what the tests run on."""
    from fastgrad import __version__

    return f"autograd: {__version__}, as mirrored by fastgrad"
