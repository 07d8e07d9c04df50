"""What a run does, shown as it happens, and how it ended: in words, for programs and as an exit code."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from whet.cli.chat.screen import DIM, Screen
from whet.cli.output import fields, fitted
from whet.own.runs.run import Ended, Fragment, Spent, WorkStatus
from whet.sessions.transcripts import Disposition, Ending, Message, Role, ToolCall, ToolResult
from whet.text.characters import safe
from whet.text.words import short

if TYPE_CHECKING:
    from whet.cli.chat.markdown import Markdown

GREEN, RED, YELLOW = "32", "31", "33"
FINISH = "finish"
PENDING = 60  # letters of what is being written that stand on the waiting line


class Display:
    """Shows one stream of a run after the other. `answer` takes the words, `progress` all else; both may be one.

    What is no terminal gets a line for each call that has ended.
    """

    def __init__(
        self,
        answer: Screen | None,
        progress: Screen,
        *,
        thoughts: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._answer = answer
        self._progress = progress
        self._thoughts = thoughts and progress.is_terminal
        self._clock = clock
        self._text: Markdown | None = None
        self._thought: Markdown | None = None
        self._running: dict[str, tuple[ToolCall, float]] = {}
        self._last = ""  # what was shown last: words, calls, or nothing in this turn

    def show(self, said: Message | Fragment | Ended) -> None:
        if isinstance(said, Fragment):
            self._fragment(said)
        elif isinstance(said, Message):
            self._message(said)
        else:
            self._close()
            self._progress.rest()
            self._last = ""

    def wait(self) -> None:
        """A request has gone out."""
        self._progress.wait("thinking")

    def _fragment(self, fragment: Fragment) -> None:
        if fragment.kind == "text":
            self._say(fragment.text)
        elif fragment.kind == "thought" and self._thoughts:
            self._think(fragment.text)
        elif fragment.kind == "call":
            self._close()
            self._progress.wait("writing a call")
        elif fragment.kind == "wait":
            self._close()
            if self._progress.is_terminal:
                self._progress.wait(fragment.text)
            else:
                self._progress.line(f"Note: {safe(fragment.text)}")
        else:
            self.wait()

    def _say(self, text: str) -> None:
        if self._answer is None:
            self.wait()
            return
        self._close_thought()
        if self._text is None:
            self._part("words")
            self._text = _markdown(self._answer)
        self._answer.write(self._text.feed(text))
        self._answer.wait(self._text.pending[-PENDING:])

    def _think(self, text: str) -> None:
        if self._thought is None:
            self._part("words")
            self._thought = _markdown(self._progress, dim=True)
        self._progress.write(self._thought.feed(text))
        self._progress.wait(self._thought.pending[-PENDING:])

    def _part(self, kind: str) -> None:
        """Leave a line free between words and calls, and between one speech and the next."""
        if self._progress.is_terminal and (kind == "words" or self._last == "words"):
            self._progress.line()
        self._last = kind

    def _close_thought(self) -> None:
        if self._thought is not None:
            self._progress.write(self._thought.finish())
            self._progress.end_line()
            self._thought = None

    def _close(self) -> None:
        self._close_thought()
        if self._text is not None and self._answer is not None:
            self._answer.write(self._text.finish())
            self._answer.end_line()
            self._text = None

    def _message(self, message: Message) -> None:
        if message.role is Role.AGENT:
            if self._text is None and message.text:
                self._say(message.text)
            self._close()
            for call in message.calls:
                self._running[call.id] = (call, self._clock())
            self._waiting()
        for result in message.results:
            self._result(result)
        if message.results:
            self._waiting()

    def _waiting(self) -> None:
        """Name the calls that still run; with none left it is the model's turn again."""
        names = [summary(call) for call, _ in self._running.values()]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        if names:
            self._progress.wait(f"{names[0]}{more}")
        else:
            self.wait()

    def _result(self, result: ToolResult) -> None:
        now = self._clock()
        if result.tool == FINISH and not fault(result):
            self._running.pop(result.call_id, None)
            return  # the report itself is shown
        call, since = self._running.pop(result.call_id, (ToolCall(result.call_id, result.tool), now))
        seconds = now - since
        why = fault(result)
        mark, colour = ("✗", RED) if why else ("✓", GREEN)
        self._part("calls")
        text = " · ".join(filter(None, (summary(call), why, duration(seconds))))
        if self._progress.is_terminal:
            text = fitted(text, self._progress.width - 3)
        if self._progress.styled:
            self._progress.line(f"\x1b[{colour}m{mark}\x1b[0m \x1b[{DIM}m{text}\x1b[0m")
        else:
            self._progress.line(f"{mark} {safe(text)}")


def _markdown(screen: Screen, *, dim: bool = False) -> "Markdown":
    from whet.cli.chat.markdown import Markdown  # large, and needed only once there is an answer

    return Markdown(screen.width, styled=screen.styled, dim=dim)


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
    except (msgspec.DecodeError, RecursionError):
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
    counted = fields(spent, "model_calls", "input", "output", "cached")
    return {**counted, "seconds": round(spent.seconds, 3), "cost_dollars": spent.dollars}


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
