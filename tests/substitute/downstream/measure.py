"""Run one job in this process: its results and the least of its wall times, or the share of the time spent in autograd.

Started by `run.py` as `python measure.py JOB OUTPUT`, or as `python -m fastgrad measure.py ...`: what `autograd` is, is
decided by who starts this. Nothing here imports fastgrad.
"""

import argparse
import collections
import functools
import gc
import importlib.util
import json
import os
import signal
import sys
import time
import types
import warnings

import numpy as np


def load(path):
    """Import the job file under a name that hides no library: `jobs/pennylane.py` imports `pennylane`."""
    name = "job_" + os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module.job


def flatten(results, prefix=""):
    """Return a job's results, nested dicts and sequences of arrays, as one flat dict of arrays."""
    if isinstance(results, dict):
        pairs = results.items()
    elif isinstance(results, (list, tuple)):
        pairs = enumerate(results)
    else:
        return {prefix: np.asarray(results)}
    flat = {}
    for key, value in pairs:
        flat.update(flatten(value, f"{prefix}/{key}"))
    return flat


def fastest(job, seconds):
    times = []
    while len(times) < 3 or sum(times) < seconds:
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def share_of_engine(job, seconds):
    """Sample which Python frame is innermost: the share of those whose code is autograd's, engine and rules."""
    samples = collections.Counter()

    def sample(_signal, frame):
        samples[frame.f_globals.get("__name__", "").split(".")[0] == "autograd"] += 1

    call_numpy_from_here()
    signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
    fastest(job, seconds)
    signal.setitimer(signal.ITIMER_PROF, 0)
    return samples[True] / max(1, samples.total())


def call_numpy_from_here():
    """Wrap the functions of autograd's primitives in a frame of this module, so that NumPy's time is not autograd's."""
    for fun in gc.get_objects():
        if isinstance(fun, types.FunctionType) and "f_raw" in fun.__code__.co_freevars:
            cell = fun.__closure__[fun.__code__.co_freevars.index("f_raw")]
            cell.cell_contents = functools.partial(
                lambda raw, *args, **kwargs: raw(*args, **kwargs), cell.cell_contents
            )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("job")
    parser.add_argument("output", help="name of the .json and .npz to write")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--share", action="store_true", help="measure the share of autograd's code, not the time")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    job = load(args.job)
    np.savez(args.output + ".npz", **flatten(job()))
    import autograd

    figures = {"served by": autograd.grad.__module__.split(".")[0], "file": autograd.__file__}
    figures |= {"share": share_of_engine(job, args.seconds)} if args.share else {"time": fastest(job, args.seconds)}
    with open(args.output + ".json", "w") as file:
        json.dump(figures, file)


if __name__ == "__main__":
    main()
