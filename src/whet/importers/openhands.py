"""OpenHands: a list of events, or an evaluation's JSON Lines with such a list in each row's `history`.

An observation names the action that caused it. The oldest rows have no ids: there calls get made-up ones and are
paired by position.
"""

from collections.abc import Iterator
from typing import Any

from whet.importers.formats import Format
from whet.importers.identity import identity
from whet.importers.openhands_events import OpenHandsState
from whet.importers.source import Source
from whet.sessions.transcripts import Ending, RecordedCheck, Transcript, Usage
from whet.text import fields

NAME = "openhands"
ROW_KEYS = frozenset({"instance_id", "instance", "instruction", "git_patch", "test_result", "issue"})


def sniff(source: Source) -> bool:
    if source.kind == "json" and isinstance(source.document, list):
        return any(_is_event(record) and "source" in record for record in source.sample)
    return source.kind in ("json", "jsonl") and any(
        ROW_KEYS & record.keys() and any(_is_event(event) for event in _events(record.get("history"))[:5])
        for record in source.sample
    )


def _is_event(record: dict[str, Any]) -> bool:
    return isinstance(record.get("action"), str) or isinstance(record.get("observation"), str)


def read(source: Source) -> Iterator[Transcript]:
    if source.kind == "json" and isinstance(source.document, list):
        yield _transcript(source, 1, {"history": source.document})
        return
    for line, row in source.records():
        if isinstance(row.get("history"), list):
            yield _transcript(source, line, row)
        else:
            source.skip("a row without its history", line)


def _events(history: object) -> list[dict[str, Any]]:
    """The events in order; the oldest rows hold them as pairs of action and observation."""
    found: list[dict[str, Any]] = []
    for item in history if isinstance(history, list) else []:
        found.extend(event for event in (item if isinstance(item, list) else [item]) if isinstance(event, dict))
    return found


def _transcript(source: Source, index: int, row: dict[str, Any]) -> Transcript:
    conversation = OpenHandsState()
    for event in _events(row.get("history")):
        conversation.take(event)
    times = [message.at for message in conversation.messages if message.at is not None]
    failure = fields.text(row, "error")
    cost = fields.amount(fields.mapping(row, "metrics").get("accumulated_cost"))
    counted = any(message.usage for message in conversation.messages)
    configured = fields.mapping(fields.mapping(row, "metadata"), "llm_config")
    return Transcript(
        source=NAME,
        native_id=identity(source, index),
        messages=tuple(conversation.messages),
        title=fields.text(row, "instance_id") or fields.text(fields.mapping(row, "issue"), "title"),
        model=fields.text(configured, "model")
        or next((message.model for message in conversation.messages if message.model), ""),
        folder=conversation.folder,
        ending=Ending.FAILED if failure else conversation.ending,
        ending_detail=failure or conversation.ending_detail,
        started=min(times, default=None),
        ended=max(times, default=None),
        tools=conversation.tools,
        checks=tuple(_checks(row)),
        usage=None if counted or cost is None else Usage(cost_dollars=cost),
    )


def _checks(row: dict[str, Any]) -> Iterator[RecordedCheck]:
    """The verdicts of an evaluation: its test result, and the resolver's own opinion."""
    result = fields.mapping(row, "test_result")
    for report in (fields.mapping(result, "report"), fields.mapping(row, "report"), result):
        resolved = fields.flag(report, "resolved")
        if resolved is not None:
            yield RecordedCheck("resolved", passed=resolved)
            break
    success = fields.flag(row, "success")
    if success is not None:
        yield RecordedCheck("success", passed=success, detail=fields.text(row, "result_explanation"))


FORMAT = Format(NAME, "OpenHands", sniff, read)
