"""A condensed session: what a reader reads of a conversation, an event a line, with paths as its project knows them."""

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache

from msgspec.structs import replace

from whet.sessions.trust import Trust
from whet.sessions.worktrees import without_worktree
from whet.values import Value

_DRIVE = re.compile(r"^([A-Za-z]):[\\/]")
_PERSONS = re.compile(
    r"(?<![\w.-])(?:/(?:home|Users)/[^/\s'\":;]+|/root|[A-Za-z]:[/\\]+Users[/\\]+[^/\\\s'\":;]+)(?=[/\\])"
)
_BEHIND = r"(?:[/\\]+(?=[\w.@(\[-])|(?![\w-]))"


class EventKind(StrEnum):
    """What an event of a session is."""

    PERSON = "person"  # a person typed it
    UNSURE = "unsure"  # typed in the person's place; the record does not tell whether a person did
    TEAM = "team"  # another agent, a hook or a scheduler spoke in the person's place
    REFUSED = "refused"  # a call was not let to run
    INTERRUPTED = "interrupted"  # the agent was stopped at work
    FAILED = "failed"  # a call failed
    RETRIED = "retried"  # a call that counts as worked, and was made again at once in another form
    RED = "red"  # a check was red
    COUNTED = "counted"  # errors of the editing tools and empty searches, as a number
    CLAIMED = "claimed"  # "done", which a check, a failure or the person contradicted next
    AGENT = "agent"  # the agent says what it found out


class SessionEvent(Value, frozen=True):
    """One event: what was said or done, what came of it, and the form that then worked.

    `message` is the message to quote from. The trust is the lowest of the words in it. `calls` and `minutes` are what a
    person's message cost. A refusal with words is two events of one message: REFUSED, then PERSON.
    """

    message: int
    kind: EventKind
    text: str  # the words, or the call
    error: str = ""  # the lines of the answer that say why it failed
    worked: str = ""  # one later call with the same purpose that worked
    trust: Trust = Trust.AGENT
    calls: int = 0
    minutes: float = 0.0
    worked_at: int = -1  # the message in which the call of `worked` was made
    again: bool = False  # the same call worked, after that of `worked`
    subject: str = ""  # the rule or test that was red, or the path that nobody could open
    times: int = 1  # how often it happened in the session


class CondensedSession(Value, frozen=True):
    """The events of one session in the order of time."""

    session: str
    agent: str = ""
    started: float | None = None
    events: tuple[SessionEvent, ...] = ()
    left_out: int = 0  # events for which there was no room
    who: str = ""  # the member of a team whose session it is


def distrusted(session: CondensedSession) -> CondensedSession:
    """The session as a stranger's: nobody here can tell who wrote a word of it."""
    return replace(session, events=tuple(_strangers(event) for event in session.events))


def _strangers(event: SessionEvent) -> SessionEvent:
    kind = EventKind.TEAM if event.kind in (EventKind.PERSON, EventKind.UNSURE) else event.kind
    return replace(event, kind=kind, trust=Trust.EXTERNAL)


def in_project(text: str, folder: str) -> str:
    """A text on one line, its paths beginning at the project's folder, or at `~` where they are the person's."""
    flat = " ".join(text.split())
    pattern = _of_folder(folder)
    if pattern is not None:
        flat = pattern.sub(_short, flat)
    return _PERSONS.sub("~", flat) if "/" in flat or "\\" in flat else flat


def _short(found: re.Match[str]) -> str:
    return "" if found.group().endswith(("/", "\\")) else "."


@lru_cache(maxsize=64)
def _of_folder(folder: str) -> re.Pattern[str] | None:
    forms = sorted({*_forms(folder.rstrip("/\\"))}, key=len, reverse=True)
    if not forms:
        return None
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, forms))}){_BEHIND}", re.IGNORECASE)


def _forms(folder: str) -> Iterator[str]:
    """How tools spell a folder: with either slash, doubled in JSON, and as the shells on Windows do."""
    for place in {folder, without_worktree(folder)}:
        if place.count("/") + place.count("\\") < 1 or len(place) < 4:
            continue
        plain = place.replace("\\", "/")
        yield from (place, plain)
        if drive := _DRIVE.match(place):
            yield from (plain.replace("/", "\\"), plain.replace("/", "\\\\"))
            yield from (f"/{drive[1]}/{plain[3:]}", f"/mnt/{drive[1]}/{plain[3:]}")
