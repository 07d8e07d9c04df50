"""Who is at the command line: a person, or an agent that runs commands for one."""

import sys
from collections.abc import Mapping

from whet.agents.registry import agents
from whet.errors import WhetError
from whet.ledger.entries import Actor
from whet.sessions.trust import Trust
from whet.store.home import Home
from whet.store.settings_file import load

OWN_VARIABLE = "WHET_RUN"


def actor_of(environment: Mapping[str, str]) -> Actor:
    """A person, unless the shell was opened by an agent.

    Somebody may unset what agents set in the shells that they open: a second line, behind the terminal.
    """
    marks = (OWN_VARIABLE, *(name for agent in agents() for name in agent.shell))
    return Actor.AGENT if any(environment.get(name) for name in marks) else Actor.PERSON


def has_terminal() -> bool:
    """Whether a person sits there: what is piped in may come from anybody."""
    return bool(sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty())


def need_terminal() -> None:
    """Raise where nobody can be asked: what is piped in is no person's answer."""
    if not has_terminal():
        raise WhetError(
            "This needs a person's approval in a terminal.", advice="Run it in your own terminal, without pipes."
        )


def trust_of(actor: Actor) -> Trust:
    """How far words from the command line are believed: what an agent types may be anybody's."""
    return Trust.OPERATOR if actor is Actor.PERSON else Trust.EXTERNAL


def trust_at(home: Home, actor: Actor, *, yes: bool) -> Trust:
    """How far words are believed that would change what agents are told.

    Without a terminal nobody knows who gave them, so they wait; unless --yes is given and the settings allow that.
    """
    is_known = has_terminal() or (yes and load(home).trust.commands)
    return trust_of(actor) if is_known else Trust.EXTERNAL
