"""SWE-agent: one JSON `.traj` a task; its `history` is the conversation.

Newer histories name their tool calls. Older ones hold an action as text, answered by the message after it: there
calls get made-up ids and are paired by position within the step.
"""

from collections.abc import Iterator
from typing import Any

from whet.agents.formats import content, openai_messages
from whet.agents.formats.content import OpenCalls
from whet.agents.formats.source import Format, Source, Unreadable, identity, parse
from whet.sessions import transcripts
from whet.sessions.transcripts import Ending, Message, Part, RecordedCheck, Role, Thought, ToolCall, Transcript, Usage
from whet.text import fields

NAME = "swe-agent"
SHELL = "bash"
# The commands that SWE-agent adds to the shell of its text-only versions; every other action is shell.
COMMANDS = frozenset(
    {
        *("open", "goto", "scroll_up", "scroll_down", "create", "edit", "insert", "append", "submit"),
        *("search_dir", "search_file", "find_file", "str_replace_editor", "view_image"),
        *("debug_start", "debug_stop", "connect_start", "connect_stop", "decompile", "disassemble"),
    }
)
BUDGETS = ("exit_cost", "exit_context", "exit_total_cost", "exit_total_execution_time", "exit_max_step")


def sniff(source: Source) -> bool:
    return source.kind == "json" and any(
        isinstance(record.get("history"), list)
        and isinstance(record.get("trajectory"), list)
        and isinstance(record.get("info"), dict)
        for record in source.sample[:1]
    )


def read(source: Source) -> Iterator[Transcript]:
    for index, record in source.records():
        facts = fields.mapping(record, "info")
        status = fields.text(facts, "exit_status")
        checks = (RecordedCheck("submitted", passed=status.startswith("submitted"), detail=status),) if status else ()
        yield Transcript(
            source=NAME,
            native_id=identity(source, index),
            messages=tuple(_messages(record)),
            title=source.path.stem,
            model=_model(record),
            version=fields.text(facts, "swe_agent_version"),
            ending=_ending(status),
            ending_detail=status,
            checks=checks,
            usage=_usage(fields.mapping(facts, "model_stats")),
        )


def _messages(record: dict[str, Any]) -> Iterator[Message]:
    steps = OpenCalls()
    yield from _history(fields.objects(record, "history"), steps)
    # The answer to the last action, mostly the submission, is only in the trajectory.
    last = fields.objects(record, "trajectory")[-1:]
    if steps.waiting and last and (answer := fields.text(last[0], "observation")):
        yield _answer({"content": answer}, steps)


def _history(history: list[dict[str, Any]], steps: OpenCalls) -> Iterator[Message]:
    asked = False  # whether the task has been given
    for index, record in enumerate(history):
        if record.get("is_demo"):
            continue
        role = fields.text(record, "role")
        if role == "assistant":
            steps.begin()
            yield content.spoken(Role.AGENT, _agent_parts(record, steps, index))
        elif role == "system":
            yield content.spoken(Role.SYSTEM, content.parts(record.get("content")))
        elif role == "tool" or steps.waiting:
            yield _answer(record, steps)
        elif role == "user":
            if asked:
                yield content.spoken(
                    Role.USER, content.parts(record.get("content")), origin=transcripts.Origin.INSERTED
                )
            else:
                yield from content.said(content.parts(record.get("content")), is_order=True)
            asked = True


def _agent_parts(record: dict[str, Any], steps: OpenCalls, index: int) -> Iterator[Part]:
    for block in fields.objects(record, "thinking_blocks"):
        if words := fields.text(block, "thinking"):
            yield Thought(words, signature=fields.text(block, "signature"))
    calls = openai_messages.calls(record)
    action = fields.text(record, "action").strip()
    if calls or action:
        # The content of an older message repeats the action; its thought is the rest of it.
        yield from content.parts(record.get("thought") or ("" if action else record.get("content")))
    else:
        yield from content.parts(record.get("content"))
    for call in calls:
        yield ToolCall(steps.ask(call.id, call.name, message=index), call.name, call.arguments)
    if action and not calls:
        name = action.split(maxsplit=1)[0]
        name = name if name in COMMANDS else SHELL
        arguments = fields.json_text({"command": fields.text(record, "action")})
        yield ToolCall(steps.ask("", name, message=index), name, arguments)


def _answer(record: dict[str, Any], steps: OpenCalls) -> Message:
    ids = [found for found in fields.items(record, "tool_call_ids") if isinstance(found, str)]
    call_id = steps.answer(ids[0] if ids else "")
    return content.answered(content.result(call_id, record.get("content"), tool=steps.names.get(call_id, "")))


def _model(record: dict[str, Any]) -> str:
    config = record.get("replay_config")
    if isinstance(config, str):
        try:
            config = parse(config.encode())
        except Unreadable:
            return ""
    if not isinstance(config, dict):
        return ""
    return fields.text(fields.mapping(fields.mapping(config, "agent"), "model"), "name")


def _ending(status: str) -> Ending:
    """The status is a word, with the reason in brackets where the work was submitted on the way out."""
    if not status:
        return Ending.UNKNOWN
    if any(budget in status for budget in BUDGETS):
        return Ending.BUDGET
    return Ending.FINISHED if status == "submitted" else Ending.FAILED


def _usage(stats: dict[str, Any]) -> Usage | None:
    if not stats:
        return None
    return Usage(
        input=fields.whole(stats, "tokens_sent"),
        output=fields.whole(stats, "tokens_received"),
        cost_dollars=fields.amount(stats.get("instance_cost")),
    )


FORMAT = Format(NAME, "SWE-agent", sniff, read)
