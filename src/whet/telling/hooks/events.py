"""What a host says of a session as it starts, calls a tool or ends, whichever host it is.

The folder of the hooks in the home: compiled rules and reminders, marks of agents and of reminders, and the log. The
spool beside it: a small file for each session that started or ended and each reminder, until it is taken in. A file is
named by its session, so a host that reports every turn leaves one file and not hundreds.
"""

import json
import os
import re
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from whet.agents.agent import Agent, HostMarks
from whet.agents.registry import AGENTS, USUAL, known
from whet.ledger.holding import CompiledScope, WorkLocation, holds

FOLDER = "hooks"
RULES = "rules.json"
REMINDERS = "reminders.json"  # only where there are any: hosts look for it before they call
REMINDED = "reminded"
SEEN = "agents"
LOG = "log.txt"


SPOOL = "spool"
TEMPORARY = ".new-"
SUFFIX = ".json"
LONGEST_NAME = 100
START, CALL, END = "session-start", "tool-call", "session-end"
EVENTS = (START, CALL, END)
LONGEST = 4_096
LONGEST_COMMAND = 20_000


def has_hooks(home: os.PathLike[str]) -> bool:
    """Whether any hook ever ran in this home's folder, or was installed for it."""
    return os.path.isdir(os.path.join(home, FOLDER))


class HostEvent(NamedTuple):
    """One event of one session. `path` is the file with its record, empty where the host does not say."""

    event: str
    agent: str
    session: str
    path: str
    folder: str
    is_unattended: bool = False
    is_resumed: bool = False  # what it was told when it began is in its record, and is sent again
    command: str = ""  # that the shell is given


def is_for(rule: Mapping[str, Any], event: HostEvent, *, project: str | None) -> bool:
    """Whether a compiled rule is for the session of an event, in a project, or wherever that is."""
    purpose = "unattended" if event.is_unattended else "interactive"
    scope = CompiledScope(rule["purposes"], rule["project"])
    return event.agent in rule["agents"] and holds(scope, WorkLocation(project, purpose=purpose, folder=event.folder))


class NotAnEvent(Exception):
    """What stood on standard input does not say which session is meant."""


def event_of(event: str, agent: str, body: Any, environment: Mapping[str, str]) -> HostEvent:
    """The event that a host describes in JSON; raises NotAnEvent where it names no session."""
    if not isinstance(body, dict):
        raise NotAnEvent("standard input is not a JSON object")
    host = agent or agent_of(body)
    marks = _marks(known(host))
    session = _text(body, "session_id") or _text(body, "sessionID")
    if not session:
        raise NotAnEvent("standard input has no session_id")
    folder = _text(body, "cwd") or _text(body, "directory") or os.getcwd()
    variable, otherwise, file = marks.database  # where a host keeps all its sessions, if it hands no path on
    database = os.path.join(environment.get(variable) or os.path.expanduser(otherwise), file) if file else ""
    variable, start = marks.unattended  # nobody sits there, as far as the host says so
    is_unattended = bool(variable) and environment.get(variable, "").startswith(start)
    given = body.get("tool_input")
    command = given.get("command") if isinstance(given, dict) else None
    return HostEvent(
        event,
        host,
        session,
        _text(body, "transcript_path") or database,
        folder,
        is_unattended,
        is_resumed=_text(body, "source") == "resume",
        command=command[:LONGEST_COMMAND] if isinstance(command, str) else "",
    )


def agent_of(body: Mapping[str, Any]) -> str:
    """Which host writes like this: by the names of its fields, then by where it keeps its records."""
    path = _text(body, "transcript_path").replace("\\", "/")
    for agent in AGENTS:
        marks = _marks(agent)
        if (marks.field and marks.field in body) or (marks.record and re.search(marks.record, path)):
            return agent.name
    return USUAL


def _marks(agent: Agent | None) -> HostMarks:
    return agent.hooks.marks if agent and agent.hooks else HostMarks()


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    return value if isinstance(value, str) and len(value) <= LONGEST and value.isprintable() else ""


def put_in_spool(home: str, event: str, agent: str, session: str, **more: Any) -> str:
    """Write one file, whole or not at all; gives its path. Reminders of other rules have files of their own."""
    folder = os.path.join(home, SPOOL)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    entries = [event, *map(str, more["entries"])] if event == CALL else [event]
    name = spool_name("-".join(entries), agent, session)
    temporary = os.path.join(folder, f"{TEMPORARY}{os.getpid()}-{name}")
    body = {"event": event, "agent": agent, "session": session, "at": time.time(), **more}
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(body, file)
    path = os.path.join(folder, name)
    os.rename(temporary, path)
    return path


def spool_name(event: str, agent: str, session: str) -> str:
    """By the session's own id where that can be a name, as those of all known hosts can."""
    plain = session.replace("-", "").replace("_", "")
    if plain.isascii() and plain.isalnum() and len(session) <= LONGEST_NAME:
        return f"{event}-{agent}-{session}{SUFFIX}"
    from hashlib import blake2b  # noqa: PLC0415 - slow to load, and hardly ever needed

    digest = blake2b(session.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return f"{event}-{agent}-by-digest-{digest}{SUFFIX}"
