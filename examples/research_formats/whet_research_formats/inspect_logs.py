"""Inspect: an evaluation's log, as a zip of samples or one JSON value; a session for each sample and epoch."""

import contextlib
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from whet.agents.formats import content
from whet.agents.formats.source import Format, Source, Unreadable, parse
from whet.sessions import transcripts
from whet.sessions.transcripts import Ending, Message, Part, RecordedCheck, Role, Text, ToolCall, Transcript, Usage
from whet.sessions.trust import Trust
from whet.text import fields

DAMAGE = (
    zipfile.BadZipFile,
    OSError,
    EOFError,
    NotImplementedError,  # a compression that this Python does not know
    RuntimeError,  # encrypted
    ValueError,
    OverflowError,
    struct.error,
    zlib.error,
    lzma.LZMAError,
)


class Archive:
    """An open zip file whose members are taken one at a time, so that memory holds one of them."""

    def __init__(self, archive: zipfile.ZipFile, limit_bytes: int) -> None:
        self._archive = archive
        self._limit_bytes = limit_bytes
        self.names: tuple[str, ...] = tuple(dict.fromkeys(archive.namelist()))

    def read(self, name: str) -> object:
        """One member as a JSON value, or `Unreadable` with the reason."""
        if name not in self.names:
            raise Unreadable(f"{name} is missing")
        try:
            with self._archive.open(name) as member:
                body = member.read(self._limit_bytes + 1)
        except DAMAGE as error:
            raise Unreadable(f"{name} cannot be read: {error}") from error
        if len(body) > self._limit_bytes:
            raise Unreadable(f"{name} is larger than {self._limit_bytes >> 20} MiB")
        try:
            return parse(body)
        except Unreadable as error:
            raise Unreadable(f"{name}: {error}") from error


@contextlib.contextmanager
def opened(source: Source) -> Iterator[Archive]:
    """A zip file, or `Unreadable` with the reason."""
    try:
        archive = zipfile.ZipFile(source.path)
    except DAMAGE as error:
        raise Unreadable(f"broken zip file: {error}") from error
    with contextlib.closing(archive):
        yield Archive(archive, source.limits.document_bytes)


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


GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partial, incorrect, no answer
DETAIL_CHARACTERS = 500


def checks(sample: dict[str, Any]) -> Iterator[RecordedCheck]:
    """One check for each score; a score of several values gives one for each."""
    scores = fields.mapping(sample, "scores") or {"score": sample.get("score")}
    for name, score in scores.items():
        if not isinstance(score, dict):
            continue
        detail = fields.text(score, "explanation", "answer")[:DETAIL_CHARACTERS]
        value = score.get("value")
        if isinstance(value, dict):
            for key, part in value.items():
                yield _check(f"{name}/{key}", part, detail)
        else:
            yield _check(name, value, detail)


def _check(name: str, value: object, detail: str) -> RecordedCheck:
    """Full marks pass and none fail; what lies between is a matter for the reader of the score."""
    if isinstance(value, bool):
        return RecordedCheck(name, passed=value, score=float(value), detail=detail)
    score = GRADES.get(value) if isinstance(value, str) else fields.amount(value)
    passed = {1.0: True, 0.0: False}.get(score) if score is not None else None
    return RecordedCheck(name, passed=passed, score=score, detail=detail)


NAME = "inspect"
HEADERS = ("header.json", "_journal/start.json")  # the second alone while the evaluation runs
ROLES = {"system": Role.SYSTEM, "assistant": Role.AGENT}


def sniff(source: Source) -> bool:
    if zipfile.is_zipfile(source.path):
        with opened(source) as archive:
            return any(header in archive.names for header in HEADERS)
    return source.kind == "json" and any(
        "version" in record and "plan" in record and "task" in fields.mapping(record, "eval")
        for record in source.sample[:1]
    )


def read(source: Source) -> Iterator[Transcript]:
    if zipfile.is_zipfile(source.path):
        with opened(source) as archive:
            yield from _read_archive(source, archive)
        return
    for _, log in source.records():
        samples = fields.objects(log, "samples")
        if not samples:
            source.skip("an evaluation without samples")
        for sample in samples:
            yield _transcript(log, sample)


def _read_archive(source: Source, archive: Archive) -> Iterator[Transcript]:
    header = archive.read(next((name for name in HEADERS if name in archive.names), HEADERS[0]))
    names = [name for name in archive.names if name.startswith("samples/") and name.endswith(".json")]
    if not names:
        source.skip("an evaluation without samples")
    for name in names:
        try:
            sample = archive.read(name)
        except Unreadable as error:
            source.skip(str(error))
            continue
        if isinstance(sample, dict):
            yield _transcript(header if isinstance(header, dict) else {}, sample)
        else:
            source.skip(f"{name} is not a JSON object")


def _transcript(log: dict[str, Any], sample: dict[str, Any]) -> Transcript:
    task = fields.mapping(log, "eval")
    events = gather(sample)
    said = list(_messages(sample, events))
    times = [moment for moment in (*events.times.values(), *(message.at for message in said)) if moment]
    created = fields.seconds(task.get("created"))
    number, epoch = _label(sample.get("id")), fields.code(sample, "epoch") or 1
    ending, detail = _ending(sample)
    return Transcript(
        source=NAME,
        native_id=fields.text(sample, "uuid") or f"{_log_id(task)}/{number}/{epoch}",
        messages=tuple(said),
        title=f"{fields.text(task, 'task')} {number}, epoch {epoch}",
        model=fields.text(task, "model"),
        version=fields.text(fields.mapping(task, "packages"), "inspect_ai"),
        ending=ending,
        ending_detail=detail,
        started=fields.seconds(sample.get("started_at")) or min(times, default=created),
        ended=fields.seconds(sample.get("completed_at")) or max(times, default=None),
        tools=events.tools,
        checks=tuple(checks(sample)),
        usage=None if events.usage else total(fields.mapping(sample, "model_usage")),
    )


def _log_id(task: dict[str, Any]) -> str:
    made = "/".join(part for part in (fields.text(task, "run_id"), fields.text(task, "task_id")) if part)
    return fields.text(task, "eval_id") or made


def _label(value: object) -> str:
    return "" if value is None else fields.json_text(value)


def _ending(sample: dict[str, Any]) -> tuple[Ending, str]:
    error, limit = fields.mapping(sample, "error"), fields.mapping(sample, "limit")
    if error:
        return Ending.FAILED, fields.text(error, "message")
    if limit:
        kind = fields.text(limit, "type")
        stopped = Ending.INTERRUPTED if kind == "operator" else Ending.BUDGET
        return stopped, f"{kind} {_label(limit.get('limit'))}".strip()
    return Ending.FINISHED, ""


def _messages(sample: dict[str, Any], events: EventFacts) -> Iterator[Message]:
    recorded = fields.objects(sample, "messages") or list(events.history)
    resolve = Attachments(fields.mapping(sample, "attachments")).resolve
    marked = any(record.get("role") == "user" and record.get("source") == "input" for record in recorded)
    asked = False  # whether the task has been given
    for record in recorded:
        message = resolve(record)
        if not isinstance(message, dict):
            continue
        identifier = fields.text(message, "id")
        if message.get("role") == "tool":
            yield _answer(message, events)
        elif message.get("role") == "user":
            yield from _said(message, is_order=not asked, is_added=marked and not message.get("source"))
            asked = True
        elif role := ROLES.get(fields.text(message, "role")):
            yield content.spoken(
                role,
                _parts(message),
                at=events.times.get(identifier),
                model=fields.text(message, "model"),
                usage=events.usage.get(identifier),
            )
            yield from _served(message)


def _said(message: dict[str, Any], *, is_order: bool, is_added: bool) -> Iterator[Message]:
    """What a solver adds in the user's place carries no source, where the sample's own input has one."""
    if is_added:
        yield content.spoken(Role.USER, _parts(message), origin=transcripts.Origin.INSERTED)
    else:
        yield from content.said(_parts(message), is_order=is_order)


def _parts(message: dict[str, Any]) -> Iterator[Part]:
    blocks = message.get("content")
    for block in blocks if isinstance(blocks, list) else [blocks]:
        if isinstance(block, dict) and block.get("type") == "tool_use":
            yield _call(block, fields.text(block, "name"))
        else:
            yield from content.parts([block])
    for call in fields.objects(message, "tool_calls"):
        yield _call(call, fields.text(call, "function"))


def _call(record: dict[str, Any], name: str) -> ToolCall:
    return ToolCall(fields.text(record, "id"), name, fields.json_text(record.get("arguments", {})))


def _served(message: dict[str, Any]) -> Iterator[Message]:
    """The results of tools that the provider ran itself, which stand inside the assistant's message."""
    for block in fields.objects(message, "content"):
        if block.get("type") == "tool_use" and "result" in block:
            answer = content.result(
                fields.text(block, "id"),
                block.get("error") or block["result"],
                tool=fields.text(block, "name"),
                error=True if block.get("error") else None,
            )
            yield replace(content.answered(answer), trust=Trust.EXTERNAL)
    yield from content.served(message.get("content"))


def _answer(message: dict[str, Any], events: EventFacts) -> Message:
    error = fields.mapping(message, "error")
    reason, shown = fields.text(error, "message"), message.get("content")
    if error and reason and Text(reason) not in tuple(content.shown(shown)):
        shown = [reason, shown]
    call_id = fields.text(message, "tool_call_id")
    answer = content.result(
        call_id,
        shown,
        tool=fields.text(message, "function"),
        error=True if error else None,
        disposition=transcripts.Disposition.BLOCKED if error.get("type") == "approval" else None,
    )
    return content.answered(answer, at=events.times.get(call_id))


FORMAT = Format(NAME, "Inspect logs", sniff, read)
