"""What the events of an Inspect sample add to its messages: times, usage, tools, and texts kept apart."""

from dataclasses import dataclass, field
from typing import Any

from whet.sessions.transcripts import Usage
from whet.text import fields

REFERENCE = "attachment://"
RESOLVED_LIMIT = 48 << 20
HISTORY_LIMIT = 100_000


@dataclass(slots=True)
class EventFacts:
    """Facts by the id of the message or call that they belong to."""

    times: dict[str, float] = field(default_factory=dict)
    usage: dict[str, Usage] = field(default_factory=dict)
    tools: tuple[str, ...] = ()
    history: tuple[dict[str, Any], ...] = ()


class Attachments:
    """Long texts that a sample keeps once; how much of them is put back in place is bounded."""

    def __init__(self, texts: dict[str, Any]) -> None:
        self._texts = texts
        self._left = RESOLVED_LIMIT

    def resolve(self, value: object) -> object:
        """The value with each reference replaced by its text."""
        if isinstance(value, str) and value.startswith(REFERENCE):
            return self._text(value)
        if isinstance(value, list):
            return [self.resolve(item) for item in value]
        if isinstance(value, dict):
            return {key: self.resolve(item) for key, item in value.items()}
        return value

    def _text(self, reference: str) -> str:
        text = fields.text(self._texts, reference.removeprefix(REFERENCE))
        self._left -= len(text)
        return text if text and self._left >= 0 else reference


def gather(sample: dict[str, Any]) -> EventFacts:
    """Read the model and tool events of a sample."""
    events = EventFacts()
    last: dict[str, Any] = {}
    for event in fields.objects(sample, "events"):
        moment = fields.seconds(event.get("completed")) or fields.seconds(event.get("timestamp"))
        if event.get("event") == "model":
            last = event
            _take_model(events, event, moment)
        elif event.get("event") == "tool" and moment is not None:
            events.times[fields.text(event, "id")] = moment
    events.history = _history(sample, last)
    return events


def _take_model(events: EventFacts, event: dict[str, Any], moment: float | None) -> None:
    output = fields.mapping(event, "output")
    events.tools = tuple(
        dict.fromkeys((*events.tools, *(fields.text(tool, "name") for tool in fields.objects(event, "tools"))))
    )
    spent = usage(fields.mapping(output, "usage"))
    for choice in fields.objects(output, "choices")[:1]:
        identifier = fields.text(fields.mapping(choice, "message"), "id")
        if identifier and moment is not None:
            events.times[identifier] = moment
        if identifier and spent is not None:
            events.usage[identifier] = spent


def _history(sample: dict[str, Any], event: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """The conversation as the last model call saw it and answered, with messages taken from the pool."""
    said = list(fields.objects(event, "input"))
    pool = fields.objects(sample, "message_pool") or fields.objects(fields.mapping(sample, "events_data"), "messages")
    for reference in fields.items(event, "input_refs"):
        match reference:
            case [int() as start, int() as end] if len(said) < HISTORY_LIMIT:
                said.extend(pool[max(0, start) : max(0, end)])
    choices = fields.objects(fields.mapping(event, "output"), "choices")[:1]
    return (*said, *(fields.mapping(choice, "message") for choice in choices))


def usage(record: dict[str, Any]) -> Usage | None:
    """Tokens of a call. Providers count cached ones within the input or beside it: the total tells which."""
    if not record:
        return None
    counted = fields.whole(record, "input_tokens")
    output = fields.whole(record, "output_tokens")
    cached = fields.whole(record, "input_tokens_cache_read")
    written = fields.whole(record, "input_tokens_cache_write")
    beside = fields.whole(record, "total_tokens") >= counted + output + cached + written
    return Usage(
        input=counted + cached + written if beside else counted,
        output=output,
        cached=cached,
        cache_written=written,
    )


def total(models: dict[str, Any]) -> Usage | None:
    """The tokens of all models of a sample together."""
    spent = [used for model in models if (used := usage(fields.mapping(models, model)))]
    if not spent:
        return None
    return Usage(
        input=sum(used.input for used in spent),
        output=sum(used.output for used in spent),
        cached=sum(used.cached for used in spent),
        cache_written=sum(used.cache_written for used in spent),
    )
