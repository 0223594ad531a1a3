"""Serving fastgrad under autograd's names, and under former names of its own, in this process and in its children."""

from fastgrad._substitute.install import install_as_autograd, uninstall_as_autograd  # noqa: F401
