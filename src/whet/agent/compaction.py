"""Compaction: a conversation that outgrew its model's window goes on as a shorter one, in a session of its own."""

import contextlib
from collections.abc import Callable, Iterator
from threading import Event
from typing import NamedTuple

from msgspec.structs import replace

from whet.agent.loop import Clock, execute
from whet.agent.protocols import Provider, ProviderFailed, ProviderFault, Reply, Toolbox
from whet.net.wire import Interrupted
from whet.own.runs.run import Ended, Fragment, Run, Spent, grown, spend
from whet.own.runs.shortening import Shortening, compacted, fits, plain_record, plan, size, trust_of_summary
from whet.own.told.prompt import Prompt
from whet.sessions.transcripts import Ending, Message, Origin, Role, Text, Usage, total
from whet.sessions.trust import Trust
from whet.shipped.guidance import notice
from whet.text.quoting import mark_for, quoted, shortened

TRIES = 3
TAIL_SHARE = 0.3  # of the room, for the newest messages
WINDOW_SHARE = 1.2  # of the room: the whole window, less a little
LEARNED_SHARE = 0.7  # of a request that was too long for a window that nobody knows
SUMMARY_SHARE = 8  # the summary's part of the room
MOST_SUMMARY_TOKENS = 2_000
WORDS_PER_TOKEN = 0.6

Said = Run | Message | Fragment | Ended


class Compacting(NamedTuple):
    """How a conversation is shortened. `rebuild` gives the prompt anew; `new_id` names the session that continues."""

    new_id: Callable[[], str]
    rebuild: Callable[[], Prompt] | None = None
    enabled: bool = True


class WrittenSummary(NamedTuple):
    """What a model wrote for the older messages, nothing where it would not, and what asking for it cost."""

    text: str = ""
    usage: Usage | None = None
    model: str = ""


def pursue(
    run: Run, provider: Provider, toolbox: Toolbox, compacting: Compacting, *, interrupt: Event, now: Clock
) -> Iterator[Said]:
    """Execute a run past the limits of its model's window.

    Where the conversation is compacted, a new run comes out, whose messages follow; it has the old one as its parent.
    """
    spent = Spent()
    tries = 0
    while True:
        ended = Ended(Ending.UNKNOWN)
        for item in execute(run, provider, toolbox, interrupt=interrupt, now=now, spent=spent):
            if isinstance(item, Ended):
                ended = item
                continue
            if isinstance(item, Message):
                run = grown(run, item)
                tries = 0 if item.role is Role.AGENT else tries
            yield item
        if ended.ending is not Ending.COMPACTED:
            yield ended
            return
        spent, tries = ended.spent, tries + 1
        if ended.fault:  # the endpoint knows better how much it takes
            run = replace(run, room=min(run.room or size(run), int(size(run) * LEARNED_SHARE)))
        try:
            child = compact(run, provider, compacting, interrupt=interrupt, now=now, tries=tries)
        except Interrupted:
            yield Ended(Ending.INTERRUPTED, "stopped by the user", spent)
            return
        if child is None:
            yield _too_long(ended)
            return
        run = child
        usage = next((message.usage for message in run.messages if message.usage), None)
        spent = spend(spent, usage) if usage else spent
        yield run


def compact(
    run: Run, provider: Provider, compacting: Compacting, *, interrupt: Event, now: Clock, tries: int = 1
) -> Run | None:
    """The run that continues a conversation in fewer words; None where nothing more can be left out.

    Each further try keeps less of the newest messages, the last one none. Where the model gives no summary, the
    record itself is shortened.
    """
    room = run.room or size(run)
    shorter = _fitting(run, room, tries) if compacting.enabled else None
    if shorter is None:
        return None
    summary = _summarise(run, shorter, provider, room=room, interrupt=interrupt, now=now) if shorter.older else None
    prompt = compacting.rebuild() if compacting.rebuild else None
    return replace(
        run,
        id=compacting.new_id(),
        parent=run.id,
        system=prompt.text if prompt else run.system,
        prompt_key=prompt.key if prompt else run.prompt_key,
        messages=compacted(shorter, summary),
        room=room,
    )


def _fitting(run: Run, room: int, tries: int) -> Shortening | None:
    for number in range(tries, TRIES + 1):
        tail_tokens = int(room * TAIL_SHARE / number) if number < TRIES else 0
        shorter = plan(run, room=room, tail_tokens=tail_tokens)
        if fits(run, shorter, room=room, summary_tokens=2 * _limit(room)):
            return shorter
    return None


def _limit(room: int) -> int:
    """How many tokens a summary is asked to have; it may turn out twice as long."""
    return min(room // SUMMARY_SHARE, MOST_SUMMARY_TOKENS)


def _summarise(
    run: Run, shorter: Shortening, provider: Provider, *, room: int, interrupt: Event, now: Clock
) -> Message:
    limit = _limit(room)
    summary = WrittenSummary()
    if size(run) + 2 * limit <= room * WINDOW_SHARE:
        # At the end of the conversation, of which the endpoint has all in its cache already.
        words = notice("summarise", words=str(int(limit * WORDS_PER_TOKEN)))
        summary = _ask(grown(run, _order(words, Trust.OPERATOR, now)), provider, interrupt)
    if not summary.text:
        wasted = summary.usage
        summary = _ask(_apart(run, shorter, room, limit, now), provider, interrupt)
        summary = summary._replace(usage=total((wasted, summary.usage)) if wasted else summary.usage)
    kept = shortened(summary.text, 2 * limit).text or plain_record(shorter.older, limit)
    return Message(
        role=Role.USER,
        parts=(Text(f"{notice('summary' if summary.text else 'record')}\n\n{kept}"),),
        trust=trust_of_summary(run.messages),
        at=now(),
        model=summary.model,
        usage=summary.usage,
        origin=Origin.SUMMARY,
    )


def _apart(run: Run, shorter: Shortening, room: int, limit: int, now: Clock) -> Run:
    """Ask about a shortened record, in a request of its own, where the conversation leaves no room."""
    record = plain_record(shorter.older, max(room - 2 * limit - 200, limit))
    mark = mark_for((record,))
    order = notice("summarise_record", words=str(int(limit * WORDS_PER_TOKEN)), mark=mark)
    return replace(
        run,
        id=f"{run.id}/summary",
        parent=run.id,
        system=notice("summariser"),
        prompt_key="",
        messages=(_order(f"{order}\n\n{quoted('record', record, mark=mark)}", trust_of_summary(run.messages), now),),
        shown=(),
        allowed=frozenset(),
        sampling=replace(run.sampling, output_tokens=min(run.sampling.output_tokens or 2 * limit, 2 * limit)),
    )


def _ask(run: Run, provider: Provider, interrupt: Event) -> WrittenSummary:
    with contextlib.suppress(ProviderFailed):
        for piece in provider.reply(run, interrupt=interrupt):
            if isinstance(piece, Reply):
                message = piece.message
                # With a call it goes on working instead.
                return WrittenSummary("" if message.calls else message.text.strip(), message.usage, message.model)
    return WrittenSummary()


def _order(text: str, trust: Trust, now: Clock) -> Message:
    return Message(role=Role.USER, parts=(Text(text),), trust=trust, at=now(), origin=Origin.INSERTED)


def _too_long(ended: Ended) -> Ended:
    return replace(
        ended,
        ending=Ending.FAILED,
        detail=ended.detail or "the conversation is too long for the model",
        fault=ProviderFault.CONTEXT.value,
        advice=ended.advice or "Start a new session, or choose a model with a larger context window.",
    )
