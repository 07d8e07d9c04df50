"""whet setup: everything in one command, and back again."""

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from whet.agents.registry import first_step
from whet.cli.acting import ask_person
from whet.cli.commands.import_ import progress_over
from whet.cli.options import json_command, yes_option
from whet.cli.output import fields, give, plain, say, step_line
from whet.errors import WhetError
from whet.machine.doing import StepResult, set_up, undo
from whet.machine.looking import SetupPlace, SetupStep, how_to_find, is_on_path, new_files, planned
from whet.machine.plugins import program_for
from whet.machine.records import alone, load_record
from whet.machine.services import KEYS_FILE, service_for
from whet.own.jobs.job import nightly_job
from whet.own.runs.models import endpoint_of
from whet.store.home import find_home
from whet.store.settings_file import load
from whet.telling.targets.settings import last_calls
from whet.text.words import short

PARTS = ("import", "hooks", "target", "service", "nightly")
MARKS = {"to do": "[bold]+[/]", "done": "[dim]=[/]", "not possible": "[yellow]–[/]"}


@json_command("setup", epilog="Example: whet setup --dry-run")
@click.option("--dry-run", is_flag=True, help="Show what it would do, without doing it.")
@click.option("--undo", is_flag=True, help="Take back what setup did. Files that you changed since are left and named.")
@click.option(
    "--without", multiple=True, type=click.Choice(PARTS), help="Leave this part out. Repeatable.", metavar="PART"
)
@click.option("--nightly", default="03:30", show_default=True, metavar="HH:MM", help="When to improve every night.")
@click.option(
    "--completion",
    type=click.Choice(["bash", "zsh", "fish"]),
    help='Only print the script that completes commands in this shell: add `eval "$(whet setup --completion bash)"` '
    "to ~/.bashrc, or save that of fish to ~/.config/fish/completions/whet.fish.",
)
@yes_option
def command(
    dry_run: bool, undo: bool, without: tuple[str, ...], nightly: str, completion: str | None, yes: bool
) -> int:
    """Set up Whet on this machine: find the agents, import their sessions, install the plugin or hooks, write rules to
    the files they read, run the worker as a service, and improve every night. It shows what it would do and asks
    first. A second run adds only what is missing.
    """
    if completion:
        from whet.cli.group import group

        kind = get_completion_class(completion)
        assert kind is not None
        click.echo(kind(group, {}, "whet", "_WHET_COMPLETE").source())
        return 0
    if dry_run and undo:
        raise WhetError("Use only one of --dry-run and --undo.", advice="Remove the other.")
    nightly_job(nightly, program="whet", timezone="UTC", now=0)  # a time that is none is refused before anything else
    home, program = find_home(os.environ), Path(sys.executable).with_name("whet")
    service = service_for(home, Path.home(), os.environ, program=program, platform=sys.platform)
    here = SetupPlace(home, Path.home(), os.environ, program, service, nightly, time.time())
    with contextlib.nullcontext() if dry_run else alone(here.home):
        if undo:
            return _undo(here, yes=yes)
        return _set_up(here, frozenset(without), dry_run=dry_run, yes=yes)


def _set_up(here: SetupPlace, without: frozenset[str], *, dry_run: bool, yes: bool) -> int:
    steps = planned(here, without=without)
    say(*_plan_lines(here, steps))
    record = {"steps": steps, "results": []}
    if not any(step.state == "to do" for step in steps):
        nothing = "Nothing to change. To see how it stands, run `whet status`."
        return give(record, (nothing, *_lines_of_what_is_left(here, steps)))
    if dry_run:
        return give(record, ("Nothing was done yet. To do it, run `whet setup`.",))
    ask_person("Do this?", here.home, yes=yes)
    return _do(here, steps)


def _plan_lines(here: SetupPlace, steps: tuple[SetupStep, ...]) -> Iterator[str]:
    for step in steps:
        words = step.words if step.state == "to do" else f"{step.words}: {step.why_not or 'done already'}"
        yield f"{MARKS[step.state]} {plain(words)}"
    if not any(step.kind in ("import", "hooks", "target") for step in steps):
        yield "No agent was found on this machine."
    if any(step.kind == "hooks" for step in steps):
        yield from _warnings_of_hooks(here, steps)
    limit = load(here.home).background
    yield (
        f"Background work costs at most {short(limit.tokens_per_day)} tokens and ${limit.dollars_per_day:.2f} a day "
        "(`whet config background.dollars_per_day N`)."
    )


def _warnings_of_hooks(here: SetupPlace, steps: tuple[SetupStep, ...]) -> Iterator[str]:
    """Hooks run in the agent's environment, and use the home that they find there; a plugin the `whet` too."""
    has_plugins = any(step.kind == "hooks" and program_for(step.name, here.environment) for step in steps)
    if has_plugins and not is_on_path(here.person, here.environment):
        yield "[yellow]`whet` is not on the PATH of a new terminal[/]: the plugin does nothing until it is."
        yield f"  {plain(how_to_find(here.program))}"
    if here.home.folder != here.person / ".whet":
        yield "[yellow]Hooks use the home that your agents see.[/] Set it for them too:"
        yield f"  export WHET_HOME={plain(here.home.folder)}"


def _do(here: SetupPlace, steps: tuple[SetupStep, ...]) -> int:
    importing = [step for step in steps if step.kind == "import" and step.state == "to do"]
    rest = tuple(step for step in steps if step not in importing)
    results: tuple[StepResult, ...] = ()
    if importing:
        with progress_over([path for paths in new_files(here).values() for path in paths]) as progress:
            results = set_up(here, tuple(importing), progress=progress)
    with step_line("Setting up"):
        results += set_up(here, rest, progress=lambda _name, _size: None)
    failed = any(result.has_failed for result in results)
    shown = [{**fields(each.step, "kind", "name"), "words": each.words} for each in results]
    lines = (
        *(f"{'[red]Failed:[/] ' if result.has_failed else ''}{plain(result.words)}" for result in results),
        *(_key_lines(here) if any(result.step.kind == "service" for result in results) else ()),
        *_lines_of_what_is_left(here, steps),
        "To see how it stands, run `whet status`. To take it back, run `whet setup --undo`.",
    )
    return give({"steps": steps, "results": shown, "failed": failed}, lines, code=int(failed))


def _lines_of_what_is_left(here: SetupPlace, steps: tuple[SetupStep, ...]) -> Iterator[str]:
    """What only the person can do, for hooks that were never seen calling."""
    silent = {step.name for step in steps if step.kind == "hooks" and not step.why_not} - set(last_calls(here.home))
    for name in sorted(each for each in silent if first_step(each)):
        yield f"[bold]Left for you to do[/]: {plain(first_step(name))}. Until then {name} does not call Whet."


def _key_lines(here: SetupPlace) -> Iterator[str]:
    """A service does not have the variables of this shell, and no key is copied into a file by Whet."""
    settings = load(here.home)
    endpoint = endpoint_of(settings, settings.model.partition(":")[0]) if settings.model else None
    if endpoint and endpoint.key_variable:
        where = f"a line {endpoint.key_variable}=… in {here.home.folder / KEYS_FILE}, readable by you alone"
        how = where if here.service.kind == "systemd" else f"`launchctl setenv {endpoint.key_variable} …`"
        yield f"The service does not see your shell's variables. Give it the key with {plain(how)}."


def _undo(here: SetupPlace, *, yes: bool) -> int:
    if load_record(here.home).is_empty:
        return give({"undone": []}, ("Nothing to undo: `whet setup` did nothing in this home.",))
    ask_person("Take back what `whet setup` did?", here.home, yes=yes)
    with step_line("Taking it back"):
        done = undo(here)
    lines = (f"{'[yellow]Left:[/] ' if each.is_left else ''}{plain(each.words)}" for each in done)
    told = "Imported sessions stay. To delete some, run `whet forget ID...`; to delete all, delete the home folder."
    record = {"undone": [each._asdict() for each in done]}
    return give(record, (*lines, told), code=int(any(each.is_left for each in done)))
