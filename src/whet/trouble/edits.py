"""What an edit took out of a file and what it put there, whichever tool made it."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import re2

from whet.sessions.call_effects import PATHS
from whet.sessions.tool_families import Family, arguments_of, command_of, family_of
from whet.sessions.transcripts import ToolCall
from whet.sessions.worktrees import is_temporary

LONGEST = 200_000
TELLING_LETTERS = 20
# The words with which tools name the text before an edit and after it.
OLD = re.compile(r"(?i)^(?:old|search|find|before|original)")
NEW = re.compile(r"(?i)^(?:new|replace|after|updated|content|file_?text|text|insert)")
# The form of patches that models are taught, and that of diffs.
_PATCHED = re.compile(r"(?m)^(?:\*\*\* (?:Add|Update|Delete|Move) (?:File|to): |\+\+\+ (?:b/)?)(\S[^\n\t]*)")
_PATCH = "*** Begin Patch"
_MARKED = re2.compile(r"(?sm)^[<-]{5,9} ?SEARCH>?[^\n]*\n(.*?)^={5,9}[^\n]*\n(.*?)^[>+]{5,9} ?REPLACE")
LOOK = "view"  # the order with which an editor only shows a file
OPEN_FILE = "the open file"

_SCRATCH = re.compile(r"(?i)(?:^|/)(?:tmp|temp|scratchpad)/")
_TEST_FILE = re.compile(r"(?i)(?:^|[/_.-])(?:tests?|specs?|__tests__|e2e)(?:[/_.-]|$)|(?:Tests?|Spec)\.\w+$")


class FileEdit(NamedTuple):
    """One edit of one file: the text that it took out and the one that it put there."""

    path: str
    old: str = ""
    new: str = ""

    @property
    def removed(self) -> frozenset[str]:
        """The lines that it took out for good."""
        return _lines(self.old) - _lines(self.new)

    @property
    def added(self) -> frozenset[str]:
        """The lines that were not there before."""
        return _lines(self.new) - _lines(self.old)

    @property
    def replaces(self) -> bool:
        """Whether its old text is long enough to be the only one, and is gone after it."""
        return len(self.old) >= TELLING_LETTERS and self.old not in self.new

    def is_undone_by(self, other: "FileEdit") -> bool:
        """Whether another edit puts back exactly what this one replaced."""
        return bool(self.old and self.new) and self.old == other.new and self.new == other.old


def edits_of(call: ToolCall) -> tuple[FileEdit, ...]:
    """The edits that a call makes, as far as its arguments show them."""
    family = family_of(call)
    if family is Family.SHELL:
        return _of_patch(command_of(call)) if _PATCH in call.arguments else ()
    if family not in (Family.EDIT, Family.WRITE):
        return ()
    arguments = arguments_of(call)
    if arguments.get("command") == LOOK:
        return ()
    if not arguments:
        return _of_patch(call.arguments)
    named = [value for key in PATHS if isinstance(value := arguments.get(key), str)]
    texts = [value for value in arguments.values() if isinstance(value, str)]
    if not named and (patched := _of_patch("\n".join(texts))):
        return patched
    path = plain_path(named[0]) if named else OPEN_FILE
    nested = [each for value in arguments.values() if isinstance(value, list) for each in value]
    parts = [arguments, *(each for each in nested if isinstance(each, dict))]
    found = [edit for part in parts if (edit := _edit(path, part))]
    return tuple(found or _marked(path, texts)) or (FileEdit(path),)


def _marked(path: str, texts: list[str]) -> Iterator[FileEdit]:
    """The edits that a text gives between marks: what to look for, and what to put there."""
    for text in texts:
        for found in _MARKED.finditer(text[:LONGEST]):
            yield FileEdit(path, found.group(1), found.group(2))


def _edit(path: str, part: dict[str, Any]) -> FileEdit | None:
    texts: dict[str, list[str]] = {"old": [], "new": []}
    for key, value in part.items():
        if isinstance(value, str) and (side := _side(key)):
            texts[side].append(value)
    old, new = "\n".join(texts["old"]), "\n".join(texts["new"])
    return FileEdit(path, old, new) if old or new else None


@lru_cache(maxsize=1024)
def _side(name: str) -> str:
    """Which text an argument holds: the one before the edit or the one after it."""
    return "old" if OLD.match(name) else "new" if NEW.match(name) else ""


def _of_patch(text: str) -> tuple[FileEdit, ...]:
    return tuple(_patched(text[:LONGEST]))


def _patched(text: str) -> Iterator[FileEdit]:
    heads = list(_PATCHED.finditer(text))
    for place, head in enumerate(heads):
        body = text[head.end() : heads[place + 1].start() if place + 1 < len(heads) else len(text)].split("\n")
        old, new = (
            "\n".join(line[1:] for line in body if line.startswith(mark) and not line.startswith(mark * 3))
            for mark in "-+"
        )
        yield FileEdit(plain_path(head.group(1)), old, new)


def _lines(text: str) -> frozenset[str]:
    return frozenset(line for raw in text[:LONGEST].split("\n") if (line := raw.strip()))


def plain_path(path: str) -> str:
    """A path in one spelling, so that the same file is one file."""
    return path.strip().strip("'\"").replace("\\", "/").removeprefix("./")


def is_same_file(one: str, other: str) -> bool:
    """Whether two paths name one file, one of them perhaps from a folder further down."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def is_scratch(path: str) -> bool:
    """Whether a file lies in a folder for what is thrown away."""
    return is_temporary(path) or _SCRATCH.search(path) is not None


def is_test_file(path: str) -> bool:
    """Whether a file holds tests, by the words of its path."""
    return _TEST_FILE.search(path) is not None
