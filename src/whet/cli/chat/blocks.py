"""Blocks of Markdown laid out for a terminal."""

import io
from typing import ClassVar, Literal

from markdown_it import MarkdownIt
from rich import markdown as rich_markdown
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text
from rich.theme import Theme

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
