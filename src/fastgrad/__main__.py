"""``python -m fastgrad``: run a program as Python does, with fastgrad in autograd's place."""

import os
import subprocess
import sys

from fastgrad._substitute.install import check_mirror, environment_of_children

HELP = """\
usage: python -m fastgrad [--mirror VERSION] [PYTHON'S OPTIONS AND ARGUMENTS]

Run a Python program with fastgrad in autograd's place. What follows is for python itself:

  python -m fastgrad script.py arguments
  python -m fastgrad -m module arguments
  python -m fastgrad -c code arguments
  python -m fastgrad                       an interactive session, or the program on standard input

  --mirror VERSION  behave like autograd 1.8 or 1.9 where they differ (also: the environment variable FASTGRAD_MIRROR)
  -h, --help        show this text
"""


def main(arguments):
    """Replace this process by a Python process that serves fastgrad as autograd from its start.

    Arguments, tracebacks and exit codes are then those of Python itself.

    Parameters
    ----------
    arguments : list of str
        The arguments after ``-m fastgrad``.

    Returns
    -------
    int or str
        The argument of `sys.exit`, if the process is not replaced.
    """
    mirror = None
    if arguments and arguments[0] in ("-h", "--help"):
        print(HELP, end="")
        return 0
    if arguments and arguments[0].partition("=")[0] == "--mirror":
        option, equals, mirror = arguments.pop(0).partition("=")
        mirror = mirror if equals else arguments.pop(0) if arguments else ""
    try:
        check_mirror(mirror if mirror is not None else os.environ.get("FASTGRAD_MIRROR") or "1.9")
    except ValueError as error:
        return f"python -m fastgrad: {error}"
    if sys.flags.ignore_environment or sys.flags.no_site:
        return "python -m fastgrad: Python's options -E, -I and -S keep fastgrad from serving as autograd"
    return run([sys.executable, *interpreter_options(), *arguments], {**os.environ, **environment_of_children(mirror)})


def interpreter_options():
    """Return the options of Python that were given before ``-m fastgrad``."""
    *options, last = sys.orig_argv[1 : len(sys.orig_argv) - len(sys.argv) + 1]
    if last == "fastgrad":
        *options, last = options
    others = last.removesuffix("fastgrad").removesuffix("m")  # in one word with -m: "-O" of "-Om"
    return options if others == "-" else [*options, others]


def run(command, environment):
    """Replace this process by a command; on Windows, run the command and return its exit code."""
    if sys.platform == "win32":
        return subprocess.run(command, env=environment).returncode
    sys.stdout.flush()
    os.execve(command[0], command, environment)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
