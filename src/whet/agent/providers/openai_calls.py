"""Calls put together from pieces as servers send them: with an index or none, with ids early, late or never."""

from collections.abc import Iterator
from typing import Any

import msgspec

from whet.agent.providers.events import joined_halves
from whet.runs.run import Run
from whet.sessions.transcripts import Part, Thought, ToolCall
from whet.text import fields


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
            yield ToolCall(own, joined_halves(call.name), joined_halves(call.text) or self._nothing(call.name))

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
    except (msgspec.DecodeError, UnicodeEncodeError):
        return False
