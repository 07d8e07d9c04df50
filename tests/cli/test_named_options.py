"""Every option that a document, a text for agents or an advice names beside a command is one of that command's."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from whet.cli.group import group

ROOT = Path(__file__).parents[2]
TEXTS = ("README.md", "docs/*.md", "plugins/**/*.md", "src/whet/**/*.md", "src/whet/**/*.py")
NAMED = re.compile(r"`whet ([^`]{1,200})`")
BROKEN_LINE = re.compile(r"[\"']?\s*\n\s*f?[\"']?")
OPTION = re.compile(r"--[a-z][a-z-]*")


def missing(text: str) -> Iterator[str]:
    """The commands of a text with an option that they do not have; what is no command of ours is left out."""
    context = click.Context(group)
    for words in (BROKEN_LINE.sub(" ", found).split() for found in NAMED.findall(text)):
        command: click.Command | None = group
        known = {"--help"}
        for word in words:
            inner = command.get_command(context, word) if isinstance(command, click.Group) else None
            command = inner or (None if command is group else command)
            if command is None:
                break
            known |= {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
        asked = {found.group() for word in words if (found := OPTION.match(word))}
        if command is not None and not asked <= known:
            yield " ".join(words)


@pytest.mark.parametrize("place", TEXTS)
def test_options_that_are_named_are_there(place: str) -> None:
    texts = {each: each.read_text(encoding="utf-8") for each in ROOT.glob(place)}
    assert texts
    assert {str(each): found for each, text in texts.items() if (found := [*missing(text)])} == {}


def test_an_option_is_found_missing_over_the_end_of_a_line_too() -> None:
    text = (
        "`whet sessions --rule NAME\n--no-such` and `whet lessons show 3 --json`, `whet foreign-cases read --format x`"
    )
    assert [*missing(text)] == ["sessions --rule NAME --no-such"]
