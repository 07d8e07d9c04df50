"""The group of all commands, each loaded when it is asked for."""

import gc
from importlib import import_module

import click

from whet import __version__, doors
from whet.cli.catalogue import ABOUT, CATALOGUE, START, added


def _loaded() -> None:
    """Collect garbage from here on, and never look at what is loaded."""
    gc.freeze()
    gc.enable()


class LazyGroup(click.Group):
    """A group that knows its commands from the catalogue and loads one only to run it or to explain it;
    those of other packages come last."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's own signature
        return [*(name for name, _, _ in CATALOGUE), *(each.name for each in added())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        module = next((module for name, module, _ in CATALOGUE if name == cmd_name), None)
        if module is None:
            addition = next((each for each in added() if each.name == cmd_name), None)
            return next(iter(doors.loaded(addition, click.Command)), None) if addition else None
        found = vars(import_module(f"whet.cli.commands.{module}"))
        _loaded()
        command: click.Command = found.get(f"{cmd_name}_command") or found["command"]
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant, or an error that names the likely one."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            from difflib import get_close_matches

            near = get_close_matches(args[0], self.list_commands(ctx), n=3)
            hint = f"Did you mean `whet {'`, `whet '.join(near)}`?" if near else "To list all commands: `whet --help`."
            ctx.fail(f"There is no command {args[0]}. {hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, help=f"{ABOUT}\n\n{START}", invoke_without_command=True)
@click.version_option(__version__, message="whet %(version)s")
@click.pass_context
def group(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        front = import_module("whet.cli.commands.status")
        _loaded()
        front.show_front()
