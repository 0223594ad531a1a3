"""The compiled engine: boxes, primitives and nodes in `core`, the backward pass in `backward`."""
