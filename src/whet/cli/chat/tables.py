"""Tables of markdown, drawn once all of their rows are there."""

import io
import re
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from whet.cli.chat.inline import scan

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
