"""What Whet's own agent would be told, and what each part of it costs: `--prompt` of `whet chat` and `whet run`."""

import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import click
from rich.table import Table

from whet.agent.tools.toolbox import sets_within
from whet.cli.options_of_runs import RunOptions
from whet.cli.output import count, give, is_json, plain, table
from whet.cli.shown.reviewing import copied
from whet.context.finding import project_of, said_of
from whet.context.gathering import ContextFolder, PromptRequest, environments, gather, this_machine
from whet.errors import WhetError
from whet.secrets.redactor import secret_values
from whet.store.home import find_home
from whet.store.opening import opened
from whet.store.settings_file import load
from whet.targets.project_names import name_of_project
from whet.text.front_matter import words
from whet.told.passages import Circumstances
from whet.told.prompt import Prompt, Tier, assemble


def show_prompt(given: RunOptions, *, interactive: bool, day: str | None) -> int:
    """Print the prompt that a new session would get, in its three tiers, with the size of each part in tokens."""
    home = find_home(os.environ)
    chosen = load(home)
    here = given.folder or Path.cwd()
    provider, _, model = given.model.rpartition(":")
    setting = Circumstances(
        tools=words(given.tools),
        model=model,
        provider=provider,
        purpose="interactive" if interactive else "unattended",
        platform=chosen.prompt.platform,
        environments=environments(this_machine(os.environ)),
        enforcement=chosen.prompt.enforcement,
        project=name_of_project(here),
        folder=str(here),
    )
    project = project_of(here, chosen.trust.projects)
    where = None if given.no_context else ContextFolder(here, project, secret_values(os.environ))
    wanted = PromptRequest(
        setting,
        where,
        _day(day),
        memory="memory" in chosen.prompt.parts,
        profile="profile" in chosen.prompt.parts,
        sets=sets_within(setting.tools),
    )
    with opened(home) as database:
        prompt = assemble(gather(home, database, wanted))
    for warning in () if is_json() else prompt.warnings:
        click.echo(f"Warning: {plain(warning)}", err=True)
    said = (plain(said_of(project)),) if project else ()
    record = {**_record(prompt), "trusted_project": str(project) if project else None}
    return give(record, (*_tier_lines(prompt), *_size_lines(prompt), *said))


def _day(text: str | None) -> date:
    try:
        return date.fromisoformat(text) if text else date.today()  # noqa: DTZ011 - the person's own day is meant
    except ValueError:
        raise WhetError(f"{text} is not a date.", advice="Give a date such as 2026-10-01.") from None


def _record(prompt: Prompt) -> dict[str, object]:
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


def _tier_lines(prompt: Prompt) -> Iterator[str]:
    for tier in Tier:
        yield f"[dim]── {tier} ──[/]"
        yield from copied(getattr(prompt, tier) or "(nothing)")
        yield ""


def _size_lines(prompt: Prompt) -> Iterator[str | Table]:
    rows = [(str(part.tier), part.name, part.trust.label, count(part.tokens)) for part in prompt.parts]
    rows.append(("", "all", "", count(sum(part.tokens for part in prompt.parts))))
    yield table(("tier", "part", "trust", "tokens"), rows, numbers=("tokens",))
    yield f"[dim]Key {prompt.key}[/]"
