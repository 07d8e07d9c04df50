"""When a request that failed in passing is tried again: later each time, at random, and never before it is asked to."""

import random
import time
from collections.abc import Callable
from datetime import UTC
from email.utils import parsedate_to_datetime
from threading import Event
from typing import NamedTuple

FIRST_SECONDS = 0.5
MOST_SECONDS = 30.0
LONGEST_SECONDS = 120.0  # who is asked to wait for longer is told so instead


class Timing(NamedTuple):
    """Time and chance: a steady clock, the time of day, a number in [0, 1), and a wait that the event ends."""

    steady: Callable[[], float]
    wall: Callable[[], float]
    chance: Callable[[], float]
    wait: Callable[[Event, float], bool]


def real_timing() -> Timing:
    return Timing(time.monotonic, time.time, random.random, Event.wait)


def delay(number: int, *, chance: float, after_seconds: float | None = None) -> float:
    """Seconds before try `number` (the first repetition is 1). The wait that the endpoint asks for is the least."""
    usual: float = min(MOST_SECONDS, FIRST_SECONDS * 2 ** (number - 1)) * (0.5 + 0.5 * chance)
    if after_seconds is None:
        return usual
    # All who were told the same second would come back in it.
    return after_seconds + min(usual, 1.0) * chance


def asked_wait(header: Callable[[str], str], wall: Callable[[], float]) -> float | None:
    """How long the endpoint asks to be left alone: in milliseconds, in seconds, or until a date."""
    milliseconds = _number(header("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    given = header("retry-after")
    seconds = _number(given)
    if seconds is not None or not given:
        return seconds
    until, its_now = _moment(given), _moment(header("date"))
    # By the endpoint's own clock, where it tells: ours may be wrong.
    return None if until is None else max(0.0, until - (wall() if its_now is None else its_now))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _moment(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
