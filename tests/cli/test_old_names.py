"""Commands by the names they had: each leads to one that there is."""

from collections.abc import Iterator

import click
import pytest

from whet.cli.group import OLD_NAMES, group, renamed
from whet.errors import WhetError


def found(words: list[str]) -> tuple[click.Command | None, list[str]]:
    """The command that words name, and what is left of them."""
    context = click.Context(group, info_name="whet")
    command: click.Command | None = group
    while words and isinstance(command, click.Group) and not words[0].startswith("-"):
        command, words = command.get_command(context, words[0]), words[1:]
    return command, words


@pytest.mark.parametrize(("old", "new"), OLD_NAMES.items())
def test_every_old_name_leads_to_a_command_and_to_options_that_it_has(old: str, new: str) -> None:
    command, rest = found(new.removeprefix("!").split())
    assert command is not None
    options = {name for each in command.params if isinstance(each, click.Option) for name in each.opts}
    assert {word for word in rest if word.startswith("--")} <= options
    outdated, left = found(old.split())
    assert outdated is None or left, "a name that is in use is not an old one"


def test_what_follows_an_old_name_stays(capsys: pytest.CaptureFixture[str]) -> None:
    assert renamed(["pending", "approve", "4", "--yes"]) == ["lessons", "approve", "4", "--yes"]
    assert capsys.readouterr().err == "`whet pending approve` is now `whet lessons approve`.\n"
    assert renamed(["lessons", "show", "4"]) == ["lessons", "show", "4"]
    assert capsys.readouterr().err == ""


def test_where_the_arguments_differ_the_new_name_is_only_told() -> None:
    with pytest.raises(WhetError, match="is now `whet show ID --calls`"):
        renamed(["outcomes", "3fa9"])


def test_there_are_no_more_commands_and_options_than_a_person_can_hold() -> None:
    """A new one takes the place of another: at most 75 commands in all, with 260 options besides `--json`."""
    commands = list(every(group))
    options = [each for command in commands for each in command.params if isinstance(each, click.Option)]
    shown = [each for each in options if not each.hidden and "--json" not in each.opts]
    assert (len(commands) <= 75, len(shown) <= 260) == (True, True), (len(commands), len(shown))


def every(command: click.Group) -> Iterator[click.Command]:
    """The commands of a group, and those of the groups in it."""
    context = click.Context(command)
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield inner
        if isinstance(inner, click.Group):
            yield from every(inner)
