"""mini-swe-agent: one JSON a task, with its messages; the first versions kept the bare list of them.

A command in a code block of the answer is a call. Such calls get made-up ids and are paired by position with the
message after them; newer versions name their tool calls.
"""

from collections.abc import Iterator
from typing import Any

from whet.agents.formats import content, openai_messages
from whet.agents.formats.content import OpenCalls
from whet.agents.formats.source import Format, Source, identity
from whet.sessions import transcripts
from whet.sessions.transcripts import Ending, Message, RecordedCheck, Role, Text, Thought, ToolCall, Transcript, Usage
from whet.text import fields

NAME = "mini-swe-agent"
SHELL = "bash"
FENCES = ("```mswea_bash_command\n", "```bash\n")
FENCE_END = "\n```"
RETURN_CODE = "<returncode>"
ENDINGS = {
    "Submitted": Ending.FINISHED,
    "LimitsExceeded": Ending.BUDGET,
    "TimeExceeded": Ending.BUDGET,
    "UserInterruption": Ending.INTERRUPTED,
    "KeyboardInterrupt": Ending.INTERRUPTED,
}


def sniff(source: Source) -> bool:
    if source.kind != "json":
        return False
    document = source.document
    if isinstance(document, dict):
        named = fields.text(document, "trajectory_format").startswith(NAME)
        return isinstance(document.get("messages"), list) and (
            named or "mini_version" in fields.mapping(document, "info")
        )
    said = [(record.get("role"), fields.text(record, "content")) for record in source.sample]
    return any(role == "user" and words.startswith(RETURN_CODE) for role, words in said) and any(
        role == "assistant" and any(fence in words for fence in FENCES) for role, words in said
    )


def read(source: Source) -> Iterator[Transcript]:
    document = source.document
    record = document if isinstance(document, dict) else {"messages": document}
    facts = fields.mapping(record, "info")
    config = fields.mapping(facts, "config")
    stats = fields.mapping(facts, "model_stats")
    messages = tuple(_messages(fields.objects(record, "messages")))
    times = [message.at for message in messages if message.at is not None]
    status = fields.text(facts, "exit_status")
    cost = fields.amount(stats.get("instance_cost"))
    counted = any(message.usage for message in messages)
    yield Transcript(
        source=NAME,
        native_id=identity(source, 1),
        messages=messages,
        title=fields.text(record, "instance_id") or source.path.name.partition(".")[0],
        model=fields.text(fields.mapping(config, "model"), "model_name"),
        folder=fields.text(fields.mapping(config, "environment"), "cwd"),
        version=fields.text(facts, "mini_version"),
        ending=ENDINGS.get(status, Ending.FAILED) if status else Ending.UNKNOWN,
        ending_detail=status,
        started=min(times, default=None),
        ended=max(times, default=None),
        checks=(RecordedCheck("submitted", passed=status == "Submitted", detail=status),) if status else (),
        usage=None if counted or cost is None else Usage(cost_dollars=cost),
    )


def _messages(records: list[dict[str, Any]]) -> Iterator[Message]:
    steps = OpenCalls()
    asked = False  # whether the task has been given
    for index, record in enumerate(records):
        role, extra = fields.text(record, "role"), fields.mapping(record, "extra")
        at = fields.seconds(extra.get("timestamp"))
        if role == "assistant":
            steps.begin()
            yield content.spoken(
                Role.AGENT, _agent_parts(record, steps, index), at=at, usage=_usage(extra), model=_model(extra)
            )
        elif role == "system":
            yield content.spoken(Role.SYSTEM, content.parts(record.get("content")), at=at)
        elif role == "tool" or (steps.waiting and role in ("user", "exit")):
            # The last command ends the run: what it printed is in the closing message.
            yield _answer(record, steps, at)
        elif role == "user":
            if asked:
                yield content.spoken(
                    Role.USER, content.parts(record.get("content")), at=at, origin=transcripts.Origin.INSERTED
                )
            else:
                yield from content.said(content.parts(record.get("content")), at=at, is_order=True)
            asked = True


def _agent_parts(record: dict[str, Any], steps: OpenCalls, index: int) -> Iterator[transcripts.Part]:
    if reasoning := fields.text(record, "reasoning_content"):
        yield Thought(reasoning)
    calls = openai_messages.calls(record)
    words = record.get("content")
    block = command(words) if isinstance(words, str) and not calls else None
    if block is None:
        yield from content.parts(words)
    else:
        before, action, after = block
        if before.strip():
            yield Text(before.strip())
        calls = [ToolCall("", SHELL, fields.json_text({"command": action}))]
        if after.strip():
            yield Text(after.strip())
    for call in calls:
        yield ToolCall(steps.ask(call.id, call.name, message=index), call.name, call.arguments)


def command(words: str) -> tuple[str, str, str] | None:
    """What stands before, in and after the command block; None unless there is just one, as the agent demands."""
    for fence in FENCES:
        before, opened, rest = words.partition(fence)
        action, closed, after = rest.partition(FENCE_END)
        if opened and closed:
            return None if fence in after else (before, action, after)
    return None


def _answer(record: dict[str, Any], steps: OpenCalls, at: float | None) -> Message:
    call_id = steps.answer(fields.text(record, "tool_call_id"))
    extra = fields.mapping(record, "extra")
    answer = content.result(
        call_id,
        record.get("content"),
        tool=steps.names.get(call_id, ""),
        error=True if fields.text(extra, "exception_info") else None,
        exit_code=fields.code(extra, "returncode"),
    )
    return content.answered(answer, at=at)


def _model(extra: dict[str, Any]) -> str:
    return fields.text(fields.mapping(extra, "response"), "model")


def _usage(extra: dict[str, Any]) -> Usage | None:
    response = fields.mapping(extra, "response")
    return openai_messages.usage(fields.mapping(response, "usage"), cost_dollars=extra.get("cost"))


FORMAT = Format(NAME, "mini-swe-agent", sniff, read)
