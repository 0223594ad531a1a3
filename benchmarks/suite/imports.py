"""What an import costs, beyond that of NumPy; in interpreters of their own."""

PACKAGES = ("fastgrad", "fastgrad.numpy", "fastgrad.scipy", "autograd", "autograd.numpy")


class Import:
    params = PACKAGES
    param_names = ["package"]

    def timeraw_import(self, package):
        return f"import {package}", "import numpy"

    timeraw_import.number = 1
    timeraw_import.repeat = 5
