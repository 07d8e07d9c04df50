"""An analysis says what happened in a session, in one value."""

import json

import msgspec

from conversations import Turn, agent, call, conversation, picture, shell, user
from growth import is_linear
from whet.failures.analysis import Analysis, analyse, record
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
        "failure_score",
        "reasons",
        "activity",
        "decisive_step",
        "decisive_reason",
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
    assert "nothing recovered" in found.decisive_reason


def test_the_decisive_step_is_what_the_person_corrected() -> None:
    found = analysed(user("go"), WORKED, agent("The header is red now."), user("No, that's not what I asked for."))
    assert found.decisive_step == 3


def test_a_session_that_went_well_has_no_decisive_step() -> None:
    changed = call("Edit", {"file_path": "a.py", "old_string": "x"}, "The file has been updated.")
    assert analysed(user("go"), FAILED, WORKED, changed, agent("Done.")).decisive_step is None
    assert analysed(user("hello"), agent("Hello.")).decisive_step is None


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
