"""Sessions in files are analysed as they are: side by side, and copies once."""

import json
from pathlib import Path

from whet.failures.summaries import JudgedSession
from whet.formats.source import Skipped
from whet.intake.analysing import POOL_FROM_BYTES, analyse_files


def line(number: int, kind: str, content: object) -> dict[str, object]:
    role = "assistant" if kind == "assistant" else "user"
    message: dict[str, object] = {"role": role, "content": content}
    if kind == "assistant":
        message |= {"id": f"m{number}", "model": "some-model"}
    return {
        "type": kind,
        "uuid": f"u{number}",
        "sessionId": "s",
        "timestamp": f"2026-03-01T10:00:{number:02}Z",
        "cwd": "/shop",
        "message": message,
    }


def failing(number: int, command: str, padding: int = 0) -> list[dict[str, object]]:
    call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
    answer = "Exit code 2\nno such thing" + " " * padding
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": answer, "is_error": True}
    return [line(number, "assistant", [call]), line(number + 1, "user", [result])]


def session(path: Path, commands: list[str], *, padding: int = 0) -> Path:
    lines = [line(0, "user", "Run them.")]
    for place, command in enumerate(commands):
        lines += failing(1 + 2 * place, command, padding)
    path.write_text("".join(json.dumps({**each, "sessionId": path.stem}) + "\n" for each in lines))
    return path


def analysed(*files: Path, processors: int = 1) -> list[JudgedSession]:
    found = list(analyse_files(files, processors=processors))
    return [each for each in found if isinstance(each, JudgedSession)]


def test_a_resumed_session_counts_only_what_is_its_own(tmp_path: Path) -> None:
    first = session(tmp_path / "first.jsonl", ["a", "b"])
    again = session(tmp_path / "again.jsonl", ["a", "b", "c"])
    copy = session(tmp_path / "copy.jsonl", ["a", "b"])
    found = {one.analysis.session: one.analysis for one in analysed(first, again, copy)}
    assert {name: one.calls["failed"] for name, one in found.items()} == {"first": 2, "again": 1}
    assert found["again"].copied.messages == 5


def test_sessions_of_their_own_are_all_counted(tmp_path: Path) -> None:
    files = [session(tmp_path / f"{name}.jsonl", [name, "same"]) for name in "abc"]
    assert [one.analysis.calls["failed"] for one in analysed(*files)] == [2, 2, 2]


def test_many_files_are_analysed_on_all_processors_with_the_same_result(tmp_path: Path) -> None:
    padding = POOL_FROM_BYTES // 8
    files = [session(tmp_path / f"{number}.jsonl", [f"step {number}"] * 3, padding=padding) for number in range(4)]
    (tmp_path / "broken.jsonl").write_text("not a session")
    files.insert(2, tmp_path / "broken.jsonl")
    alone, together = (list(analyse_files(files, processors=number)) for number in (1, 2))
    assert together == alone
    assert sum(isinstance(each, Skipped) for each in together) == 1
