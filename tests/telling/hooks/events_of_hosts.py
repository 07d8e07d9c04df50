"""Hooks called as a host calls them: the real command, with the host's JSON on standard input."""

import json
from pathlib import Path
from typing import Any

from command import Done, Whet


def call(whet: Whet, event: str, body: Any, *options: str) -> Done:
    text = body if isinstance(body, str) else json.dumps(body)
    return whet("hook", event, *options, stdin=text)


def context(done: Done) -> str:
    """The context that a host would take from the output; empty where there is none."""
    assert done.code == 0, done.err
    if not done.out:
        return ""
    output = json.loads(done.out)["hookSpecificOutput"]
    assert output["hookEventName"] == "SessionStart"
    return str(output["additionalContext"])


def start_of(session: str, folder: Path) -> dict[str, str]:
    return {"session_id": session, "cwd": str(folder), "hook_event_name": "SessionStart", "source": "startup"}


def end_of(session: str, folder: Path, path: Path) -> dict[str, str]:
    return {
        "session_id": session, "cwd": str(folder), "transcript_path": str(path), "hook_event_name": "SessionEnd",
    }  # fmt: skip


def spooled(home: Path) -> list[dict[str, Any]]:
    return [json.loads(file.read_text()) for file in sorted((home / "spool").glob("*.json"))]
