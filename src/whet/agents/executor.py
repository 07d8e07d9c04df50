"""One order or one question to another agent, how its program is started, and what it left."""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from whet.sessions.transcripts import Message, Origin, Role, Transcript, Usage, total

WHY_CHARACTERS = 200
LIMITS = ("rate limit", "rate_limit", "usage limit", "quota", "429", "too many requests", "credit balance", "402")
LOGINS = ("401", "403", "unauthorized", "not logged in", "log in", "/login", "api key", "authentication")

MARK = "[whet reads recorded sessions here: this conversation is no work of a person]"
NO_ANSWER = "it gave no answer"


class ProgramTask(NamedTuple):
    """What is to be done, where, and for how much. `config` is a home of the agent's own, empty before."""

    task: str
    workspace: Path
    config: Path
    model: str = ""
    seconds: float = 900.0
    dollars: float | None = None
    turns: int | None = None
    examples: str = ""  # that the session begins with, as chat messages in JSON
    environment: Mapping[str, str] = MappingProxyType({})  # what the case sets for all that is run in it

    @property
    def prefill(self) -> Path:
        """Where the examples lie, if there are any."""
        return self.config / "prefill.json"


class ProgramLaunch(NamedTuple):
    """A program to start: its words, and the variables that it gets beside the allowed ones."""

    words: tuple[str, ...]
    variables: Mapping[str, str]


class Validity(StrEnum):
    """Whether an attempt tells anything. One that ran out of its time did what it could: it counts too."""

    VALID = "valid"
    DENIED = "denied"  # a permission that the attempt needed was not given
    LIMITED = "limited"  # too many requests, or no credit
    NO_LOGIN = "no login"
    CRASHED = "crashed"  # the program ended without a record, or with its own error
    TIMED_OUT = "timed out"

    @property
    def counts(self) -> bool:
        return self in (Validity.VALID, Validity.TIMED_OUT)


class ProgramResult(NamedTuple):
    """What a program left when it ended: its output, how it ended, and how long it took."""

    output: str
    errors: str
    exit_code: int | None  # None: it was stopped because its time was over
    seconds: float


class Carried(NamedTuple):
    """An errand that was carried out: the record, what it used, and whether it tells anything."""

    transcript: Transcript | None
    usage: Usage
    validity: Validity
    why: str = ""
    version: str = ""
    model: str = ""
    seconds: float = 0.0


class ProgramSaid(NamedTuple):
    """What a program's own output says: how it went, what was used, and its answer where it was asked a question."""

    validity: Validity = Validity.VALID
    why: str = ""
    usage: Usage | None = None  # None: as its record counts
    text: str = ""
    model: str = ""


def said_by_exit(left: ProgramResult) -> ProgramSaid:
    """Of a program whose output is for people: all that counts is how it ended."""
    return ProgramSaid(*ending(left, has_failed=bool(left.exit_code)))


def ending(left: ProgramResult, told: str = "", *, has_failed: bool) -> tuple[Validity, str]:
    """How a program ended, with the reason in its own words where it failed."""
    if not has_failed:
        return Validity.VALID, ""
    why = told or left.errors.strip() or left.output.strip() or f"it ended with {left.exit_code}"
    return refusal_in(why) or Validity.CRASHED, why[:WHY_CHARACTERS]


class Executor(NamedTuple):
    """How an agent is started by a command without a person, and what is read from what it leaves."""

    program: str
    launch: Callable[[ProgramTask, str], ProgramLaunch]
    record: tuple[str, str]  # a folder in its config home, and a pattern for its records there
    said: Callable[[ProgramResult], ProgramSaid] = said_by_exit
    variables: tuple[str, ...] = ()  # by which it logs in, and that say where its model answers
    places: Mapping[str, str] = MappingProxyType({})  # where in its config home it looks for a file, if not at the top
    endpoints: tuple[str, ...] = ()  # where its model answers and its login is renewed, unless a variable says it
    begins_warm: bool = False  # whether its session can begin with examples

    def carried(self, left: ProgramResult, transcript: Transcript | None) -> Carried:
        """What came of an errand. One that left nothing to read tells nothing, and says why."""
        said = self.said(left)
        if transcript is None:
            lines = (left.errors.strip() or left.output.strip() or "it left no record").splitlines()
            refusal = refusal_in(f"{left.errors}\n{left.output}")
            validity = said.validity if said.validity is Validity.NO_LOGIN else refusal or Validity.CRASHED
            return Carried(None, Usage(), validity, lines[-1][:WHY_CHARACTERS], seconds=left.seconds)
        if left.exit_code is None:
            said = said._replace(validity=Validity.TIMED_OUT, why="its time was over")
        used = said.usage
        if used is None:
            used = transcript.usage or total(message.usage for message in transcript.messages) or Usage()
            used = replace(used, cost_dollars=used.cost_dollars or None)  # some say 0 where they do not know
        model = transcript.model or said.model
        return Carried(transcript, used, said.validity, said.why, transcript.version, model, left.seconds)


def refusal_in(said: str) -> Validity | None:
    """What a service refused, by the words of the program's own error; None where it did not."""
    words = said.lower()
    if any(each in words for each in LIMITS):
        return Validity.LIMITED
    return Validity.NO_LOGIN if any(each in words for each in LOGINS) else None


def events_of(output: str) -> list[dict[str, Any]]:
    """The objects that a program printed, one a line; what else it printed is left out."""
    found: list[dict[str, Any]] = []
    for line in output.splitlines():
        try:
            value = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


class ReadingTask(NamedTuple):
    """What a program is asked with, beside the prompt on its standard input. `folder` is an empty one of its own."""

    system: str
    folder: Path
    environment: Mapping[str, str]
    model: str = ""
    dollars: float | None = None


class ReadingLaunch(NamedTuple):
    """A program to start: its words, more variables, and files and links that it finds in its folder."""

    words: tuple[str, ...]
    variables: Mapping[str, str] = MappingProxyType({})
    files: Mapping[str, str] = MappingProxyType({})
    links: Mapping[str, Path] = MappingProxyType({})


class ReaderAnswer(NamedTuple):
    """What a reader said, and what that used; `why` says why it said nothing."""

    text: str
    usage: Usage = Usage()
    model: str = ""
    why: str = ""


class ProgramReader(NamedTuple):
    """How a program answers one question without tools, and what is read from its output.

    With one of the `keys` in its environment it pays by the token; without, it works within the person's plan.
    """

    program: str
    launch: Callable[[ReadingTask, str], ReadingLaunch]
    said: Callable[[ProgramResult], ProgramSaid]
    keys: tuple[str, ...] = ()

    def answer(self, left: ProgramResult) -> ReaderAnswer:
        """What it answered; without an answer, the reason in the program's own words."""
        if left.exit_code is None:
            return ReaderAnswer("", why="its time was over")
        said = self.said(left)
        usage = said.usage or Usage()
        if left.exit_code == 0 and said.validity is Validity.VALID and said.text:
            return ReaderAnswer(said.text, usage, said.model)
        words = said.why or left.errors.strip() or left.output.strip() or NO_ANSWER
        refusal = refusal_in(words)
        kind = f"{refusal.value}: " if refusal else ""
        return ReaderAnswer("", usage, why=f"{kind}{words.splitlines()[-1][:WHY_CHARACTERS]}")


def is_of_reader(messages: Iterable[Message]) -> bool:
    """Whether a record is that of a reader at work: the first words in the person's place begin with the mark."""
    said = (each.text.lstrip() for each in messages if each.role is Role.USER and each.origin is not Origin.INSERTED)
    return next(said, "").startswith(MARK)
