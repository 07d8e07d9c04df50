"""Options that `chat` and `run` share, and the session that they ask for."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click
import msgspec
from msgspec.structs import replace

from whet.agent.assembling import RunPlace, RunRequest, RunWords
from whet.agent.session import SessionRequest
from whet.cli.acting import actor_of, trust_of
from whet.cli.model_choice import choose_model
from whet.cli.options import allowance_of, budget_option, model_option
from whet.runs.run import Budget, Sampling
from whet.runs.settings import Settings
from whet.sessions.trust import Trust
from whet.store.folders import text_given
from whet.store.home import Home

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
    temperature: float | None = None
    seed: int | None = None


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
    """What one run may take, and how it draws; a conversation goes by the settings."""
    for option in reversed(
        (
            click.option("--max-calls", type=click.IntRange(1), help="Maximum model calls per turn."),
            budget_option,
            click.option("--temperature", type=click.FloatRange(0), help="Sampling temperature."),
            click.option("--seed", type=int, help="Sampling seed, if the provider supports one."),
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
        sampling=sampling_for(chosen, given),
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


def sampling_for(settings: Settings, given: RunOptions) -> Sampling | None:
    chosen = {name: value for name in ("temperature", "seed") if (value := getattr(given, name)) is not None}
    return replace(settings.sampling, **chosen) if chosen else None


def caller_for(given: RunOptions) -> str:
    """The person's own instructions for the session."""
    if given.system is None:
        return ""
    return text_given(given.system, advice="Give a text file in UTF-8.")
