"""Another agent at the command line: which one, and a person who agrees to what it will spend."""

import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from whet.cli.output import say
from whet.errors import WhetError

Function = TypeVar("Function", bound=Callable[..., Any])


def agent_options() -> tuple[Callable[[Function], Function], ...]:
    """Who carries the attempts out, and whether that may begin."""
    return (
        click.option(
            "--agent",
            default="",
            metavar="NAME",
            help="Agent that runs the cases: claude, codex, opencode, whet, or one of agents.NAME in the settings.",
        ),
        click.option("--yes", is_flag=True, help="Start another agent without asking."),
    )


def expect_allowed(agent: str, lines: Iterable[str], *, yes: bool) -> None:
    """Have a person agree to what another agent will spend in their name."""
    from whet.cli.acting import actor_of, has_terminal
    from whet.ledger.entries import Actor

    if actor_of(os.environ) is Actor.AGENT:
        raise WhetError("An agent may not start another one in your name.", advice="Run it in your own terminal.")
    if yes:
        return
    if not has_terminal():
        raise WhetError(
            f"Nobody is here to agree to what {agent} will spend.", advice="Run it in a terminal, or give --yes."
        )
    for line in lines:
        say(line)
    click.confirm(f"Start {agent}?", abort=True, err=True)


def other_agent(name: str) -> str:
    """The agent that was asked for, where it is not Whet's own."""
    return "" if name == "whet" else name
