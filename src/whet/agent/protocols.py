"""What the loop needs of a provider and of tools."""

from collections.abc import Iterator
from enum import StrEnum
from threading import Event
from typing import NamedTuple, Protocol

from whet.own.runs.models import Model
from whet.own.runs.run import Fragment, Run, WorkReport
from whet.sessions.transcripts import Message, ToolCall, ToolResult
from whet.sessions.trust import Trust


class StopReason(StrEnum):
    """Why the model stopped."""

    END = "end"  # it had said what it wanted
    CALLS = "calls"  # it asks for tools
    LENGTH = "length"  # its output or its context was full: the message may be cut
    REFUSED = "refused"  # it, or a filter before it, would not answer
    OTHER = "other"


class Reply(NamedTuple):
    """One whole answer: a message of the agent, with its usage and the model that really served it."""

    message: Message
    stop: StopReason


class ProviderFault(StrEnum):
    """Why a provider gave no answer."""

    KEY = "key"  # no credentials, or wrong ones
    LIMIT = "limit"  # too many requests, still after waiting
    CONTEXT = "context"  # the request is longer than the model's window
    REQUEST = "request"  # the endpoint will never take this request
    NETWORK = "network"  # not reached, timed out, or cut off, still after trying again
    ENDPOINT = "endpoint"  # it answered, but not in its own form, or with its own error
    MONEY = "money"  # the account has no credit left


class ProviderFailed(Exception):
    """No answer, after every retry that made sense. The run ends with it; nothing of the answer is used.

    `is_passing` where the same request may work later, `after_seconds` where the endpoint says when.
    """

    def __init__(
        self,
        fault: ProviderFault,
        message: str,
        *,
        advice: str = "",
        is_passing: bool = False,
        after_seconds: float | None = None,
    ) -> None:
        super().__init__(message)
        self.fault = fault
        self.message = message
        self.advice = advice
        self.is_passing = is_passing
        self.after_seconds = after_seconds


class Provider(Protocol):
    """An endpoint that answers runs."""

    @property
    def name(self) -> str:
        """What the prompt and the statistics call it."""
        ...

    def request(self, run: Run) -> bytes:
        """The body that is sent for this run: a pure function, so that it can be compared and replayed."""
        ...

    def reply(self, run: Run, *, interrupt: Event) -> Iterator[Fragment | Reply]:
        """Pieces as they stream, then one reply. Raises ProviderFailed, or Interrupted once the event is set."""
        ...


class Answer(NamedTuple):
    """A tool's result, and how far its text may be believed. A report ends the run: the agent says it is done."""

    result: ToolResult
    trust: Trust
    report: WorkReport | None = None


class Toolbox(Protocol):
    """Tools behind one door: permission, arguments and limits are checked here, whoever asks."""

    def answer(self, call: ToolCall, *, allowed: frozenset[str], interrupt: Event) -> Answer:
        """Carry one call out. Never raises for what the model or the tool did wrong: that is a result."""
        ...

    def can_run_beside(self, call: ToolCall) -> bool:
        """Whether the call changes nothing, so that it may run at the same time as others."""
        ...

    def close(self) -> None:
        """End what still runs: background processes, servers."""
        ...


class Chosen(NamedTuple):
    """A provider, and the model that it is asked for."""

    provider: Provider
    model: Model
