"""The forms in which tools and programs report errors and refusals, each in answers in which it was seen."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.sessions.transcripts import Exchange, Text, ToolCall, ToolResult
from whet.trouble.outcomes.check_forms import CHECKS, ENDINGS
from whet.trouble.outcomes.deciding import (
    CANCELLATIONS,
    OWN_CANCELLATIONS,
    OWN_REJECTIONS,
    REJECTIONS,
    Outcome,
    decide,
    refusal_words,
)
from whet.trouble.outcomes.error_forms import ErrorForm, Forms, could_not_run, probe_error

TABLES = (OWN_REJECTIONS, OWN_CANCELLATIONS, REJECTIONS, CANCELLATIONS, ENDINGS, CHECKS)
CASES = [pytest.param(table, form, id=form.name) for table in TABLES for form in table.forms]


@pytest.mark.parametrize(("table", "form"), CASES)
def test_whatever_has_a_form_has_a_sign(table: Forms, form: ErrorForm) -> None:
    pattern = re.compile(form.pattern.replace(r"\z", r"\Z"), re.ASCII)

    @settings(max_examples=25)
    @given(st.from_regex(pattern))
    def has_a_sign(text: str) -> None:
        assert any(sign in text.lower() for sign in table.signs)

    has_a_sign()


HEAD = "The user doesn't want to proceed with this tool use. The tool use was rejected. "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{HEAD}To tell you how to proceed, the user said:\nuse the other branch", "use the other branch"),
        (
            f"{HEAD}To tell you how to proceed, the user said:\nnot that\n\nNote: The user's next message may follow.",
            "not that",
        ),
        ("The user gave the following reason for the rejection: too risky", "too risky"),
        (f"{HEAD}STOP what you are doing and wait.", ""),
        (f"{HEAD}the user said:\nThe user wants to clarify these questions.\n  This means that …", ""),
    ],
)
def test_what_the_person_said_on_a_refusal_is_kept(text: str, expected: str) -> None:
    assert refusal_words(text) == expected


@pytest.mark.parametrize(
    "output",
    [
        "error: unrecognized subcommand 'bun'\n\nUsage: rtk [OPTIONS]",
        "zsh: command not found: pytest",
        'npm error Missing script: "test:unit"',
        "Build daemon is disabled on this host. Use: ./gradlew --no-daemon :x:test",
        "ERROR: file or directory not found: tests/unit",
        "/usr/bin/bash: line 1: cd: src: No such file or directory",
        "(eval):cd:1: no such file or directory: web",
        "/usr/bin/python3: No module named pytest",
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
        "No tests found, exiting with code 1",
        "pattern ./...: directory prefix . does not contain main module or its selected dependencies",
        "fatal: pathspec 'src/writer.go' did not match any files",
        'error The engine "node" is incompatible with this module.',
    ],
)
def test_a_check_that_never_ran_says_why(output: str) -> None:
    assert could_not_run(output)


@pytest.mark.parametrize(
    "output",
    [
        "1 failed, 3 passed in 0.1s",
        "src/a.ts(3,5): error TS2304: Cannot find name 'x'.",
        "AssertionError: expected 3 to be 4\n\n 12 pass\n 1 fail",
        "error[E0425]: cannot find value `x` in this scope",
    ],
)
def test_a_red_check_did_run(output: str) -> None:
    assert not could_not_run(output)


@pytest.mark.parametrize(
    ("output", "is_error"),
    [
        ("rg: unrecognized flag -", True),
        ('rg: the literal "\\n" is not allowed in a regex', True),
        ("rg: src/evaluate.ts: No such file or directory (os error 2)", True),
        ("ls: cannot access 'x': No such file or directory", False),
        ("", False),
    ],
)
def test_a_search_that_went_wrong_is_told_from_one_that_found_nothing(output: str, is_error: bool) -> None:
    assert bool(probe_error(output)) is is_error


def asked(tool: str, arguments: object, answer: str) -> Outcome:
    call = ToolCall("1", tool, json.dumps(arguments))
    return decide(Exchange(call=call, asked=0, result=ToolResult("1", (Text(answer),), tool), answered=1)).outcome


REPORTS = [json.loads(line) for line in (Path(__file__).parents[2] / "data" / "reports.jsonl").read_text().splitlines()]
each_report = pytest.mark.parametrize("report", REPORTS, ids=lambda report: report["name"])


@each_report
def test_every_report_is_found_in_its_example(report: dict[str, str]) -> None:
    assert asked(report["tool"], {"command": report["command"]}, report["answer"]) is Outcome.FAILED


@each_report
def test_no_report_is_found_in_a_file_that_speaks_of_it(report: dict[str, str]) -> None:
    page = f"# Notes\n\nWhat we saw last week:\n\n{report['answer']}\n\n" + "And then it went on as before.\n" * 40
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
