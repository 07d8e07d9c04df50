"""What an OpenAI-compatible endpoint on loopback says: words, calls, and the ways in which it can end."""

import json
from pathlib import Path
from typing import Any

from agent.loopback import Ending, Play, events, streamed
from command import Whet, runner

USAGE = {"prompt_tokens": 1000, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 900}}
PIECE = 7


def words(text: str, *, finish: str = "stop", ending: Ending = "whole") -> Play:
    """An answer in pieces; one that is cut or stalls has no end."""
    pieces = [_chunk({"content": text[start : start + PIECE]}) for start in range(0, len(text), PIECE)]
    last = [_chunk({}, finish), {**_chunk({}), "choices": [], "usage": USAGE}, "[DONE]"] if ending == "whole" else []
    return streamed(events(*pieces, *last), ending=ending)


def calls(name: str, /, **arguments: object) -> Play:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    ended = {**_chunk({}), "choices": [], "usage": USAGE}
    return streamed(events(_chunk({"tool_calls": [call]}), _chunk({}, "tool_calls"), ended, "[DONE]"))


def settings_for(home: Path, base_url: str) -> None:
    """Settings that lead to the endpoint."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = f'model = "mine:test-model"\n[providers.mine]\nbase_url = "{base_url}"\n'
    (home / "settings.toml").write_text(text)


def whet_at(home: Path, person: Path, base_url: str) -> Whet:
    """The command, with settings that lead to the endpoint."""
    settings_for(home, base_url)
    return runner(home, person)


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "test-model", "choices": [choice]}
