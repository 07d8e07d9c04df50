"""Plans as values: their steps, and the one that a session holds."""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from whet.sessions.example_marks import cold
from whet.sessions.transcripts import Message, pair

NAME = "todo"


class TodoStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step of a plan."""

    text: Annotated[str, Meta(min_length=1, max_length=500)]
    status: Literal["open", "doing", "done", "dropped"] = "open"


class _Arguments(msgspec.Struct, frozen=True):
    steps: tuple[TodoStep, ...] | None = None


def plan_in(messages: Sequence[Message]) -> tuple[TodoStep, ...]:
    """The plan that a session holds: the one of its last call that was answered without an error."""
    plan: tuple[TodoStep, ...] = ()
    for exchange in pair(cold(messages)).exchanges:
        if exchange.call.name == NAME and exchange.result is not None and not exchange.result.error:
            plan = _steps(exchange.call.arguments) or plan
    return plan


def _steps(arguments: str) -> tuple[TodoStep, ...]:
    try:
        return msgspec.json.decode(arguments, type=_Arguments).steps or ()
    except msgspec.MsgspecError:
        return ()
