"""Answers as the vendors send them, and providers that ask a loopback server for them."""

import itertools
import time
from collections.abc import Callable, Iterator
from threading import Event
from typing import Any

from agent.loopback import Loopback, events
from whet.agent.protocols import Reply
from whet.agent.providers.asking import Asking
from whet.agent.providers.choosing import asking
from whet.net.http import Timing
from whet.own.runs.models import Model
from whet.own.runs.run import Fragment, Run
from whet.own.runs.settings import Endpoint
from whet.sessions.tool_families import Definition
from whet.sessions.transcripts import Message, Role, Text, ToolCall, ToolResult
from whet.sessions.trust import Trust

KEY = "sk-test-0123456789abcdef"
KEY_VARIABLE = "MINE_KEY"
READ = Definition(
    "read_file",
    "Read a file.",
    '{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}',
)
LIST = Definition("list_files", "List all files.", '{"type":"object","properties":{}}')


def user(text: str) -> Message:
    return Message(role=Role.USER, parts=(Text(text),), trust=Trust.USER)


def result(call_id: str, text: str, *, error: bool | None = None) -> Message:
    return Message(
        role=Role.TOOL, parts=(ToolResult(call_id, (Text(text),), "read_file", error=error),), trust=Trust.TOOL
    )


def calls(*ids: str, text: str = "") -> Message:
    words = (Text(text),) if text else ()
    asked = tuple(ToolCall(each, "read_file", f'{{"path": "{each}.txt"}}') for each in ids)
    return Message(role=Role.AGENT, parts=(*words, *asked), trust=Trust.AGENT)


RUN = Run(id="run-1", model="m", system="Be brief.", messages=(user("What is in a.txt?"),), shown=(READ, LIST))


class Pauses:
    """Waits that take no time and are noted."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def wait(self, interrupt: Event, seconds: float) -> bool:
        self.seconds.append(seconds)
        return interrupt.is_set()


def timing(pauses: Pauses, *, steady: Callable[[], float] = time.monotonic, chance: float = 0.0) -> Timing:
    return Timing(steady, lambda: 1_800_000_000.0, lambda: chance, pauses.wait)


def hurried_clock(since: Event) -> Callable[[], float]:
    """A clock on which a minute passes whenever somebody looks, once the event is set."""
    minutes = itertools.count()
    return lambda: next(minutes) * 60.0 if since.is_set() else 0.0


def asking_of(
    server: Loopback,
    kind: Any = "openai",
    *,
    name: str = "mine",
    model: Model | None = None,
    pauses: Pauses | None = None,
    steady: Callable[[], float] = time.monotonic,
    retries: int = 3,
) -> Asking:
    """A provider that asks this server, without a wait that takes time."""
    endpoint = Endpoint(name, kind, server.base_url, KEY_VARIABLE, retries=retries)
    model = model or Model("m")
    return asking(endpoint, model, key=KEY, environment={}, timing=timing(pauses or Pauses(), steady=steady))


def replied(provider: Any, run: Run = RUN, interrupt: Event | None = None) -> Reply:
    """The reply, and no more."""
    return answered(provider, run, interrupt)[-1]  # type: ignore[return-value]  # the last piece is the reply


def answered(provider: Any, run: Run = RUN, interrupt: Event | None = None) -> list[Fragment | Reply]:
    return list(provider.reply(run, interrupt=interrupt or Event()))


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m-1",
        "choices": [choice],
        **more,
    }


def call_piece(index: int | None, arguments: str, *, call_id: str | None = None, name: str = "") -> dict[str, Any]:
    function = {**({"name": name} if name else {}), "arguments": arguments}
    piece: dict[str, Any] = {"function": function, "type": "function"}
    if index is not None:
        piece["index"] = index
    if call_id is not None:
        piece["id"] = call_id
    return piece


def usage_chunk(**more: Any) -> dict[str, Any]:
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120, **more}
    return {**chunk({}), "choices": [], "usage": usage}


def openai_answer(*deltas: dict[str, Any], finish: str = "stop") -> bytes:
    """A stream of these deltas as OpenAI ends it."""
    cached = {"prompt_tokens_details": {"cached_tokens": 64}}
    return events(*(chunk(delta) for delta in deltas), chunk({}, finish), usage_chunk(**cached), "[DONE]")


def anthropic_events(*blocks: tuple[dict[str, Any], list[dict[str, Any]]], stop: str = "end_turn") -> list[Any]:
    """The events of an answer of these blocks, each with its opening and its deltas."""
    usage = {"input_tokens": 10, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 10, "output_tokens": 1}
    start: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-served",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }

    def inside() -> Iterator[dict[str, Any]]:
        for index, (opening, deltas) in enumerate(blocks):
            yield {"type": "content_block_start", "index": index, "content_block": opening}
            yield {"type": "ping"}
            for delta in deltas:
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}

    return [
        {"type": "message_start", "message": start},
        *inside(),
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": {"output_tokens": 30},
        },
        {"type": "message_stop"},
    ]


def anthropic_answer(*blocks: tuple[dict[str, Any], list[dict[str, Any]]], stop: str = "end_turn") -> bytes:
    return events(*anthropic_events(*blocks, stop=stop), names=True)
