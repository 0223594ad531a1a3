"""Convert PNG pictures to a palette, which makes charts a third of their size: `shrink_pictures.py PNG ...`."""

import sys

from PIL import Image

for path in sys.argv[1:]:
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
