"""whet chat and whet run: conversations with the agent, one task, and the prompt that either would get."""

import os
import sys
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click
import msgspec
from msgspec.structs import replace
from rich.table import Table

from whet.agent.assembling import RunPlace, RunRequest, RunWords
from whet.agent.session import SessionRequest
from whet.agent.tools.toolbox import sets_within
from whet.cli.acting import actor_of, trust_of
from whet.cli.chat.conversation import talk_in_lines, talk_on_terminal
from whet.cli.commands.config import choose_model
from whet.cli.options import allowance_of, budget_option, json_command, model_option
from whet.cli.output import copied, count, give, is_json, plain, table
from whet.cli.running import Form, Task, perform
from whet.errors import WhetError
from whet.own.runs.run import Budget
from whet.own.runs.settings import Settings
from whet.own.told.passages import Circumstances
from whet.own.told.prompt import Prompt, Tier, assemble
from whet.secrets.redactor import secret_values
from whet.sessions.trust import Trust
from whet.store.folders import text_given
from whet.store.home import Home, find_home
from whet.store.opening import opened
from whet.store.settings_file import load
from whet.telling.context.finding import project_of, said_of
from whet.telling.context.gathering import ContextFolder, PromptRequest, environments, gather, this_machine
from whet.telling.targets.project_names import name_of_project
from whet.text.front_matter import words

Function = TypeVar("Function", bound=Callable[..., Any])


class RunOptions(NamedTuple):
    """The options as they were given."""

    model: str
    folder: Path | None
    tools: str
    system: Path | None
    resumed: str
    latest: bool
    warm: str
    no_context: bool
    max_calls: int | None = None
    budget: tuple[str, ...] = ()


prompt_option = click.option(
    "--prompt", "is_prompt", is_flag=True, help="Print the prompt that the session would get, with sizes, and end."
)
date_option = click.option("--date", "day", hidden=True, help="With --prompt: the date to state. Default: today.")


def run_options(function: Function) -> Function:
    """Everything by which a person says how a session is to run."""
    folder = click.Path(path_type=Path, file_okay=False, exists=True)
    for option in reversed(
        (
            model_option,
            click.option("--folder", type=folder, help="Folder the agent works in. Default: the current folder."),
            click.option(
                "--tools", default="", help="Tool sets to allow, separated by commas, such as files,terminal."
            ),
            click.option(
                "--system", type=click.Path(path_type=Path), help="File with your own instructions for the agent."
            ),
            click.option("--resume", "resumed", default="", metavar="ID", help="Resume this session."),
            click.option("--continue", "latest", is_flag=True, help="Resume the latest session in this folder."),
            click.option("--warm", default="", metavar="NAME", help="Template to start from; auto picks one."),
            click.option("--no-context", is_flag=True, help="Do not read context files such as AGENTS.md."),
        )
    ):
        function = option(function)
    return function


def limit_options(function: Function) -> Function:
    """What one run may take; a conversation goes by the settings."""
    for option in reversed(
        (
            click.option("--max-calls", type=click.IntRange(1), help="Maximum model calls per turn."),
            budget_option,
        )
    ):
        function = option(function)
    return function


def session_for(settings: Settings, given: RunOptions, *, home: Home, interactive: bool) -> SessionRequest:
    """The session that is asked for: the settings, with what was given over them."""
    chosen = settings_for(settings, given)
    if not chosen.model:
        chosen = choose_model(home, chosen)
    request = RunRequest(
        replace(chosen, budget=budget_for(chosen, given)),
        RunPlace(given.folder),
        RunWords(caller_for(given)),
        interactive=interactive,
    )
    return SessionRequest(
        request,
        resumed=given.resumed,
        latest=given.latest,
        template=given.warm,
        # What an agent types may be anybody's.
        trust=min(Trust.USER, trust_of(actor_of(os.environ))),
    )


def settings_for(settings: Settings, given: RunOptions) -> Settings:
    """The settings with what was given over them."""
    tools = tuple(name.strip() for name in given.tools.split(",") if name.strip())
    return replace(
        settings,
        model=given.model or settings.model,
        tools=tools or settings.tools,
        prompt=settings.prompt.without("context_files") if given.no_context else settings.prompt,
    )


def budget_for(settings: Settings, given: RunOptions) -> Budget:
    """The budget with the limits that were given."""
    limits = {"model_calls": given.max_calls, **msgspec.structs.asdict(allowance_of(given.budget))}
    return replace(settings.budget, **{name: value for name, value in limits.items() if value is not None})


def caller_for(given: RunOptions) -> str:
    """The person's own instructions for the session."""
    if given.system is None:
        return ""
    return text_given(given.system, advice="Give a text file in UTF-8.")


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


@json_command("chat", epilog="Example: whet chat --continue")
@run_options
@prompt_option
@date_option
def chat_command(is_prompt: bool, day: str | None, **options: Any) -> int:
    """Talk to the agent. Ctrl-C stops a turn; press it twice to leave. /help lists the chat commands, and Alt-Enter
    starts a new line. With piped input, each line is one turn.
    """
    if is_prompt:
        return show_prompt(RunOptions(**options), interactive=True, day=day)
    home = find_home(os.environ)
    asked = session_for(load(home), RunOptions(**options), home=home, interactive=True)

    with opened(home) as database:
        if sys.stdin.isatty() and sys.stdout.isatty() and not is_json():
            return talk_on_terminal(home, database, asked)
        if not sys.stdin.isatty():  # nobody knows who wrote what is piped in
            asked = asked._replace(trust=Trust.EXTERNAL)
        return talk_in_lines(home, database, asked)


CODES = (
    "Exit codes: 0 finished, 1 error in settings or options, 2 wrong usage, 3 the provider failed, 4 the budget "
    "ran out, 5 the model refused, 6 the agent reported failure, 7 the answer is empty or cut off, 130 "
    "interrupted."
)


@json_command(
    "run",
    epilog="Example: whet run 'Write a commit message for the staged changes'",
    help="Give the agent one task and print its answer. Piped input is material for the task, or the task itself"
    " if none is given; what is learned from it needs your approval. Progress goes to standard error."
    f"\n\n{CODES}",
)
@click.argument("task", nargs=-1)
@run_options
@limit_options
@click.option("--stream-json", is_flag=True, help="Print each message as a line of JSON as it arrives.")
@prompt_option
@date_option
def command(task: tuple[str, ...], stream_json: bool, is_prompt: bool, day: str | None, **options: Any) -> int:
    given = RunOptions(**options)
    if is_prompt:
        return show_prompt(given, interactive=False, day=day)
    home = find_home(os.environ)
    piped = _piped()
    # What is not UTF-8 could be neither sent nor stored.
    words = " ".join(task).encode(errors="replace").decode()
    words, material = (words, piped) if task else (piped, "")
    if not words.strip():
        raise WhetError("No task given.", advice='Give one: whet run "list the files", or pipe it in.')
    asked = session_for(load(home), given, home=home, interactive=False)
    if not task:  # nobody knows who wrote it: it is carried out, and believed no more than other material
        asked = asked._replace(trust=Trust.EXTERNAL)

    form: Form = "stream" if stream_json else "json" if is_json() else "text"
    return perform(home, asked, Task(words, material), form=form)


def _piped() -> str:
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    return sys.stdin.buffer.read().decode(errors="replace")
