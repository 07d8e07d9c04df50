"""Whether an attempt tells anything, by what the program itself reports and never by what its model said."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from whet.agents.executor import ProgramResult, Validity
from whet.proving.executing import newest_transcript
from whet.proving.executors import runner_named

EXAMPLES = Path(__file__).parents[2] / "examples" / "sessions"
RECORDS = {"claude": ("claude-code", "projects"), "codex": ("codex", "sessions"), "gemini": ("gemini", ".gemini/tmp")}
SPOKEN = "The page /login answers 401 and 429: too many requests."


def found(name: str, tmp_path: Path, left: ProgramResult) -> tuple[Validity, str]:
    """What an agent's program makes of an attempt that left a record and this output."""
    source, folder = RECORDS[name]
    shutil.copytree(EXAMPLES / source, tmp_path / folder)
    executor = runner_named(name).executor
    carried = executor.carried(left, newest_transcript(tmp_path / executor.record[0], executor.record[1]))
    assert carried.transcript is not None
    return carried.validity, carried.why


def printed(*values: dict[str, Any], code: int | None = 0, errors: str = "") -> ProgramResult:
    return ProgramResult("\n".join(map(json.dumps, values)), errors, code, 1.0)


@pytest.mark.parametrize(
    ("result", "validity"),
    [
        ({"subtype": "success", "result": SPOKEN}, Validity.VALID),
        ({"subtype": "error_max_turns", "is_error": True}, Validity.VALID),
        ({"subtype": "success", "is_error": True, "result": "API Error: Connection error."}, Validity.CRASHED),
        ({"is_error": True, "result": "Invalid API key · Please run /login"}, Validity.NO_LOGIN),
        ({"is_error": True, "api_error_status": 429, "result": "API Error: 429"}, Validity.LIMITED),
        ({"subtype": "success", "permission_denials": [{"tool_name": "WebFetch"}]}, Validity.DENIED),
    ],
)
def test_of_claude_code(tmp_path: Path, result: dict[str, Any], validity: Validity) -> None:
    assert found("claude", tmp_path, printed(result))[0] is validity


def test_of_codex(tmp_path: Path) -> None:
    lost, back = {"type": "error", "message": "Reconnecting... 1/5"}, {"type": "turn.completed", "usage": {}}
    item = {"type": "item.completed", "item": {"text": SPOKEN}}
    assert found("codex", tmp_path / "a", printed(lost, item, back)) == (Validity.VALID, "")
    refused = {"type": "turn.failed", "error": {"message": "You've hit your usage limit."}}
    assert found("codex", tmp_path / "b", printed(lost, refused, code=1))[0] is Validity.LIMITED
    assert found("codex", tmp_path / "c", printed(lost, code=1)) == (Validity.CRASHED, "Reconnecting... 1/5")
    assert found("codex", tmp_path / "d", printed(lost, code=None))[0] is Validity.TIMED_OUT


def test_of_gemini(tmp_path: Path) -> None:
    assert found("gemini", tmp_path / "a", printed({"response": SPOKEN})) == (Validity.VALID, "")
    quota = "Loading.\n" + json.dumps({"error": {"message": "Quota exceeded", "code": 1}})
    assert found("gemini", tmp_path / "b", printed(code=1, errors=quota)) == (Validity.LIMITED, "Quota exceeded")
