"""Calls of a reply: which may be carried out, and one result for each of them, by its id."""

import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import NamedTuple

import msgspec

from whet.agent.protocols import Answer, Toolbox
from whet.net.interrupting import Interrupted
from whet.runs import text_calls
from whet.runs.run import Run
from whet.sessions.transcripts import Disposition, Message, Text, ToolCall, ToolResult
from whet.sessions.trust import Trust
from whet.shipped.guidance import notice

MOST_AT_ONCE = 8
FAULT_CHARACTERS = 120


class Named(NamedTuple):
    """A message of the agent in which every call has an id of its own, and those that had to be given one.

    `repeated` are the calls that bore the id of another call of the same message.
    """

    message: Message
    repeated: frozenset[str] = frozenset()


def named(message: Message, taken: Iterable[str]) -> Named:
    """Give every call an id that the conversation has not seen, since endpoints leave ids out or count from zero."""
    if not message.calls:
        return Named(message)
    used, here, repeated = set(taken), set[str](), set[str]()
    parts = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            own = _free(part.id, used)
            if part.id and part.id in here:
                repeated.add(own)
            here.add(part.id)
            used.add(own)
            part = part if own == part.id else msgspec.structs.replace(part, id=own)
        parts.append(part)
    return Named(msgspec.structs.replace(message, parts=tuple(parts)), frozenset(repeated))


def refusal(call: ToolCall, run: Run, *, repeated: frozenset[str] = frozenset()) -> ToolResult | None:
    """The result of a call that may not be carried out; None for one that may."""
    if call.id in repeated:
        return stand_in(call, notice("call_repeated"))
    unreadable = text_calls.fault_of(call)
    if unreadable:
        return stand_in(call, notice("call_unreadable", fault=unreadable))
    known = [definition.name for definition in run.shown]
    if call.name not in known:
        text = notice("call_unknown", tool=call.name[:FAULT_CHARACTERS], tools=", ".join(known) or "none")
        return stand_in(call, text)
    if call.name not in run.allowed:
        return stand_in(call, notice("call_denied", tool=call.name), Disposition.BLOCKED)
    fault = fault_of(call.arguments)
    return stand_in(call, notice("call_malformed", fault=fault)) if fault else None


def fault_of(arguments: str) -> str:
    """What keeps a text from being the arguments of a call: it must be one JSON object that says nothing twice."""
    try:
        value = json.loads(arguments, object_pairs_hook=_once, parse_constant=_no_number)
        msgspec.json.decode(arguments)  # stricter about characters and numbers than the standard library
    except (ValueError, RecursionError, msgspec.MsgspecError) as error:
        return str(error)[:FAULT_CHARACTERS] if isinstance(error, ValueError) else "nested too deeply"
    return "" if isinstance(value, dict) else f"it is a {type(value).__name__}"


def stand_in(call: ToolCall, text: str, disposition: Disposition | None = None) -> ToolResult:
    """A result in the place of one that the tool would have given."""
    return ToolResult(call.id, (Text(text),), call.name, error=True, disposition=disposition)


def answers(calls: tuple[ToolCall, ...], run: Run, toolbox: Toolbox, *, interrupt: Event) -> Iterator[Answer]:
    """One answer for each call, in their order; at the same time where none of them changes anything."""
    if len(calls) > 1 and all(toolbox.can_run_beside(call) for call in calls):
        with ThreadPoolExecutor(min(len(calls), MOST_AT_ONCE), thread_name_prefix="tool") as pool:
            yield from pool.map(lambda call: _answer(call, run, toolbox, interrupt), calls)
        return
    ended = False
    for call in calls:
        if ended:
            yield Answer(stand_in(call, notice("call_after_end"), Disposition.CANCELLED), Trust.AGENT)
            continue
        answer = _answer(call, run, toolbox, interrupt)
        ended = answer.report is not None
        yield answer


def _answer(call: ToolCall, run: Run, toolbox: Toolbox, interrupt: Event) -> Answer:
    if interrupt.is_set():
        return Answer(stand_in(call, notice("call_cancelled"), Disposition.CANCELLED), Trust.AGENT)
    try:
        answer = toolbox.answer(call, allowed=run.allowed, interrupt=interrupt)
    except Interrupted:
        return Answer(stand_in(call, notice("call_interrupted"), Disposition.INTERRUPTED), Trust.AGENT)
    # Whatever the tool says, the result belongs to the call that it was asked for.
    if (answer.result.call_id, answer.result.tool) == (call.id, call.name):
        return answer
    return answer._replace(result=msgspec.structs.replace(answer.result, call_id=call.id, tool=call.name))


def _free(wanted: str, used: set[str]) -> str:
    base = wanted or "call"
    number, own = 2 if wanted else 1, wanted or "call-1"
    while own in used:
        own, number = f"{base}-{number}", number + 1
    return own


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key occurs twice")
    return value


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
