import json

import pytest

from whet.sessions.transcripts import Exchange, Text, ToolCall, ToolResult
from whet.trouble.outcomes.deciding import Outcome, decide
from whet.trouble.outcomes.reported_forms import REPORTS, AnswerPart, Report


def asked(tool: str, arguments: object, answer: str) -> Outcome:
    call = ToolCall("1", tool, json.dumps(arguments))
    return decide(Exchange(call=call, asked=0, result=ToolResult("1", (Text(answer),), tool), answered=1)).outcome


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.name)
def test_every_report_is_found_in_its_example(report: Report) -> None:
    tool = "bash" if report.where is AnswerPart.LAST else "some_tool"
    command = f"{report.program} x" if report.program else "./run"
    assert asked(tool, {"command": command}, report.example) is Outcome.FAILED


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.name)
def test_no_report_is_found_in_a_file_that_speaks_of_it(report: Report) -> None:
    page = f"# Notes\n\nWhat we saw last week:\n\n{report.example}\n\n" + "And then it went on as before.\n" * 40
    assert asked("Read", {"file_path": "notes.md"}, page) is Outcome.OK
    assert asked("bash", {"command": "cat notes.md"}, page) is Outcome.OK


def test_a_report_of_one_program_says_nothing_of_another() -> None:
    clean = "On branch main\nnothing to commit, working tree clean"
    assert asked("bash", {"command": "git commit -m x"}, clean) is Outcome.FAILED
    assert asked("bash", {"command": "git status"}, clean) is Outcome.OK


@pytest.mark.parametrize(
    ("tool", "answer"),
    [
        ("terminal", {"output": "boom", "exit_code": 2, "error": None, "verification_evidence": {"kind": "test"}}),
        ("bash", {"returncode": 1, "output": "no", "exception_info": ""}),
        ("read_file", {"content": "", "total_lines": 0, "file_size": 0, "is_binary": False, "error": "File not found"}),
        ("get_weather", {"error_type": "timeout", "message": "no answer from the service"}),
        ("lookup", {"is_error": True, "content": "unknown place"}),
    ],
    ids=["Hermes' terminal", "mini-swe-agent", "Hermes' reader", "error_type", "is_error"],
)
def test_an_envelope_fails_whatever_else_it_holds(tool: str, answer: object) -> None:
    assert asked(tool, {"command": "./run"}, json.dumps(answer)) is Outcome.FAILED


def test_an_envelope_that_was_cut_still_tells_its_status() -> None:
    whole = json.dumps({"output": "line\n" * 2_000, "exit_code": 1, "error": None})
    cut = whole[:4_000] + "\n\n[... 6,000 characters left out ...]\n\n" + whole[-200:]
    assert asked("terminal", {"command": "make"}, cut) is Outcome.FAILED


def test_nothing_found_is_no_error_where_the_tool_says_so() -> None:
    answer = {"output": "", "exit_code": 1, "error": None, "exit_code_meaning": "No matches found (not an error)"}
    assert asked("terminal", {"command": "grep x a"}, json.dumps(answer)) is Outcome.OK


def test_what_a_tool_measures_may_fail_without_a_failure_of_the_tool() -> None:
    assert asked("run_speed_test", {}, "Speed test failed: No Connection.") is Outcome.OK
    assert asked("run_speed_test", {}, "Error: no such device") is Outcome.FAILED
    assert asked("enable_roaming", {}, "Enabling roaming failed: no such line.") is Outcome.FAILED


def test_an_error_that_a_program_caught_and_told_of_is_no_end_of_the_program() -> None:
    trace = (
        'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    f()\nValueError: no such colour\n'
    )
    assert asked("bash", {"command": "python a.py"}, trace) is Outcome.FAILED
    assert asked("bash", {"command": "python a.py"}, trace + "Caught: no such colour") is Outcome.OK
    assert asked("bash", {"command": "python a.py"}, "Crashed: no such colour\n" + trace) is Outcome.OK


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("cd website && npm run build 2>&1 | tail -3", "/usr/bin/bash: line 1: cd: website: No such file or directory"),
        ("ls build && echo there; for d in build/*; do cat $d; done", "ls: cannot access 'build': No such file"),
        ("git diff docs/a.mdx", "fatal: ambiguous argument 'docs/a.mdx': unknown revision or path not in the tree."),
        ("python a.py", "Exception: no colour left"),
    ],
)
def test_a_line_that_stopped_at_its_first_command_failed(command: str, answer: str) -> None:
    assert asked("bash", {"command": command}, answer) is Outcome.FAILED
