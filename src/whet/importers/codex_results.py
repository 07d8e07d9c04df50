"""What Codex's events and fixed phrases say about a call beyond the text of its result."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from whet.sessions.transcripts import Disposition, Message, ToolResult
from whet.text import fields

REJECTIONS = ("exec command rejected by user", "patch rejected by user", "rejected by user")


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What events say about a call, which may come before or after its result."""

    exit_code: int | None = None
    error: bool | None = None
    declined: bool = False


def disposition(words: str) -> Disposition | None:
    """What Codex itself writes in the place of a result when the person said no or stopped it."""
    if words.startswith(REJECTIONS):
        return Disposition.REJECTED
    stopped = words == "aborted" or words.startswith("aborted by user")
    if stopped or (words.startswith("Wall time:") and words.endswith("\naborted by user")):
        return Disposition.INTERRUPTED
    return None


def facts(event: dict[str, Any]) -> CallFacts:
    if fields.text(event, "status") == "declined":
        return CallFacts(declined=True)
    success = fields.flag(event, "success")
    outcome = fields.mapping(event, "result")
    failed = "Err" in outcome or fields.flag(fields.mapping(outcome, "Ok"), "isError") or None
    return CallFacts(fields.code(event, "exit_code"), failed if success is None else not success)


def completed(message: Message, known: Mapping[str, CallFacts]) -> Message:
    part = message.parts[0] if message.parts else None
    if not isinstance(part, ToolResult) or not (more := known.get(part.call_id)):
        return message
    part = msgspec.structs.replace(
        part,
        exit_code=more.exit_code,
        error=part.error if more.error is None else more.error,
        disposition=Disposition.REJECTED if more.declined else part.disposition,
    )
    return msgspec.structs.replace(message, parts=(part,))
