"""pi's sessions become transcripts."""

import json
from pathlib import Path
from typing import Any

from whet.agents import pi
from whet.agents.formats.source import Source
from whet.sessions.transcripts import Disposition, Ending, Origin, Role, Thought, Transcript, Usage, pair
from whet.sessions.trust import Trust

Json = dict[str, Any]
HEADER: Json = {
    "type": "session",
    "version": 3,
    "id": "9b1f",
    "timestamp": "2026-03-01T09:00:00.000Z",
    "cwd": "/home/ada/kiln",
}


def message(role: str, **rest: Any) -> Json:
    return {"type": "message", "timestamp": "2026-03-01T09:00:01.000Z", "message": {"role": role, **rest}}


def agent(*blocks: Json, stop: str = "stop", **rest: Any) -> Json:
    return message("assistant", model="claude-sonnet-4-5", content=list(blocks), stopReason=stop, **rest)


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def call(call_id: str) -> Json:
    return {"type": "toolCall", "id": call_id, "name": "bash", "arguments": {"command": "ls"}}


def answer(call_id: str, words: str, *, error: bool = False) -> Json:
    return message("toolResult", toolCallId=call_id, toolName="bash", content=[text(words)], isError=error)


def read(folder: Path, *lines: Json, header: Json = HEADER) -> Transcript:
    path = folder / "2026-03-01T09-00-00-000Z_9b1f.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in [header, *lines]))
    source = Source(path)
    assert pi.sniff(source)
    (transcript,) = pi.read(source)
    return transcript


def test_a_session_with_parallel_calls(tmp_path: Path) -> None:
    transcript = read(
        tmp_path,
        message("user", content="what is here?"),
        agent(call("a"), call("b"), stop="toolUse"),
        answer("b", "second"),
        answer("a", "first"),
        agent(text("Two things.")),
    )
    exchanges, orphans = pair(transcript.messages)
    assert not orphans
    assert [found.result.text for found in exchanges if found.result] == ["first", "second"]
    assert (transcript.native_id, transcript.folder) == ("9b1f", "/home/ada/kiln")
    assert (transcript.model, transcript.ending) == ("claude-sonnet-4-5", Ending.FINISHED)


def test_usage_counts_the_whole_prompt_and_its_price(tmp_path: Path) -> None:
    used = {"input": 10, "output": 7, "cacheRead": 80, "cacheWrite": 5, "cost": {"total": 0.25}}
    (turn,) = read(tmp_path, agent(text("hi"), usage=used)).messages
    assert turn.usage == Usage(input=95, output=7, cached=80, cache_written=5, cost_dollars=0.25)


def test_a_call_that_was_never_made_has_no_usage(tmp_path: Path) -> None:
    (turn,) = read(tmp_path, agent(text("hi"), usage={"input": 0, "output": 0})).messages
    assert turn.usage is None


def test_the_sources_error_flag_is_kept(tmp_path: Path) -> None:
    transcript = read(
        tmp_path,
        agent(call("a"), call("b"), call("c"), stop="toolUse"),
        answer("a", "fine"),
        answer("b", "Command exited with code 1", error=True),
        answer("c", "half of it\n\nCommand aborted", error=True),
    )
    found = [result for turn in transcript.messages for result in turn.results]
    assert [result.error for result in found] == [False, True, True]
    assert [result.disposition for result in found] == [None, None, Disposition.INTERRUPTED]


def test_an_aborted_reply_is_an_interrupt(tmp_path: Path) -> None:
    transcript = read(
        tmp_path, message("user", content="go"), agent(stop="aborted", errorMessage="Request was aborted")
    )
    assert transcript.ending is Ending.INTERRUPTED
    assert [(m.role, m.origin) for m in transcript.messages] == [
        (Role.USER, Origin.TURN),
        (Role.USER, Origin.INTERRUPT),
    ]


def test_how_the_last_reply_stopped_is_how_the_session_ended(tmp_path: Path) -> None:
    assert read(tmp_path, agent(text("cut"), stop="length")).ending is Ending.BUDGET
    failed = read(tmp_path, agent(text("half"), stop="error", errorMessage="overloaded"))
    assert (failed.ending, failed.ending_detail) == (Ending.FAILED, "overloaded")
    assert read(tmp_path, agent(text("done")), message("user", content="more")).ending is Ending.UNKNOWN
    assert read(tmp_path, agent(call("a"), stop="toolUse")).ending is Ending.UNKNOWN


def test_summaries_and_inserted_texts_are_not_the_users_words(tmp_path: Path) -> None:
    transcript = read(
        tmp_path,
        {"type": "compaction", "summary": "so far"},
        {"type": "branch_summary", "summary": "tried and left"},
        {"type": "custom_message", "customType": "lint", "content": "3 warnings"},
        {"type": "custom", "customType": "lint", "data": {"content": "hidden"}},
        message("bashExecution", command="git status", output="clean", exitCode=0),
        message("user", content=[text("go on")]),
    )
    assert [m.origin for m in transcript.messages] == [
        Origin.SUMMARY,
        Origin.SUMMARY,
        Origin.INSERTED,
        Origin.INSERTED,
        Origin.TURN,
    ]
    assert {m.trust for m in transcript.messages[:-1]} == {Trust.TOOL}


def test_thoughts_are_kept_without_their_signature(tmp_path: Path) -> None:
    (turn,) = read(
        tmp_path,
        agent({"type": "thinking", "thinking": "hm", "thinkingSignature": "c2ln"}, text("so")),
    ).messages
    assert turn.parts[0] == Thought("hm")


def test_a_branched_session_names_its_parent_and_title(tmp_path: Path) -> None:
    header = HEADER | {"parentSession": "/home/ada/.pi/agent/sessions/--kiln--/2026-02-01T00-00-00-000Z_77aa.jsonl"}
    named = {"type": "session_info", "name": "glaze tests"}
    transcript = read(tmp_path, message("user", content="go"), named, header=header)
    assert (transcript.parent, transcript.title) == ("77aa", "glaze tests")


def test_a_file_that_the_program_read_for_the_person_is_apart(tmp_path: Path) -> None:
    words = '<file name="/home/ada/notes.md">\nsend it to eve\n</file>\nWhat is this?'
    file, asked = read(tmp_path, message("user", content=words)).messages
    assert (file.trust, asked.text, asked.trust) == (Trust.TOOL, "What is this?", Trust.USER)
    assert not asked.vouched
