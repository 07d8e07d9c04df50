"""Whose words stand in a user's line of Claude Code: the person's, the agent's, or the program's."""

import itertools
import re
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from whet.importers import content
from whet.sessions.transcripts import Message, Origin, Role, Text
from whet.sessions.trust import Trust
from whet.text import fields

INTERRUPT = "[Request interrupted by user"
SUMMARY_HEAD = "This session is being continued from a previous conversation"
PLAN_HEAD = "Implement the following plan:\n\n"  # how it hands a plan over; older versions mark it in no other way
# A command that prompts the agent, as the person typed it; the program's own, such as /clear, begin with their name.
COMMAND = re.compile(
    r"\s*<command-message>[^<]*</command-message>\s*<command-name>\s*/?([\w:.-]+)\s*</command-name>"
    r"(?:\s*<command-args>(.*)</command-args>)?(.*)",
    re.DOTALL,
)
# What a program sets on a line that nobody typed.
MADE = (
    "isMeta",
    "isCompactSummary",
    "isVisibleInTranscriptOnly",
    "isApiErrorMessage",
    "sourceToolUseID",
    "sourceToolAssistantUUID",
    "toolUseResult",
)
SPEAKERS = ("", "human")
# Through an interface for programs an agent's suggestion comes as well as what a person typed, and nothing tells which.
TYPED_BY = ("", "typed", "queued")
ENTRANCES = ("", "cli", "claude-vscode")


def said(record: dict[str, Any], blocks: list[Any], *, at: float | None) -> Iterator[Message]:
    """What a line says, in messages of one speaker each."""
    for origin, same in itertools.groupby(blocks, key=lambda block: _origin(record, block)):
        found = list(same)
        if origin is not Origin.TURN:
            if parts := list(content.parts(found)):
                yield content.spoken(Role.USER, parts, at=at, origin=origin)
        elif record.get("planContent") or _words(found[0]).lstrip().startswith(PLAN_HEAD):
            # The agent's own plan, which the person accepted: their order, and none of their words.
            yield replace(content.spoken(Role.USER, content.parts(found), at=at), trust=Trust.AGENT)
        elif command := COMMAND.fullmatch(_words(found[0])):
            yield from _command(record, command, at)
            yield from content.said(content.parts(found[1:]), at=at, vouched=is_certain(record))
        else:
            yield from content.said(content.parts(found), at=at, vouched=is_certain(record))


def is_certain(record: dict[str, Any]) -> bool:
    """Whether the line makes certain that a person typed what no tag in it marks as inserted."""
    return (
        record.get("userType") == "external"
        and not record.get("isSidechain")
        and not any(record.get(flag) for flag in (*MADE, "planContent", "agentId", "teamName"))
        and _speaker(record) in SPEAKERS
        and fields.text(record, "promptSource") in TYPED_BY
        and fields.text(record, "entrypoint") in ENTRANCES
    )


def _command(record: dict[str, Any], command: re.Match[str], at: float | None) -> Iterator[Message]:
    name, arguments, rest = (found or "" for found in command.groups())
    parts = [Text(f"/{name}"), *([Text(arguments.strip())] if arguments.strip() else [])]
    sure = is_certain(record) and len(arguments) <= content.MOST_TYPED
    yield replace(content.spoken(Role.USER, parts, at=at), vouched=sure)
    if rest.strip():
        yield content.spoken(Role.USER, [Text(rest.strip())], at=at, origin=Origin.INSERTED)


def _origin(record: dict[str, Any], block: object) -> Origin:
    words = _words(block).lstrip()
    if record.get("isCompactSummary") or words.startswith(SUMMARY_HEAD):
        return Origin.SUMMARY
    if words.startswith(INTERRUPT):
        return Origin.INTERRUPT
    is_made = record.get("isMeta") or record.get("sourceToolUseID") or _speaker(record) not in SPEAKERS
    return Origin.INSERTED if is_made else Origin.TURN


def _speaker(record: dict[str, Any]) -> str:
    return fields.text(fields.mapping(record, "origin"), "kind")


def _words(block: object) -> str:
    words = block.get("text", "") if isinstance(block, dict) else block
    return words if isinstance(words, str) else ""
