"""Everything that Whet finds in one session, as one value."""

from collections.abc import Iterable, Iterator, Set

from whet.sessions.copies import NO_PLACES, is_copy, own_messages_of, own_part
from whet.sessions.transcripts import Message, Transcript, Usage, total
from whet.trouble.outcomes.deciding import Outcome
from whet.trouble.outcomes.view import SessionView, gather
from whet.values import Value


class ExchangeOutcome(Value, frozen=True):
    """How one call ended, and what decided it."""

    call_id: str
    tool: str
    outcome: Outcome
    evidence: str


class Copied(Value, frozen=True):
    """What a session repeats of another: so many messages and their usage; `whole` where nothing in it is its own."""

    messages: int = 0
    usage: Usage = Usage()
    whole: bool = False

    @property
    def tokens(self) -> int:
        return self.usage.input + self.usage.output


class ModelUse(Value, frozen=True, array_like=True):
    """What one model used in a session."""

    model: str
    usage: Usage


class Analysis(Value, frozen=True):
    """How the calls of a session ended, with the facts that counts are made of.

    >>> import whet
    >>> session, _ = whet.read("examples/sessions/openai")
    >>> found = whet.analyse(session)
    >>> found.calls["failed"], sorted(found.tools)
    (3, ['get_order', 'refund_order'])
    """

    session: str
    exchanges: tuple[ExchangeOutcome, ...]
    source: str = ""
    model: str = ""
    at: float | None = None
    copied: Copied = Copied()
    cache_written: int = 0  # tokens of the whole record, copied ones too; list prices count them apart
    cache_written_hour: int = 0
    others: tuple[ModelUse, ...] = ()  # what models besides the session's own used in it, copies apart

    @property
    def calls(self) -> dict[str, int]:
        """The number of calls of each outcome."""
        counts = {outcome.value: 0 for outcome in Outcome}
        for exchange in self.exchanges:
            counts[exchange.outcome.value] += 1
        return counts

    @property
    def tools(self) -> frozenset[str]:
        return frozenset(exchange.tool for exchange in self.exchanges)


def analyse(transcript: Transcript, *, copied: Set[int] = NO_PLACES) -> Analysis:
    """Decide every exchange.

    The messages at the `copied` places are evidence in the session that they were copied from, and not here. A session
    that is nothing but a copy is analysed as a whole, and marked.
    """
    apart = NO_PLACES if is_copy(transcript, copied) else copied
    return analysis_of_view(gather(own_part(transcript, apart)), transcript, copied=copied)


def analysis_of_view(evidence: SessionView, transcript: Transcript, *, copied: Set[int]) -> Analysis:
    """The same of a session whose evidence is gathered already."""
    repeated = _copied(transcript, copied)
    usage = transcript.usage or total(message.usage for message in transcript.messages)
    return Analysis(
        session=transcript.id,
        exchanges=tuple(
            ExchangeOutcome(step.exchange.call.id, step.tool, step.decision.outcome, step.decision.evidence)
            for step in evidence.steps
        ),
        source=transcript.source,
        model=transcript.model,
        at=transcript.started,
        copied=repeated,
        cache_written=usage.cache_written,
        cache_written_hour=usage.cache_written_hour,
        others=tuple(_used_by_others(transcript.model, own_messages_of(transcript, copied))),
    )


def _copied(transcript: Transcript, copied: Set[int]) -> Copied:
    if not copied:
        return Copied()
    usage = total(transcript.messages[place].usage for place in sorted(copied))
    return Copied(len(copied), usage, is_copy(transcript, copied))


def _used_by_others(model: str, messages: Iterable[Message]) -> Iterator[ModelUse]:
    used: dict[str, list[Usage]] = {}
    for message in messages:
        if message.usage is not None and message.model and message.model != model:
            used.setdefault(message.model, []).append(message.usage)
    return (ModelUse(name, total(usages)) for name, usages in sorted(used.items()))
