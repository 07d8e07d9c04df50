"""What a run does, shown as it happens: words as they stream, thoughts dimmed, each call in one line."""

import time
from collections.abc import Callable

from whet.cli.chat.endings import duration, fault, summary
from whet.cli.chat.screen import DIM, Markdown, Screen, cut
from whet.own.runs.run import Ended, Fragment
from whet.sessions.transcripts import Message, Role, ToolCall, ToolResult
from whet.text.characters import safe

GREEN, RED, YELLOW = "32", "31", "33"
FINISH = "finish"
PENDING = 60  # letters of what is being written that stand on the waiting line


class Display:
    """Shows one stream of a run after the other. `answer` takes the words, `progress` all else; both may be one."""

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
            self._progress.wait(fragment.text)
        else:
            self.wait()

    def _say(self, text: str) -> None:
        if self._answer is None:
            self.wait()
            return
        self._close_thought()
        if self._text is None:
            self._part("words")
            self._text = Markdown(self._answer.width, styled=self._answer.styled)
        self._answer.write(self._text.feed(text))
        self._answer.wait(self._text.pending[-PENDING:])

    def _think(self, text: str) -> None:
        if self._thought is None:
            self._part("words")
            self._thought = Markdown(self._progress.width, styled=self._progress.styled, style=DIM)
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
        tail = f" · {why}" if why else ""
        self._part("calls")
        text = cut(f"{summary(call)}{tail} · {duration(seconds)}", self._progress.width - 3)
        if self._progress.styled:
            self._progress.line(f"\x1b[{colour}m{mark}\x1b[0m \x1b[{DIM}m{text}\x1b[0m")
        else:
            self._progress.line(f"{mark} {safe(text)}")
