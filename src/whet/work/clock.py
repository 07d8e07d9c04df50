"""The clock: once a minute what is due is written down and ordered, once an hour the watch over what is measured."""

import time

from msgspec.structs import replace

from whet.errors import WhetError
from whet.intake.arrivals import is_waiting
from whet.own.examples.templates import FRESH_SECONDS
from whet.own.jobs.job import SLIP, Job, due, schedule_of, stamp
from whet.own.jobs.runs import JobRecord, RunState, left
from whet.store import job_records
from whet.store.database import Database
from whet.store.home import Home
from whet.store.job_records import JobMark, list_jobs
from whet.store.ledger import ledger_of
from whet.store.opening import Owner, identity_of, opened, owner_of
from whet.store.template_files import is_drawn
from whet.telling.hooks.compiling import refresh_compiled
from whet.telling.hooks.events import has_hooks
from whet.work.given import GivenOrders, WorkState, given_orders, identity
from whet.work.job_runs import KIND, delivery_order, lock_name, order, run_id
from whet.work.job_sessions import spent_on
from whet.work.life import LifeSign, sign_of
from whet.work.orders import Done, Order, Queue, Steps
from whet.work.system import ARRIVALS, WATCH

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
KEPT_DAYS, MOST_KEPT = 30, 2_000  # ended work and runs that are still listed
WORDS = {
    WorkState.CANCELLED: "The work was cancelled.",
    WorkState.FAILED: "The work failed.",
    WorkState.DONE: "The work ended without a record.",
}


def clock(home: Home, steps: Steps, body: str) -> Done:  # noqa: ARG001 - it looks at the time itself
    """Look at the clock. Looking twice, or with two clocks at once, orders nothing twice."""
    ordered = steps.do("look", lambda: look(home, now=time.time()), str)
    steps.do("watch", lambda: order_watch(home, now=time.time()), str)
    steps.do("arrivals", lambda: order_arrivals(home, now=time.time()), str)
    return Done(ordered)


def look(home: Home, *, now: float) -> str:
    """Write down what is due, order it, and hand over again what did not arrive; says what was ordered."""
    own = owner_of(home)
    with opened(home) as database, given_orders(home) as orders:
        job_records.turn_away(database, own)
        _settle(home, database, orders, now)
        written = _write_down_due(home, database, own, now)
        for record in job_records.open_runs(database, own):
            if record.state is RunState.DUE:
                orders.submit(order(record), Queue.JOBS)
                _save_unless_begun(database, own, replace(record, state=RunState.ORDERED))
        again = [each for each in job_records.undelivered(database, own) if (each.next_try or 0.0) <= now]
        for record in again:
            orders.submit(delivery_order(record), Queue.JOBS)
        job_records.move_mark(database, JobMark(own.id, job_records.CLOCK, "", now))
        orders.let_go(before=now - KEPT_DAYS * DAY, most=MOST_KEPT)
    return f"{written} due, {len(again)} to deliver again"


def order_watch(home: Home, *, now: float) -> str:
    """Have canaries and drawn templates looked at, where there are any; once an hour, however often it is asked."""
    with opened(home) as database:
        has_canaries = any(item.canary for item in ledger_of(home, database).state().rules)
        is_wanted = has_canaries or is_drawn(database, since=now - FRESH_SECONDS)
    return _order_once(home, WATCH, int(now // HOUR)) if is_wanted else ""


def order_arrivals(home: Home, *, now: float) -> str:
    """Bring what hooks tell up to date, and have what they left taken in, where they left anything."""
    if has_hooks(home.folder):
        with opened(home) as database:
            refresh_compiled(home, database)
    return _order_once(home, ARRIVALS, int(now // MINUTE)) if is_waiting(home) else ""


def _order_once(home: Home, kind: str, span: int) -> str:
    """Order a chore once in a span of time, and not while it is still open."""
    own = identity_of(home)
    with given_orders(home) as orders:
        return orders.submit(Order(kind, f"{own}/{span}", alone=f"{kind} {own}"), Queue.CHORES)


def _write_down_due(home: Home, database: Database, own: Owner, now: float) -> int:
    """Move each job's mark on, with a run for what came up since; how many runs came up."""
    busy = {record.job.name for record in job_records.open_runs(database, own)}
    found = {each.name: each.value for each in list_jobs(home.folder)}
    gone = [mark for mark in job_records.marks(database, own.id) if mark.job and mark.job not in found]
    for name in (*(name for name, job in found.items() if job is not None), *(mark.job for mark in gone)):
        job_records.prune(database, own.id, name, before=now - KEPT_DAYS * DAY)
    for mark in gone:  # a job that was taken away misses nothing, and may come back
        if job_records.runs(database, own, mark.job, limit=1):
            job_records.keep_mark(database, mark._replace(accounted=now))
        else:
            job_records.forget_mark(database, mark.home, mark.job)
    due = [job for name, job in found.items() if job is not None and name not in busy]
    return sum(_account(home, database, own, job, now) for job in due)


def _account(home: Home, database: Database, own: Owner, job: Job, now: float) -> bool:
    """Whether the job is due, and written down as such. What a run held up or a machine slept through is missed."""
    mark = _keep_mark(database, own.id, job, now)
    is_over = job.paused or (job.repeat and mark.made >= job.repeat)
    run = None if is_over else due(schedule_of(job), mark.accounted, now)
    id = run_id(home, job.name, run.at) if run else ""
    if is_over or (run and job_records.is_known(database, own, id)):  # made before the clock was set back
        job_records.keep_mark(database, mark._replace(accounted=now))
    elif run:
        record = JobRecord(id, job, run.at, missed_count=run.missed_count)
        return job_records.account(database, own, record, mark)
    return False


def _keep_mark(database: Database, own: str, job: Job, now: float) -> JobMark:
    """How far the job is accounted for. A schedule that a person changed begins when it is first seen."""
    known = job_records.mark_of(database, own, job.name)
    is_same = known is not None and known.added == job.added
    if known is not None and is_same and known.schedule == stamp(job):
        return _counted_on(database, own, known, now)
    begins = max(job.added if job.added and not is_same else now, known.accounted if known else 0.0)
    mark = JobMark(own, job.name, stamp(job), begins, known.made if known and is_same else 0, job.added)
    job_records.keep_mark(database, mark)
    return mark


def _counted_on(database: Database, own: str, mark: JobMark, now: float) -> JobMark:
    """The mark, or now where the clock was set back: else a job would stand still for as long as that.

    The clock is behind at two looks then. One look may be a slip, and repeats nothing.
    """
    before = job_records.mark_of(database, own, job_records.CLOCK)
    if before is None or max(now, before.accounted) >= mark.accounted - SLIP:
        return mark
    job_records.move_mark(database, mark._replace(accounted=now))
    return mark._replace(accounted=now)


def _settle(home: Home, database: Database, orders: GivenOrders, now: float) -> None:
    """End the runs that will not end themselves: cancelled, given up, or stopped with the program that made them."""
    own = owner_of(home)
    for record in (*job_records.open_runs(database, own), *job_records.waiting(database, own)):
        why = _stopped(home, record) if record.is_direct else _ended(orders, record)
        if not why:
            continue
        with database.writing():
            now_known = job_records.record_of(database, own, record.id)  # its last step may have been written meanwhile
            if now_known.state is record.state and now_known.handing is record.handing:
                job_records.save(database, own, left(now_known, why, now=now, spent=spent_on(database, record)))


def _ended(orders: GivenOrders, record: JobRecord) -> str:
    """Why work that is over left its run open; empty while it goes on, or has not been ordered yet."""
    if record.state is RunState.DUE:
        return ""
    try:
        found = orders.find(identity(KIND, record.id))
    except WhetError:
        return "Its queued work was lost."
    return "" if found.is_open else f"{WORDS[found.state]} {found.error}".strip()


def _stopped(home: Home, record: JobRecord) -> str:
    """A program holds a lock while it makes a run of its own."""
    with sign_of(home, lock_name(record)) as sign:
        return "" if sign is LifeSign.ALIVE else "The program that started this run was stopped."


def _save_unless_begun(database: Database, own: Owner, record: JobRecord) -> None:
    """A quick worker may have begun it already."""
    with database.writing():
        if job_records.record_of(database, own, record.id).state is RunState.DUE:
            job_records.save(database, own, record)
