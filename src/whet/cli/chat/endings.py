"""How a call and a run ended, in words, for programs and as an exit code."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from whet.own.runs.run import Ended, Spent, WorkStatus
from whet.sessions.transcripts import Disposition, Ending, Message, Role, ToolCall, ToolResult
from whet.text.characters import safe
from whet.text.words import short

# The argument that tells most about a call, the first that is there.
TELLING = ("command", "path", "pattern", "query", "name", "action", "url", "status", "text")
LONGEST = 300
WORDS = {
    Disposition.REJECTED: "refused by you",
    Disposition.CANCELLED: "not begun",
    Disposition.BLOCKED: "not allowed",
    Disposition.INTERRUPTED: "stopped",
}


def summary(call: ToolCall) -> str:
    """The name of the tool and the argument that tells most."""
    try:
        arguments = msgspec.json.decode(call.arguments)
    except msgspec.DecodeError:
        arguments = call.arguments
    if isinstance(arguments, dict):
        found = [arguments[name] for name in TELLING if isinstance(arguments.get(name), str)]
        arguments = found[0] if found else (msgspec.json.encode(arguments).decode() if arguments else "")
    return _flat(f"{call.name} {arguments}"[:LONGEST])


def fault(result: ToolResult) -> str:
    """Why a call did not work, in a few words; empty where it did."""
    if succeeded(result):
        return ""
    if result.disposition is not None:
        return WORDS[result.disposition]
    lines = [line for line in result.text.splitlines() if line.strip()] or [""]
    if result.exit_code:  # a program says last why it failed, a tool first
        said = [line for line in lines if not line.startswith("[")]  # what the tool added stands in brackets
        return _flat(": ".join((f"exit {result.exit_code}", *said[-1:]))[:LONGEST])
    return _flat(lines[0][:LONGEST]) or "failed"


def _flat(text: str) -> str:
    return " ".join(safe(text).split())


def duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds) // 60} min {int(seconds) % 60} s"


FINISHED, PROVIDER_FAILED, BUDGET_SPENT, REFUSED, AGENT_FAILED, NO_ANSWER, INTERRUPTED = 0, 3, 4, 5, 6, 7, 130
CODES = {
    Ending.FINISHED: FINISHED,
    Ending.FAILED: PROVIDER_FAILED,
    Ending.BUDGET: BUDGET_SPENT,
    Ending.REFUSED: REFUSED,
    Ending.INTERRUPTED: INTERRUPTED,
}


def exit_code(ended: Ended) -> int:
    if ended.report is not None and ended.report.status is WorkStatus.FAILED:
        return AGENT_FAILED
    return CODES.get(ended.ending, NO_ANSWER)


def answer_of(messages: Iterable[Message], ended: Ended) -> str:
    """What was asked for: the last words of the agent, or its report where it said nothing besides."""
    said = [message.text for message in messages if message.role is Role.AGENT and message.text.strip()]
    report = ended.report.text if ended.report else ""
    return report or (said[-1] if said else "")


def ended_record(session: str, messages: tuple[Message, ...], ended: Ended) -> dict[str, Any]:
    """The one object that `whet run --json` prints."""
    report = ended.report
    return {
        "session": session,
        "ending": ended.ending.value,
        "detail": ended.detail,
        "advice": ended.advice,
        "answer": answer_of(messages, ended),
        "report": {"status": report.status.value, "text": report.text} if report else None,
        "model": next((message.model for message in reversed(messages) if message.model), ""),
        "usage": spent_record(ended.spent),
        "tools": tools_record(messages),
    }


def spent_record(spent: Spent) -> dict[str, Any]:
    return {
        "model_calls": spent.model_calls,
        "input": spent.input,
        "output": spent.output,
        "cached": spent.cached,
        "seconds": round(spent.seconds, 3),
        "cost_dollars": spent.dollars,
    }


def spent_words(spent: Spent) -> tuple[str, ...]:
    """Tokens and cost in a few words; nothing where nothing was counted."""
    share = f" ({100 * spent.cached / spent.input:.0f} % cached)" if spent.cached else ""
    tokens = (f"{short(spent.input)} in{share}, {short(spent.output)} out",) if spent.input else ()
    return (*tokens, *((f"${spent.dollars:.4f}",) if spent.dollars is not None else ()))


def succeeded(result: ToolResult) -> bool:
    return not result.error and not result.exit_code and result.disposition is None


def tools_record(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """The tools that were used, the first first: how often each, and how often it failed."""
    known = tuple(messages)
    names = {call.id: call.name for message in known for call in message.calls}
    calls = Counter(names.values())
    failed = Counter(
        names.get(result.call_id, result.tool)
        for message in known
        for result in message.results
        if not succeeded(result)
    )
    return [{"name": name, "calls": number, "failed": failed[name]} for name, number in calls.items()]


def failure_words(ended: Ended) -> str:
    """Why there is no whole answer, and what can be done about it; empty where the run finished."""
    if ended.ending is Ending.FINISHED:
        return "The agent reported that it failed." if exit_code(ended) == AGENT_FAILED else ""
    why = ended.detail or ended.ending.value
    return " ".join(part for part in (f"{why[:1].upper()}{why[1:].rstrip('.')}.", ended.advice) if part)
