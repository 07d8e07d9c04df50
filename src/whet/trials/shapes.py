"""Shapes: a call by what matters of it, its tool, the program it runs and those of its arguments that decide."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

import msgspec
import re2

from whet.errors import WhetError
from whet.sessions.shell_lines import Joiner, WrittenStage, written
from whet.sessions.tool_families import Family, command_of, family_of, object_of
from whet.sessions.transcripts import ToolCall
from whet.trouble.outcomes.fingerprints import INCIDENTAL
from whet.values import Value

SHOWN = 200
# Commands that change nothing for those after them but the folder.
IDLE = frozenset(
    ("cd", "echo", "ls", "pwd", "true", ":", "cat", "head", "tail", "wc", "grep", "sleep", "date", "which")
)
_QUOTED = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*\"""")
_DEFINES = re2.compile(r"\(\s*\)\s*\{|(?:^|[;&|\n])\s*(?:function|alias|eval|source|\.|trap)\s")
# What a line may do beside the programs that it names: write into files, run other lines.
_SILENT = re.compile(r"(?:[12&]?>\s*/dev/null|2>&1)(?![\w./-])")
_DOES_MORE = re.compile(r">|<\(|<<|\$\(|`")
_LOOKING = frozenset((Family.READ, Family.SEARCH))
_UNSURE = frozenset(("if", "then", "else", "elif", "do", "while", "until", "!", "xargs", "watch", "nohup", "setsid"))
_ENDS = frozenset(("exit", "return", "exec", "break"))


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
    alone: bool = False  # nothing before it in its line could change what it does


class CallShape(Value, frozen=True, forbid_unknown_fields=True):
    """A call by its tool and those of its arguments that matter. Free text such as a description never does."""

    tool: str = ""  # empty: any tool that the rest fits
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)  # equal to these
    texts: dict[str, TextDemand] = msgspec.field(default_factory=dict)  # arguments that are texts like these
    command: CommandDemand | None = None
    input: str = ""  # a regular expression, found in the arguments as JSON without spaces

    @property
    def shown(self) -> str:
        return self.tool or "; ".join(self.command.runs if self.command else ()) or "a tool"


def fits(shape: CallShape, call: ToolCall) -> bool:
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
    """Whether a command line surely runs what is wanted, and all that is asked for stands in it."""
    stages = certain(line)
    wanted_ones = [stage for stage in stages if any(_begins(stage, tuple(each.split())) for each in wanted.runs)]
    words = [word for stage in wanted_ones or stages for word in stage.words]
    everything = [word for stage in written(line) for word in stage.words]
    return (
        all(any(_begins(stage, tuple(phrase.split())) for stage in stages) for phrase in wanted.runs)
        and all(any(_is_word(word, given) for given in words) for word in wanted.words)
        and not any(_is_word(word, given) for word in wanted.lacks for given in everything)
        and not (wanted.alone and (_is_dressed(line, wanted_ones) or _is_overridden(wanted_ones)))
    )


def certain(line: str) -> tuple[WrittenStage, ...]:
    """The simple commands of a line that run whatever the others come to, without comments behind them.

    What stands behind `||` or in a condition may never run, what runs in the background has no end, and a line that
    makes functions or aliases may mean anything.
    """
    if _DEFINES.search(_QUOTED.sub("''", line)):
        return ()
    found: list[WrittenStage] = []
    before = WrittenStage((), 0, ";")
    for stage in written(line):
        program = stage.words[stage.program] if stage.program < len(stage.words) else ""
        words = tuple(takewhile(lambda word: not word.startswith("#"), stage.words))
        is_sure = before.joiner != "||" and not (before.joiner == "&&" and "false" in before.words[:1])
        if is_sure and stage.joiner != "&" and not _UNSURE & frozenset(stage.words[: stage.program]):
            found.append(stage._replace(words=words))
        if program in _ENDS:
            break
        before = stage
    return tuple(found)


def only_looks(call: ToolCall) -> bool:
    """Whether a call surely changed nothing that a later one runs or reads."""
    if family_of(call) is not Family.SHELL:
        return family_of(call) in _LOOKING
    line = command_of(call)
    programs = [stage.words[stage.program : stage.program + 1] for stage in written(line)]
    return only_runs(line) and bool(programs) and all(each and each[0] in IDLE for each in programs)


def only_runs(line: str) -> bool:
    """Whether a line does nothing beside running the programs that it names."""
    return not _DOES_MORE.search(_SILENT.sub("", line)) and not _DEFINES.search(_QUOTED.sub("''", line))


def _is_dressed(line: str, wanted: Sequence[WrittenStage]) -> bool:
    """Whether something before what is wanted may have changed what it comes to, or what follows hides that."""
    is_done = False
    before: Joiner = ";"
    for stage in written(line):
        words = tuple(takewhile(lambda word: not word.startswith("#"), stage.words))
        is_wanted = any(words == each.words for each in wanted)
        writes = any(word.startswith((">", "1>", "&>")) and "/dev/null" not in word for word in words)
        is_idle = stage.program < len(words) and words[stage.program] in IDLE and not writes
        if is_done and (before == "||" or (before == ";" and not is_idle and not is_wanted)):
            return True
        if not is_done and not is_wanted and not is_idle:
            return True
        is_done = is_done or is_wanted
        before = stage.joiner
    return not is_done


def _is_overridden(wanted: Sequence[WrittenStage]) -> bool:
    """Whether an option is given twice, of which programs take the last."""
    for stage in wanted:
        options = [word.partition("=")[0] for word in stage.words if word.startswith("--") and len(word) > 2]
        if len(options) != len(set(options)):
            return True
    return False


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
