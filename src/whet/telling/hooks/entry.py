"""`whet hook EVENT`: always ends well, for whatever a hook cannot do is not the host's trouble; a log says what it was.

The host waits for this, so it loads the standard library and little else. No model, no network and, but for the first
session of all, no database.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from whet.agents.registry import hosts, known
from whet.telling.hooks.events import (
    CALL,
    END,
    EVENTS,
    FOLDER,
    LOG,
    REMINDERS,
    RULES,
    SEEN,
    START,
    HostEvent,
    NotAnEvent,
    event_of,
    put_in_spool,
)

if TYPE_CHECKING:
    from types import FrameType

LOG_BYTES = 256 << 10
INPUT_BYTES = 4 << 20
DEADLINE_SECONDS = 5.0
CALL_DEADLINE_SECONDS = 2.0
SEEN_AGAIN_SECONDS = 3_600.0


class TooSlow(Exception):
    """The hook took so long that its host should not wait any more."""


def run(arguments: list[str], environment: Mapping[str, str]) -> int:
    """Do what the event asks for; gives 0 whatever happens."""
    home = home_of(environment)
    try:
        signal.signal(signal.SIGALRM, _give_up)
        signal.setitimer(signal.ITIMER_REAL, CALL_DEADLINE_SECONDS if CALL in arguments else DEADLINE_SECONDS)
        try:
            name, agent = _asked(arguments)
            event = event_of(name, agent, _standard_input(), environment)
            if event.event == START:
                said = start(home, event, environment)
            else:
                said = remind(home, event) if event.event == CALL else end(home, event)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if said:
            sys.stdout.write(said)
            sys.stdout.flush()
    except Exception as error:  # noqa: BLE001 - the host must not fail whatever is wrong with Whet
        log(home, f"{' '.join(arguments)[:200]}: {type(error).__name__}: {error}")
    return 0


def home_of(environment: Mapping[str, str]) -> str:
    """The same folder as `store.home.find_home` gives, without loading the store."""
    named = environment.get("WHET_HOME", "")
    return os.path.abspath(os.path.expanduser(named or "~/.whet"))


def end(home: str, event: HostEvent) -> str:
    """Keep where the session's record lies, for whoever imports it later."""
    if not event.path:
        raise NotAnEvent(f"{event.agent} names no record of session {event.session}")
    put_in_spool(home, END, event.agent, event.session, path=os.path.abspath(event.path), folder=event.folder)
    return ""


def start(home: str, event: HostEvent, environment: Mapping[str, str]) -> str:
    """The context for a session that starts, in the form that hosts read; empty where there is nothing to tell."""
    from whet.telling.hooks.starting import starting_text  # noqa: PLC0415 - the end of a session needs none of it

    _mark_seen(home, event.agent)
    compiled = None if event.is_resumed else _compiled(home, environment)
    if compiled is None:
        return ""
    told = starting_text(compiled, event, environment)
    more = {"folder": event.folder, "draws": told.draws, "entries": told.entries}
    put_in_spool(home, START, event.agent, event.session, **more)
    if not told.text:
        return ""
    return _context("SessionStart", told.text)


def remind(home: str, event: HostEvent) -> str:
    """The rules to be reminded of at a call, as context that goes with its result; the call itself goes its way."""
    try:
        with open(os.path.join(home, FOLDER, REMINDERS), "rb") as file:
            compiled = json.load(file)
    except FileNotFoundError:
        return ""
    from whet.telling.hooks.starting import reminding_text  # noqa: PLC0415 - not where there is nothing to remind of

    text = reminding_text(home, compiled, event)
    host = known(event.agent)
    return _context(host.hooks.at_call, text) if text and host and host.hooks else ""


def _context(name: str, text: str) -> str:
    """In the form that hosts read."""
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}) + "\n"


def log(home: str, text: str) -> None:
    """Say what could not be done, in a log that stays small; where even that fails, nothing is left to say it to."""
    path = os.path.join(home, FOLDER, LOG)
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        if os.path.exists(path) and os.path.getsize(path) > LOG_BYTES:
            os.replace(path, f"{path}.old")
        line = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {text[:1000]!a}\n"
        with open(path, "a", encoding="utf-8", opener=_private) as file:
            file.write(line)
    except OSError:
        return


def _asked(arguments: list[str]) -> tuple[str, str]:
    """The event and the agent of a command line; the agent is empty where it is for the input to tell."""
    names = [each for each in arguments if not each.startswith("--agent")]
    agent = ""
    if "--agent" in arguments[:-1]:
        agent = arguments[arguments.index("--agent") + 1]
        names = [each for each in names if each != agent]
    agent = next((each.removeprefix("--agent=") for each in arguments if each.startswith("--agent=")), agent)
    if len(names) != 1 or names[0] not in EVENTS:
        raise NotAnEvent(f"give one event of {', '.join(EVENTS)}")
    host = known(agent)
    if agent and not (host and host.hooks):
        raise NotAnEvent(f"the agent is one of {', '.join(hosts())}")
    return names[0], host.name if host else ""


def _standard_input() -> Any:
    if sys.stdin is None or sys.stdin.isatty():
        raise NotAnEvent("the host's JSON is missing on standard input")
    return json.loads(sys.stdin.buffer.read(INPUT_BYTES))


def _compiled(home: str, environment: Mapping[str, str]) -> Any:
    """The rules compiled for hooks. Where they never were, that is made up for; None where there are none."""
    path = os.path.join(home, FOLDER, RULES)
    try:
        with open(path, "rb") as file:
            return json.load(file)
    except (OSError, ValueError):
        has_store = environment.get("WHET_DATABASE_URL") or os.path.exists(os.path.join(home, "whet.db"))
        if not os.path.isdir(home) or not has_store:
            return None
    from whet.telling.hooks.compiling import compile_now  # noqa: PLC0415 - once in the life of a home

    compile_now(environment)
    with open(path, "rb") as file:
        return json.load(file)


def _mark_seen(home: str, agent: str) -> None:
    """Leave a mark that this agent has hooks: its sessions are drawn for one by one, and its files hold no canary."""
    folder = os.path.join(home, FOLDER, SEEN)
    path = os.path.join(folder, agent)
    try:
        if time.time() - os.path.getmtime(path) < SEEN_AGAIN_SECONDS:
            return
    except OSError:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    with open(path, "w", encoding="utf-8", opener=_private):
        os.utime(path)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _give_up(number: int, frame: "FrameType | None") -> None:  # noqa: ARG001 - what a signal gives its handler
    raise TooSlow("not done in time")
