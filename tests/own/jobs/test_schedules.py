"""Schedules: when jobs are due, over changes of clocks, sleep and leap days."""

import contextlib
import datetime
import itertools
import random
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengths import long
from whet.errors import WhetError
from whet.own.jobs.job import COUNTED, Schedule, due, next_after, parse, times

DAY = 86_400
START = 1_790_000_000.0
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Chatham")
TEXTS = ("every 7h", "every 1d", "0 9 * * mon-fri", "30 2 * * *", "15 */6 * * *", "0 0 29 2 *", "0 12 1 * *")


def local(text: str, zone: str) -> float:
    return datetime.datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


def until(schedule: Schedule, start: float, end: float) -> list[float]:
    return list(itertools.takewhile(lambda moment: moment <= end, times(schedule, start)))


@pytest.mark.parametrize(
    ("text", "zone"),
    [*zip(TEXTS, itertools.cycle(ZONES), strict=False), *(("30 2 * * *", zone) for zone in ZONES[1:4])],
)
@pytest.mark.parametrize("days", [1_000, pytest.param(10_000, marks=long)])
def test_over_thousands_of_days_nothing_runs_twice_or_early_and_every_miss_is_told(
    text: str, zone: str, days: int
) -> None:
    """A clock that is looked at now and then, stands still, jumps ahead and goes back."""
    chance = random.Random(f"{text} {zone}")
    schedule = parse(text, zone=zone, now=START)
    end = START + days * DAY
    accounted, ran, missed, clock = START, [], [], START
    while clock < end:
        clock += chance.choice((-2 * 3600, 60, 3600, 5 * 3600, DAY, 9 * DAY, 40 * DAY))
        found = due(schedule, accounted, clock)
        if found is None:
            continue
        assert accounted < found.at <= clock
        ran.append(found.at)
        missed.append(found.missed_count)
        accounted = found.at
    assert ran == sorted(set(ran))
    assert len(ran) + sum(missed) == len(until(schedule, START, accounted))


@given(st.sampled_from(TEXTS), st.sampled_from(ZONES), st.floats(START, START + 4000 * DAY))
def test_the_next_time_is_later_and_none_lies_between(text: str, zone: str, moment: float) -> None:
    schedule = parse(text, zone=zone, now=START)
    found = next_after(schedule, moment)
    assert found is not None
    assert found > moment
    between = (moment + found) / 2
    if moment < between < found:
        assert next_after(schedule, between) == found


def test_an_hour_that_is_skipped_delays_a_job_and_does_not_lose_it() -> None:
    schedule = parse("30 2 * * *", zone="Europe/Berlin", now=local("2026-03-28 12:00", "Europe/Berlin"))
    assert next_after(schedule, schedule.at) == local("2026-03-29 03:00", "Europe/Berlin")


def test_an_hour_that_comes_twice_runs_a_daily_job_once_and_an_hourly_one_twice() -> None:
    zone, start, end = (
        "Europe/Berlin",
        local("2026-10-24 12:00", "Europe/Berlin"),
        local("2026-10-25 12:00", "Europe/Berlin"),
    )
    assert len(until(parse("30 2 * * *", zone=zone, now=start), start, end)) == 1
    assert len(until(parse("0 * * * *", zone=zone, now=start), start, end)) == 25


def test_a_leap_day_comes_when_it_comes() -> None:
    schedule = parse("0 0 29 2 *", zone="UTC", now=local("2026-03-01 00:00", "UTC"))
    assert next_after(schedule, schedule.at) == local("2028-02-29 00:00", "UTC")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in 30m", START + 1800),
        ("in 1h 30m", START + 5400),
        ("in 2 days and 3 hours", START + 2 * DAY + 3 * 3600),
        ("2027-01-01 09:00", local("2027-01-01 09:00", "Asia/Kathmandu")),
        ("2027-01-01T09:00+00:00", local("2027-01-01 09:00", "UTC")),
    ],
)
def test_a_job_can_run_once(text: str, expected: float) -> None:
    schedule = parse(text, zone="Asia/Kathmandu", now=START)
    assert next_after(schedule, START) == expected
    assert next_after(schedule, expected) is None
    assert due(schedule, START, expected + 99) is not None


@pytest.mark.parametrize("text", ["every 2h", "* * * * *"])
def test_a_machine_that_slept_for_years_runs_once_for_the_last_time(text: str) -> None:
    schedule = parse(text, zone="UTC", now=START)
    now = START + 20 * 365 * DAY
    found = due(schedule, START, now)
    assert found is not None
    assert found.at == max(until(schedule, now - DAY, now))
    assert found.missed_count >= COUNTED - 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("often", "not a schedule"),
        ("every", "not a schedule"),
        ("every 3 blue moons", "not a unit of time"),
        ("every 2h please", "not a schedule"),
        ("every 10s", "too often"),
        ("every 0m", "not a schedule"),
        ("* * * *", "not a schedule"),
        ("60 * * * *", "not a schedule"),
        ("0 0 31 2 *", "not a schedule"),
        ("2020-01-01 09:00", "in the past"),
        ("", "not a schedule"),
    ],
)
def test_what_is_no_schedule_is_refused_with_what_is_allowed(text: str, said: str) -> None:
    with pytest.raises(WhetError, match=said) as refused:
        parse(text, zone="UTC", now=START)
    assert refused.value.advice


@given(st.text())
def test_any_text_is_a_schedule_or_a_persons_mistake(text: str) -> None:
    with contextlib.suppress(WhetError):
        assert parse(text, zone="UTC", now=START).zone == "UTC"


def test_an_unknown_time_zone_is_refused() -> None:
    for name in ("Mars/Olympus", "../../etc/passwd", ""):
        with pytest.raises(WhetError, match="no time zone"):
            parse("every 2h", zone=name, now=START)
