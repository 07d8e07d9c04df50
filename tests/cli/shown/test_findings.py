"""What a person sees of failures: outcomes, lessons and the report."""

import gzip
import json
from pathlib import Path

import pytest

from command import Whet

ERROR = "bash: line 1: frobnicate: command not found"


def call(number: int, command: str, answer: str, *, error: bool) -> list[dict[str, object]]:
    function = {"name": "Bash", "arguments": json.dumps({"command": command})}
    return [
        {"role": "assistant", "content": "", "tool_calls": [{"id": f"c{number}", "function": function}]},
        {"role": "tool", "tool_call_id": f"c{number}", "name": "Bash", "content": answer, "is_error": error},
    ]


def looping(name: str) -> dict[str, object]:
    """A session that calls the same failing command three times and gives up."""
    tries = [line for number in range(3) for line in call(number, "make tset", "make: *** No rule 'tset'", error=True)]
    end = {"role": "assistant", "content": "I was not able to run the tests."}
    return {"id": name, "model": "some-model", "messages": [{"role": "user", "content": "Run the tests."}, *tries, end]}


def healthy(name: str) -> dict[str, object]:
    end = {"role": "assistant", "content": "All 12 tests pass."}
    steps = call(0, "make test", "12 passed in 0.3s", error=False)
    return {"id": name, "model": "some-model", "messages": [{"role": "user", "content": "Run the tests."}, *steps, end]}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    sessions = [looping(f"loop-{n}") for n in range(5)] + [healthy(f"fine-{n}") for n in range(5)]
    path = tmp_path / "sessions.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(each) + "\n" for each in sessions).encode()))
    return path


def test_outcomes_name_the_evidence(whet: Whet, corpus: Path) -> None:
    whet("import", str(corpus))
    found = whet("show", "loop-1", "--calls", "--json").json
    assert found["calls"]["failed"] == 3
    assert all(exchange["evidence"] for exchange in found["exchanges"])
    assert "3 failed" in whet("show", "loop-1", "--calls").out
    assert "1 ok" in whet("show", "fine-1", "--calls", "failed").out


def test_a_single_failure_is_no_lesson(whet: Whet, tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(looping("one")))
    whet("import", str(path))
    assert whet("lessons", "--json").json["lessons"] == []


def test_a_missing_program_is_a_lesson_and_stands_in_the_report(whet: Whet, tmp_path: Path) -> None:
    sessions = []
    for number in range(4):
        session = healthy(f"missing-{number}")
        session["messages"][1:1] = call(9, "frobnicate", ERROR, error=True)  # type: ignore[index]
        sessions.append(json.dumps(session))
    (tmp_path / "missing.jsonl").write_text("\n".join(sessions) + "\n")
    whet("import", "missing.jsonl")
    [lesson] = whet("lessons", "--json").json["lessons"]
    assert lesson["draft"].startswith("`frobnicate` fails here")
    assert lesson["trust"] == "tool"
    assert "frobnicate" in whet("report").out


def test_the_report_reads_as_a_page_and_only_new_sessions_are_analysed_again(whet: Whet, corpus: Path) -> None:
    assert "No sessions yet" in whet("report").out
    whet("import", str(corpus))
    page = whet("report").out
    for words in ("10 sessions", "no times are on record", "Is it getting better?", "What to do"):
        assert words in page
    record = whet("report", "--json").json
    assert (record["calls"], record["failed_calls"]) == (20, 15)
    assert {group["name"] for group in record["models"]} == {"some-model"}
