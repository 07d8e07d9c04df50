"""A run of a job, step by step: done once, whoever dies; and the delivery of its report.

What is run and where it goes comes from the job's file in the home, each time anew. What the database remembers of the
job is compared with it, and never carried out: others may be able to write there.

Reports on their way to people: to a file, a command or standard output.
"""

import hashlib
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Event

import msgspec
from msgspec.structs import replace

from whet.agent.providers.choosing import Supply
from whet.errors import WhetError
from whet.own.jobs.job import Job, address
from whet.own.jobs.runs import (
    DeliveryOutcome,
    JobOutcome,
    JobRecord,
    JobResult,
    RunState,
    finished,
    handed,
    heading,
    letter,
    script_result,
)
from whet.secrets.redactor import Redactor, secret_values
from whet.store import files, job_records, skill_files
from whet.store.home import Home
from whet.store.job_records import load
from whet.store.opening import identity_of, opened, owner_of
from whet.values import Value
from whet.work.job_sessions import (
    JobScene,
    JobTask,
    Program,
    ProgramEnd,
    carry_out,
    expect_outside,
    expect_script,
    folder_of,
    run,
    spent_on,
)
from whet.work.orders import Done, Failed, Order, Steps, Unsure, encoded

COMMAND_SECONDS = 60.0
TRIES = 5
SHOWN_CHARACTERS = 300
KIND = "job"
DELIVERY = "delivery"
ID_BYTES = 6
DIGEST_BYTES = 16


def deliver(
    record: JobRecord,
    folder: Path,
    environment: Mapping[str, str],
    *,
    interrupt: Event,
    seconds: float = COMMAND_SECONDS,
) -> None:
    """Hand a report over, from the job's folder; raises WhetError where it did not arrive."""
    match record.job.deliver:
        case "file":
            _to_file(record, folder / os.path.expanduser(address(record.job.to, environment)))
        case "command":
            line, variables = address(record.job.to, environment), {**environment, "WHET_RUN": record.id}
            ran = run(Program(line, folder, variables, seconds, letter(record)), interrupt=interrupt)
            if ran.exit_code != 0:
                why = "did not end in time and was killed" if ran.exit_code is None else f"exited with {ran.exit_code}"
                raise WhetError(f"The command {why}.", advice=ran.output.strip()[-SHOWN_CHARACTERS:])
        case "stdout":
            sys.stdout.buffer.write(letter(record).encode(errors="replace"))
            sys.stdout.buffer.flush()


def _to_file(record: JobRecord, target: Path) -> None:
    """Written whole or not at all. A report that stands there already is not added again."""
    place, text = files.at(target), letter(record)
    if not place.root.is_dir():
        raise WhetError(f"There is no folder {place.root}.", advice="Create it, or deliver to another file.")
    for attempt in range(1, TRIES + 1):
        old = files.read(place)
        before = files.decoded(old or b"", place.path)
        if text in before:
            return
        after = f"{before.rstrip()}\n\n{text}" if before else text
        try:
            files.write(place, after.encode(), expected=old)
            return
        except files.Conflict:
            if attempt == TRIES:
                raise


class JobRequest(Value, frozen=True):
    """Which run is to be made, or whose report is to be handed over once more."""

    run: str
    tries: int = 0


class RunStart(Value, frozen=True):
    """A run at its start: the digest of what the agent is to be told, or why it cannot begin."""

    record: JobRecord
    task: str = ""
    error: str = ""


class DeliveryTry(Value, frozen=True):
    """What came of one try to hand a report over."""

    handing: DeliveryOutcome
    error: str = ""


def run_id(home: Home, job: str, scheduled: float, *, manual: str = "") -> str:
    """The id of a run: the same for one job and one time, so that no run is made twice."""
    key = "\0".join((identity_of(home), job, repr(scheduled), manual))
    return hashlib.blake2b(key.encode(), digest_size=ID_BYTES).hexdigest()


def lock_name(record: JobRecord) -> str:
    """What a program holds while it makes a run of its own, so that its death is noticed."""
    return f"run-{record.id}"


def order(record: JobRecord) -> Order:
    return Order(KIND, record.id, encoded(JobRequest(record.id)))


def delivery_order(record: JobRecord) -> Order:
    return Order(DELIVERY, f"{record.id}/{record.tries}", encoded(JobRequest(record.id, record.tries)))


def job(home: Home, steps: Steps, ask: JobRequest, *, supply: Supply | None = None) -> Done:
    """Carry one run out: look it up, run its script, let the agent work, write down what came of it, deliver it."""
    begun = steps.do("begin", lambda: _begin(home, ask), RunStart)
    record = begun.record
    if record.state is not RunState.ENDED:  # an order that came twice is no second run
        result = JobResult(JobOutcome.FAILED, error=begun.error) if begun.error else _work(home, steps, begun, supply)
        record = steps.do("record", lambda: _record(home, begun.record, result), JobRecord)
        record = _hand_over(home, steps, record)
    result = record.result or JobResult(JobOutcome.FAILED)
    sessions = (result.session,) if result.session else ()
    if record.has_failed:
        # Failed work must not look done; what it was told stands in the history.
        raise Failed(
            f"{heading(record)}. {result.error}".strip(),
            advice=f"See `whet jobs show --runs {record.job.name}`. Again: `whet jobs run {record.job.name}`.",
            spent=result.spent,
            sessions=sessions,
        )
    return Done(heading(record), sessions, result.spent)


def delivery(home: Home, steps: Steps, ask: JobRequest) -> Done:
    """Try once more to hand a report over."""
    record = steps.do("look", lambda: _undelivered(home, ask), JobRecord)
    if record.handing is not DeliveryOutcome.FAILED or record.tries != ask.tries:
        return Done(f"{heading(record)}: there is nothing to deliver")
    record = _hand_over(home, steps, record)
    return Done(f"{heading(record)}: {record.handing}")


def _begin(home: Home, ask: JobRequest) -> RunStart:
    own = owner_of(home)
    with opened(home) as database:
        record = job_records.record_of(database, own, ask.run)
        if record.state is RunState.ENDED:
            return RunStart(record)
        try:
            task, error = _digest(_task(home, filed(home, record))), ""
        except WhetError as mistake:
            task, error = "", f"{mistake.message} {mistake.advice}".strip()
        record = replace(record, state=RunState.RUNNING, started=time.time())
        job_records.save(database, own, record)
    return RunStart(record, task, error)


def filed(home: Home, record: JobRecord) -> Job:
    """The job as it stands in this home's file; raises WhetError where that is not the one the run was written for."""
    job = load(home.folder, record.job.name)
    if job != record.job:
        raise WhetError(
            f"The job {job.name} has changed since this run was recorded, so it did not run.",
            advice=f"To run it as it is now, run `whet jobs run {job.name}`.",
        )
    return job


def _task(home: Home, job: Job) -> JobTask:
    return JobTask(job.prompt, tuple((name, skill_files.load(home.folder, name).body) for name in job.skills))


def _digest(task: JobTask) -> str:
    return hashlib.blake2b(msgspec.json.encode(task), digest_size=DIGEST_BYTES).hexdigest()


def _work(home: Home, steps: Steps, begun: RunStart, supply: Supply | None) -> JobResult:
    record, material, exit_code = begun.record, "", None
    if record.job.script.strip():
        try:
            ran = steps.once("script", lambda: _run_script(home, record, steps.interrupt), ProgramEnd)
        except Unsure:
            why = "A worker died while the script ran. The script may have taken effect, so it was not run again."
            return JobResult(JobOutcome.UNSURE, error=why)
        except WhetError as error:
            return JobResult(JobOutcome.FAILED, error=f"{error.message} {error.advice}".strip())
        failed = script_result(ran.output, exit_code=ran.exit_code, seconds=record.job.script_seconds)
        if failed is not None:
            return failed
        exit_code, material = ran.exit_code, ran.output
        if not record.job.prompt.strip():
            outcome = JobOutcome.DONE if material.strip() else JobOutcome.NOTHING_TO_REPORT
            return JobResult(outcome, report=material, exit_code=exit_code)
    result = steps.do("agent", lambda: _ask_agent(home, begun, material, steps.interrupt, supply), JobResult)
    return replace(result, exit_code=exit_code)


def _run_script(home: Home, record: JobRecord, interrupt: Event) -> ProgramEnd:
    job = filed(home, record)
    expect_script(job)
    program = Program(job.script, folder_of(job), {**os.environ, "WHET_RUN": record.id}, job.script_seconds)
    ran = run(program, interrupt=interrupt)
    return replace(ran, output=Redactor(secret_values(os.environ)).text(ran.output))


def _ask_agent(home: Home, begun: RunStart, material: str, interrupt: Event, supply: Supply | None) -> JobResult:
    """What cannot even begin, for want of a key or a model, is a failed run like any other."""
    record = begun.record
    with opened(home) as database:
        try:
            job = filed(home, record)
            task = _task(home, job)
            if _digest(task) != begun.task:
                raise WhetError(
                    f"The prompt or a skill of the job {job.name} changed after this run started, so it was stopped.",
                    advice=f"To run it as it is now, run `whet jobs run {job.name}`.",
                )
            scene = JobScene(home, database, os.environ, interrupt, supply)
            return carry_out(scene, replace(record, job=job), replace(task, material=material))
        except WhetError as error:
            spent = spent_on(database, record)  # a worker before this one may have begun
            return JobResult(JobOutcome.FAILED, error=f"{error.message} {error.advice}".strip(), spent=spent)


def _record(home: Home, record: JobRecord, result: JobResult) -> JobRecord:
    """Once: a worker that comes here again finds what stands already."""
    own = owner_of(home)
    with opened(home) as database:
        known = job_records.record_of(database, own, record.id)
        if known.state is RunState.ENDED:
            return known
        ended = finished(record, result, now=time.time())
        job_records.save(database, own, ended)
    return ended


def _hand_over(home: Home, steps: Steps, record: JobRecord) -> JobRecord:
    if record.handing not in (DeliveryOutcome.WAITING, DeliveryOutcome.FAILED):
        return record
    # Handing over twice leaves what handing over once does in a file alone: a sent message cannot be taken back.
    how = steps.do if record.job.deliver == "file" else steps.once
    try:
        sent = how("deliver", lambda: _send(home, record, steps.interrupt), DeliveryTry)
    except Unsure:
        why = "A worker died while it delivered this report. It may have arrived, so it was not sent again."
        sent = DeliveryTry(DeliveryOutcome.UNSURE, why)

    def note() -> JobRecord:
        now = handed(record, sent.handing, sent.error, now=time.time())
        with opened(home) as database:
            job_records.save(database, owner_of(home), now)
        return now

    return steps.do("note the delivery", note, JobRecord)


def _send(home: Home, record: JobRecord, interrupt: Event) -> DeliveryTry:
    try:
        job = filed(home, record)
        expect_outside(home, job)
        deliver(replace(record, job=job), folder_of(job), os.environ, interrupt=interrupt)
    except WhetError as error:
        why = f"{error.message} {error.advice}".strip()
        return DeliveryTry(DeliveryOutcome.FAILED, Redactor(secret_values(os.environ)).text(why))
    return DeliveryTry(DeliveryOutcome.DELIVERED)


def _undelivered(home: Home, ask: JobRequest) -> JobRecord:
    """The run, with the job as it stands now: a person may have put right where its report goes."""
    with opened(home) as database:
        record = job_records.record_of(database, owner_of(home), ask.run)
    try:
        return replace(record, job=load(home.folder, record.job.name))
    except WhetError:
        return record  # the job is gone or broken; its report still goes where it was to go
