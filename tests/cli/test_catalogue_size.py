"""How many commands and options there are."""

from collections.abc import Iterator

import click

from whet.cli.catalogue import overview
from whet.cli.group import group


def test_there_are_no_more_commands_and_options_than_a_person_can_hold() -> None:
    """A new one takes the place of another: at most 74 commands in all, with 246 options besides `--json`."""
    commands = list(every(group))
    options = [each for command in commands for each in command.params if isinstance(each, click.Option)]
    shown = [each for each in options if not each.hidden and "--json" not in each.opts]
    assert (len(commands) <= 74, len(shown) <= 246) == (True, True), (len(commands), len(shown))


def test_the_first_help_fits_a_terminal_of_eighty_columns() -> None:
    assert [line for line in overview().splitlines() if len(line) > 80] == []


def every(command: click.Group) -> Iterator[click.Command]:
    """The commands of a group, and those of the groups in it."""
    context = click.Context(command)
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield inner
        if isinstance(inner, click.Group):
            yield from every(inner)
