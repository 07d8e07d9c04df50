"""The labelled sessions that the benches read, as Whet's own importer reads them."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from whet.agents.formats import openai_messages
from whet.agents.formats.source import Source
from whet.sessions.transcripts import Transcript

LABELLED = ("agentdojo_dev", "intercode_dev", "tau_airline", "swebench_mini_gemini3_dev", "bashkit_dev")
HEALTHY = ("claude_code_dev", "codex_dev")


class Case(NamedTuple):
    """A session with its task and whether it failed; None where its source does not say."""

    transcript: Transcript
    task: str
    failed: bool | None
    raw: dict[str, Any]


def folder() -> Path:
    return Path(os.environ.get("WHET_BENCH_DATA", "../shared/data")) / "sessions"


def path_of(name: str) -> Path:
    return folder() / f"{name}.jsonl.gz"


def cases(name: str) -> Iterator[Case]:
    """The sessions of one set. The transcript comes without its label: the analysis cannot look at it."""
    source = Source(path_of(name))
    raws = {str(record.value.get("id")): record.value for record in source.records()}
    for transcript in openai_messages.read(Source(path_of(name))):
        raw = raws[transcript.native_id]
        success = (raw.get("label") or {}).get("success")
        failed = None if success is None else not success
        yield Case(replace(transcript, checks=()), str((raw.get("meta") or {}).get("task_id")), failed, raw)
