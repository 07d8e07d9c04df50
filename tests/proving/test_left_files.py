"""The files that a session left, by its record, and no guess where that is silent."""

import json

from whet.proving.cases_from_sessions import asked, left_files
from whet.sessions.transcripts import Message, Origin, Role, Text, ToolCall, ToolResult, Transcript
from whet.sessions.trust import Trust
from whet.trouble.outcomes.view import gather


def session(*calls: tuple[str, dict[str, str], str, int | None], folder: str = "/repo") -> Transcript:
    messages = [
        Message(Role.USER, (Text("A reminder of the program."),), Trust.AGENT, origin=Origin.INSERTED),
        Message(Role.USER, (Text("Make the test pass."),), Trust.USER),
    ]
    for number, (name, arguments, text, code) in enumerate(calls):
        call = ToolCall(f"c{number}", name, json.dumps(arguments))
        result = ToolResult(call.id, (Text(text),), name, exit_code=code)
        messages.append(Message(Role.AGENT, (call,), Trust.AGENT))
        messages.append(Message(Role.TOOL, (result,), Trust.TOOL))
    return Transcript("test", "one", tuple(messages), folder=folder)


READ = ("Read", {"file_path": "/repo/a.py"}, "     1\tx = 1\n     2\ty = 2", None)
EDIT = ("Edit", {"file_path": "/repo/a.py", "old_string": "x = 1", "new_string": "x = 3"}, "Edited.", None)
WRITE = ("Write", {"file_path": "b.py", "content": "z = 1\n"}, "Written.", None)
PASSES = ("Bash", {"command": "pytest -q"}, "1 passed", 0)


def test_the_task_is_the_persons_own_words() -> None:
    assert asked(session(PASSES)) == "Make the test pass."
    assert asked(Transcript("test", "two", session(PASSES).messages[:1])) == ""


def left(*calls: tuple[str, dict[str, str], str, int | None]) -> dict[str, str]:
    held = {"a.py": "x = 1\ny = 2\n"}
    return left_files(gather(session(*calls)).steps, "/repo", held.get)


def test_files_that_were_written_and_edited_are_known() -> None:
    assert left(READ, EDIT, WRITE, PASSES) == {"a.py": "x = 3\ny = 2\n", "b.py": "z = 1\n"}


def test_what_the_record_does_not_show_is_not_guessed() -> None:
    unknown = ("Edit", {"file_path": "/repo/c.py", "old_string": "x", "new_string": "y"}, "Edited.", None)
    outside = ("Write", {"file_path": "/etc/motd", "content": "x"}, "ok", None)
    for call in (unknown, outside, ("move_file", {"path": "a.py"}, "ok", None)):
        assert left(EDIT, call) == {}
