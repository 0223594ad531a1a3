"""Search of the stack for the user's code: the innermost frame that is neither in fastgrad nor in NumPy."""

import os
import sys
import warnings

import numpy as np

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PACKAGES = (_OWN + os.sep, os.path.dirname(os.path.abspath(np.__file__)) + os.sep)


def user_frame(depth=1):
    """Return the frame of the user's code.

    Parameters
    ----------
    depth : int, default 1
        The number of innermost frames to skip.

    Returns
    -------
    frame : frame or None
        The frame; None if all frames are in fastgrad or NumPy.
    depth : int
        The number of frames between this function and that one.
    """
    frame = sys._getframe(depth)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGES):
        frame, depth = frame.f_back, depth + 1
    return frame, depth


def warn(message):
    """Issue a UserWarning that names the line of the user's code."""
    warnings.warn(message, stacklevel=user_frame()[1])
