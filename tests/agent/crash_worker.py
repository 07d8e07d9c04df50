"""A process that is killed at one point after the other: `python crash_worker.py HOME DATABASE_URL LOGS ROOM`.

Each child plays the same conversation in a session of its own and is killed at its own point: before or after a
statement of the database, a piece of a reply, or the effect of a tool. The first that comes to its end is the last.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from threading import Event

from msgspec.structs import replace

from agent.scenes import run_of
from replies import asks, says
from whet.agent.assembling import RunParts, perform
from whet.agent.compaction import Compacting
from whet.agent.protocols import Answer, Reply
from whet.agent.providers.choosing import Call, Scripted
from whet.agent.redacting import Secrets
from whet.own.runs.run import Fragment, Run
from whet.sessions.transcripts import Role, Text, ToolCall, ToolResult, Usage
from whet.sessions.trust import Trust
from whet.store.database import Database, Dialect, Parameters, Row
from whet.store.home import Home
from whet.store.opening import connect, opened

MOST = 2_000
KEY = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
STEPS = (
    asks(Call("write", '{"n": 1}'), Call("write", '{"n": 2}'), text="Two things.", usage=Usage(input=10, output=5)),
    asks(Call("read", '{"n": 3}'), usage=Usage(input=20, output=5)),
    says("All of it is done.", usage=Usage(input=30, output=5)),
)


class Fate:
    """Kills the process when its point has come."""

    def __init__(self, point: int) -> None:
        self._left = point

    def pass_by(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class Fragile:
    """A database in whose every statement the process may die."""

    def __init__(self, database: Database, fate: Fate) -> None:
        self._database = database
        self._fate = fate

    @property
    def dialect(self) -> Dialect:
        return self._database.dialect

    @property
    def member(self) -> str:
        return self._database.member

    def query(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        self._fate.pass_by()
        return self._database.query(sql, parameters)

    def execute(self, sql: str, parameters: Parameters = ()) -> None:
        self.query(sql, parameters)

    def many(self, sql: str, rows: Iterable[Parameters]) -> None:
        self._fate.pass_by()
        self._database.many(sql, rows)

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Parameters]) -> None:
        self._fate.pass_by()
        self._database.insert(table, columns, rows)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        with self._database.writing():
            yield
            self._fate.pass_by()
        self._fate.pass_by()

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        with self._database.reading():
            yield

    def afterwards(self, action: Callable[[], None]) -> None:
        self._database.afterwards(action)

    def expect_session(self) -> None:
        self._database.expect_session()

    def close(self) -> None:
        self._database.close()


class Logged:
    """A provider that answers by how far the conversation is, and writes down each request before it is sent."""

    def __init__(self, log: Path, fate: Fate) -> None:
        self._log = log
        self._fate = fate

    @property
    def name(self) -> str:
        return "scripted"

    def request(self, run: Run) -> bytes:
        return Scripted([]).request(run)

    def reply(self, run: Run, *, interrupt: Event) -> Iterator[Fragment | Reply]:
        if run.id.startswith("crash") and not run.id.endswith("/summary"):
            append(self._log, run.id.encode() + b" " + self.request(run) + b"\n")
        self._fate.pass_by()
        for piece in Scripted([step_of(run)]).reply(run, interrupt=interrupt):
            self._fate.pass_by()
            yield piece


class Effects:
    """Tools with an effect that stays: a line in a file."""

    def __init__(self, log: Path, fate: Fate) -> None:
        self._log = log
        self._fate = fate

    def answer(self, call: ToolCall, *, allowed: frozenset[str], interrupt: Event) -> Answer:
        assert call.name in allowed
        assert not interrupt.is_set()
        self._fate.pass_by()
        append(self._log, f"{call.arguments}\n".encode())
        self._fate.pass_by()
        text = f"The token of {call.arguments} is {KEY}. " + "So it goes. " * 40
        return Answer(ToolResult(call.id, (Text(text),), call.name, error=False), Trust.TOOL)

    def can_run_beside(self, call: ToolCall) -> bool:
        return call.name == ""

    def close(self) -> None:
        return


def step_of(run: Run) -> Reply:
    if "summar" in run.messages[-1].text.lower():
        return says("The first two are done.", usage=Usage(input=7, output=3))
    asked = {call.arguments for message in run.messages for call in message.calls}
    summed = any("The first two are done." in message.text for message in run.messages)
    done = 2 if '{"n": 3}' in asked else 1 if asked or summed else 0
    if done == 2 and run.messages[-1].role is Role.AGENT:
        return says("Nothing to do.")
    return STEPS[done]


def append(path: Path, line: bytes) -> None:
    with path.open("ab") as file:
        file.write(line)


def means(logs: Path, name: str, fate: Fate) -> RunParts:
    compacting = Compacting(lambda: f"{name}+")
    return RunParts(Logged(logs / f"{name}.sent", fate), Effects(logs / f"{name}.done", fate), compacting, Secrets())


def play(home: Home, logs: Path, point: int, room: int | None) -> None:
    fate = Fate(point)
    name = f"crash-{point:04}"
    run = replace(run_of(f"Do the things with {KEY}.", id=name), room=room)
    database = Fragile(connect(home), fate)
    for _ in perform(database, run, means(logs, name, fate), interrupt=Event(), now=time.time):
        pass
    database.close()


def main() -> None:
    home = Home(Path(sys.argv[1]), sys.argv[2])
    logs, room = Path(sys.argv[3]), int(sys.argv[4]) or None
    with opened(home):
        pass
    for point in range(1, MOST):
        child = os.fork()
        if child == 0:
            play(home, logs, point, room)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            sys.stdout.write(str(point))
            sys.exit(os.WEXITSTATUS(status))
    sys.exit("no child came to its end")


if __name__ == "__main__":
    main()
