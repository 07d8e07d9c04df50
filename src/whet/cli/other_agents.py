"""Another agent at the command line: which one, and a person who agrees to what it will spend."""

import os
from collections.abc import Iterable

import click

from whet.agents.registry import agents, canonical
from whet.cli.output import say
from whet.errors import WhetError

RUNNABLE = ", ".join(agent.name for agent in agents() if agent.executor)
agent_option = click.option(
    "--agent",
    default="",
    metavar="NAME",
    help=f"Agent that runs the cases: {RUNNABLE}, whet, or a name of agents.NAME.command.",
)
consent_option = click.option("--yes", is_flag=True, help="Start another agent without asking.")


def account(agent: str) -> str:
    """What a person should know of another agent before they let it start."""
    from whet.proving.executing import network_said
    from whet.store.home import find_home
    from whet.store.settings_file import load

    return (
        f"{agent} runs in your name and on your account. Whether your plan allows use by a program is for you to know"
        f" and to allow. {network_said(agent, load(find_home(os.environ)), os.environ)}"
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
    return "" if name == "whet" else canonical(name)


def at_once(agent: object) -> int:
    """How many attempts may run side by side: a model on this machine has no second one beside it."""
    return 2 if agent else 1
