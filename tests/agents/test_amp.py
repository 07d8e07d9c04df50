"""Amp's threads become transcripts."""

import json
from pathlib import Path
from typing import Any

import pytest

from whet.agents import amp
from whet.agents.formats.source import Source
from whet.sessions.transcripts import Disposition, Ending, Thought, Transcript, Usage, pair

Json = dict[str, Any]
SPENT = {
    "model": "opus",
    "inputTokens": 1,
    "cacheReadInputTokens": 20,
    "cacheCreationInputTokens": 3,
    "outputTokens": 7,
}


def read(folder: Path, *messages: Json, **rest: Any) -> Transcript:
    path = folder / "T-1.json"
    path.write_text(json.dumps({"v": 1, "id": "T-1", "created": 1772241173221, "messages": messages, **rest}))
    source = Source(path)
    assert amp.sniff(source)
    (transcript,) = amp.read(source)
    return transcript


def user(*blocks: Json) -> Json:
    return {"role": "user", "content": list(blocks), "meta": {"sentAt": 1772241201792}}


def agent(*blocks: Json) -> Json:
    return {"role": "assistant", "content": list(blocks), "usage": SPENT}


def call(call_id: str) -> Json:
    return {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"cmd": "ls"}}


def answer(call_id: str, **run: Any) -> Json:
    return {"type": "tool_result", "toolUseID": call_id, "run": run}


def test_parallel_calls_are_paired_by_id(tmp_path: Path) -> None:
    transcript = read(
        tmp_path,
        user({"type": "text", "text": "go"}),
        agent({"type": "text", "text": "\n\n"}, {"type": "thinking", "thinking": "hm"}, call("a"), call("b")),
        user(
            answer("b", status="done", result={"output": "second", "exitCode": 2}),
            answer("a", status="done", result="1"),
        ),
        agent({"type": "text", "text": "Done."}),
        env={"initial": {"trees": [{"uri": "file:///home/ada/my%20kiln", "repository": {"ref": "refs/heads/main"}}]}},
        title="Kiln",
    )
    exchanges, orphans = pair(transcript.messages)
    assert not orphans
    assert [(each.result.text, each.result.exit_code) for each in exchanges if each.result] == [
        ("1", None),
        ("second", 2),
    ]
    assert transcript.messages[1].parts[0] == Thought("hm")
    assert transcript.messages[1].usage == Usage(24, 7, cached=20, cache_written=3)
    assert (transcript.folder, transcript.branch, transcript.title) == ("/home/ada/my kiln", "main", "Kiln")
    assert (transcript.model, transcript.ending) == ("opus", Ending.FINISHED)


@pytest.mark.parametrize(
    ("run", "error", "disposition", "words"),
    [
        ({"status": "done", "result": {"diff": "+1"}}, False, None, "+1"),
        ({"status": "error", "error": {"message": "no such file"}}, True, None, "no such file"),
        ({"status": "cancelled", "reason": "stopped"}, None, Disposition.CANCELLED, "stopped"),
        ({"status": "rejected-by-user"}, None, Disposition.REJECTED, ""),
        ({"status": "in-progress"}, None, None, ""),
    ],
)
def test_a_run_tells_how_it_ended(
    tmp_path: Path, run: Json, error: bool | None, disposition: Disposition | None, words: str
) -> None:
    transcript = read(tmp_path, agent(call("a")), user(answer("a", **run)))
    (result,) = transcript.messages[-1].results
    assert (result.error, result.disposition, result.text, result.tool) == (error, disposition, words, "Bash")
