"""OpenAI's chat completions, as any endpoint serves them: a run as the bytes of a request."""

from collections.abc import Iterator
from typing import Any

import msgspec

from whet.agent.providers.dialects import Dialect, as_object, named_media, shaped_id
from whet.agent.providers.openai_stream import OpenAIReading
from whet.own.runs import text_calls
from whet.own.runs.models import Model
from whet.own.runs.run import Run
from whet.own.told.passages import SMALL_SIZES, PassageSlot, size_of
from whet.sessions.tool_families import Definition
from whet.sessions.transcripts import Media, Message, Role, Text, Thought, ToolCall, joined
from whet.shipped.guidance import frame

Json = dict[str, Any]
ROLES = {Role.SYSTEM: "system", Role.USER: "user", Role.AGENT: "assistant", Role.TOOL: "user"}
NO_SIGNATURE = "skip_thought_signature_validator"  # for calls of other models, as the vendor asks


class OpenAICodec:
    """Requests in one dialect for one model, and the readings of their answers."""

    path = "/chat/completions"

    def __init__(self, model: Model, dialect: Dialect) -> None:
        self._model = model
        self._dialect = dialect

    def headers(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}" if key else ""}

    def request(self, run: Run) -> bytes:
        """The body: the settings first, then the tools, and the messages last, so that a longer run only adds to it."""
        is_native = self._model.tools == "native"
        tools = [_tool(one) for one in run.shown] if is_native else []
        messages = self._native(run) if is_native else _in_words(run, self._model)
        return msgspec.json.encode(
            {**self._settings(run), **({"tools": tools} if tools else {}), "messages": list(messages)}
        )

    def reading(self, run: Run) -> OpenAIReading:
        return OpenAIReading(run, self._model)

    def _settings(self, run: Run) -> Json:
        dialect, sampling = self._dialect, run.sampling
        temperature = sampling.temperature if self._model.temperature else None
        given: Json = {
            "model": run.model,
            dialect.output_key: sampling.output_tokens,
            "temperature": temperature,
            dialect.seed_key: sampling.seed,
            "prompt_cache_key": (run.prompt_key or None) if dialect.cache_key else None,
            "stream": True,
            "stream_options": {"include_usage": True} if dialect.usage_option else None,
        }
        return {key: value for key, value in given.items() if key and value is not None}

    def _native(self, run: Run) -> Iterator[Json]:
        if run.system:
            yield {"role": "system", "content": run.system}
        for message in run.messages:
            if message.role is Role.AGENT:
                yield from self._agent(message)
            elif message.role is not Role.TOOL and _words(message):
                yield {"role": ROLES[message.role], "content": _words(message)}
            for result in message.results:
                content = joined(_said(part) for part in result.content)
                yield {"role": "tool", "tool_call_id": self._id(result.call_id), "content": content}

    def _agent(self, message: Message) -> Iterator[Json]:
        words, calls, thoughts = _words(message), list(self._calls(message)), self._thoughts(message)
        if words or calls or thoughts:
            given: Json = {"role": "assistant", "content": words or None, **thoughts}
            yield {**given, "tool_calls": calls} if calls else {**given, "content": words}

    def _thoughts(self, message: Message) -> Json:
        field = self._dialect.thinking
        thoughts = [part for part in message.parts if isinstance(part, Thought)]
        if field == "reasoning_details":
            details = next((each.signature for each in thoughts if each.signature.startswith("[")), "")
            return {field: msgspec.Raw(details.encode())} if details else {}
        if field in ("", "signatures"):
            return {}
        text = joined(each.text for each in thoughts)
        return {field: text} if text or (self._dialect.thinking_required and message.calls) else {}

    def _calls(self, message: Message) -> Iterator[Json]:
        """The calls. In one dialect each carries the signature of the thought that stands right before it."""
        is_first, signature = True, ""
        for part in message.parts:
            if isinstance(part, ToolCall):
                function = {"name": part.name, "arguments": as_object(part.arguments)}
                call: Json = {"id": self._id(part.id), "type": "function", "function": function}
                given = signature or (NO_SIGNATURE if is_first else "")
                if self._dialect.thinking == "signatures" and given:
                    call["extra_content"] = {"google": {"thought_signature": given}}
                yield call
                is_first = False
            signature = part.signature if isinstance(part, Thought) and not part.text else ""

    def _id(self, call_id: str) -> str:
        return shaped_id(call_id, self._dialect.id_form)


def _tool(definition: Definition) -> Json:
    return {
        "type": "function",
        "function": {
            "name": definition.name,
            "description": definition.description,
            "parameters": msgspec.Raw(definition.parameters.encode()),
        },
    }


def _in_words(run: Run, model: Model) -> Iterator[Json]:
    """The conversation for a model that has no calls of its own."""
    is_brief = (model.size or size_of(model.name)) in SMALL_SIZES
    tools = text_calls.described(run.shown, frame(PassageSlot.CALLS), is_brief=is_brief)
    if run.system or tools:
        yield {"role": "system", "content": "\n\n".join(text for text in (run.system, tools) if text)}
    result_frame = frame(PassageSlot.RESULT)
    for message in run.messages:
        text = text_calls.rendered(message, result_frame)
        if text:
            yield {"role": ROLES[message.role], "content": text}


def _words(message: Message) -> str:
    return joined(_said(part) for part in message.parts if isinstance(part, Text | Media))


def _said(part: Text | Media) -> str:
    return part.text if isinstance(part, Text) else named_media(part)
