"""The group of all commands, each loaded when it is asked for."""

from importlib import import_module

import click

from whet import __version__
from whet.cli.catalogue import ABOUT, CATALOGUE, START


class LazyGroup(click.Group):
    """A group that knows its commands from the catalogue and loads one only to run it or to explain it."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's own signature
        return [name for name, _, _ in CATALOGUE]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        module = next((module for name, module, _ in CATALOGUE if name == cmd_name), None)
        if module is None:
            return None
        command: click.Command = import_module(f"whet.cli.commands.{module}").command
        return command


@click.group(cls=LazyGroup, help=f"{ABOUT}\n\n{START}")
@click.version_option(__version__, message="whet %(version)s")
def group() -> None:
    pass
