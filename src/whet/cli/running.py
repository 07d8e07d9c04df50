"""One task from beginning to end: its progress on standard error, its answer on standard output."""

import shutil
import sys
import time
from contextlib import ExitStack
from typing import Literal, NamedTuple, Protocol

import msgspec

from whet.agent.compaction import Said
from whet.agent.session import OpenSession, SessionRequest
from whet.agent.tools.situation import ApprovalQuestion
from whet.cli.chat.conversation import Reviews
from whet.cli.chat.display import Display
from whet.cli.chat.endings import (
    answer_of,
    duration,
    ended_record,
    exit_code,
    failure_words,
    fault,
    spent_words,
    summary,
)
from whet.cli.chat.inputs import answered, interruptible, said_yes
from whet.cli.chat.screen import Screen, drawn
from whet.own.runs.run import Ended, Fragment, Run
from whet.sessions.transcripts import Ending, Message, Origin, Role, Text, ToolCall
from whet.sessions.trust import Trust
from whet.shipped.guidance import notice
from whet.store.home import Home
from whet.store.opening import opened
from whet.text.characters import safe
from whet.text.quoting import mark_for, quoted, shortened
from whet.text.showing import framed, shown

Form = Literal["text", "json", "stream"]
UNKNOWN_ROOM_TOKENS = 100_000


class Task(NamedTuple):
    """What the agent is to do, and what was piped in for it to work on."""

    words: str
    material: str = ""


class Watcher(Protocol):
    """Somebody who looks on while the agent works."""

    def show(self, said: Message | Fragment | Ended) -> None: ...

    def wait(self) -> None: ...


def perform(home: Home, asked: SessionRequest, task: Task, *, form: Form) -> int:
    """Carry a task out and print what came of it; gives the exit code."""
    with ExitStack() as stack:
        database = stack.enter_context(opened(home))
        watcher = _watcher(stack, form)
        can_ask = sys.stdin.isatty() and sys.stderr.isatty()
        talk = OpenSession(home, database, asked, ask=_ask if can_ask else None, tell=_tell)
        stack.callback(talk.close)
        _say_notes(talk.notes)
        messages, ended = _follow(talk, task, watcher, form)
        reviews = Reviews(talk, asked.run.settings.review)
        reviews.after(ended)
        _say_notes(reviews.news())
    return _report(talk.run.id, messages, ended, form)


def _follow(talk: OpenSession, task: Task, watcher: Watcher, form: Form) -> tuple[tuple[Message, ...], Ended]:
    messages: list[Message] = []
    ended = Ended(Ending.UNKNOWN)
    if form == "stream":
        _print_line({"event": "started", "session": talk.run.id, "model": talk.model})
    with interruptible() as stop:
        watcher.wait()
        for said in talk.turn(task.words, interrupt=stop, material=_material(task, talk.run.room)):
            if form == "stream":
                _print_event(said)
            if isinstance(said, Message):
                messages.append(said)
            if isinstance(said, Ended):
                ended = said
            if not isinstance(said, Run):
                watcher.show(said)
    return tuple(messages), ended


def _material(task: Task, room: int | None) -> Message | None:
    """What was piped in, marked as data: its words are no orders of the person. Too much of it loses its middle."""
    if not task.material.strip():
        return None
    mark = mark_for((task.material,))
    body, left_out = shortened(task.material, (room or UNKNOWN_ROOM_TOKENS) // 2, mark=mark)
    if left_out:
        _say_notes((f"{left_out:,} characters in the middle of the input were left out: the model has no room.",))
    text = f"{notice('standard_input')}\n\n{quoted('standard input', body, mark=mark)}"
    return Message(Role.USER, (Text(text),), Trust.EXTERNAL, at=time.time(), origin=Origin.INSERTED)


def _report(session: str, messages: tuple[Message, ...], ended: Ended, form: Form) -> int:
    record = ended_record(session, messages, ended)
    if form == "stream":
        _print_line({"event": "ended", **record})
    elif form == "json":
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
    else:
        _print_answer(messages, ended)
    sys.stdout.flush()
    why = failure_words(ended)
    if why and form == "text":
        sys.stderr.write(f"{'Error: ' if ended.ending is Ending.FAILED else ''}{safe(why)}\n")
    if form == "text" and sys.stderr.isatty():
        words = (*spent_words(ended.spent), duration(ended.spent.seconds), f"session {session}")
        sys.stderr.write(f"\n\x1b[2m{' · '.join(words)}\x1b[0m\n")
    return exit_code(ended)


def _print_answer(messages: tuple[Message, ...], ended: Ended) -> None:
    """The answer as plain text; on a terminal its words have been seen already, but for a report."""
    answer = answer_of(messages, ended)
    if not sys.stdout.isatty():
        sys.stdout.write(f"{answer.rstrip()}\n" if answer else "")
    elif ended.report and ended.report.text:
        with Screen(sys.stdout) as screen:
            screen.write(f"\n{drawn(answer, screen)}")


def _print_event(said: Said) -> None:
    if isinstance(said, Message):
        _print_line({"event": "message", "message": {**msgspec.to_builtins(said), "trust": said.trust.label}})
    elif isinstance(said, Run):
        _print_line({"event": "continued", "session": said.id})


def _print_line(record: object) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(record) + b"\n")
    sys.stdout.buffer.flush()


def _watcher(stack: ExitStack, form: Form) -> Watcher:
    """Eyes on a terminal get everything as it streams, a log gets a line for each call."""
    if not sys.stderr.isatty() and not (sys.stdout.isatty() and form == "text"):
        return Logged()

    progress = stack.enter_context(Screen(sys.stderr))
    answer = stack.enter_context(Screen(sys.stdout)) if sys.stdout.isatty() and form == "text" else None
    return Display(answer, progress)


class Logged:
    """A line on standard error for each call that has ended."""

    def __init__(self) -> None:
        self._begun: dict[str, tuple[ToolCall, float]] = {}

    def wait(self) -> None:
        """Nobody looks on."""

    def show(self, said: Message | Fragment | Ended) -> None:
        if isinstance(said, Fragment) and said.kind == "wait":
            sys.stderr.write(f"Note: {safe(said.text)}\n")
        if not isinstance(said, Message):
            return
        for call in said.calls:
            self._begun[call.id] = (call, time.monotonic())
        for result in said.results:
            call, since = self._begun.pop(result.call_id, (ToolCall(result.call_id, result.tool), time.monotonic()))
            why = fault(result)
            words = (summary(call), *((why,) if why else ()), duration(time.monotonic() - since))
            sys.stderr.write(f"{'✗' if why else '✓'} {' · '.join(words)}\n")


def _tell(note: str) -> None:
    """A note while somebody waits for the answer: what moves on a terminal gives way."""
    sys.stderr.write("\r\x1b[K" if sys.stderr.isatty() else "")
    _say_notes((note,))


def _say_notes(notes: tuple[str, ...]) -> None:
    for note in notes:
        sys.stderr.write(f"Note: {safe(note)}\n")


def _ask(question: ApprovalQuestion) -> bool:
    rows = framed(question.text, shutil.get_terminal_size().columns)
    sys.stderr.write("\n".join((f"\r\x1b[K{shown(question.lead)}", *rows, "")))
    return answered(lambda: said_yes(question.prompt, sys.stderr))
