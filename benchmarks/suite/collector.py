"""What Python's cyclic garbage collector costs: each of its full passes visits every node that lives."""

import gc
from statistics import median
from time import perf_counter

from fastgrad import grad

from .growth import chain

ROUNDS = 7


def _seconds(gradient, collecting):
    gc.collect()
    (gc.enable if collecting else gc.disable)()
    start = perf_counter()
    gradient(1.0)
    return perf_counter() - start


class Collector:
    params = (10**4, 10**5)
    param_names = ["nodes"]

    def track_gc_share(self, nodes):
        gradient = grad(chain(nodes))
        was_enabled = gc.isenabled()
        try:
            rounds = [[_seconds(gradient, collecting) for collecting in (True, False)] for _ in range(ROUNDS)]
        finally:
            (gc.enable if was_enabled else gc.disable)()
        with_collector, without = map(median, zip(*rounds, strict=True))
        return 1.0 - without / with_collector

    track_gc_share.unit = "share of a gradient's time"
