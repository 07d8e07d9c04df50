"""Shapes: a call by what matters of it, its tool, the program it runs and those of its arguments that decide."""

from collections.abc import Iterator
from typing import Any

import msgspec
import re2

from whet.errors import WhetError
from whet.outcomes.fingerprints import INCIDENTAL
from whet.sessions.arguments import command_of, object_of
from whet.sessions.shell_lines import WrittenStage, written
from whet.sessions.tool_families import Family, family_of
from whet.sessions.transcripts import ToolCall
from whet.values import Value

SHOWN = 200


class TextDemand(Value, frozen=True, forbid_unknown_fields=True):
    """What a text must be. Of several demands all must hold."""

    equals: str | None = None
    contains: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    matches: str | None = None  # a regular expression, found anywhere
    all_match: tuple[str, ...] = ()  # several of them
    none_match: tuple[str, ...] = ()  # regular expressions, each found nowhere

    @property
    def patterns(self) -> tuple[str, ...]:
        return (*((self.matches,) if self.matches is not None else ()), *self.all_match)


class CommandDemand(Value, frozen=True, forbid_unknown_fields=True):
    """What a command line must run, in whatever shell tool and with whatever stands around it."""

    runs: tuple[str, ...] = ()  # each: words with which one of its commands begins
    words: tuple[str, ...] = ()  # each: a word of one of its commands
    lacks: tuple[str, ...] = ()  # words that none of its commands has


class Shape(Value, frozen=True, forbid_unknown_fields=True):
    """A call by its tool and those of its arguments that matter. Free text such as a description never does."""

    tool: str = ""  # empty: any tool that the rest fits
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)  # equal to these
    texts: dict[str, TextDemand] = msgspec.field(default_factory=dict)  # arguments that are texts like these
    command: CommandDemand | None = None
    input: str = ""  # a regular expression, found in the arguments as JSON without spaces

    @property
    def shown(self) -> str:
        return self.tool or "; ".join(self.command.runs if self.command else ()) or "a tool"


def fits(shape: Shape, call: ToolCall) -> bool:
    """Whether a call has the shape."""
    if shape.tool and call.name != shape.tool:
        return False
    if shape.command is not None and not (family_of(call) is Family.SHELL and runs(shape.command, command_of(call))):
        return False
    given = object_of(call)
    if given is None:
        return False
    if shape.input and not pattern_of(shape.input, "").search(msgspec.json.encode(given).decode()):
        return False
    equal = all(given.get(key, _MISSING) == value for key, value in shape.arguments.items() if key not in INCIDENTAL)
    return equal and all(
        isinstance(text := given.get(key), str) and not any(text_faults(wanted, text))
        for key, wanted in shape.texts.items()
    )


_MISSING = object()


def text_faults(wanted: TextDemand, text: str) -> Iterator[str]:
    """What a text is not that it must be."""
    if wanted.equals is not None and text.strip() != wanted.equals.strip():
        yield f"is not {wanted.equals[:SHOWN]!r}"
    yield from (f"does not hold {part[:SHOWN]!r}" for part in wanted.contains if part not in text)
    yield from (f"holds {part[:SHOWN]!r}" for part in wanted.lacks if part in text)
    yield from (f"does not match {each[:SHOWN]!r}" for each in wanted.patterns if not pattern_of(each, "").search(text))
    yield from (f"matches {each[:SHOWN]!r}" for each in wanted.none_match if pattern_of(each, "").search(text))


def pattern_of(pattern: str, name: str) -> Any:
    try:
        return re2.compile(pattern)
    except re2.error as fault:
        raise WhetError(
            f"The case {name} has a pattern that cannot be read: {fault}",
            advice="Patterns are RE2: no look-around, no back-references.",
        ) from fault


def runs(wanted: CommandDemand, line: str) -> bool:
    """Whether a command line runs what is wanted."""
    stages = written(line)
    words = [word for stage in stages for word in stage.words]
    return (
        all(any(_begins(stage, tuple(phrase.split())) for stage in stages) for phrase in wanted.runs)
        and all(any(_is_word(word, given) for given in words) for word in wanted.words)
        and not any(_is_word(word, given) for word in wanted.lacks for given in words)
    )


def _begins(stage: WrittenStage, phrase: tuple[str, ...]) -> bool:
    """Whether a command begins with some words, at its program or before it: `timeout 60 uv run pytest`."""
    return any(
        len(stage.words) >= start + len(phrase)
        and all(_is_word(one, two) for one, two in zip(phrase, stage.words[start:], strict=False))
        for start in range(stage.program + 1)
    )


def _is_word(wanted: str, given: str) -> bool:
    """Whether a word is the wanted one; a path may also be written from further up."""
    return given == wanted or ("/" in wanted and given.endswith(f"/{wanted.removeprefix('./').lstrip('/')}"))
