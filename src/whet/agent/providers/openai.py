"""OpenAI's chat completions, as any endpoint serves them: a run as a request, and a stream of chunks as one reply."""

from collections.abc import Generator, Iterable, Iterator
from typing import Any

import msgspec

from whet.agent.protocols import Reply, StopReason
from whet.agent.providers import vendors
from whet.own.runs import text_calls
from whet.own.runs.models import Model, priced
from whet.own.runs.run import Fragment, Run
from whet.own.told.passages import SMALL_SIZES, PassageSlot, size_of
from whet.sessions.tool_families import Definition
from whet.sessions.transcripts import Media, Message, Part, Role, Text, Thought, ToolCall, Usage, joined
from whet.sessions.trust import Trust
from whet.shipped.guidance import frame
from whet.text import fields

DONE = b"[DONE]"
STOPS = {
    "stop": StopReason.END,
    "eos": StopReason.END,
    "tool_calls": StopReason.CALLS,
    "function_call": StopReason.CALLS,
    "length": StopReason.LENGTH,
    "model_length": StopReason.LENGTH,
    "content_filter": StopReason.REFUSED,
}
GROWING = ("text", "summary", "data")
ROLES = {Role.SYSTEM: "system", Role.USER: "user", Role.AGENT: "assistant", Role.TOOL: "user"}
NO_SIGNATURE = "skip_thought_signature_validator"  # for calls of other models, as the vendor asks
Json = dict[str, Any]


class _Open:
    """A call that may still grow."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.signature = ""
        self.arguments: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self.arguments)


class StreamedCalls:
    """The calls of one answer."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._all: list[_Open] = []
        self._by_index: dict[int, _Open] = {}

    def take(self, delta: dict[str, Any]) -> Iterator[str]:
        """Take the pieces of a delta; gives the name of each call that begins."""
        pieces = fields.objects(delta, "tool_calls")
        if not pieces and isinstance(delta.get("function_call"), dict):
            pieces = [{"index": 0, "function": delta["function_call"]}]
        for piece in pieces:
            function = fields.mapping(piece, "function")
            before = len(self._all)
            call = self._call_of(piece, function)
            _grow(call, piece, function)
            if len(self._all) > before:
                yield call.name

    def parts(self) -> Iterator[Part]:
        """The calls, each with an id that no other call of the conversation bears."""
        taken = {call.id for message in self._run.messages for call in message.calls}
        position = len(self._run.messages)
        for number, call in enumerate(self._all, start=1):
            own = call.id if call.id and call.id not in taken else f"call_{position}_{number}"
            taken.add(own)
            if call.signature:
                yield Thought("", signature=call.signature)
            yield ToolCall(
                own, vendors.joined_halves(call.name), vendors.joined_halves(call.text) or self._nothing(call.name)
            )

    def _call_of(self, piece: dict[str, Any], function: dict[str, Any]) -> _Open:
        index, own_id = fields.code(piece, "index"), fields.text(piece, "id")
        if index is not None:
            found = self._by_index.get(index)
        elif own_id:
            found = next((call for call in self._all if call.id == own_id), None)
        else:
            found = self._all[-1] if self._all else None
        if found is None or _begins_another(found, own_id, function):
            found = _Open()
            self._all.append(found)
            if index is not None:
                self._by_index[index] = found
        return found

    def _nothing(self, name: str) -> str:
        """No arguments at all mean an empty object where the tool needs none; elsewhere they stay what they are."""
        definition = next((one for one in self._run.shown if one.name == name), None)
        if definition is None:
            return ""
        schema = msgspec.json.decode(definition.parameters)
        return "" if isinstance(schema, dict) and schema.get("required") else "{}"


def _begins_another(call: _Open, own_id: str, function: dict[str, Any]) -> bool:
    """Whether a piece is no more of a call but the next one, from a server that gives all of them one index or none."""
    if own_id and call.id and own_id != call.id:
        return True
    is_new = not own_id or own_id != call.id
    return is_new and bool(fields.text(function, "name")) and _is_object(call.text)


def _grow(call: _Open, piece: dict[str, Any], function: dict[str, Any]) -> None:
    call.id = call.id or fields.text(piece, "id")
    name = fields.text(function, "name")
    if name and name != call.name and not call.arguments:
        call.name += name
    arguments = function.get("arguments")
    if isinstance(arguments, str) and arguments:
        call.arguments.append(arguments)
    elif isinstance(arguments, dict):
        call.arguments.append(msgspec.json.encode(arguments).decode())
    google = fields.mapping(fields.mapping(piece, "extra_content"), "google")
    call.signature = fields.text(google, "thought_signature") or call.signature


def _is_object(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False


class _Reading:
    """Takes the records of one answer and puts its reply together."""

    def __init__(self, run: Run, model: Model) -> None:
        self._run = run
        self._model = model
        self._texts: list[str] = []
        self._shown = 0
        self._thoughts: list[str] = []
        self._details: list[dict[str, Any]] = []
        self._refusals: list[str] = []
        self._calls = StreamedCalls(run)
        self._finish = ""
        self._served = ""
        self._usage: Usage | None = None

    def take(self, record: dict[str, Any]) -> Iterator[Fragment]:
        """Take one chunk, or a whole answer from a server that does not stream."""
        if record.get("error"):
            raise vendors.StreamError(record["error"])
        self._served = fields.text(record, "model") or self._served
        self._usage = usage_of(record) or self._usage
        for choice in fields.objects(record, "choices")[:1]:
            self._finish = fields.text(choice, "finish_reason") or self._finish
            if self._finish == "error":
                raise vendors.StreamError(choice.get("error") or "the endpoint failed")
            yield from self._delta(fields.mapping(choice, "delta") or fields.mapping(choice, "message"))

    def end(self, *, is_done: bool) -> Generator[Fragment, None, Reply]:
        """What could be shown only now that nothing more comes, and the whole answer; raises Malformed for a part."""
        if not (is_done or self._finish):
            raise vendors.Malformed("the answer stopped early")
        text, thought, refusal = (
            vendors.joined_halves("".join(each)) for each in (self._texts, self._thoughts, self._refusals)
        )
        calls = list(self._calls.parts())
        if self._model.tools == "text":
            parsed = text_calls.parsed(text, position=len(self._run.messages))
            yield from self._show(parsed.text, len(parsed.text))
            if not calls:
                text, calls = parsed.text, list(parsed.calls)
        parts: list[Part] = []
        if thought or self._details:
            details = msgspec.json.encode(self._details).decode() if self._details else ""
            parts.append(Thought(thought, signature=details))
        parts += [Text(words) for words in (text, refusal) if words]
        message = Message(
            role=Role.AGENT,
            parts=(*parts, *calls),
            trust=Trust.AGENT,
            model=self._served or self._run.model,
            usage=priced(self._usage, self._model.prices) if self._usage else None,
        )
        return Reply(message, self._stop(bool(message.calls)))

    def _stop(self, has_calls: bool) -> StopReason:
        stop = STOPS.get(self._finish, StopReason.OTHER if self._finish else StopReason.END)
        if self._refusals:
            return StopReason.REFUSED
        # Many servers say "stop" after calls, and some "tool_calls" after none.
        if stop in (StopReason.END, StopReason.CALLS, StopReason.OTHER):
            return StopReason.CALLS if has_calls else StopReason.END if stop is StopReason.CALLS else stop
        return stop

    def _delta(self, delta: dict[str, Any]) -> Iterator[Fragment]:
        text, thinking = _content(delta.get("content"))
        details = fields.objects(delta, "reasoning_details")
        self._details_of(details)
        thought = (
            fields.text(delta, "reasoning_content", "reasoning")
            or thinking
            or "".join(fields.text(piece, "text", "summary") for piece in details)
        )
        if thought:
            self._thoughts.append(thought)
            yield Fragment("thought", thought)
        refusal = fields.text(delta, "refusal")
        if refusal:
            self._refusals.append(refusal)
            yield Fragment("text", refusal)
        if text:
            self._texts.append(text)
            yield from self._settled()
        for name in self._calls.take(delta):
            yield Fragment("call", name)

    def _settled(self) -> Iterator[Fragment]:
        """What can be shown: of a model that calls in words, only what is no call for certain."""
        if self._model.tools != "text":
            yield Fragment("text", self._texts[-1])
            return
        text = "".join(self._texts)
        self._texts = [text]
        yield from self._show(text, text_calls.settled(text))

    def _show(self, text: str, end: int) -> Iterator[Fragment]:
        if end > self._shown:
            yield Fragment("text", text[self._shown : end])
            self._shown = end

    def _details_of(self, pieces: list[dict[str, Any]]) -> None:
        """Put pieces of thinking together that an endpoint wants back as it gave them."""
        for piece in pieces:
            last = self._details[-1] if self._details else {}
            keys = ("type", "index", "id")
            if last and all(piece.get(key) in (None, last.get(key)) or key not in last for key in keys):
                grown = {key: fields.text(last, key) + fields.text(piece, key) for key in GROWING if key in piece}
                given = {key: value for key, value in piece.items() if value is not None and key not in GROWING}
                self._details[-1] = {**last, **given, **grown}
            else:
                self._details.append(piece)


def usage_of(record: dict[str, Any]) -> Usage | None:
    """The usage that a chunk reports, in any of the ways in which endpoints report cached tokens."""
    usage = fields.mapping(record, "usage") or fields.mapping(fields.mapping(record, "x_groq"), "usage")
    timings = fields.mapping(record, "timings")
    if not usage and not timings:
        return None
    details = fields.mapping(usage, "prompt_tokens_details")
    return Usage(
        input=fields.whole(usage, "prompt_tokens")
        or fields.whole(timings, "prompt_n") + fields.whole(timings, "cache_n"),
        output=fields.whole(usage, "completion_tokens") or fields.whole(timings, "predicted_n"),
        cached=fields.whole(details, "cached_tokens")
        or fields.whole(usage, "prompt_cache_hit_tokens", "cached_tokens", "num_cached_tokens")
        or fields.whole(timings, "cache_n"),
        cache_written=fields.whole(details, "cache_write_tokens", "cache_creation_tokens"),
        cost_dollars=fields.amount(usage.get("cost")),
    )


def _content(content: object) -> tuple[str, str]:
    """Words and thoughts of a content, which some servers give as a list of blocks."""
    if isinstance(content, str):
        return content, ""
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    words = "".join(fields.text(block, "text") for block in blocks if block.get("type") == "text")
    thinking = [
        piece for block in blocks if block.get("type") == "thinking" for piece in fields.objects(block, "thinking")
    ]
    return words, "".join(fields.text(piece, "text") for piece in thinking)


class OpenAICodec:
    """Requests in one dialect for one model, and the readings of their answers."""

    path = "/chat/completions"

    def __init__(self, model: Model, dialect: vendors.Dialect) -> None:
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

    def read(self, run: Run, events: Iterable[bytes]) -> Generator[Fragment, None, Reply]:
        reading = _Reading(run, self._model)
        for data in events:
            if data.strip() == DONE:
                return (yield from reading.end(is_done=True))
            yield from reading.take(vendors.record_of(data))
        return (yield from reading.end(is_done=False))

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
                function = {"name": part.name, "arguments": vendors.as_object(part.arguments)}
                call: Json = {"id": self._id(part.id), "type": "function", "function": function}
                given = signature or (NO_SIGNATURE if is_first else "")
                if self._dialect.thinking == "signatures" and given:
                    call["extra_content"] = {"google": {"thought_signature": given}}
                yield call
                is_first = False
            signature = part.signature if isinstance(part, Thought) and not part.text else ""

    def _id(self, call_id: str) -> str:
        return vendors.shaped_id(call_id, self._dialect.id_form)


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
    return part.text if isinstance(part, Text) else vendors.named_media(part)
