"""The clock of the jobs: nothing twice, nothing early, nothing lost, and every miss on record."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from lengths import long
from postgres_server import fresh_schema
from whet.cli.procedures import with_clock
from whet.own.jobs.job import Job
from whet.own.jobs.runs import DeliveryOutcome, JobOutcome, JobRecord, RunState
from whet.store import job_records
from whet.store.home import Home
from whet.store.opening import UNSHARED, opened, owner_of
from whet.work.clock import clock, look
from whet.work.given import given_orders
from whet.work.job_runs import lock_name, order
from whet.work.life import living
from whet.work.orders import DirectSteps, Queue
from whet.work.system import system_of
from work.job_scenes import carried_out, write

START = 1_790_000_000.0
HOUR = 3600.0
JOB = Job("news", "every 2h", added=START, script="echo rain", deliver="none")


@pytest.fixture
def place(tmp_path: Path) -> Home:
    """Where it makes no difference which database it is."""
    return Home(tmp_path / "home")


def records(home: Home) -> tuple[JobRecord, ...]:
    with opened(home) as database:
        return job_records.runs(database, owner_of(home), limit=50)


def ordered(home: Home) -> list[str]:
    with given_orders(home) as orders:
        return [work.kind for work in orders.all()]


def made(home: Home) -> list[JobRecord]:
    """Carry out what is open, as a worker would; gives the runs of now."""
    return [carried_out(home, record) for record in records(home) if record.is_open]


def test_the_clock_is_one_of_the_procedures(place: Home) -> None:
    assert with_clock()["clock"].queue is Queue.CHORES
    assert clock(place, DirectSteps("tick"), "{}").summary == "0 due, 0 to deliver again"


def test_two_ticks_and_two_clocks_order_one_run(home: Home) -> None:
    write(home, JOB)
    assert look(home, now=START + 2 * HOUR - 1).startswith("0 due")
    assert look(home, now=START + 2 * HOUR + 1).startswith("1 due")
    assert look(home, now=START + 2 * HOUR + 1).startswith("0 due")
    assert look(home, now=START + 2 * HOUR + 61).startswith("0 due")
    assert [(each.scheduled, each.state) for each in records(home)] == [(START + 2 * HOUR, RunState.ORDERED)]
    assert ordered(home) == ["job"]
    [record] = made(home)
    assert record.result is not None
    assert record.result.outcome is JobOutcome.DONE
    assert look(home, now=START + 2 * HOUR + 121).startswith("0 due")


def test_what_was_written_down_and_not_ordered_is_ordered_by_the_next_tick(home: Home) -> None:
    """As when a worker dies between the two: the run has the same name, so it is the same run."""
    write(home, JOB)
    look(home, now=START + 2 * HOUR)
    with opened(home) as database:
        [record] = job_records.open_runs(database, owner_of(home))
        job_records.save(database, owner_of(home), replace(record, state=RunState.DUE))
    look(home, now=START + 2 * HOUR + 60)
    assert ordered(home) == ["job"]
    assert [each.state for each in records(home)] == [RunState.ORDERED]


def test_missed_times_make_one_run_that_says_so(place: Home) -> None:
    write(place, JOB)
    look(place, now=START + 9 * HOUR)
    [record] = records(place)
    assert record.scheduled == START + 8 * HOUR
    assert record.missed_count == 3


def test_a_run_that_takes_long_is_not_run_beside_itself(place: Home) -> None:
    write(place, JOB)
    look(place, now=START + 2 * HOUR)
    assert look(place, now=START + 4 * HOUR).startswith("0 due")
    assert look(place, now=START + 6 * HOUR).startswith("0 due")
    made(place)
    assert look(place, now=START + 6 * HOUR + 60).startswith("1 due")
    assert (records(place)[0].scheduled, records(place)[0].missed_count) == (START + 6 * HOUR, 1)


def test_a_paused_job_misses_nothing_and_a_clock_that_went_back_repeats_nothing(place: Home) -> None:
    write(place, replace(JOB, paused=True))
    assert look(place, now=START + 5 * HOUR).startswith("0 due")
    write(place, JOB)
    assert look(place, now=START + 5 * HOUR + 60).startswith("0 due")
    assert look(place, now=START + 6 * HOUR).startswith("1 due")
    made(place)
    assert look(place, now=START + HOUR).startswith("0 due")
    assert look(place, now=START + 6 * HOUR + 60).startswith("0 due")
    assert records(place)[0].missed_count == 0


def test_a_clock_that_was_set_back_stops_no_job(place: Home) -> None:
    write(place, JOB)
    assert look(place, now=START + 6 * HOUR).startswith("1 due")
    made(place)
    assert look(place, now=START + HOUR).startswith("0 due")
    assert look(place, now=START + HOUR + 60).startswith("0 due")
    for hours in (3, 5):
        assert look(place, now=START + hours * HOUR + 60).startswith("1 due"), hours
        made(place)
    assert look(place, now=START + 7 * HOUR).startswith("0 due"), "of six hours it ran before the clock was set back"
    assert look(place, now=START + 8 * HOUR).startswith("1 due")
    made(place)
    assert sorted(each.scheduled for each in records(place)) == [START + hours * HOUR for hours in (2, 4, 6, 8)]


@pytest.mark.parametrize("jump", [-HOUR, *(pytest.param(hours * HOUR, marks=long) for hours in (-26, 26))])
def test_a_clock_that_jumps_and_comes_back_runs_each_time_once(place: Home, jump: float) -> None:
    write(place, JOB)
    now = START
    for minute in range(0, 12 * 60, 15):
        now = START + 60.0 * minute
        is_wrong = 300 <= minute < 330
        for _ in range(2):
            look(place, now=now + (jump if is_wrong else 0.0))
        made(place)
    times = [each.scheduled for each in records(place)]
    assert len(times) == len(set(times))
    assert len(times) + sum(each.missed_count for each in records(place)) >= len(range(2, 12, 2))


def test_a_schedule_that_a_person_changed_begins_when_it_is_seen(place: Home) -> None:
    write(place, JOB)
    look(place, now=START + HOUR)
    write(place, replace(JOB, schedule="every 10m"))
    assert look(place, now=START + HOUR + 90).startswith("0 due")
    assert look(place, now=START + HOUR + 600).startswith("1 due")
    assert records(place)[0].missed_count == 0


def test_a_job_written_by_hand_begins_when_it_is_seen(place: Home) -> None:
    write(place, replace(JOB, added=0.0))
    assert look(place, now=START).startswith("0 due")
    assert look(place, now=START + 2 * HOUR).startswith("1 due")
    assert records(place)[0].missed_count == 0


def test_a_later_job_of_the_same_name_keeps_its_own_time(place: Home) -> None:
    write(place, replace(JOB, repeat=1))
    look(place, now=START + 2 * HOUR)
    made(place)
    later = START + 3 * HOUR
    write(place, replace(JOB, schedule="in 30m", added=later))
    assert look(place, now=later + HOUR).startswith("1 due")
    assert records(place)[0].scheduled == later + HOUR / 2


def test_a_job_ends_after_its_repetitions(place: Home) -> None:
    write(place, replace(JOB, repeat=2))
    dues = []
    for tick in range(1, 6):
        dues.append(look(place, now=START + tick * 2 * HOUR)[0])
        made(place)
    assert dues == ["1", "1", "0", "0", "0"]


def test_a_broken_job_keeps_no_other_from_running(place: Home) -> None:
    write(place, JOB)
    (place.folder / "jobs" / "broken.toml").write_text("schedule = nonsense")
    assert look(place, now=START + 2 * HOUR).startswith("1 due")


def test_a_removed_job_may_come_back_and_its_old_runs_go_in_time(place: Home) -> None:
    write(place, JOB)
    look(place, now=START + 2 * HOUR)
    made(place)
    (place.folder / "jobs" / "news.toml").unlink()
    assert look(place, now=START + 5 * HOUR).startswith("0 due")
    write(place, JOB)
    assert look(place, now=START + 5 * HOUR + 60).startswith("0 due")
    (place.folder / "jobs" / "news.toml").unlink()
    look(place, now=START + 40 * 24 * HOUR)
    assert records(place) == ()


def test_old_runs_are_let_go(place: Home) -> None:
    write(place, JOB)
    look(place, now=START + 2 * HOUR)
    made(place)
    look(place, now=START + 30 * 24 * HOUR)
    assert len(records(place)) == 2
    look(place, now=START + 30 * 24 * HOUR + 3 * HOUR)
    assert START + 2 * HOUR not in [each.scheduled for each in records(place)]


def test_a_cancelled_run_ends_as_a_failure_and_is_told(home: Home) -> None:
    write(home, replace(JOB, deliver="file", to=str(home.folder.parent / "out")))
    look(home, now=START + 2 * HOUR)
    with given_orders(home) as orders:
        [work] = orders.all()
        orders.cancel(work.id)
    assert look(home, now=START + 2 * HOUR + 60) == "0 due, 1 to deliver again"
    [record] = records(home)
    assert record.result is not None
    assert (record.result.outcome, record.handing) == (JobOutcome.FAILED, DeliveryOutcome.FAILED)
    assert "cancelled" in record.result.error
    assert ordered(home)[0] == "delivery"


def test_a_run_whose_program_was_stopped_is_noticed(home: Home) -> None:
    record = JobRecord("mine", JOB, START, manual=True, is_direct=True, state=RunState.RUNNING)
    with opened(home) as database:
        job_records.save(database, owner_of(home), record)
    with living(home, lock_name(record)):
        look(home, now=START)
        assert records(home)[0].is_open
    look(home, now=START)
    assert records(home)[0].has_failed


def test_a_report_that_did_not_arrive_is_ordered_again_when_its_time_has_come(home: Home) -> None:
    write(home, replace(JOB, deliver="file", to=str(home.folder.parent / "missing" / "out")))
    look(home, now=START + 2 * HOUR)
    [record] = made(home)
    assert record.handing is DeliveryOutcome.FAILED
    assert record.next_try is not None
    assert look(home, now=record.next_try - 1).endswith("0 to deliver again")
    assert look(home, now=record.next_try + 1).endswith("1 to deliver again")
    look(home, now=record.next_try + 61)
    assert ordered(home).count("delivery") == 1


def test_orders_of_one_run_are_one_order() -> None:
    record = JobRecord("mine", JOB, START)
    assert order(record) == order(replace(record, state=RunState.RUNNING))


@pytest.fixture(scope="module")
def one_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home(tmp_path_factory.mktemp("clock") / "home")


@settings(max_examples=8)
@given(st.lists(st.integers(1, 9 * 3600), min_size=1, max_size=6))
def test_whenever_the_clock_is_looked_at_each_time_is_run_or_missed_once(one_home: Home, gaps: list[int]) -> None:
    """Over any ticks: no time is accounted for twice, none early, none left out."""
    for record in records(one_home):
        with opened(one_home) as database:
            database.execute("DELETE FROM job_runs WHERE id = ?", (record.id,))
            job_records.forget_mark(database, "", "news")
    write(one_home, JOB)
    now, seen = START, 0
    for gap in gaps:
        now += gap
        look(one_home, now=now)
        for record in records(one_home):
            if record.is_open:
                seen += record.missed_count + 1
                assert record.scheduled == START + 2 * HOUR * seen <= now
                with opened(one_home) as database:
                    job_records.save(database, UNSHARED, replace(record, state=RunState.ENDED))
    assert seen == int((now - START) / (2 * HOUR))


def test_two_homes_on_one_server_keep_their_jobs_apart(tmp_path: Path, postgres_url: str) -> None:
    with fresh_schema(postgres_url, "two_homes") as url:
        one, other = Home(tmp_path / "one", url), Home(tmp_path / "other", url)
        for home in (one, other):
            write(home, JOB)
            assert look(home, now=START + 2 * HOUR).startswith("1 due")
        with given_orders(one) as orders:
            queues = {work.queue for work in orders.all()}
        mine, theirs = records(one), records(other)
        assert queues == {system_of(home).queue(Queue.JOBS) for home in (one, other)}
    assert len(queues) == 2
    assert len(mine) == len(theirs) == 1
    assert mine[0].id != theirs[0].id
