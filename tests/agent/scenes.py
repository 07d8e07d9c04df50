"""Runs, tools and a clock for the tests of the loop: small, real, and counting what they do."""

import itertools
from collections.abc import Callable, Iterable
from threading import Event, Lock

from whet.agent.compaction import Said
from whet.agent.loop import execute
from whet.agent.protocols import Answer, Provider, Toolbox
from whet.own.runs.run import Ended, Fragment, Run, WorkReport, WorkStatus, grown
from whet.sessions.tool_families import Definition
from whet.sessions.transcripts import Message, Role, Text, ToolCall, ToolResult
from whet.sessions.trust import Trust

TOOLS = ("read", "write", "finish")


class Notebook:
    """Tools that write down what they were asked. `during` is called while one works."""

    def __init__(self, *, beside: bool = False, during: Callable[[ToolCall], str] | None = None) -> None:
        self.done: list[ToolCall] = []
        self._beside = beside
        self._during = during
        self._lock = Lock()

    def answer(self, call: ToolCall, *, allowed: frozenset[str], interrupt: Event) -> Answer:
        assert not interrupt.is_set()
        assert call.name in allowed
        with self._lock:
            self.done.append(call)
        text = self._during(call) if self._during else f"{call.name} {call.arguments}"
        report = WorkReport(WorkStatus.DONE, "all done") if call.name == "finish" else None
        return Answer(ToolResult(call.id, (Text(text),), call.name, error=False), Trust.TOOL, report)

    def can_run_beside(self, call: ToolCall) -> bool:
        return self._beside and call.name in TOOLS

    def close(self) -> None:
        return


def user(words: str) -> Message:
    return Message(role=Role.USER, parts=(Text(words),), trust=Trust.USER, at=1.0)


def run_of(*words: str, id: str = "run-1", tools: Iterable[str] = TOOLS) -> Run:
    return Run(
        id=id,
        model="scripted",
        system="You are careful.",
        messages=tuple(user(each) for each in (words or ("Do it.",))),
        shown=tuple(Definition(name, f"Can {name}.") for name in tools),
        allowed=frozenset(tools),
    )


def clock(step: float = 1.0) -> Callable[[], float]:
    """A clock that moves on by itself, each time it is looked at."""
    ticks = itertools.count(1)
    return lambda: next(ticks) * step


def played(
    run: Run, provider: Provider, toolbox: Toolbox, *, interrupt: Event | None = None
) -> tuple[list[Message], Ended]:
    """All messages of a run, and how it ended."""
    items = list(execute(run, provider, toolbox, interrupt=interrupt or Event(), now=clock()))
    assert all(isinstance(item, Message | Fragment) for item in items[:-1])
    ended = items[-1]
    assert isinstance(ended, Ended)
    return [item for item in items if isinstance(item, Message)], ended


def gone_on(run: Run, stream: Iterable[Said]) -> tuple[Run, Ended]:
    """The run where a stream of what was said leaves it, and how it ended."""
    ended = None
    for item in stream:
        if isinstance(item, Run):
            run = item
        elif isinstance(item, Message):
            run = grown(run, item)
        elif isinstance(item, Ended):
            ended = item
    assert ended is not None
    return run, ended
