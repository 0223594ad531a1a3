"""Side-by-side timing: statements timed in one process, in turns."""

from time import perf_counter
from timeit import Timer

ROUNDS = 25
SAMPLE_SECONDS = 0.002  # Short, so that some samples fit between two interruptions.


def _calls_per_sample(timer):
    number = 1
    # The fastest of three: one interrupted call would pass for a long one, and be timed alone, out of cold caches.
    while (seconds := min(timer.repeat(3, number))) < SAMPLE_SECONDS:
        number = max(number + 1, min(10 * number, int(number * SAMPLE_SECONDS / seconds)))
    return number


def fastest(*statements, rounds=ROUNDS, clock=perf_counter):
    """Time statements in turns, so that a slow spell of the machine meets all of them.

    Parameters
    ----------
    *statements : tuple of (str, dict)
        Source of a statement, and the names it uses.
    rounds : int, optional
    clock : callable, optional
        `time.process_time` leaves out what the process waits for others, which on a busy machine meets long calls more
        than short ones.

    Returns
    -------
    list of float
        Seconds a call of each statement, the minimum over the rounds. The garbage collector is off while a
        sample is taken, as always with `timeit`.
    """
    timers = [Timer(source, timer=clock, globals=names) for source, names in statements]
    numbers = [_calls_per_sample(timer) for timer in timers]
    best = [float("inf")] * len(timers)
    for _ in range(rounds):
        for i, (timer, number) in enumerate(zip(timers, numbers, strict=True)):
            best[i] = min(best[i], timer.timeit(number) / number)
    return best
