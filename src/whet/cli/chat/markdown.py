"""Markdown on a terminal that is only written at its end: block by block, as rich lays them out."""

import io
import re
from typing import ClassVar, Literal

from markdown_it import MarkdownIt
from rich import markdown as rich_markdown
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text
from rich.theme import Theme

from whet.text.characters import safe

WIDEST = 100
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
PADDING = re.compile(r" +((?:\x1b\[0m)?)$", re.MULTILINE)
MOST_LETTERS = 20_000  # of a block that is parsed: a longer one is no text that somebody wrote to be read
HEADINGS = {f"markdown.h{level}": "bold" for level in range(1, 7)}
THEME = Theme({**HEADINGS, "markdown.code": "cyan", "markdown.block_quote": "dim", "markdown.table.border": "dim"})
# Whatever looks like HTML or an image is words like any other.
PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")


class CodeLines(rich_markdown.CodeBlock):
    """Code as it stands, without a frame, so that it can be copied."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in str(self.text).rstrip().split("\n"):
            yield Text(f"  {line}", "cyan", no_wrap=True, overflow="ignore")


class PlainHeading(rich_markdown.Heading):
    """A heading where it stands, without a frame."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.text


class ChatBlock(rich_markdown.Markdown):
    """One block of an answer."""

    elements: ClassVar[dict[str, type[rich_markdown.MarkdownElement]]] = {
        **rich_markdown.Markdown.elements,
        "fence": CodeLines,
        "code_block": CodeLines,
        "heading_open": PlainHeading,
    }

    def __init__(self, text: str) -> None:
        super().__init__("", hyperlinks=False)
        self.parsed = PARSER.parse(text)


def laid_out(text: str, *, width: int, styled: bool, style: str | None) -> str:
    """Whole blocks as a terminal of this width shows them."""
    block: RenderableType = ChatBlock(text) if len(text) <= MOST_LETTERS else Text(text.strip("\n"))
    output = io.StringIO()
    colours: Literal["standard"] | None = "standard" if styled else None
    console = Console(file=output, width=width, force_terminal=styled, color_system=colours, theme=THEME)
    console.print(block, style=style)
    return output.getvalue()


class Markdown:
    """One answer. `feed` gives the blocks that are whole by now, `finish` the rest."""

    def __init__(self, width: int, *, styled: bool = True, dim: bool = False) -> None:
        self._width, self._styled, self._style = min(width, WIDEST), styled, "dim" if dim else None
        self._held = ""  # what is not yet drawn
        self._is_first = True

    @property
    def pending(self) -> str:
        """The line that is being written, of what is not yet drawn."""
        return self._held.rstrip("\n").rpartition("\n")[2]

    def feed(self, text: str) -> str:
        """The blocks that this piece of the stream completes."""
        self._held += safe(text)
        end = _end_of_blocks(self._held) if "\n" in self._held else 0
        whole, self._held = self._held[:end], self._held[end:]
        return self._drawn(whole)

    def finish(self) -> str:
        """All that is left."""
        rest, self._held = self._held, ""
        return self._drawn(rest)

    def _drawn(self, text: str) -> str:
        if not text.strip():
            return ""
        laid = laid_out(text, width=self._width, styled=self._styled, style=self._style)
        between, self._is_first = "" if self._is_first else "\n", False
        return between + PADDING.sub(r"\1", laid).strip("\n") + "\n"


def _end_of_blocks(text: str) -> int:
    """Where the last block ends that nothing can be added to: an empty line outside of code, then a new beginning."""
    end = place = 0
    fence, is_empty = "", False
    for line in text.splitlines(keepends=True):
        found = FENCE.match(line)
        if not fence and is_empty and not line[0].isspace():
            end = place
        if found and not fence:
            fence = found[1]
        elif found and found[1].startswith(fence) and line.strip() == found[1]:
            fence = ""
        is_empty = not fence and not line.strip()
        place += len(line)
    return end


def drawn(text: str, *, width: int, styled: bool) -> str:
    """A whole text of markdown."""
    markdown = Markdown(width, styled=styled)
    return markdown.feed(text) + markdown.finish()
