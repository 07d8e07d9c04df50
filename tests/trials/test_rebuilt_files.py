"""Reconstruction: files before and after a session from its record, and no guess where the record is silent."""

import json

from whet.sessions.transcripts import Message, Origin, Role, Text, ToolCall, ToolResult, Transcript
from whet.sessions.trust import Trust
from whet.trials.rebuilt_files import asked, rebuilt, recovered_check


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
FAILS = ("Bash", {"command": "pytest -q"}, "1 failed", 1)
PASSES = ("Bash", {"command": "pytest -q"}, "1 passed", 0)


def test_a_check_that_failed_and_later_passed_is_found() -> None:
    found = recovered_check(session(FAILS, EDIT, PASSES))
    assert found is not None
    assert (found.command, found.passed.asked) == ("pytest -q", 6)
    assert recovered_check(session(PASSES, EDIT, PASSES)) is None
    assert recovered_check(session(FAILS, EDIT, FAILS)) is None
    assert recovered_check(session(FAILS, ("Bash", {"command": "ls"}, "a", 0))) is None


def test_the_task_is_the_persons_own_words() -> None:
    assert asked(session(FAILS)) == "Make the test pass."
    assert asked(Transcript("test", "two", session(FAILS).messages[:1])) == ""


def test_files_that_were_read_written_and_edited_are_known_before_and_after() -> None:
    found = rebuilt(session(READ, EDIT, WRITE, PASSES), until=99)
    assert found.before == {"a.py": "x = 1\ny = 2\n"}
    assert found.after == {"a.py": "x = 3\ny = 2\n", "b.py": "z = 1\n"}
    assert rebuilt(session(READ, EDIT, WRITE, PASSES), until=4).after == {"a.py": "x = 1\ny = 2\n"}


def test_what_the_record_does_not_show_is_not_guessed() -> None:
    assert "not on record" in rebuilt(session(EDIT), until=99).fault
    assert "does not show how" in rebuilt(session(("move_file", {"path": "a.py"}, "ok", None)), until=99).fault
    outside = ("Write", {"file_path": "/etc/motd", "content": "x"}, "ok", None)
    assert "outside" in rebuilt(session(outside), until=99).fault
    assert "no file" in rebuilt(session(PASSES), until=99).fault
