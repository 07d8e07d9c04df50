"""whet hook: what other agents call when a session starts or ends. `cli.main` answers before click is loaded."""

import os

import click

from whet.agents.registry import hosts
from whet.hooks.entry import run
from whet.hooks.events import EVENTS


@click.command("hook", epilog="Example: whet hook session-start --agent claude-code < event.json")
@click.argument("event", type=click.Choice(EVENTS))
@click.option("--agent", type=click.Choice(hosts()), help="Agent that calls. Default: detected.")
def command(event: str, agent: str | None) -> int:
    """Called by the hooks of other agents, with the agent's JSON on standard input. At the start of a session it prints
    the active rules as context; at its end it notes which file to import. It always exits with 0; errors go to
    hooks/log.txt in the home folder.
    """
    return run([event, *(("--agent", agent) if agent else ())], os.environ)
