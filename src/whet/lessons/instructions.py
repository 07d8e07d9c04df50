"""Instructions that stand already: lines of CLAUDE.md and its like, in a project's folder or in a session's record.

Paths and symbols that a rule names, and those of them that a repository does not have.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

import re2

from whet.lessons.record import LessonPiece
from whet.sessions.tool_families import Family, family_of
from whet.sessions.transcripts import Origin, Role
from whet.text.likeness import covered, sense, stance_of
from whet.trouble.outcomes.purposes import path_of
from whet.trouble.outcomes.view import SessionView
from whet.values import Value

MOST_NAMES = 12  # of a rule
MOST_LINES = 400
LONGEST_LINE = 400
FEWEST_WORDS = 3
STANDS = 0.75  # of the words of a draft that one line has too
NAMES = ("AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", ".cursorrules")
_HEAD = re.compile(
    r"(?m)^.{0,40}?(?:Contents of (?P<path>\S+)(?: \([^)\n]*\))?:|# (?P<name>AGENTS\.md) instructions.*)\s*$"
)
_END = re.compile(r"(?m)^[ \t]{0,8}</[\w-]{1,60}>[ \t]{0,8}$")
_NUMBER = re.compile(r"^\s*\d+(?:→|\t|: )")
_SPAN = re2.compile(r"`([^`\n]{2,200})`")
_PATH = re2.compile(r"^(?:\./)?[\w.@+-]+(?:/[\w.@+*-]+)+/?$|^[\w-][\w.-]*\.[A-Za-z][A-Za-z0-9]{0,4}$")
_SYMBOL = re2.compile(r"^[A-Za-z_]\w*(?:(?:\.|::|#)[A-Za-z_]\w*)*(?:\(\))?$")
_MARKED = re2.compile(r"_|[a-z][A-Z]|\(\)$|::")  # a plain word is no symbol
_PARTS = re2.compile(r"\.|::|#|\(\)")


class NamedThings(Value, frozen=True):
    """What rules name: paths within a repository, and symbols of its code."""

    paths: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()


class RepositoryNames(Value, frozen=True):
    """The files of a repository, and those of the symbols that were asked for which stand in one of them."""

    files: frozenset[str] = frozenset()
    symbols: frozenset[str] = frozenset()


def named_things(text: str) -> NamedThings:
    """The paths and symbols in code marks that can be a repository's own: no commands, flags or home folders."""
    paths: dict[str, None] = {}
    symbols: dict[str, None] = {}
    for span in _SPAN.findall(text):
        words = span.split()
        for word in words:
            plain = word.strip("\"',;:")
            if plain.startswith("-") or "://" in plain:
                continue
            if _PATH.search(plain):
                paths[plain.removeprefix("./").rstrip("/")] = None
            elif len(words) == 1 and _SYMBOL.search(plain) and _MARKED.search(plain):
                # The name that stands in the code, where a symbol is written with what it belongs to.
                symbols[next((part for part in reversed(_PARTS.split(plain)) if part), plain)] = None
    return NamedThings(tuple(paths)[:MOST_NAMES], tuple(symbols)[:MOST_NAMES])


def code_spans(text: str) -> tuple[str, ...]:
    """The single words in code marks."""
    return tuple(span for span in _SPAN.findall(text) if not any(map(str.isspace, span)))


def missing_names(named: NamedThings, repository: RepositoryNames) -> tuple[str, ...]:
    """What a rule names and a repository has nowhere."""
    known = _places(repository.files, {path.rpartition("/")[2] for path in named.paths})
    paths = (path for path in named.paths if "*" not in path and path not in known)
    return (*paths, *(each for each in named.symbols if each not in repository.symbols))


def _places(files: Iterable[str], last: set[str]) -> set[str]:
    """Every way to name a file or a folder, from any folder above it on, that ends with one of these names."""
    found: set[str] = set()
    for file in files:
        parts = file.split("/")
        for end, part in enumerate(parts, start=1):
            if part in last:
                found.update("/".join(parts[start:end]) for start in range(end))
    return found


class SeenInstruction(Value, frozen=True):
    """One line of a file for agents, and since when it is known to stand there."""

    path: str
    line: str
    at: float | None = None


def earliest(seen: Iterable[SeenInstruction]) -> list[SeenInstruction]:
    """Each line once, with the time at which it was first seen."""
    lines: dict[str, SeenInstruction] = {}
    for each in seen:
        known = lines.get(each.line)
        if known is None or (each.at is not None and (known.at is None or each.at < known.at)):
            lines[each.line] = each
    return list(lines.values())


def saying(text: str, lines: Iterable[SeenInstruction]) -> SeenInstruction | None:
    """The line that says a text already, for or against what it is for or against."""
    meant = sense(text)
    if len(meant.words) < FEWEST_WORDS:
        return None
    for line in lines:
        said = _meant(line.line)
        if covered(meant.words, said.words) < STANDS:
            continue
        stance, other = stance_of(text), stance_of(line.line)
        is_opposed = bool(stance.wanted & other.unwanted or stance.unwanted & other.wanted)
        if not is_opposed and (meant.forbids == said.forbids or stance == other):
            return line
    return None


_meant = lru_cache(maxsize=1 << 14)(sense)


def is_broken(instruction: SeenInstruction, pieces: Iterable[LessonPiece]) -> bool:
    """Whether evidence surely came after the instruction: then it is not followed, else it was told since."""
    at = instruction.at
    return at is not None and any(piece.at is not None and piece.at >= at for piece in pieces)


def seen_instructions(view: SessionView) -> Iterator[SeenInstruction]:
    """The lines of such files in a session, each once."""
    seen: set[tuple[str, str]] = set()
    for found in _every(view):
        if (found.path, found.line) not in seen and len(seen) < MOST_LINES:
            seen.add((found.path, found.line))
            yield found


def _every(view: SessionView) -> Iterator[SeenInstruction]:
    for message in view.transcript.messages:
        if message.role is Role.SYSTEM or message.origin is Origin.INSERTED:
            for path, text in _inserted(message.text):
                yield from instruction_lines(path, text, message.at)
    for step in view.steps:
        path = path_of(step)
        if step.worked and _is_named(path) and family_of(step.exchange.call) is Family.READ:
            yield from instruction_lines(path, step.text, view.transcript.messages[step.message].at)


def _inserted(text: str) -> Iterator[tuple[str, str]]:
    """The files in a text that a program inserted, each under its head."""
    heads = [head for head in _HEAD.finditer(text) if head["name"] or _is_named(head["path"])]
    for place, head in enumerate(heads):
        end = heads[place + 1].start() if place + 1 < len(heads) else len(text)
        body = text[head.end() : end]
        closing = _END.search(body)
        yield head["name"] or head["path"], body[: closing.start()] if closing else body


def instruction_lines(path: str, text: str, at: float | None) -> Iterator[SeenInstruction]:
    """The lines of a file that are long enough to say something."""
    for line in text.splitlines():
        plain = _NUMBER.sub("", line).strip()
        if len(plain.split()) >= FEWEST_WORDS and len(plain) <= LONGEST_LINE:
            yield SeenInstruction(path, plain, at)


def _is_named(path: str) -> bool:
    return path.replace("\\", "/").rsplit("/", 1)[-1] in NAMES
