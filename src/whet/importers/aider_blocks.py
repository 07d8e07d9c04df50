"""The blocks of Aider's chat history, told apart by the marks that Aider writes and by nothing else.

Aider appends a line per start of the program, the person's words behind `#### `, its own output behind `> `, and the
model's answer between blank lines, as it is. It ends the first two kinds with two blanks, which tells them from a
heading or a quotation in an answer.
"""

import re
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from typing import NamedTuple

START = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$")
SAID, OUTPUT, MARK = "#### ", "> ", "  "


class BlockKind(Enum):
    """Whose a block is."""

    START = auto()  # a new session; its text is when it began
    SAID = auto()  # what the person typed
    OUTPUT = auto()  # one thing that Aider printed
    ANSWER = auto()  # what the model answered


class HistoryBlock(NamedTuple):
    """Lines that belong together, without their marks."""

    kind: BlockKind
    text: str


def blocks(lines: Iterable[str]) -> Iterator[HistoryBlock]:
    """The blocks of a history, in order; empty ones are left out."""
    kind, held, last = BlockKind.ANSWER, list[str](), ""
    for line in lines:
        found = _kind(line, kind, last)
        if found is not kind or (found is BlockKind.OUTPUT and line.startswith(OUTPUT)) or found is BlockKind.START:
            yield from _block(kind, held)
            kind, held = found, []
        held.append(line)
        last = line
    yield from _block(kind, held)


def _kind(line: str, kind: BlockKind, last: str) -> BlockKind:
    """Whose a line is, by its marks, and after output by the line before it."""
    if START.match(line):
        return BlockKind.START
    if line.startswith(SAID) and line.endswith(MARK):
        return BlockKind.SAID
    # A text of several lines has the marks before its first and behind its last, and blank lines between.
    is_open = kind is BlockKind.OUTPUT and (bool(line) or not last.endswith(MARK))
    if is_open or (line.startswith(OUTPUT) and line.endswith(MARK)):
        return BlockKind.OUTPUT
    return BlockKind.ANSWER


def _block(kind: BlockKind, held: list[str]) -> Iterator[HistoryBlock]:
    if kind is BlockKind.START:
        text = START.sub(r"\1", held[0])
    elif kind is BlockKind.SAID:
        text = "\n".join(line.removeprefix(SAID).removesuffix(MARK) for line in held).strip()
    elif kind is BlockKind.OUTPUT:
        text = "\n".join([held[0].removeprefix(OUTPUT), *held[1:]]).strip() if held else ""
    else:
        text = "\n".join(held).strip()
    if text:
        yield HistoryBlock(kind, text)
