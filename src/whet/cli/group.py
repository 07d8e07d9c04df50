"""The group of all commands, each loaded when it is asked for; names that commands had lead to the new ones."""

import sys
from importlib import import_module

import click

from whet import __version__, doors
from whet.cli.catalogue import ABOUT, CATALOGUE, HIDDEN, START, added
from whet.errors import WhetError

# What was typed, and what it is now. Where the arguments differ, there is nothing to run: `!` before the new words.
OLD_NAMES = {
    "pending": "lessons --waiting",
    "pending list": "lessons --waiting",
    "pending show": "lessons show",
    "pending approve": "lessons approve",
    "pending refuse": "lessons refuse",
    "pending never": "lessons never",
    "pending reopen": "lessons undo",
    "canary": "live",
    "canary list": "live",
    "canary start": "live start",
    "canary promote": "live stop --keep",
    "canary stop": "live stop",
    "watch": "live look",
    "rules list": "rules",
    "ledger list": "ledger",
    "ledger revert": "ledger undo",
    "ledger why": "ledger show",
    "memory list": "memory",
    "skills list": "skills",
    "models list": "models",
    "models known": "models --known",
    "jobs list": "jobs",
    "cases list": "cases",
    "templates list": "templates",
    "completion": "setup --completion",
    "target": "sync --targets",
    "target list": "sync --targets",
    "target add": "sync add",
    "target remove": "sync remove",
    "work": "worker list",
    "work show": "worker list",
    "work cancel": "worker cancel",
    "work retry": "worker retry",
    "config get": "config",
    "config set": "config",
    "config unset": "config --unset",
    "config check": "config --check",
    "stats": "report --counts",
    "improve": "try",
    "prompt": "chat --prompt",
    "review": "learn --review",
    "curate": "audit --own --propose",
    "cases from-session": "cases add",
    "cases from-commits": "cases add",
    "cases from-lesson": "cases add --lesson",
    "cases new": "cases add --new",
    "memory search": "search --notes",
    "cases screen": "cases run --screen",
    "memory import-hermes": "migrate hermes --only note",
    "memory export-hermes": "migrate hermes --back",
    "memory disconnect": "memory connect",
    "memory replace": "!memory add TEXT --replace MATCH",
    "jobs import-hermes": "!migrate hermes --only job",
    "jobs history": "jobs show --runs",
    "jobs resume": "jobs pause --resume",
    "rules change": "rules add --replace",
    "skills restore": "skills archive --restore",
    "templates import-hermes": "!migrate hermes --only template",
    "templates mine": "templates create --name",
    "templates choose": "templates --for",
    "templates stats": "templates --stats",
    "templates try": "try --template",
    "outcomes": "!show ID --calls",
}
LONGEST = 2


def renamed(arguments: list[str]) -> list[str]:
    """The arguments with the new name of a command; says so where that is another one."""
    for length in range(LONGEST, 0, -1):
        old = " ".join(arguments[:length])
        if len(arguments) >= length and old in OLD_NAMES:
            new = OLD_NAMES[old]
            if new.startswith("!"):
                help_ = f"For help: `whet {new[1:].split()[0]} --help`."
                raise WhetError(f"`whet {old}` is now `whet {new[1:]}`.", advice=help_)
            sys.stderr.write(f"`whet {old}` is now `whet {new}`.\n")
            return [*new.split(), *arguments[length:]]
    return arguments


COMPLETION_VARIABLE = "_WHET_COMPLETE"


class LazyGroup(click.Group):
    """A group that knows its commands from the catalogue and loads one only to run it or to explain it;
    those of other packages come last."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's own signature
        return [*(name for name, _, _ in CATALOGUE), *(each.name for each in added())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        module = next((module for name, module, _ in (*CATALOGUE, *HIDDEN) if name == cmd_name), None)
        if module is None:
            addition = next((each for each in added() if each.name == cmd_name), None)
            return next(iter(doors.loaded(addition, click.Command)), None) if addition else None
        found = vars(import_module(f"whet.cli.commands.{module}"))
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
        import_module("whet.cli.commands.status").show_front()
