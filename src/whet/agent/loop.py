"""The loop: a run becomes a conversation, message by message and call by call, until it ends."""

import json
from collections.abc import Callable, Generator, Iterable, Iterator
from threading import Event
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from whet.agent.protocols import Answer, Provider, ProviderFailed, ProviderFault, Reply, StopReason, Toolbox
from whet.net.wire import Interrupted
from whet.own.runs import text_calls
from whet.own.runs.run import Ended, Fragment, Run, Spent, WorkReport, exceeded, grown, is_open, spend
from whet.own.runs.shortening import is_full
from whet.sessions.transcripts import (
    Disposition,
    Ending,
    Message,
    Origin,
    Role,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    decode,
    encode,
    total,
)
from whet.sessions.trust import Trust
from whet.shipped.guidance import notice

MOST_AT_ONCE = 8
FAULT_CHARACTERS = 120
Clock = Callable[[], float]
Said = Message | Fragment | Ended


def whole(message: Message) -> Message:
    """The message in characters that every encoding takes: half characters, which some sources give, are replaced."""
    try:
        encode(message)
    except UnicodeEncodeError:
        return decode(msgspec.json.encode(_mended(msgspec.to_builtins(message))))
    return message


def _mended(value: object) -> object:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case dict():
            return {key: _mended(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_mended(inner) for inner in value]
    return value


def named(message: Message, taken: Iterable[str]) -> tuple[Message, frozenset[str]]:
    """Give every call an id that the conversation has not seen, since endpoints leave ids out or count from zero.

    The ids of calls that bore the id of another call of the same message come with it.
    """
    if not message.calls:
        return message, frozenset()
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
    return msgspec.structs.replace(message, parts=tuple(parts)), frozenset(repeated)


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
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - slow to load, and the first request needs none

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


class ModelAnswer(NamedTuple):
    """What came of a model call: a reply, or what was said before it was stopped; and the usage of all tries."""

    reply: Reply | None
    spent: Spent
    partial: str = ""


def execute(
    run: Run, provider: Provider, toolbox: Toolbox, *, interrupt: Event, now: Clock, spent: Spent | None = None
) -> Iterator[Said]:
    """Carry a run out: pieces of replies for eyes, every whole message as it happens, and last how it ended.

    What comes out is all that is added to the conversation: `grown(run, *messages)` is where the next turn begins,
    also after a failure or an interrupt. `spent` is what the order has cost already, where a run continues another.
    """
    spent = spent or Spent()
    began = now() - spent.seconds
    while True:
        spent = replace(spent, seconds=now() - began)
        ended = _prevented(run, spent)
        if ended is not None:
            yield ended
            return
        try:
            heard = yield from _ask(run, provider, spent, interrupt)
        except ProviderFailed as failure:
            spent = replace(spend(spent, None), seconds=now() - began)
            ending = Ending.COMPACTED if failure.fault is ProviderFault.CONTEXT else Ending.FAILED
            yield Ended(ending, failure.message, spent, fault=failure.fault.value, advice=failure.advice)
            return
        spent = heard.spent
        for said in _turn(run, heard, toolbox, interrupt=interrupt, now=now):
            if isinstance(said, Ended):
                yield replace(said, spent=replace(spent, seconds=now() - began))
                return
            yield said
            run = grown(run, said)


def _prevented(run: Run, spent: Spent) -> Ended | None:
    limit = exceeded(spent, run.budget)
    if limit:
        return Ended(Ending.BUDGET, limit, spent)
    if not is_open(run):
        return Ended(Ending.FINISHED, "there was nothing to answer", spent)
    if is_full(run):
        return Ended(Ending.COMPACTED, "the context is nearly full", spent)
    return None


def _ask(run: Run, provider: Provider, spent: Spent, interrupt: Event) -> Generator[Fragment, None, ModelAnswer]:
    """Ask the model, and once more with the same bytes where it says nothing."""
    wasted: Usage | None = None
    while not interrupt.is_set():
        pieces: list[str] = []
        try:
            reply = yield from _stream(run, provider, interrupt, pieces)
        except Interrupted:
            return ModelAnswer(None, spend(spent, None), "".join(pieces))
        usage = reply.message.usage
        spent = spend(spent, usage)
        if not _is_empty(reply) or wasted is not None or exceeded(spent, run.budget):
            message = replace(reply.message, usage=total((wasted, usage))) if wasted else reply.message
            return ModelAnswer(Reply(message, reply.stop), spent)
        wasted = usage or Usage()
    return ModelAnswer(None, spent)


def _stream(run: Run, provider: Provider, interrupt: Event, pieces: list[str]) -> Generator[Fragment, None, Reply]:
    for piece in provider.reply(run, interrupt=interrupt):
        if isinstance(piece, Reply):
            return piece
        if piece.kind == "text":
            pieces.append(piece.text)
        elif piece.kind == "again":
            pieces.clear()
        yield piece
    raise ProviderFailed(ProviderFault.ENDPOINT, f"{provider.name} ended its answer without a reply.")


def _is_empty(reply: Reply) -> bool:
    """Whether there is nothing to go on: no word, no call. One that was cut or refused has its own ending."""
    message = reply.message
    return not message.text.strip() and not message.calls and reply.stop not in (StopReason.LENGTH, StopReason.REFUSED)


def _turn(run: Run, heard: ModelAnswer, toolbox: Toolbox, *, interrupt: Event, now: Clock) -> Iterator[Message | Ended]:
    """What follows from a reply: the message, the results of its calls, and how the run ends where it ends with it."""
    if heard.reply is None:
        yield from _stopped(run, heard.partial, now=now)
        return
    message, stop = heard.reply
    if _is_empty(heard.reply):
        yield Ended(Ending.EMPTY, "the model gave no answer, twice")
        return
    own, repeated = named(whole(message), (call.id for each in run.messages for call in each.calls))
    said = replace(own, at=now())
    if said.parts:
        yield said
        run = grown(run, said)
    reports: list[WorkReport] = []
    for answer in _results(run, said.calls, repeated, stop, toolbox, interrupt=interrupt):
        result = whole(Message(role=Role.TOOL, parts=(answer.result,), trust=answer.trust, at=now()))
        yield result
        run = grown(run, result)
        reports += [answer.report] if answer.report else []
    if interrupt.is_set():
        yield from _stopped(run, "", now=now)
    elif stop is StopReason.REFUSED:
        yield Ended(Ending.REFUSED, "the model or a filter refused to answer")
    elif reports:
        yield Ended(Ending.FINISHED, report=reports[0])
    elif not said.calls:
        yield from _last_words(run, stop, now=now)


def _last_words(run: Run, stop: StopReason, *, now: Clock) -> Iterator[Message | Ended]:
    """How a run ends with words that ask for no tool."""
    if stop is not StopReason.LENGTH:
        yield Ended(Ending.FINISHED)
    elif not is_full(run):
        yield Ended(Ending.CUT, "the model reached its output limit")
    else:  # a shorter conversation gives it room to go on
        yield _inserted(notice("answer_cut"), Origin.INSERTED, now)
        yield Ended(Ending.COMPACTED, "the context is full")


def _results(
    run: Run,
    calls: tuple[ToolCall, ...],
    repeated: frozenset[str],
    stop: StopReason,
    toolbox: Toolbox,
    *,
    interrupt: Event,
) -> Iterator[Answer]:
    """One answer for each call of a message, in order; those that may not be carried out are told why."""
    refused: dict[str, ToolResult] = {}
    for call in calls:
        if stop is StopReason.LENGTH:
            refused[call.id] = stand_in(call, notice("call_cut"))
        elif stop is StopReason.REFUSED:
            refused[call.id] = stand_in(call, notice("call_refused"), Disposition.CANCELLED)
        elif (result := refusal(call, run, repeated=repeated)) is not None:
            refused[call.id] = result
    carried_out = answers(tuple(call for call in calls if call.id not in refused), run, toolbox, interrupt=interrupt)
    for call in calls:
        yield Answer(refused[call.id], Trust.AGENT) if call.id in refused else next(carried_out)


def _stopped(run: Run, partial: str, *, now: Clock) -> Iterator[Message | Ended]:
    """Leave a conversation that can go on: what was said so far, and that stopped by the user here."""
    if partial.strip():
        said = Message(
            role=Role.AGENT,
            parts=(Text(partial),),
            trust=Trust.AGENT,
            at=now(),
            model=run.model,
            origin=Origin.INTERRUPT,
        )
        yield whole(said)
    yield _inserted(notice("stopped"), Origin.INTERRUPT, now)
    yield Ended(Ending.INTERRUPTED, "stopped by the user")


def _inserted(text: str, origin: Origin, now: Clock) -> Message:
    return Message(role=Role.USER, parts=(Text(text),), trust=Trust.OPERATOR, at=now(), origin=origin)
