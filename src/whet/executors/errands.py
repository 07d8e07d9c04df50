"""One order to another agent, how its program is started, and what it left: the protocol of all executors."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Protocol

from whet.sessions.transcripts import Transcript, Usage


class Errand(NamedTuple):
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


class Left(NamedTuple):
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


class Executor(Protocol):
    """An agent that can be started by a command without a person."""

    @property
    def name(self) -> str: ...

    @property
    def program(self) -> str: ...

    @property
    def target(self) -> str:
        """Its name among the agents whose files Whet knows; empty where it is none of them."""
        ...

    @property
    def instructions(self) -> str:
        """The file in the workspace that the agent reads before it begins."""
        ...

    @property
    def skills(self) -> str:
        """The folder in the workspace in which the agent looks for skills; empty where it knows none."""
        ...

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables by which it logs in, and that say where its model answers."""
        ...

    @property
    def places(self) -> Mapping[str, str]:
        """Where in its config home it looks for a file of this name, if not at the top."""
        ...

    @property
    def begins_warm(self) -> bool:
        """Whether its session can begin with examples."""
        ...

    def launch(self, errand: Errand, program: str) -> ProgramLaunch: ...

    def carried(self, errand: Errand, left: Left) -> Carried: ...
