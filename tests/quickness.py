"""Whether the cost of work grows in step with its size: told by the ratio of two sizes, on any machine."""

import time
from collections.abc import Callable

STEP = 8  # the larger piece of work is so many times the smaller: linear costs 8 times as much, quadratic 64 times
MARGIN = 3
TRIES = 9
NOISE_SECONDS = 100e-6  # below this, what is measured is mostly the measuring
ENOUGH_SECONDS = 0.5  # an eighth that takes so long is no sign of linear time: the whole might take hours


def is_linear(work: Callable[[str], object], pump: str, characters: int) -> bool:
    """Whether work on a text that repeats `pump`, of so many characters at most, takes time in proportion to it.

    Each size is tried several times and its least processor time counts: a machine that is busy with other things can
    only add to it.
    """
    large = pump * max(characters // len(pump), STEP)
    small = large[: len(large) // STEP]
    work(small)  # what is done once only is not counted
    least_small = least_large = float("inf")
    for _ in range(TRIES):
        least_small = min(least_small, _seconds(work, small))
        if least_small > ENOUGH_SECONDS:
            return False
        least_large = min(least_large, _seconds(work, large))
        if least_large <= STEP * MARGIN * max(least_small, NOISE_SECONDS):
            return True
    return False


def _seconds(work: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    work(text)
    return time.thread_time() - began
