"""An analysis says what happened in a session, in one value."""

import json

import msgspec
import pytest

from conversations import Turn, agent, call, conversation, picture, shell, user
from quickness import is_linear
from whet.failures.analysis import Analysis, analyse, compared, record
from whet.failures.gone_wrong import gone_wrong
from whet.failures.signals import SHOWN
from whet.failures.summaries import MAY_HAVE_FAILED, has_failed
from whet.failures.usual import Usual
from whet.failures.view import JudgedCall
from whet.outcomes.deciding import decide
from whet.sessions.transcripts import Disposition, Exchange, Text, ToolCall, ToolResult, Transcript
from whet.shipped.data import failure_weights

WEIGHTS = failure_weights()
WORKED = call("Read", {"file_path": "a.py"}, "x = 1")
FAILED = call("Edit", {"file_path": "a.py", "old_string": "y"}, "Error: not found in file", error=True)
REFUSED = call("Bash", {"command": "rm a"}, "no", error=True, disposition=Disposition.REJECTED)


def analysed(*turns: Turn) -> Analysis:
    return analyse(conversation(*turns), WEIGHTS)


def test_an_analysis_counts_the_calls_of_each_outcome() -> None:
    assert analysed(user("go"), WORKED, FAILED, REFUSED).calls == {
        "ok": 1,
        "failed": 1,
        "rejected": 1,
        "cancelled": 0,
        "unknown": 0,
    }


def test_the_record_has_the_form_that_programs_read() -> None:
    found = record(analysed(user("change it"), FAILED, FAILED, FAILED, agent("I could not do it.")))
    assert list(found) == [
        "session",
        "project",
        "failure_score",
        "reasons",
        "activity",
        "decisive_step",
        "decisive_reason",
        "decisive_confidence",
        "cannot_tell",
        "calls",
        "exchanges",
        "signals",
    ]
    assert set(found["signals"][0]) == {"kind", "message", "call_id", "quote", "cause", "trust", "confidence"}
    assert set(found["exchanges"][0]) == {"call_id", "tool", "outcome", "evidence"}
    assert json.loads(json.dumps(found)) == found
    assert 0 <= found["failure_score"] <= 1


def test_an_analysis_survives_being_stored() -> None:
    found = analysed(user("change it"), FAILED, agent("I could not do it."))
    assert msgspec.json.decode(msgspec.json.encode(found), type=Analysis) == found


def test_the_decisive_step_is_the_first_failure_that_nothing_recovered_from() -> None:
    found = analysed(user("go"), WORKED, FAILED, call("Edit", {"n": 1}, "Error: bad", error=True), agent("Sorry."))
    assert found.decisive_step == 3
    assert "did not recover" in found.decisive_reason


def test_the_decisive_step_is_what_the_person_corrected() -> None:
    found = analysed(user("go"), WORKED, agent("The header is red now."), user("No, that's not what I asked for."))
    assert found.decisive_step == 3


def edited(path: str, text: str = "x") -> Turn:
    return call("Edit", {"file_path": path, "old_string": "a", "new_string": text}, "The file has been updated.")


def test_without_a_bad_sign_the_largest_lasting_change_is_the_guess() -> None:
    scratch = call("Write", {"file_path": "reproduce_issue.py", "content": "x" * 900}, "ok")
    found = analysed(user("go"), scratch, edited("a.py", "x" * 90), edited("b.py"), agent("Done."))
    assert found.decisive_step == 3
    assert found.decisive_confidence < SHOWN
    shell_edit = shell("sed -i 's/a/b/' src/a.py && git diff", "+b")
    assert analysed(user("go"), WORKED, shell_edit, agent("Done.")).decisive_step == 3


def test_without_a_change_the_last_word_is_the_guess() -> None:
    found = analysed(user("when?"), WORKED, agent("On Monday."))
    assert found.decisive_step == 3
    assert found.decisive_confidence < SHOWN
    assert analysed(user("hello")).decisive_step is None


def test_a_record_without_a_sign_of_either_kind_cannot_tell() -> None:
    assert analysed(user("when?"), WORKED, agent("On Monday.")).cannot_tell
    assert not analysed(user("when?"), FAILED, FAILED, agent("I could not find it.")).cannot_tell


COMMITTED = shell('git commit -m "Fix a"', "[main 1a2b3c4] Fix a")
GREEN = shell("pytest -q", "4 passed in 0.1s")


@pytest.mark.parametrize(
    "turns",
    [
        (edited("a.py"), GREEN, agent("Done.")),
        (edited("a.py"), agent("Done."), user("great, thanks")),
        (edited("a.py"), agent("Done."), user("ok commit this")),
        (edited("a.py"), COMMITTED, agent("Done.")),
        (edited("a.py"), call("mcp__github__create_pull_request", {"title": "a"}, "#12"), agent("Done.")),
    ],
    ids=["a check passed", "thanks", "go-ahead", "a commit", "a request to merge"],
)
def test_a_check_or_the_person_s_word_speaks_for_a_session(turns: tuple[Turn, ...]) -> None:
    found = analysed(user("go"), *turns)
    assert found.backed
    assert not found.cannot_tell


@pytest.mark.parametrize(
    "turns",
    [
        (GREEN, edited("a.py"), agent("Done.")),
        (edited("a.py"), agent("Done."), user("no, that's wrong, thanks")),
        (edited("a.py"), agent("Done.")),
        (COMMITTED, edited("a.py"), agent("Done.")),
        (edited("a.py"), COMMITTED, agent("Done."), user("that's wrong, it still fails")),
        (edited("a.py"), shell("git push", "error: failed to push some refs", error=True), agent("Done.")),
    ],
    ids=["a check before the change", "a correction", "nothing", "a change since", "an objection", "a failed push"],
)
def test_nothing_speaks_for_a_session_that_was_not_checked(turns: tuple[Turn, ...]) -> None:
    assert not analysed(user("go"), *turns).backed


SHORT = Usual(whole=0.5, whole_spread=0.2, said=0.5, said_spread=0.2)


def test_being_compared_with_others_a_session_may_tell_after_all() -> None:
    found = analysed(user("when?"), WORKED, agent("On Monday."))
    assert not compared(found, WEIGHTS, {found.circle: SHORT}).cannot_tell


def test_no_session_is_said_to_have_failed_by_its_length_alone() -> None:
    long, stuck = (
        compared(found, WEIGHTS, {found.circle: SHORT})
        for found in (
            analysed(user("when?"), WORKED, agent("On Monday.")),
            analysed(user("when?"), WORKED, FAILED, agent("I could not find it.")),
        )
    )
    assert min(long.failure_score, stuck.failure_score) > MAY_HAVE_FAILED
    assert (has_failed(long), has_failed(stuck)) == (False, True)
    assert gone_wrong(long) is None


def test_flags_can_be_left_aside() -> None:
    said = conversation(user("go"), shell("python a.py", "all fine", error=True))
    assert analyse(said, WEIGHTS).calls["failed"] == 1
    assert analyse(said, WEIGHTS, ignore_flags=True).calls["failed"] == 0


def test_an_empty_record_and_one_of_pictures_are_analysed() -> None:
    assert analyse(Transcript(source="test", native_id="x"), WEIGHTS).signals == ()
    assert analysed(picture(), picture()).signals == ()


def test_a_megabyte_of_hostile_output_is_read_in_linear_time() -> None:
    def read(text: str) -> None:
        analysed(user(text), shell("cat log", text), shell("python x.py", text, error=True), agent(text))

    assert is_linear(read, "retry timeout error: failed to call tool ``` \"'“ <thinking> no, that's wrong ", 1 << 20)


def test_an_error_inside_an_envelope_is_quoted_by_its_own_words() -> None:
    envelope = '{"output":"sed: a.ts: No such file or directory\\n","metadata":{"exit_code":1}}'
    exchange = Exchange(ToolCall("c1", "shell", '{"command":["sed"]}'), 0, ToolResult("c1", (Text(envelope),)), 1)
    step = JudgedCall(exchange, decide(exchange))
    assert step.failed
    assert step.text == "sed: a.ts: No such file or directory"
    assert step.fingerprint == "sed: path: no such file or directory"
