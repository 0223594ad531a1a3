"""Every primitive with rules, on one typical call, in the five ways it is used: see `Case`."""

from functools import cache

from .cases import CASES

CALLS = range(100)


@cache
def prepared(name, mode):
    return getattr(CASES[name], mode)()


def names(mode):
    return [name for name, case in CASES.items() if mode in case.modes]


class EachPrimitive:
    """100 calls: 1 ms means 10 us a call."""

    def time_100_raw(self, name):
        call = prepared(name, "raw")
        for _ in CALLS:
            call()

    def time_100_unboxed(self, name):
        call = prepared(name, "unboxed")
        for _ in CALLS:
            call()

    def time_100_boxed(self, name):
        call = prepared(name, "boxed")
        for _ in CALLS:
            call()

    def time_100_backward(self, name):
        call = prepared(name, "backward")
        for _ in CALLS:
            call()

    def time_second_order(self, name):
        prepared(name, "second_order")()

    time_100_raw.params = names("raw")
    time_100_unboxed.params = names("unboxed")
    time_100_boxed.params = names("boxed")
    time_100_backward.params = names("backward")
    time_second_order.params = names("second_order")
    param_names = ["case"]
