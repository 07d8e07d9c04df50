"""A condensed session: what a reader reads of a conversation, an event a line, with paths as its project knows them.

The lines of an answer that say why a call failed, chosen by what they have to do with the call and what followed. No
word makes a line telling. It shares rare words with what the agent said and did next, or with the call; it begins with
who speaks and a colon, as diagnostics do; and it is none of many that are alike: frames of a stack, progress, passed
tests.
"""

import re
from collections import Counter
from collections.abc import Iterator, Set
from enum import StrEnum
from functools import lru_cache

from msgspec.structs import replace

from whet.sessions.trust import Trust
from whet.sessions.worktrees import without_worktree
from whet.trouble.outcomes.envelopes import output_of
from whet.values import Value

LOOKED_AT = 12_000  # letters of an answer: its beginning and its end
LINE = 200
MOST_LINES = 300
ALIKE_FROM = 4  # lines that begin alike
LEAST_LETTERS = 6
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_WRAPPED = re.compile(r"^(?:</?[a-z][\w-]{2,40}>)+|(?:</?[a-z][\w-]{2,40}>)+$", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.;!?。！？])\s+")
_TERM = re.compile(r"[^\s'\"`()\[\]{}<>|;&,=…]+")
_LABELLED = re.compile(r"\S{2,60}(?: \S{1,30})?: \S")
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
    said = (EventKind.PERSON, EventKind.UNSURE)
    events = (
        replace(each, kind=EventKind.TEAM if each.kind in said else each.kind, trust=Trust.EXTERNAL)
        for each in session.events
    )
    return replace(session, events=tuple(events))


def in_project(text: str, folder: str) -> str:
    """A text on one line, its paths beginning at the project's folder, or at `~` where they are the person's."""
    flat = " ".join(text.split())
    pattern = _of_folder(folder)
    if pattern is not None:
        flat = pattern.sub(lambda found: "" if found[0].endswith(("/", "\\")) else ".", flat)
    return _PERSONS.sub("~", flat) if "/" in flat or "\\" in flat else flat


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


def terms(text: str) -> frozenset[str]:
    """The words of a text as they are compared: in small letters, paths also by their last part."""
    found: set[str] = set()
    for word in _TERM.findall(text.lower()):
        plain = word.strip(".,:!?/\\-")
        if len(plain) > 1:
            found.add(plain)
            if "/" in plain or "\\" in plain:
                found.add(re.split(r"[/\\]", plain)[-1].strip("."))
    return frozenset(found)


def without_colours(text: str) -> str:
    return _COLOUR.sub("", text) if "\x1b" in text else text


def telling_lines(text: str, *, asked: Set[str], followed: Set[str], most: int = 2, name: str = "") -> tuple[str, ...]:
    """At most so many lines, in their order; `asked` and `followed` are the words of the call and of what came next.

    Where a `name` is known for what failed, the lines with it come first.
    """
    lines = _lines(text)
    if len(lines) <= most:
        return tuple(lines)
    begins = Counter(_beginning(line) for line in lines)
    words = [terms(line) for line in lines]
    known = Counter(word for each in words for word in each)
    scored = []
    for place, (line, own) in enumerate(zip(lines, words, strict=True)):
        score = _shared(own, followed, known, 1.5) + _shared(own, asked, known, 0.6)
        score += _by_form(line) + 2.0 * (name != "" and name in line)
        alike = begins[_beginning(line)]
        scored.append((score / (1 + alike / ALIKE_FROM) if alike >= ALIKE_FROM and score > 0 else score, -place))
    best = sorted(sorted(scored, reverse=True)[:most], key=lambda each: -each[1])
    return tuple(_with_announced(lines, -place) for _, place in best)


def _with_announced(lines: list[str], place: int) -> str:
    """A line, with the one that it announces where it ends with a colon."""
    announces = lines[place].endswith((":", "：")) and place + 1 < len(lines)
    return f"{lines[place]} | {lines[place + 1]}" if announces else lines[place]


def _lines(text: str) -> list[str]:
    """The lines that hold words, each once, without colours, tags and what was overwritten; long ones in sentences."""
    if len(text) > LOOKED_AT:
        text = f"{text[: LOOKED_AT // 3]}\n{text[-2 * LOOKED_AT // 3 :]}"
    plain = _WRAPPED.sub("", without_colours(output_of(text)))
    found: dict[str, None] = {}
    for raw in plain.split("\n"):
        line = " ".join(raw.rpartition("\r")[2].split()) or " ".join(raw.split())
        pieces = _SENTENCE.split(line) if len(line) > LINE else [line]
        for piece in pieces:
            if sum(map(str.isalpha, piece[:LINE])) >= 2:
                found.setdefault(piece)
    lines = list(found)
    return lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES // 3], *lines[-2 * MOST_LINES // 3 :]]


def _beginning(line: str) -> str:
    """The first word without its digits. Bytes are many times as quick as letters here."""
    return line.partition(" ")[0].encode("utf-8", "replace").translate(None, b"0123456789").decode()


def _shared(own: Set[str], other: Set[str], known: Counter[str], most: float) -> float:
    """How much two texts share of what is rare in the answer."""
    return min(most, sum(1 / known[word] for word in own & other) * most / 3)


def _by_form(line: str) -> float:
    """A sentence has letters; what shows code or draws has few."""
    letters = sum(map(str.isalpha, line[:LINE]))
    if letters < LEAST_LETTERS:
        return -1.0
    is_sentence = letters >= 0.6 * len(line[:LINE]) and " " in line
    return (0.3 if is_sentence else -0.3) + 0.4 * (_LABELLED.match(line) is not None)
