"""OpenHands: a list of events, or an evaluation's JSON Lines with such a list in each row's `history`.

An observation names the action that caused it. The oldest rows have no ids: there calls get made-up ones and are
paired by position.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from whet.agents.formats import content, openai_messages
from whet.agents.formats.content import OpenCalls
from whet.agents.formats.source import Format, Source, identity
from whet.sessions import transcripts
from whet.sessions.transcripts import Ending, Origin, Part, RecordedCheck, Role, ToolCall, ToolResult, Transcript, Usage
from whet.text import fields

ENDINGS = {
    "finished": Ending.FINISHED,
    "awaiting_user_input": Ending.FINISHED,  # the agent's turn is over
    "rejected": Ending.FINISHED,
    "error": Ending.FAILED,
    "rate_limited": Ending.FAILED,
    "stopped": Ending.INTERRUPTED,
    "paused": Ending.INTERRUPTED,
}
STILL_RUNNING = -1  # the exit code of a command that has not ended
BUDGETS = ("maximum iteration", "maximum budget")
SPOKEN = frozenset({"message", "finish", "reject", "system", "think", "condensation"})
SILENT = frozenset({"change_agent_state", "recall", "null", "agent_state_changed", "start", "pause", "resume", "stop"})
# Fields of an action that are about the conversation and not about the call.
ASIDE = frozenset({"thought", "hidden", "blocking", "confirmation_state", "is_confirmed", "action_risk", "action"})

NAME = "openhands"
ROW_KEYS = frozenset({"instance_id", "instance", "instruction", "git_patch", "test_result", "issue"})


@dataclass(slots=True)
class OpenHandsState:
    """Messages so far, and what is known of how the conversation stands."""

    messages: list[transcripts.Message] = field(default_factory=list)
    ending: Ending = Ending.UNKNOWN
    ending_detail: str = ""
    folder: str = ""
    tools: tuple[str, ...] = ()
    asked: bool = False  # whether the task has been given
    steps: OpenCalls = field(default_factory=OpenCalls)
    calls: dict[object, str] = field(default_factory=dict)  # id of an action → id of its call
    counted: set[str] = field(default_factory=set)  # answers of the model whose usage has been taken

    def take(self, event: dict[str, Any]) -> None:
        """Add one event."""
        action, observation = fields.text(event, "action"), fields.text(event, "observation")
        if observation == "agent_state_changed" or action == "change_agent_state":
            self._take_state(event)
        elif observation == "recall" and event.get("content"):
            self._say(Role.USER, content.parts(event.get("content")), event, origin=Origin.INSERTED)
        elif observation and observation not in SILENT:
            self._take_observation(event, observation)
        elif action in SPOKEN:
            self._take_words(event, action)
        elif action and action not in SILENT:
            self._take_call(event, action)

    def _say(self, role: Role, parts: Iterable[Part], event: dict[str, Any], *, origin: Origin = Origin.TURN) -> None:
        said = tuple(parts)
        if not said:
            return
        response = fields.mapping(fields.mapping(event, "tool_call_metadata"), "model_response")
        identifier = fields.text(response, "id")
        spent = None if identifier in self.counted else openai_messages.usage(fields.mapping(response, "usage"))
        if identifier:
            self.counted.add(identifier)
        at = fields.seconds(event.get("timestamp"))
        model = fields.text(response, "model")
        self.messages.append(content.spoken(role, said, at=at, model=model, usage=spent, origin=origin))

    def _take_words(self, event: dict[str, Any], action: str) -> None:
        arguments = _arguments(event)
        if action == "system":
            self.tools = tuple(_tool_names(arguments)) or self.tools
            self._say(Role.SYSTEM, content.shown(arguments.get("content")), event)
        elif action == "condensation":
            self._say(Role.USER, content.shown(arguments.get("summary")), event, origin=Origin.SUMMARY)
        elif action == "think":
            words = fields.text(arguments, "thought")
            self._say(Role.AGENT, [transcripts.Thought(words)] if words else [], event)
        elif action == "message":
            user = fields.text(event, "source") == "user" or (not event.get("source") and not self.messages)
            if user:
                at, is_order = fields.seconds(event.get("timestamp")), not self.asked
                self.messages += content.said(_message_parts(arguments), at=at, is_order=is_order)
                self.asked = True
            else:
                self._say(Role.AGENT, _message_parts(arguments), event)
            self.ending = Ending.UNKNOWN if user else Ending.FINISHED
        else:
            words = fields.text(arguments, "final_thought", "thought") or fields.text(event, "message")
            self._say(Role.AGENT, content.shown(words), event)
            self.ending, self.ending_detail = Ending.FINISHED, "" if action == "finish" else action

    def _take_call(self, event: dict[str, Any], action: str) -> None:
        metadata, arguments = fields.mapping(event, "tool_call_metadata"), _arguments(event)
        call = _recorded_call(metadata)
        number = event.get("id") if isinstance(event.get("id"), int) else None
        name = fields.text(metadata, "function_name") or action
        call_id = fields.text(metadata, "tool_call_id") or ("" if number is None else f"event-{number}")
        own = {key: value for key, value in arguments.items() if key not in ASIDE}
        if event.get("source") == "user":
            # A command that the person typed is theirs, and no call of the agent.
            self._say(Role.USER, content.shown(fields.text(event, "message") or own), event)
            return
        call_id = self.steps.ask(call_id, name, message=len(self.messages))
        if number is not None:
            self.calls[number] = call_id
        parts: list[Part] = list(content.shown(fields.text(arguments, "thought")))
        parts.append(ToolCall(call_id, name, call.arguments if call else fields.json_text(own)))
        self._say(Role.AGENT, parts, event)
        self.ending = Ending.UNKNOWN

    def _take_observation(self, event: dict[str, Any], observation: str) -> None:
        metadata, extras = fields.mapping(event, "tool_call_metadata"), fields.mapping(event, "extras")
        cause = event.get("cause")
        caused = self.calls.get(cause, "") if isinstance(cause, int) else ""
        call_id = self.steps.answer(fields.text(metadata, "tool_call_id") or caused)
        status = fields.mapping(extras, "metadata")
        self.folder = self.folder or fields.text(status, "working_dir")
        if not call_id:
            self._take_unasked(event, observation)
            return
        success = fields.flag(event, "success")
        exit_code = _exit_code(event, extras, status)
        failed = True if observation == "error" else None if success is None else not success
        if exit_code == STILL_RUNNING:
            failed = exit_code = None
        self._answer(
            content.result(
                call_id,
                event.get("content"),
                tool=self.steps.names.get(call_id, "") or observation,
                error=failed,
                exit_code=exit_code,
                disposition=transcripts.Disposition.REJECTED if observation == "user_rejected" else None,
            ),
            event,
        )

    def _answer(self, answer: ToolResult, event: dict[str, Any]) -> None:
        self.messages.append(content.answered(answer, at=fields.seconds(event.get("timestamp"))))

    def _take_unasked(self, event: dict[str, Any], observation: str) -> None:
        """What nobody called for: a failure of the program, or a note that it inserts."""
        if observation == "error":
            self.ending, self.ending_detail = Ending.FAILED, fields.text(event, "content", "message")
        self._say(Role.USER, content.shown(event.get("content")), event, origin=Origin.INSERTED)

    def _take_state(self, event: dict[str, Any]) -> None:
        facts = fields.mapping(event, "extras") or fields.mapping(event, "args")
        ending = ENDINGS.get(fields.text(facts, "agent_state"))
        if ending is None:
            return
        self.ending, self.ending_detail = ending, fields.text(facts, "reason") or self.ending_detail
        if ending is Ending.FAILED and any(budget in self.ending_detail for budget in BUDGETS):
            self.ending = Ending.BUDGET


def _arguments(event: dict[str, Any]) -> dict[str, Any]:
    """The fields of an action, which the oldest rows hold in the event itself."""
    return fields.mapping(event, "args") or event


def _message_parts(arguments: dict[str, Any]) -> list[Part]:
    parts: list[Part] = list(content.shown(arguments.get("content")))
    addresses = fields.items(arguments, "image_urls") or fields.items(arguments, "images_urls")
    parts.extend(content.media({"type": "image", "image": found}) for found in addresses if isinstance(found, str))
    return parts


def _tool_names(arguments: dict[str, Any]) -> list[str]:
    found = (fields.text(fields.mapping(tool, "function"), "name") for tool in fields.objects(arguments, "tools"))
    return [name for name in found if name]


def _recorded_call(metadata: dict[str, Any]) -> ToolCall | None:
    """The call as the model wrote it, which says more than the action made of it."""
    wanted = fields.text(metadata, "tool_call_id")
    for choice in fields.objects(fields.mapping(metadata, "model_response"), "choices"):
        for call in openai_messages.calls(fields.mapping(choice, "message")):
            if call.id == wanted:
                return call
    return None


def _exit_code(event: dict[str, Any], extras: dict[str, Any], status: dict[str, Any]) -> int | None:
    for record in (status, extras, event):
        found = fields.code(record, "exit_code")
        if found is not None:
            return found
    return None


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
