"""Give PNG pictures a palette, which makes those of charts three times as small: `shrink_pictures.py PNG ...`."""

import sys

from PIL import Image

for path in sys.argv[1:]:
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
