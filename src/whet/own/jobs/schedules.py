"""When a job is due: once, at intervals, or by the lines of a crontab in a time zone."""

import datetime
import itertools
import math
import re
from collections.abc import Iterator
from typing import Literal
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from whet.errors import WhetError
from whet.values import Value

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
NAMES = {
    "second": "s", "sec": "s", "minute": "m", "min": "m", "hour": "h", "hr": "h", "day": "d", "week": "w",
}  # fmt: skip
SHORTEST_SECONDS = 60
LISTED = 50  # of more missed times only the number is kept
SLIP = 120.0  # seconds that a clock may be behind without having been set back
COUNTED = 10_000
_SPAN = re.compile(r"(?<!\d)(\d+)\s*([a-z]+)")
ALLOWED = (
    'Write "every 2h", "in 30m", a date and time such as "2026-12-01 09:00", or five fields of a crontab'
    ' such as "0 9 * * mon-fri".'
)


class Schedule(Value, frozen=True):
    """When a job runs. `at` is a moment for once, and where intervals are counted from."""

    kind: Literal["once", "interval", "cron"]
    text: str  # as the person wrote it
    at: float = 0.0
    seconds: int = 0
    cron: str = ""
    zone: str = "UTC"


class DueRun(Value, frozen=True):
    """A run that is to be made now: for which moment, and which ones before it were missed."""

    at: float
    missed: tuple[float, ...] = ()  # the latest of them
    missed_count: int = 0


def parse(text: str, *, zone: str, now: float) -> Schedule:
    """A schedule from a person's words; raises WhetError with what is allowed."""
    words = " ".join(text.lower().split())
    place = zone_of(zone)
    if words.startswith("every "):
        seconds = _span(words.removeprefix("every "), text)
        if seconds < SHORTEST_SECONDS:
            raise WhetError(f"{text!r} runs too often.", advice="The shortest interval is one minute.")
        return Schedule("interval", text, at=now, seconds=seconds, zone=zone)
    if words.startswith("in "):
        return Schedule("once", text, at=now + _span(words.removeprefix("in "), text), zone=zone)
    moment = _moment(text.strip(), place)
    if moment is not None:
        if moment <= now:
            raise WhetError(f"{text!r} is in the past.", advice="Give a time in the future.")
        return Schedule("once", text, at=moment, zone=zone)
    return _crontab(text, words, zone, now)


def times(schedule: Schedule, moment: float) -> Iterator[float]:
    """Every time after a moment, the earliest first.

    At a change of clocks Debian's cron is followed: a job neither runs twice nor is left out.
    """
    if schedule.kind == "once":
        if schedule.at > moment:
            yield schedule.at
    elif schedule.kind == "interval":
        for step in itertools.count(max(math.floor((moment - schedule.at) / schedule.seconds) + 1, 1)):
            yield schedule.at + step * schedule.seconds
    else:
        start = datetime.datetime.fromtimestamp(moment, zone_of(schedule.zone))
        for found in CronSim(schedule.cron, start):
            if found.timestamp() > moment:  # of an hour that comes twice, the first one may be before
                yield found.timestamp()


def next_after(schedule: Schedule, moment: float) -> float | None:
    """The first time after a moment, or None where there is none."""
    return next(times(schedule, moment), None)


def due(schedule: Schedule, since: float, now: float) -> DueRun | None:
    """What to run, where `since` is the last time that was accounted for. Missed times make one run, and are told.

    A clock that went back makes nothing due again: `since` never does.
    """
    found: list[float] = []
    count = 0
    for count, moment in enumerate(itertools.takewhile(lambda time: time <= now, times(schedule, since)), start=1):
        found = [*found[-LISTED:], moment]
        if count == COUNTED:  # a machine that slept for years: the last time is what matters
            last = _last_before(schedule, now, moment)
            found = [*found[-LISTED:], last] if last > moment else found
            break
    if not found:
        return None
    return DueRun(found[-1], missed=tuple(found[:-1]), missed_count=max(count, len(found)) - 1)


def zone_of(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise WhetError(
            f"There is no time zone {name!r}.",
            advice='Write it as "Europe/Berlin". If this machine has no time zone data, run `pip install tzdata`.',
        ) from None


def _crontab(text: str, words: str, zone: str, now: float) -> Schedule:
    if len(words.split()) != 5:
        raise WhetError(f"{text!r} is not a schedule.", advice=ALLOWED)
    schedule = Schedule("cron", text, at=now, cron=words, zone=zone)
    try:
        first = next_after(schedule, now)
    except CronSimError as error:
        raise WhetError(f"{text!r} is not a schedule: {error}.", advice=ALLOWED) from None
    if first is None:
        raise WhetError(f"{text!r} never occurs.", advice="Check its day and month.")
    return schedule


def _last_before(schedule: Schedule, now: float, known: float) -> float:
    """The last time that is not after now."""
    if schedule.kind == "interval":
        return schedule.at + math.floor((now - schedule.at) / schedule.seconds) * schedule.seconds
    backwards = CronSim(schedule.cron, datetime.datetime.fromtimestamp(now, zone_of(schedule.zone)), reverse=True)
    found = next(iter(backwards)).timestamp()
    return found if known < found <= now else known


def _span(words: str, text: str) -> int:
    """Seconds of a length of time such as 2h, 1h 30m or 90 minutes."""
    parts = _SPAN.findall(words)
    seconds = 0
    for number, unit in parts:
        singular = unit.removesuffix("s") or unit
        short = unit if unit in UNITS else NAMES.get(singular, "")
        if not short:
            raise WhetError(f"{text!r} is not a schedule: {unit} is not a unit of time.", advice=ALLOWED)
        seconds += int(number) * UNITS[short]
    if not seconds or _SPAN.sub("", words).replace("and", "").replace(",", "").strip():
        raise WhetError(f"{text!r} is not a schedule.", advice=ALLOWED)
    return seconds


def _moment(text: str, place: ZoneInfo) -> float | None:
    try:
        found = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=place)).timestamp()
