"""An analysis says what happened in a session, in one value."""

import msgspec
import pytest

from conversations import Turn, agent, call, conversation, picture, shell, user
from quickness import is_linear
from whet.failures.analysis import Analysis, analyse
from whet.failures.success_signs import is_settled
from whet.failures.view import JudgedCall, gather
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


def test_an_analysis_survives_being_stored() -> None:
    found = analysed(user("change it"), FAILED, agent("I could not do it."))
    assert msgspec.json.decode(msgspec.json.encode(found), type=Analysis) == found


def edited(path: str, text: str = "x") -> Turn:
    return call("Edit", {"file_path": path, "old_string": "a", "new_string": text}, "The file has been updated.")


COMMITTED = shell('git commit -m "Fix a"', "[main 1a2b3c4] Fix a")
GREEN = shell("pytest -q", "4 passed in 0.1s")


@pytest.mark.parametrize(
    "turns",
    [
        (edited("a.py"), GREEN, agent("Done.")),
        (edited("a.py"), COMMITTED, agent("Done.")),
        (edited("a.py"), call("mcp__github__create_pull_request", {"title": "a"}, "#12"), agent("Done.")),
    ],
    ids=["a check passed", "a commit", "a request to merge"],
)
def test_a_check_that_passed_or_work_handed_over_speaks_for_a_session(turns: tuple[Turn, ...]) -> None:
    assert is_settled(gather(conversation(user("go"), *turns)))


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
    assert not is_settled(gather(conversation(user("go"), *turns)))


def test_flags_can_be_left_aside() -> None:
    said = conversation(user("go"), shell("python a.py", "all fine", error=True))
    assert analyse(said, WEIGHTS).calls["failed"] == 1
    assert analyse(said, WEIGHTS, ignore_flags=True).calls["failed"] == 0


def test_an_empty_record_and_one_of_pictures_are_analysed() -> None:
    assert analyse(Transcript(source="test", native_id="x"), WEIGHTS).exchanges == ()
    assert analysed(picture(), picture()).exchanges == ()


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
