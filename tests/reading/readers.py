"""A reader whose answers a test writes, and sessions for it to read."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from threading import Event

from msgspec.structs import replace

from claimed_sessions import DAY, FIRST_DAY, INSTALL, session
from conversations import agent, conversation, shell, user
from whet.agents.executor import ReaderAnswer
from whet.reading.readers import ReaderQuestion
from whet.sessions.transcripts import Transcript, Usage

NOTHING = '{"op": "nothing"}'
Say = Callable[[ReaderQuestion], str]


class ScriptedReader:
    """Answers what its script makes of each question, and keeps what it was asked."""

    name = "scripted"
    is_in_plan = True

    def __init__(self, *says: Say | str) -> None:
        self._says = list(says)
        self.asked: list[ReaderQuestion] = []

    def price(self, usage: Usage) -> float | None:
        return usage.input / 1_000_000

    def ask(self, question: ReaderQuestion, *, interrupt: Event, dollars: float | None = None) -> ReaderAnswer:  # noqa: ARG002
        self.asked.append(question)
        say = self._says.pop(0) if len(self._says) > 1 else self._says[0]
        text = say if isinstance(say, str) else say(question)
        if not text:
            return ReaderAnswer("", why="limited: too many requests")
        return ReaderAnswer(text, Usage(len(question.order) // 4, len(text) // 4))


def sessions_in(question: ReaderQuestion) -> list[str]:
    """The ids of the sessions that a question shows."""
    return re.findall(r"(?m)^## ([0-9a-f]+) ", question.order)


def claiming(question: ReaderQuestion) -> str:
    """What a careful reader makes of sessions in which npm failed and bun worked; a sceptic keeps all."""
    if "You doubt" in question.system:
        ids = re.findall(r"(?m)^id: (\w+)$", question.order)
        return "\n".join(json.dumps({"op": "keep", "id": each, "why": "borne out"}) for each in ids)
    known = re.search(r"(?m)^(\w+) \(\d+ sessions\): Install packages", question.order)
    quotes = [{"session": each, "message": 1, "words": "npm install left-pad"} for each in sessions_in(question)]
    if not quotes:
        return NOTHING
    if known:
        return json.dumps({"op": "support", "id": known[1], "quotes": quotes})
    check = {"on": "command", "fails": r"\bnpm install", "works": r"\bbun (add|install)"}
    line = {"op": "new", "rule": INSTALL.rule, "situation": INSTALL.situation, "source": "recovery", "carrier": "file"}
    return json.dumps({**line, "quotes": quotes, "check": check})


def days(folder: Path, count: int) -> list[Transcript]:
    return [session(f"day{day}", folder, day) for day in range(count)]


def long_session(name: str, folder: Path, day: int) -> Transcript:
    """A session about which there is much to read."""
    said = [user(f"{name} wish {number}: " + "that the shop sells more fruit " * 14) for number in range(9)]
    turns = [
        user("Install left-pad."),
        shell("npm install left-pad", "npm error: no", error=True),
        *said,
        agent("Done"),
    ]
    made = conversation(*turns, native_id=name, source="codex")  # type: ignore[arg-type]  # turns of any kind
    messages = tuple(replace(each, at=FIRST_DAY + day * DAY + 30.0 * place) for place, each in enumerate(made.messages))
    return replace(made, messages=messages, folder=str(folder), started=FIRST_DAY + day * DAY)
