"""The distribution that `importlib.metadata` finds for autograd while fastgrad is in its place."""

from importlib.metadata import Distribution


class MirroredDistribution(Distribution):
    """A distribution named autograd that has a version and no files.

    Parameters
    ----------
    version : str
        The version of autograd that is mirrored.
    """

    def __init__(self, version):
        self._text = f"Metadata-Version: 2.1\nName: autograd\nVersion: {version}\nSummary: served by fastgrad\n"

    def read_text(self, filename):
        """Return the text of a file of metadata, or None if there is no such file."""
        return {"METADATA": self._text, "top_level.txt": "autograd\n"}.get(filename)

    def locate_file(self, path):
        """Raise FileNotFoundError, as there are no files."""
        raise FileNotFoundError(f"autograd is served by fastgrad and has no file {path}")
