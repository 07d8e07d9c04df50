"""Continue's sessions become transcripts."""

import json
from pathlib import Path
from typing import Any

import pytest

from whet.agents import continue_cli
from whet.agents.formats.source import Source
from whet.sessions.transcripts import Disposition, Ending, Transcript, Usage, pair

Json = dict[str, Any]


def read(folder: Path, *history: Json, **rest: Any) -> Transcript:
    path = folder / "c81f.json"
    document = {"sessionId": "c81f", "title": "Sails", "workspaceDirectory": "/home/otto", "history": history}
    path.write_text(json.dumps(document | rest))
    source = Source(path)
    assert continue_cli.sniff(source)
    (transcript,) = continue_cli.read(source)
    return transcript


def calling(call_id: str, status: str) -> Json:
    call = {"id": call_id, "type": "function", "function": {"name": "Bash", "arguments": '{"command":"ls"}'}}
    state = {"toolCallId": call_id, "toolCall": call, "status": status, "output": [{"content": "said"}]}
    return {"message": {"role": "assistant", "content": "", "toolCalls": [call]}, "toolCallStates": [state]}


def test_a_session_with_its_facts(tmp_path: Path) -> None:
    spent = {"totalCost": 0.002, "promptTokens": 10, "completionTokens": 5, "promptTokensDetails": {"cachedTokens": 90}}
    transcript = read(
        tmp_path,
        {"message": {"role": "user", "content": "go"}},
        calling("a", "done"),
        {"message": {"role": "assistant", "content": "Done."}},
        usage=spent,
    )
    assert [message.role.value for message in transcript.messages] == ["user", "agent", "tool", "agent"]
    assert (transcript.native_id, transcript.title, transcript.folder) == ("c81f", "Sails", "/home/otto")
    assert transcript.usage == Usage(100, 5, cached=90, cost_dollars=0.002)
    assert transcript.ending is Ending.FINISHED


@pytest.mark.parametrize(
    ("status", "error", "disposition"),
    [("done", False, None), ("errored", True, None), ("canceled", None, Disposition.CANCELLED)],
)
def test_a_state_tells_how_a_call_ended(
    tmp_path: Path, status: str, error: bool | None, disposition: Disposition | None
) -> None:
    (exchange,) = pair(read(tmp_path, calling("a", status)).messages).exchanges
    assert exchange.result is not None
    assert (exchange.result.error, exchange.result.disposition, exchange.result.text) == (error, disposition, "said")


def test_a_call_that_waits_has_no_result(tmp_path: Path) -> None:
    (exchange,) = pair(read(tmp_path, calling("a", "generated")).messages).exchanges
    assert exchange.result is None
