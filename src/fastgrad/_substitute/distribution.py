"""What `importlib.metadata` is told of autograd where fastgrad is in its place."""

from importlib.metadata import Distribution


class MirroredDistribution(Distribution):
    """A distribution of autograd that has a name and a version, and no files.

    Parameters
    ----------
    version : str
        The version of autograd that is mirrored.
    """

    def __init__(self, version):
        self._text = f"Metadata-Version: 2.1\nName: autograd\nVersion: {version}\nSummary: served by fastgrad\n"

    def read_text(self, filename):
        """Give the text of one file of metadata."""
        return {"METADATA": self._text, "top_level.txt": "autograd\n"}.get(filename)

    def locate_file(self, path):
        """Refuse to give a path: there are no files."""
        raise FileNotFoundError(f"autograd is served by fastgrad and has no file {path}")
