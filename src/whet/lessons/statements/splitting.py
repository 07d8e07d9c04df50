"""A file for agents, split into its statements in one pass: paragraphs, items, rows of tables, fenced blocks."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from whet.ledger.marked_block import BEGIN, END
from whet.lessons.statements.statement import Statement, StatementKind
from whet.text.words import estimate

MOST = 10_000
LONGEST_LINE = 20_000
HEADINGS = " › "
_FENCE = re.compile(r"^[ \t]{0,12}(?P<sign>`{3,}|~{3,})[ \t]*(?P<language>[\w+#.-]*)")
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$")
_ITEM = re.compile(r"^([ \t]*)(?:[-*+•]|\d{1,3}[.)])[ \t]+\S")
_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$")
_RULE = re.compile(r"^[ \t]*[-|:=*_ \t]{3,}$")
_COMMENT_ENDS = "-->"


class _Open(NamedTuple):
    """A statement that goes on: its lines, and how far its item is indented."""

    line: int
    kind: StatementKind
    lines: list[str]
    indent: int = 0


class _Splitter:
    """What is known while the lines of one file go by."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.headings: list[tuple[int, str]] = []
        self.open: _Open | None = None

    def close(self, language: str = "") -> Iterator[Statement]:
        done, self.open = self.open, None
        if done is None:
            return
        text = "\n".join(done.lines).rstrip()
        heading = HEADINGS.join(words for _, words in self.headings)
        last = done.line + len(text.split("\n")) - 1
        yield Statement(self.file, done.line, last, text, done.kind, heading, language, estimate(text + "\n"))

    def take(self, number: int, line: str) -> Iterator[Statement]:
        """One line outside of fences and comments."""
        heading, item = _HEADING.match(line), _ITEM.match(line)
        if not line.strip():
            yield from self.close() if self.open and self.open.kind is not StatementKind.ITEM else ()
            if self.open:  # an item may go on after a blank line, with what is indented
                self.open.lines.append(line)
        elif heading:
            yield from self.close()
            level = len(heading[1])
            self.headings = [*(each for each in self.headings if each[0] < level), (level, heading[2])]
        elif _ROW.match(line):
            yield from self.close()
            if not _RULE.match(line):
                self.open = _Open(number, StatementKind.ROW, [line])
                yield from self.close()
        elif item:
            yield from self.close()
            self.open = _Open(number, StatementKind.ITEM, [line], len(item[1].expandtabs(4)))
        else:
            yield from self._go_on(number, line)

    def _go_on(self, number: int, line: str) -> Iterator[Statement]:
        indent = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
        is_after_blank = self.open is not None and not self.open.lines[-1].strip()
        if self.open and is_after_blank and indent <= self.open.indent:
            yield from self.close()
        if self.open:
            self.open.lines.append(line)
        elif not _RULE.match(line):
            self.open = _Open(number, StatementKind.LINE, [line])


def split_statements(file: str, text: str, *, most: int = MOST) -> tuple[Statement, ...]:
    """The statements of a file, in their order. Whet's own block, comments and front matter are none."""
    found: list[Statement] = []
    for statement in _statements(_Splitter(file), text):
        found.append(statement)
        if len(found) >= most:
            break
    return tuple(found)


def _statements(splitter: _Splitter, text: str) -> Iterator[Statement]:
    lines = [line[:LONGEST_LINE] for line in text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")]
    number, closing = _after_front_matter(lines), _Closings(lines)
    while number < len(lines):
        line = lines[number]
        fence = _FENCE.match(line)
        if fence:
            yield from splitter.close()
            end = _end_of_fence(lines, number, fence["sign"])
            splitter.open = _Open(number + 1, StatementKind.CODE, lines[number : end + 1])
            yield from splitter.close(fence["language"].lower())
            number = end
        elif line.lstrip().startswith("<!--"):
            yield from splitter.close()
            number = closing.of_comment(number)
        else:
            yield from splitter.take(number + 1, line)
        number += 1
    yield from splitter.close()


def _after_front_matter(lines: list[str]) -> int:
    if lines[0].rstrip() != "---":
        return 0
    return next((place + 1 for place, line in enumerate(lines[1:200], 1) if line.rstrip() == "---"), 0)


def _end_of_fence(lines: list[str], start: int, sign: str) -> int:
    """The line that closes a fence; one that none closes reaches to the end of the file."""
    for place in range(start + 1, len(lines)):
        plain = lines[place].strip()
        if plain.startswith(sign) and not plain.strip(sign[0]):
            return place
    return len(lines) - 1


class _Closings:
    """Where comments end, found in one pass over the lines from the last to the first."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._next: list[tuple[int, int]] = []  # from each line on: the next end of a comment, and of Whet's block
        comment = block = -1
        for place in range(len(lines) - 1, -1, -1):
            comment = place if _COMMENT_ENDS in lines[place] else comment
            block = place if _is_marker(END, lines[place]) else block
            self._next.append((comment, block))
        self._next.reverse()

    def of_comment(self, start: int) -> int:
        """The last line of a comment; Whet's block is taken for one, for its rules are in the ledger."""
        end = self._next[start][_is_marker(BEGIN, self._lines[start])]
        return max(end, start)  # one that nothing closes hides its first line alone


def _is_marker(form: re.Pattern[bytes], line: str) -> bool:
    return "whet:" in line and form.match(line.strip().encode("utf-8", "replace")) is not None
