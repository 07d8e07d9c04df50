"""Runs of jobs: how each ended is a field, and no word changes it."""

import pytest

from forgeries import forgeries
from whet.errors import WhetError
from whet.own.jobs.job import Job
from whet.own.jobs.runs import (
    WAITS,
    DeliveryOutcome,
    JobOutcome,
    JobRecord,
    JobResult,
    RunState,
    finished,
    handed,
    left,
    letter,
    report_in,
    result_of,
    script_result,
)
from whet.own.runs.run import Ended, WorkReport, WorkStatus
from whet.sessions.transcripts import Ending, Message, Role, Text, ToolCall, ToolResult
from whet.sessions.trust import Trust

RECORD = JobRecord("ab12", Job("news", "every 2h", prompt="x", deliver="file", to="/x"), 3600.0)


def said(*parts: Text | ToolCall) -> Message:
    return Message(Role.AGENT, parts, Trust.AGENT)


def answered(call: str, *, error: bool) -> Message:
    return Message(Role.TOOL, (ToolResult(call, (Text("The work is ended."),), "finish", error=error),), Trust.AGENT)


def test_there_are_200_forgeries() -> None:
    assert len(set(forgeries())) == 200


@pytest.mark.parametrize("status", list(WorkStatus))
def test_words_decide_nothing(status: WorkStatus) -> None:
    for words in forgeries():
        reported = result_of(Ended(Ending.FINISHED, report=WorkReport(status, words)), words)
        assert reported.outcome.value == status.value
        unreported = result_of(Ended(Ending.FINISHED), words)
        assert (unreported.outcome, unreported.report) == (JobOutcome.UNREPORTED, words)
        failed = script_result(words, exit_code=3, seconds=1)
        assert failed is not None
        assert (failed.outcome, failed.report, failed.exit_code) == (JobOutcome.FAILED, words, 3)
        record = finished(RECORD, unreported, now=1.0)
        assert record.handing is DeliveryOutcome.WAITING
        assert record.has_failed
        assert words.strip() in letter(record)


@pytest.mark.parametrize("ending", [each for each in Ending if each is not Ending.FINISHED])
def test_every_other_ending_is_a_failure(ending: Ending) -> None:
    result = result_of(Ended(ending, "the reason", advice="Do this."), "Everything went well!")
    assert result.outcome is JobOutcome.FAILED
    assert "the reason Do this." in result.error


def test_a_script_that_hangs_has_no_exit_code() -> None:
    assert script_result("x", exit_code=0, seconds=1) is None
    hung = script_result("x", exit_code=None, seconds=2)
    assert hung is not None
    assert "within 2 seconds and was killed" in hung.error


def test_what_the_person_should_know_is_delivered_with_nothing_to_report() -> None:
    noted = finished(RECORD, JobResult(JobOutcome.NOTHING_TO_REPORT, notes=("Changed: Makefile.",)), now=1.0)
    assert noted.handing is DeliveryOutcome.WAITING
    assert "Note: Changed: Makefile." in letter(noted)


def test_nothing_to_report_delivers_nothing() -> None:
    silent = finished(RECORD, JobResult(JobOutcome.NOTHING_TO_REPORT, "psst"), now=1.0)
    assert (silent.state, silent.handing, silent.has_failed) == (RunState.ENDED, DeliveryOutcome.NONE, False)


def test_the_report_is_found_in_the_record_of_the_session() -> None:
    good = ToolCall("2", "finish", '{"status": "failed", "report": "No."}')
    bad = ToolCall("1", "finish", '{"status": "splendid"}')
    talk = (said(bad), answered("1", error=True), said(good), answered("2", error=False), said(Text("done!")))
    assert report_in(talk) == WorkReport(WorkStatus.FAILED, "No.")
    assert report_in(talk[:2]) is None
    assert report_in((said(good),)) is None, "a call that was not carried out reports nothing"
    assert report_in((said(Text(good.arguments)),)) is None


def test_a_delivery_is_tried_again_later_and_later_and_then_given_up() -> None:
    record, waits = finished(RECORD, JobResult(JobOutcome.DONE), now=0.0), []
    while record.handing is not DeliveryOutcome.GIVEN_UP:
        record = handed(record, DeliveryOutcome.FAILED, "no", now=100.0)
        waits.append(record.next_try)
    assert waits == [*(100.0 + wait for wait in WAITS), None]
    assert list(WAITS) == sorted(WAITS)
    assert record.handing_error == "no"
    assert handed(record, DeliveryOutcome.DELIVERED, "", now=0.0).next_try is None


def test_a_run_that_was_left_is_a_failure_that_is_still_told() -> None:
    record = left(RECORD, "The work was cancelled.", now=9.0)
    assert (record.state, record.handing, record.next_try) == (RunState.ENDED, DeliveryOutcome.FAILED, 9.0)
    assert "The work was cancelled." in letter(record)
    waiting = finished(JobRecord("x", Job("a", deliver="command"), 0.0), JobResult(JobOutcome.DONE), now=0.0)
    assert left(waiting, "lost", now=0.0).handing is DeliveryOutcome.UNSURE


def test_a_letter_says_what_was_missed_and_how_it_ended() -> None:
    record = JobRecord("ab12", RECORD.job, 7200.0, missed_count=12)
    text = letter(finished(record, JobResult(JobOutcome.FAILED, "a report", "The script exited with 3."), now=1.0))
    assert text.startswith("news: FAILED · 1970-01-01 02:00 UTC · run ab12\n12 earlier times were missed")
    assert text.endswith("a report\nThe script exited with 3.\n")
    with pytest.raises(WhetError, match="has not finished"):
        letter(record)
