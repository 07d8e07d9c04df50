"""Cases from sessions: the step that failed, the task that was solved, and a reason where there is none."""

import json
from pathlib import Path

import pytest

from conversations import call, conversation, shell, user
from whet.proving.cases_from_sessions import cases_from
from whet.sessions.transcripts import Message, Role, Text, ToolCall, ToolResult, Transcript
from whet.sessions.trust import Trust
from whet.store.home import Home
from whet.trouble.outcomes.view import gather

CHECK = "make -s -f check.mk"
MAKE = 'all:\n\ttest "$$(cat number.txt)" = 7\n'


def session(*calls: tuple[str, dict[str, str], str, int]) -> Transcript:
    messages = [
        Message(Role.SYSTEM, (Text("You are another agent."),), Trust.OPERATOR),
        Message(Role.USER, (Text("Put 7 into number.txt."),), Trust.USER),
    ]
    for number, (name, arguments, text, code) in enumerate(calls):
        call = ToolCall(f"c{number}", name, json.dumps(arguments))
        result = ToolResult(call.id, (Text(text),), name, error=bool(code), exit_code=code)
        messages.append(Message(Role.AGENT, (call,), Trust.AGENT))
        messages.append(Message(Role.TOOL, (result,), Trust.TOOL))
    return Transcript("test", "one", tuple(messages), folder="/repo")


READ = ("read_file", {"path": "check.mk"}, MAKE.rstrip("\n"), 0)
OLD = ("write_file", {"path": "number.txt", "content": "6\n"}, "Wrote it.", 0)
NEW = ("write_file", {"path": "number.txt", "content": "7\n"}, "Wrote it.", 0)
FAILS = ("terminal", {"command": CHECK}, "error", 2)
PASSES = ("terminal", {"command": CHECK}, "fine", 0)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def test_a_session_without_a_failure_gives_no_case(home: Home) -> None:
    found = cases_from(home, session(READ, NEW, PASSES))
    assert found.cases == ()
    assert len(found.left_out) == 2


def test_a_session_without_the_persons_words_gives_no_case(home: Home) -> None:
    whole = session(READ, OLD, FAILS)
    silent = Transcript("test", "two", (whole.messages[0], *whole.messages[2:]))
    assert cases_from(home, silent).cases == ()


def test_a_step_case_is_about_the_failure_that_is_asked_for(home: Home) -> None:
    missing = {"file_path": "/repo/a/notes.md"}, "File does not exist: /repo/a/notes.md"
    lost = conversation(
        user("Read the notes and test."),
        call("Read", missing[0], missing[1], error=True),
        call("Read", {"file_path": "/repo/b/notes.md"}, "text"),
        shell("pytest", "bash: pytest: command not found", error=True),
        shell("uv run pytest", "3 passed"),
    )
    at = {step.tool: {step.message: ""} for step in gather(lost).steps if step.failed}
    [reading] = cases_from(home, lost, about=at["Read"]).cases
    [testing] = cases_from(home, lost, about=at["Bash"]).cases
    assert "/repo/b/notes.md" in str(reading.check)
    assert "uv run pytest" in str(testing.check)
