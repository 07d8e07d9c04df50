"""Runs of jobs as they are remembered: when, how each ended, and what became of its report."""

import datetime
from collections.abc import Iterable
from enum import StrEnum

import msgspec

from whet.errors import WhetError
from whet.own.jobs.job import Job
from whet.own.runs.run import Ended, Spent, WorkReport, WorkStatus
from whet.sessions.transcripts import Ending, Message, pair
from whet.values import Value

REPORT_CHARACTERS = 100_000
MINUTE = 60.0
# How long to wait after each try of a delivery; after the last it is given up, and stays in the history.
WAITS = (MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE, 240 * MINUTE, 720 * MINUTE)
FINISH = "finish"


class JobOutcome(StrEnum):
    """How a run ended: by what the agent reported with its tool and by exit codes, and never by words."""

    DONE = "done"
    NOTHING_TO_REPORT = "nothing_to_report"
    FAILED = "failed"
    UNREPORTED = "unreported"  # the agent stopped without saying how it ended
    UNSURE = "unsure"  # a worker died in its script, which may have had its effect


WORDS = {
    JobOutcome.DONE: "done",
    JobOutcome.NOTHING_TO_REPORT: "nothing to report",
    JobOutcome.FAILED: "FAILED",
    JobOutcome.UNREPORTED: "ENDED WITHOUT A REPORT",
    JobOutcome.UNSURE: "UNSURE",
}


class RunState(StrEnum):
    """How far a run has come."""

    DUE = "due"  # written down, and not ordered yet
    ORDERED = "ordered"
    RUNNING = "running"
    ENDED = "ended"


class DeliveryOutcome(StrEnum):
    """What became of a report."""

    NONE = "none"  # there is nothing to hand over
    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"  # it will be tried again
    UNSURE = "unsure"  # a worker died while it handed it over; it is not sent twice
    GIVEN_UP = "given up"


class JobResult(Value, frozen=True):
    """What a run came to."""

    outcome: JobOutcome
    report: str = ""
    error: str = ""
    exit_code: int | None = None  # of its script
    session: str = ""
    model: str = ""
    provider: str = ""
    spent: Spent = Spent()
    notes: tuple[str, ...] = ()  # what the person should know besides: files that were taken aside, or run by others


class JobRecord(Value, frozen=True):
    """One run of a job. `job` is as it was when the run began; times before it may have been missed."""

    id: str
    job: Job
    scheduled: float
    manual: bool = False  # a person asked for it; it counts for no schedule
    is_direct: bool = False  # made by a program of its own, and not by a worker
    missed_count: int = 0  # times before it that went by without a run
    state: RunState = RunState.DUE
    started: float | None = None
    ended: float | None = None
    result: JobResult | None = None
    handing: DeliveryOutcome = DeliveryOutcome.NONE
    tries: int = 0
    next_try: float | None = None
    handing_error: str = ""

    @property
    def is_open(self) -> bool:
        return self.state is not RunState.ENDED

    @property
    def has_failed(self) -> bool:
        """Whether nobody may say that it went well."""
        well = (JobOutcome.DONE, JobOutcome.NOTHING_TO_REPORT)
        return self.result is not None and self.result.outcome not in well


def result_of(ended: Ended, answer: str) -> JobResult:
    """What a session of the agent came to. Its words are passed on, and decide nothing."""
    report = ended.report
    if report is not None:
        return JobResult(JobOutcome(report.status.value), report=_cut(report.text or answer), spent=ended.spent)
    outcome = JobOutcome.UNREPORTED if ended.ending is Ending.FINISHED else JobOutcome.FAILED
    why = f"The agent did not finish: {ended.detail or ended.ending.value} {ended.advice}".strip()
    if outcome is JobOutcome.UNREPORTED:
        why = f"The agent stopped without calling {FINISH}: it is unknown whether the task is done."
    return JobResult(outcome, report=_cut(answer), error=why, spent=ended.spent)


def script_result(output: str, *, exit_code: int | None, seconds: float) -> JobResult | None:
    """The result of a run whose script failed; None where it went well. A script that hangs has no exit code."""
    if exit_code == 0:
        return None
    in_vain = f"did not end within {seconds:g} seconds and was killed"
    why = in_vain if exit_code is None else f"exited with {exit_code}"
    return JobResult(JobOutcome.FAILED, report=_cut(output), error=f"The script {why}.", exit_code=exit_code)


def report_in(messages: Iterable[Message]) -> WorkReport | None:
    """The report of a session that ended, from its last call of the finishing tool that was carried out."""
    for exchange in reversed(pair(messages).exchanges):
        if exchange.call.name == FINISH and exchange.result is not None and exchange.result.error is False:
            try:
                given = msgspec.json.decode(exchange.call.arguments, type=_Given)
            except msgspec.MsgspecError:
                continue
            return WorkReport(given.status, given.report)
    return None


def finished(record: JobRecord, result: JobResult, *, now: float) -> JobRecord:
    """The record of a run that ended. Where there is nothing to report, and nothing to note, nothing is handed over."""
    has_nothing = result.outcome is JobOutcome.NOTHING_TO_REPORT and not result.notes
    is_silent = has_nothing or record.job.deliver == "none"
    handing = DeliveryOutcome.NONE if is_silent else DeliveryOutcome.WAITING
    return msgspec.structs.replace(record, state=RunState.ENDED, ended=now, result=result, handing=handing)


def left(record: JobRecord, why: str, *, now: float, spent: Spent | None = None) -> JobRecord:
    """The record of a run that nobody will go on with. That it failed is still to be told, and what it cost."""
    if record.is_open:
        record = finished(record, JobResult(JobOutcome.FAILED, error=why, spent=spent or Spent()), now=now)
        handing = DeliveryOutcome.FAILED if record.handing is DeliveryOutcome.WAITING else record.handing
    else:
        handing = DeliveryOutcome.FAILED if record.job.deliver == "file" else DeliveryOutcome.UNSURE
    return msgspec.structs.replace(record, handing=handing, handing_error=why, next_try=now)


def handed(record: JobRecord, handing: DeliveryOutcome, error: str, *, now: float) -> JobRecord:
    """The record after one more try to hand its report over."""
    next_try, tries = None, record.tries + 1
    if handing is DeliveryOutcome.FAILED:
        next_try = now + WAITS[record.tries] if record.tries < len(WAITS) else None
        handing = DeliveryOutcome.GIVEN_UP if next_try is None else handing
    return msgspec.structs.replace(record, handing=handing, tries=tries, next_try=next_try, handing_error=error)


def letter(record: JobRecord) -> str:
    """What is handed over as text: how it ended in Whet's own words, then the report."""
    result = record.result
    if result is None:
        raise WhetError(f"The run {record.id} has not finished.", advice="To see it, run `whet jobs show --runs`.")
    head = (heading(record), missed_words(record) if record.missed_count else "")
    said = (result.report.strip(), result.error.strip(), *(f"Note: {note}" for note in result.notes))
    return "\n".join([*filter(None, head), "", *filter(None, said), ""])


def heading(record: JobRecord) -> str:
    result = record.result
    outcome = WORDS[result.outcome] if result else record.state.value
    return f"{record.job.name}: {outcome} · {moment(record.scheduled)} · run {record.id}"


def missed_words(record: JobRecord) -> str:
    """That earlier times went by without a run."""
    noun = "time was" if record.missed_count == 1 else "times were"
    return f"{record.missed_count:,} earlier {noun} missed; this run makes up for them."


def moment(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")


class _Given(Value, frozen=True):
    status: WorkStatus
    report: str = ""


def _cut(text: str) -> str:
    over = len(text) - REPORT_CHARACTERS
    return text if over <= 0 else f"{text[:REPORT_CHARACTERS]}\n[{over:,} characters left out]"
