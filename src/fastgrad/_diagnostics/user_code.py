"""Where a user's code is on the stack: in the innermost frame that is neither fastgrad's nor NumPy's."""

import os
import sys
import warnings

import numpy as np

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PACKAGES = (_OWN + os.sep, os.path.dirname(os.path.abspath(np.__file__)) + os.sep)


def user_frame(depth=1):
    """Find the frame of the user's code.

    Parameters
    ----------
    depth : int
        How many frames are not looked at.

    Returns
    -------
    frame : frame or None
        None where there is none.
    depth : int
        How many frames it is away.
    """
    frame = sys._getframe(depth)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGES):
        frame, depth = frame.f_back, depth + 1
    return frame, depth


def warn(message):
    """Warn of something that the user's code does, at its line."""
    warnings.warn(message, stacklevel=user_frame()[1])
