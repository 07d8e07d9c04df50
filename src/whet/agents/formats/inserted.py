"""What programs put in the person's place, told from the person's own words by the tags and heads that programs write.

Who can write into such a piece can write its closing tag too, and go on as if the person spoke. So what is inserted
reaches from the first of these tags to the last that closes one: the program itself wrote that one.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from whet.sessions.transcripts import Origin
from whet.text.words import names

INTERRUPT = "[Request interrupted by user"  # what stands where a person stopped the agent
# Around these a person's words may stand in the same text, before and after.
BESIDE = names(
    "system-reminder ide_opened_file ide_selection ide_diagnostics new-diagnostics environment_details current_datetime"
    " reminder hook_prompt mcp-resource"
)
LIKE_BESIDE = re.compile(r"\w+(?:[-_]\w+)*[-_](?:reminder|context|hook)")
# A text with one of these is a program's to its end.
ALONE = names(
    "command-name command-message command-args command-contents bash-input teammate-message agent-message channel"
    " cross-session-message INSTRUCTIONS user_shell_command skill recommended_plugins permissions collaboration_mode"
    " state_snapshot tool_use_error returncode tool_response function_results observation"
)
LIKE_ALONE = re.compile(
    r"\w+(?:[-_]\w+)*[-_](?:notifications?|events?|caveat|stdout|stderr|activity|instructions|aborted)"
)
HEADS = (
    "Caveat: The messages below",
    "[SYSTEM NOTIFICATION",
    "Another Claude session sent a message",
    "Base directory for this skill:",
    "Unknown slash command:",
    "Unknown skill:",
    "# AGENTS.md instructions",
    "This is the Gemini CLI. We are setting up the context",
    "I ran the following shell command:",
    "OBSERVATION:",
    "Observation:",
    "EXECUTION RESULT of [",
)
HOOK = re.compile(
    r"[A-Z]\w*(?::\S+)? hook (?:\w+ ){0,2}(?:feedback|context|error|stopped|success|warning)\b"
    r"|\w+ operation blocked by hook"
)
# From such a line on, files that the program fetched stand below what the person wrote.
BELOW = re.compile(r"(?mi)^(?:--- (?:Content from |Attached Context ---|Context Warnings ---)|\[System note: )")
TAG = re.compile(r"<([A-Za-z][\w.:-]{0,60})(?:\s[^<>]{0,1000})?/?>")
CLOSING = re.compile(r"</([A-Za-z][\w.:-]{0,60})\s*>")


class TextPiece(NamedTuple):
    """A piece of a text, and whose it is. A piece that is not whole may be half a sentence."""

    text: str
    origin: Origin
    is_whole: bool = True


class _Span(NamedTuple):
    """Where an inserted piece begins and ends, and whether what stands around it may be whole sentences."""

    start: int
    end: int
    is_sure: bool = True


def split(text: str, *, is_order: bool = False, also: frozenset[str] = frozenset()) -> Iterator[TextPiece]:
    """The pieces of a text that stands in the person's place, in order; nothing of it is lost but blanks.

    A tag at its beginning that nobody knows is a program's, but in an order: what an agent was given to do first, in
    records that mark nothing, comes in any form. `also` are further tags that a format writes beside a person's words.
    """
    words = text.lstrip()
    if words.startswith(HEADS) or HOOK.match(words):
        yield TextPiece(text, Origin.INSERTED)
        return
    span, below = _span(text, is_order, also) if "<" in text else None, BELOW.search(text)
    if below and (span is None or below.start() < span.start):
        span = _Span(below.start(), len(text))
    if span is None:
        yield TextPiece(text, Origin.TURN)
        return
    before, inserted, after = text[: span.start], text[span.start : span.end], text[span.end :]
    below = BELOW.search(after)
    cut = below.start() if below else len(after)
    is_whole = span.is_sure and (not before.strip() or before.rstrip(" \t").endswith("\n"))
    yield from _piece(before, Origin.TURN, is_whole=is_whole)
    yield from _piece(inserted, Origin.INSERTED)
    yield from _piece(after[:cut], Origin.TURN, is_whole=is_whole and after.lstrip(" \t").startswith("\n"))
    yield from _piece(after[cut:], Origin.INSERTED)


def _piece(text: str, origin: Origin, *, is_whole: bool = True) -> Iterator[TextPiece]:
    if text.strip():
        yield TextPiece(text.strip(), origin, is_whole)


def _span(text: str, is_order: bool, also: frozenset[str]) -> _Span | None:
    """The first tag that a program wrote, up to the last that closes one; to the end where a program wrote it all."""
    lead = len(text) - len(text.lstrip())
    closed = {each[1]: each.end() for each in CLOSING.finditer(text)}  # where each was closed last
    last = max((end for name, end in closed.items() if _is_beside(name, also)), default=0)
    for tag in TAG.finditer(text):
        name, start = tag[1], tag.start()
        end, is_beside = closed.get(name, 0), _is_beside(name, also)
        # In the middle of a line and never closed, a tag is one that the person speaks of.
        is_block = end > start or not text[text.rfind("\n", 0, start) + 1 : start].strip()
        if is_beside and last > start:
            return _Span(start, last)
        if is_block and (is_beside or name in ALONE or LIKE_ALONE.fullmatch(name)):
            return _Span(start, len(text))
        if start == lead and not is_order and not is_beside:
            # Nobody knows this one. What it holds is a program's; what is behind it may be anybody's.
            return _Span(start, max(end, last if end else 0, start), is_sure=False)
    return None


def _is_beside(name: str, also: frozenset[str]) -> bool:
    return name in BESIDE or name in also or LIKE_BESIDE.fullmatch(name) is not None
