"""An analysis says what happened in a session, in one value."""

import msgspec

from conversations import Turn, agent, call, conversation, picture, shell, user
from quickness import is_linear
from whet.sessions.transcripts import Disposition, Exchange, Text, ToolCall, ToolResult, Transcript
from whet.trouble.outcomes.analysis import Analysis, analyse
from whet.trouble.outcomes.deciding import decide
from whet.trouble.outcomes.view import JudgedCall

WORKED = call("Read", {"file_path": "a.py"}, "x = 1")
FAILED = call("Edit", {"file_path": "a.py", "old_string": "y"}, "Error: not found in file", error=True)
REFUSED = call("Bash", {"command": "rm a"}, "no", error=True, disposition=Disposition.REJECTED)


def analysed(*turns: Turn) -> Analysis:
    return analyse(conversation(*turns))


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


def test_an_empty_record_and_one_of_pictures_are_analysed() -> None:
    assert analyse(Transcript(source="test", native_id="x")).exchanges == ()
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
