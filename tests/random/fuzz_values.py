"""Values that the fuzzer passes to functions: arrays of every dtype and layout, numbers, and objects that misbehave."""

import contextlib

import numpy as onp
import random_programs as programs

import fastgrad.numpy as anp

KEYWORDS = ("axis", "keepdims", "dtype", "out", "initial", "ddof", "n", "k", "axes", "order", "mode", "shape")


class Unpleasant:
    """An object whose methods raise or lie."""

    __array_priority__ = 1e9

    def __len__(self):
        return 2**40

    def __index__(self):
        raise ZeroDivisionError

    def __array__(self, *args, **kwargs):
        raise LookupError

    def __mul__(self, other):
        return self

    def __eq__(self, other):
        raise OverflowError

    __hash__ = None


class Sub(onp.ndarray):
    """A subclass of ndarray that changes nothing."""


DTYPES = (
    "d",
    "d",
    "d",
    "d",
    "f",
    "D",
    "F",
    "i",
    "l",
    "?",
    "B",
    "e",
    "g",
    "G",
    "O",
    "U3",
    "m8[s]",
    "M8[s]",
    ">f8",
    "d,i",
)


def arrays(pick):
    """Return an array of any shape, dtype and layout."""
    shape = tuple(pick((0, 1, 2, 3, 3)) for _ in range(pick((0, 1, 1, 1, 2, 2, 2, 3, 4))))
    x = programs.random_entries(pick, shape, "d") * pick((1.0, 1.0, 1.0, 3.0, 0.0, 1e200, 1e-200))
    if x.size and pick(range(6)) == 0:
        x.flat[pick(range(x.size))] = pick((onp.nan, onp.inf, -onp.inf, -0.0))
    dtype = pick(DTYPES)
    with contextlib.suppress(Exception):
        x = onp.floor(x).astype("i8").astype(dtype) if dtype[0] in "mM" else x.astype(dtype)
    x = programs.laid_out(onp.asarray(x), pick(programs.LAYOUTS)) if dtype != "O" else onp.asarray(x)
    return x.view(Sub) if pick(range(30)) == 0 else x


def numbers(pick):
    return pick((0.0, 1.0, -0.7, 2.5, 0, 1, -1, 2, 3, 1 + 2j, True, onp.float64(0.3), onp.float32(0.3), onp.int64(2)))


def oddities(pick):
    return pick(
        (
            *(
                None,
                None,
                "ij",
                "sum",
                "i,i->",
                "ij,jk",
                ...,
                NotImplemented,
                float,
                "d",
                onp.float32,
                int,
                object(),
                Unpleasant(),
            ),
            *(
                onp.nan,
                onp.inf,
                2**70,
                -(2**63),
                1e308,
                b"",
                {},
                [],
                (),
                set(),
                slice(None),
                slice(0, 2),
                slice(2, None, -1),
            ),
            *(
                onp.sin,
                anp.sin,
                lambda x: x,
                lambda *x: x[0],
                range(3),
                onp.newaxis,
                onp.ma.masked,
                iter(()),
                memoryview(b"ab"),
            ),
        )
    )


def small(pick):
    return pick((0, 1, -1, 2, None, (0, 1), (), (0, 0), (-1, 0), 5, [0], [0, -1], "C", "F", True, (2, 3), -2))


def anything(pick, depth=0):
    """Return an argument of any type, most often an array."""
    kind = pick(range(20))
    if kind < 9:
        return arrays(pick)
    if kind < 12:
        return numbers(pick)
    if kind < 15:
        return small(pick)
    if kind < 17 or depth > 2:
        return oddities(pick)
    items = [anything(pick, depth + 1) for _ in range(pick(range(4)))]
    return pick((list, tuple, lambda items: dict(zip("abc", items, strict=False))))(items)


def keywords(pick):
    names = [pick(KEYWORDS) for _ in range(pick((0, 0, 0, 1, 1, 2)))]
    return {name: small(pick) if pick(range(4)) else anything(pick) for name in names}
