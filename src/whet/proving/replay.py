"""Replay: tools that answer from the record of a session, and carry nothing out."""

from collections.abc import Iterable, Sequence
from threading import Event

import msgspec

from whet.agent.protocols import Answer
from whet.agent.tools.toolbox import built_in, tools_in
from whet.sessions.tool_families import Definition, seen
from whet.sessions.transcripts import Disposition, Message, Text, ToolCall, ToolResult, pair
from whet.sessions.trust import Trust, trust_of_tool
from whet.shipped.guidance import notice
from whet.trouble.outcomes.fingerprints import call_key


class Replay:
    """Recorded results by the call that they answered; of equal calls the first results come first."""

    def __init__(self, record: Sequence[Message], names: Iterable[str], foreign: Sequence[Definition] = ()) -> None:
        self.definitions = definitions_for(tuple(names), record, foreign)
        self._results: dict[str, list[ToolResult]] = {}
        for exchange in pair(record).exchanges:
            if exchange.result is not None:
                self._results.setdefault(call_key(exchange.call), []).append(exchange.result)

    def answer(self, call: ToolCall, *, allowed: frozenset[str], interrupt: Event) -> Answer:  # noqa: ARG002
        found = self._results.get(call_key(call), [])
        if not found:
            text = (Text(notice("call_not_recorded")),)
            result = ToolResult(call.id, text, call.name, error=True, disposition=Disposition.CANCELLED)
            return Answer(result, Trust.AGENT)
        kept = found.pop(0) if len(found) > 1 else found[0]
        return Answer(msgspec.structs.replace(kept, call_id=call.id), trust_of_tool(call.name))

    def can_run_beside(self, call: ToolCall) -> bool:  # noqa: ARG002 - the order of equal calls decides their results
        return False

    def close(self) -> None:
        """Nothing runs."""


def definitions_for(
    names: Sequence[str], record: Sequence[Message], foreign: Sequence[Definition] = ()
) -> tuple[Definition, ...]:
    """What a model is shown of the tools of a session: our own as they are, others as far as their calls tell.

    `foreign` are those that the record does not call.
    """
    calls = [call for message in record for call in message.calls]
    wanted = tools_in(names) or frozenset(call.name for call in calls)
    own = {tool.name: tool.definition for tool in built_in() if tool.name in wanted}
    called = {name: seen(name, calls) for name in sorted(wanted & {call.name for call in calls} - own.keys())}
    told = {each.name: each for each in foreign if each.name in wanted - own.keys() - called.keys()}
    return (*own.values(), *called.values(), *told.values())
