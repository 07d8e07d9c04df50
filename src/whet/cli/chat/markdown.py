"""Markdown for a terminal as it streams: every word is written once and nothing is ever painted again."""

import io
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from whet.cli.chat.inline import BOLD, CYAN, DIM, StyledRun, joined, scan
from whet.text.characters import safe

Kind = Literal["text", "heading", "list", "quote", "fence", "rule", "row", "blank"]
MARKERS = re.compile(r"[ \t]*(#{0,6}|[-*+_=]*|[-*+][ \t]+\[[ xX]?\]?|>|`{0,40}|~{0,40}|\||\d{0,9}[.)]?)[ \t]*")
HEADING = re.compile(r" {0,3}#{1,6}[ \t]+")
LIST = re.compile(r"([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+(\[[ xX]\][ \t]+)?")
QUOTE = re.compile(r" {0,3}>[ \t]?")
FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})[^`]*")
RULE = re.compile(r"[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*")
PIECES = re.compile(r"\s+|[^\s\u1100-\uffdc\U0001f000-\U0003ffff]+|.", re.DOTALL)
RESET = "\x1b[0m"
WIDEST = 100
INDENTS = 8


class LineStart(NamedTuple):
    """What a line begins, and how many of its characters say so."""

    kind: Kind
    length: int = 0


def classify(line: str, *, complete: bool) -> LineStart | None:
    """What a line is, as soon as its beginning tells; None while it does not."""
    if not complete and MARKERS.fullmatch(line):
        return None
    if not line.strip():
        return LineStart("blank") if complete else None  # other spaces than ours may come before words too
    if FENCE.match(line) or RULE.fullmatch(line) or line.lstrip().startswith("|"):
        if not complete:
            return None
        kind: Kind = "fence" if FENCE.fullmatch(line) else "rule" if RULE.fullmatch(line) else "row"
        return LineStart("text") if kind == "row" and not line.lstrip().startswith("|") else LineStart(kind)
    for kind, form in (("heading", HEADING), ("list", LIST), ("quote", QUOTE)):
        found = form.match(line)
        if found:
            return LineStart(kind, found.end())
    return LineStart("text")


class Writer:
    """Words on lines of a given width, in their styles; it knows the column and the indentation, and no more."""

    def __init__(self, width: int, *, styled: bool) -> None:
        self.width = min(width, WIDEST)
        self.styled = styled
        self.column = 0
        self.indent = ""
        self._gap = ""
        self._word: list[StyledRun] = []

    def put(self, runs: tuple[StyledRun, ...]) -> Iterator[str]:
        """What can be written of these runs; the last word waits until it is whole."""
        for run in runs:
            for piece in PIECES.findall(run.text):
                if piece.isspace():
                    yield from self.settle()
                    self._gap = " " if self.column else ""
                else:
                    if len(piece) == 1 and cell_len(piece) == 2:
                        yield from self.settle()
                    self._word.append(StyledRun(piece, run.style))

    def settle(self) -> Iterator[str]:
        """The word that waited, on the next line if it does not fit."""
        size = sum(cell_len(run.text) for run in self._word)
        if not size:
            return
        if self.column + len(self._gap) + size > self.width and self.column > len(self.indent):
            yield from self.break_line()
        elif self._gap:
            yield self._gap
            self.column += 1
        for style, runs in groupby(self._word, key=lambda run: run.style):
            yield self.dressed(StyledRun("".join(run.text for run in runs), style))
        self.column += size
        self._gap, self._word = "", []

    def break_line(self) -> Iterator[str]:
        yield f"\n{self.indent}"
        self.column, self._gap = cell_len(self.indent), ""

    def end_line(self) -> Iterator[str]:
        yield "\n"
        self.column, self.indent, self._gap = 0, "", ""

    def dressed(self, run: StyledRun) -> str:
        return f"\x1b[{run.style}m{run.text}{RESET}" if self.styled and run.style and run.text else run.text


class Markdown:
    """One answer. `feed` gives what can be shown of it so far, `finish` the rest."""

    def __init__(self, width: int, *, styled: bool = True, style: str = "") -> None:
        self._writer = Writer(width, styled=styled)
        self._style = style
        self._line = ""  # of the current line, what is not yet written
        self._block: LineStart | None = None
        self._fence = ""
        self._rows: list[str] = []
        self._blank = False  # whether a blank line is owed before the next block
        self._before = " "

    def feed(self, text: str) -> str:
        pieces: list[str] = []
        *whole, rest = safe(text).split("\n")
        for line in whole:
            self._line += line
            pieces += self._flow(complete=True)
        self._line += rest
        pieces += self._flow(complete=False)
        return "".join(pieces)

    def finish(self) -> str:
        pieces = list(self._flow(complete=True)) if self._line or self._block else []
        pieces += self._table()
        self._fence, self._blank = "", False
        return "".join(pieces)

    def _flow(self, *, complete: bool) -> Iterator[str]:
        if self._fence:
            yield from self._code(complete)
            return
        if self._block is None:
            self._block = classify(self._line, complete=complete)
            if self._block is None:
                return
            yield from self._begin(self._block)
        if self._block.kind not in ("row", "fence", "rule", "blank"):
            yield from self._words(complete)
        if complete:
            self._line, self._block, self._before = "", None, " "

    def _begin(self, block: LineStart) -> Iterator[str]:
        """What stands before the words of a line."""
        if block.kind == "row":
            if self._blank and not self._rows:
                self._blank = False
                yield "\n"
            self._rows.append(self._line)
            return
        yield from self._table()
        if block.kind == "blank":
            self._blank = True
            return
        if self._blank:
            self._blank = False
            yield "\n"
        marker, self._line = self._line[: block.length], self._line[block.length :]
        if block.kind == "fence":
            found = FENCE.fullmatch(self._line)
            self._fence = found[2] if found else "```"
        elif block.kind == "rule":
            yield self._writer.dressed(StyledRun("─" * min(self._writer.width, 40), joined(self._style, DIM))) + "\n"
        else:
            yield from self._lead(block.kind, marker)

    def _lead(self, kind: Kind, marker: str) -> Iterator[str]:
        lead, indent = "", ""
        if kind == "list":
            found = LIST.match(marker)
            depth = min(len(found[1].expandtabs(4)), INDENTS * 2) if found else 0
            bullet = found[2] if found and found[2][0].isdigit() else "•"
            box = {"[x]": "☑ ", "[ ]": "☐ "}.get((found[3] or "").strip().lower(), "") if found else ""
            lead = f"{' ' * depth}{bullet} {box}"
            indent = " " * cell_len(lead)
        elif kind == "quote":
            lead = indent = "│ "
        elif kind == "text":
            depth = min(len(self._line) - len(self._line.lstrip()), INDENTS * 2)
            lead = indent = " " * depth
        self._writer.indent = indent
        self._writer.column = cell_len(lead)
        if lead:
            yield self._writer.dressed(StyledRun(lead, joined(self._style, DIM)))

    def _words(self, complete: bool) -> Iterator[str]:
        kind = self._block.kind if self._block else "text"
        style = joined(self._style, {"heading": BOLD, "quote": DIM}.get(kind, ""))
        scanned = scan(self._line, final=complete, before=self._before, style=style)
        taken = self._line[: len(self._line) - len(scanned.held)]
        self._before = taken[-1:] or self._before
        self._line = scanned.held
        yield from self._writer.put(scanned.runs)
        if complete:
            yield from self._writer.settle()
            yield from self._writer.end_line()

    def _code(self, complete: bool) -> Iterator[str]:
        """Code as it stands, a line at a time, so that the closing fence is never shown."""
        if not complete:
            return
        line, self._line = self._line.expandtabs(4), ""
        closing = line.strip()
        if closing.startswith(self._fence) and not closing.strip(self._fence[0]):
            self._fence, self._blank = "", True
            return
        yield f"  {self._writer.dressed(StyledRun(line, joined(self._style, CYAN)))}\n" if line.strip() else "\n"

    def _table(self) -> Iterator[str]:
        if self._rows:
            rows, self._rows = tuple(self._rows), []
            yield drawn(rows, self._writer.width, styled=self._writer.styled)


DELIMITER = re.compile(r":?-+:?")
MOST_COLUMNS = 40


def drawn(rows: Sequence[str], width: int, *, styled: bool) -> str:
    """The rows as columns that fit the width; what has no line of dashes below its head is given as it stands."""
    cells = [_cells(row) for row in rows]
    if len(cells) < 2 or not all(DELIMITER.fullmatch(cell) for cell in cells[1]) or len(cells[0]) > MOST_COLUMNS:
        return "".join(f"{row}\n" for row in rows)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for head, line in zip(cells[0], [*cells[1], *["-"] * len(cells[0])], strict=False):
        table.add_column(_text(head), justify="right" if line.endswith(":") and line[0] != ":" else "left")
    for row in cells[2:]:
        table.add_row(*(_text(cell) for cell in row[: len(cells[0])]))
    output = io.StringIO()
    console = Console(file=output, width=width, force_terminal=styled, color_system="standard" if styled else None)
    console.print(table)
    return "".join(f"{line.rstrip()}\n" for line in output.getvalue().splitlines())


def _cells(row: str) -> list[str]:
    inner = row.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner)]


def _text(cell: str) -> Text:
    names = {"1": "bold", "2": "dim", "3": "italic", "4": "underline", "9": "strike", "36": "cyan"}
    text = Text()
    for run in scan(cell, final=True).runs:
        text.append(run.text, " ".join(names[code] for code in run.style.split(";") if code))
    return text
