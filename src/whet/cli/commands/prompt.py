"""whet prompt: what an agent is told, and what each part of it costs."""

import difflib
import os
import time
from datetime import date
from pathlib import Path

import click

from whet.agent.tools.toolbox import sets_within
from whet.cli.options import json_option
from whet.cli.output import console, count, plain, print_json, say, table
from whet.cli.shown.reviewing import copied
from whet.context.finding import project_of, said_of
from whet.context.gathering import ContextFolder, PromptRequest, environments, gather, this_machine
from whet.errors import WhetError
from whet.secrets.redactor import secret_values
from whet.store.database import Database
from whet.store.home import Home, find_home
from whet.store.opening import opened
from whet.store.prompts import keep_prompt, restore_prompt
from whet.store.settings_file import load
from whet.targets.project_names import name_of_project
from whet.text.front_matter import words
from whet.told.passages import Circumstances
from whet.told.prompt import Prompt, Tier, assemble

PURPOSES = ("interactive", "unattended")


@click.command(
    "prompt",
    epilog="Example: whet prompt --model gpt-5 --tools terminal,memory",
    help="Print the prompt that a new session would get, in its three tiers, with the estimated size of each part "
    "in tokens. With KEY, print a stored prompt.",
)
@click.argument("key", required=False)
@click.option("--model", default="", help="Model to build the prompt for.")
@click.option("--provider", default="", help="Provider that serves the model.")
@click.option("--folder", type=click.Path(path_type=Path), help="Working folder. Default: the current folder.")
@click.option("--tools", default="", help="Tools the agent has, separated by commas.")
@click.option(
    "--purpose",
    type=click.Choice(PURPOSES),
    default=PURPOSES[0],
    show_default=True,
    help="Whether a person can answer questions.",
)
@click.option("--platform", help="Where answers are displayed: cli, telegram, slack … Default: as in the settings.")
@click.option(
    "--enforcement",
    help="When to tell the model to act with tools: auto, on, off, or parts of model names. Default: as in the"
    " settings.",
)
@click.option("--no-context", is_flag=True, help="Leave out the repository's context files.")
@click.option("--date", "day", help="Date to state in the prompt. Default: today.")
@click.option("--diff", "other", metavar="KEY", help="Show the difference from a stored prompt.")
@click.option("--keep", is_flag=True, help="Store the prompt under its key.")
@click.option("--sizes", is_flag=True, help="Print only the sizes of the parts.")
@json_option
def command(
    key: str | None,
    model: str,
    provider: str,
    folder: Path | None,
    tools: str,
    purpose: str,
    platform: str | None,
    enforcement: str | None,
    no_context: bool,
    day: str | None,
    other: str | None,
    keep: bool,
    sizes: bool,
    as_json: bool,
) -> int:
    home = find_home(os.environ)
    chosen = load(home)
    setting = Circumstances(
        tools=words(tools),
        model=model,
        provider=provider,
        purpose=purpose,
        platform=chosen.prompt.platform if platform is None else platform,
        environments=environments(this_machine(os.environ)),
        enforcement=chosen.prompt.enforcement if enforcement is None else words(enforcement.lower()),
        project=name_of_project(folder or Path.cwd()),
        folder=str(folder or Path.cwd()),
    )
    here = folder or Path.cwd()
    project = project_of(here, chosen.trust.projects)
    where = None if no_context else ContextFolder(here, project, secret_values(os.environ))
    with opened(home) as database:
        wanted = PromptRequest(
            setting,
            where,
            _day(day),
            memory=chosen.prompt.memory,
            profile=chosen.prompt.profile,
            sets=sets_within(setting.tools),
        )
        prompt = restore_prompt(database, key) if key else _built(home, database, wanted)
        if keep:
            keep_prompt(database, prompt, now=time.time())
        before = restore_prompt(database, other) if other else None
    if before:
        return _show_difference(before, prompt, as_json=as_json)
    if as_json:
        print_json({**record(prompt), "trusted_project": str(project) if project else None})
    else:
        if not sizes:
            _show(prompt)
        _show_sizes(prompt)
        if project:
            say(plain(said_of(project)))
    return 0


def _built(home: Home, database: Database, wanted: PromptRequest) -> Prompt:
    return assemble(gather(home, database, wanted))


def _day(text: str | None) -> date:
    try:
        return date.fromisoformat(text) if text else date.today()  # noqa: DTZ011 - the person's own day is meant
    except ValueError:
        raise WhetError(f"{text} is not a date.", advice="Give a date such as 2026-10-01.") from None


def record(prompt: Prompt) -> dict[str, object]:
    return {
        "key": prompt.key,
        "stable": prompt.stable,
        "context": prompt.context,
        "volatile": prompt.volatile,
        "parts": [
            {"tier": part.tier, "name": part.name, "tokens": part.tokens, "trust": part.trust.label}
            for part in prompt.parts
        ],
        "warnings": list(prompt.warnings),
    }


def _show(prompt: Prompt) -> None:
    for tier in Tier:
        say(f"[dim]── {tier} ──[/]")
        for line in copied(getattr(prompt, tier) or "(nothing)"):
            say(line)
        say()


def _show_sizes(prompt: Prompt) -> None:
    rows = [(str(part.tier), part.name, part.trust.label, count(part.tokens)) for part in prompt.parts]
    total = sum(part.tokens for part in prompt.parts)
    rows.append(("", "all", "", count(total)))
    console().print(table(("tier", "part", "trust", "tokens"), rows, numbers=("tokens",)))
    for warning in prompt.warnings:
        click.echo(f"Warning: {plain(warning)}", err=True)
    say(f"[dim]Key {prompt.key}[/]")


def _show_difference(before: Prompt, after: Prompt, *, as_json: bool) -> int:
    lines = [
        line
        for tier in Tier
        for line in difflib.unified_diff(
            getattr(before, tier).splitlines(),
            getattr(after, tier).splitlines(),
            f"{before.key} {tier}",
            f"{after.key} {tier}",
            lineterm="",
        )
    ]
    if as_json:
        changed = [tier for tier in Tier if getattr(before, tier) != getattr(after, tier)]
        print_json({"before": before.key, "key": after.key, "changed": changed, "diff": lines})
    elif not lines:
        say(f"No difference from {before.key}.")
    else:
        for line in (row for each in lines for row in copied(each)):
            say(line)
    return 0
