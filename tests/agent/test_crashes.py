"""After kill -9 at any point a session goes on where it was: nothing is lost, nothing is repeated unseen."""

import itertools
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from threading import Event

import pytest

from agent.crash_worker import KEY, STEPS, Fate, means
from agent.prefixes import extends
from agent.scenes import gone_on
from lengths import long, long_on_postgres
from whet.agent.assembling import perform, resume
from whet.agent.providers.choosing import request_of
from whet.errors import WhetError
from whet.own.runs.run import Ended, Run
from whet.sessions.transcripts import Disposition, Ending, pair
from whet.store.database import Database
from whet.store.home import Home
from whet.store.listing import find
from whet.store.search import search
from whet.store.sessions import load

NEVER = 10**9
TESTS = Path(__file__).parents[1]


def crash_everywhere(home: Home, logs: Path, room: int) -> int:
    """Let a process die at each of its points in turn; how many there are."""
    done = subprocess.run(
        [sys.executable, str(TESTS / "agent" / "crash_worker.py"), home.folder, home.database_url, logs, str(room)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines() if path.exists() else []


def finish(database: Database, run: Run, logs: Path, name: str) -> tuple[Run, Ended]:
    """Carry a resumed run to its end."""
    how = means(logs, name, Fate(NEVER))
    return gone_on(run, perform(database, run, how, interrupt=Event(), now=time.time))


@long_on_postgres
@pytest.mark.parametrize("room", [pytest.param(0, id="whole"), pytest.param(330, id="compacted", marks=long)])
def test_a_session_goes_on_after_a_sudden_end_at_any_point(
    home: Home, database: Database, tmp_path: Path, room: int
) -> None:
    points = crash_everywhere(home, tmp_path, room)
    assert points > 60
    seen: Counter[str] = Counter()
    for point in range(1, points):
        name = f"crash-{point:04}"
        sent = [line.split(b" ", 1) for line in lines(tmp_path / f"{name}.sent")]
        before = Counter(lines(tmp_path / f"{name}.done"))
        try:
            run = resume(database, name, now=time.time())
        except WhetError:
            assert not sent
            assert not before
            seen["nothing stored"] += 1
            continue
        exchanges = pair(run.messages).exchanges
        unsure = [e for e in exchanges if e.result and e.result.disposition is Disposition.INTERRUPTED]
        assert all(exchange.result for exchange in exchanges)
        assert all("may have been carried out" in e.result.text for e in unsure if e.result)
        seen["unsure, carried out"] += sum(before[e.call.arguments.encode()] for e in unsure)
        seen["unsure, not carried out"] += sum(not before[e.call.arguments.encode()] for e in unsure)
        own = [body for run_id, body in sent if run_id.decode() == run.id]
        bodies = [*own, request_of(run)] if own else []
        assert all(extends(one, other) for one, other in itertools.pairwise(bodies))
        run, ended = finish(database, run, tmp_path, name)
        assert ended.ending is Ending.FINISHED
        assert run.messages[-1].text == STEPS[-1].message.text
        after = Counter(lines(tmp_path / f"{name}.done"))
        assert max(after.values()) == 1
        stored = load(database, find(database, run.id))
        assert stored.messages == run.messages
        assert stored.ending is Ending.FINISHED
        assert KEY not in repr(stored)
        seen["compacted"] += run.id != name
    assert seen["nothing stored"] >= 3
    assert seen["unsure, carried out"] >= 3
    assert seen["unsure, not carried out"] >= 3
    assert bool(seen["compacted"]) is bool(room)
    assert search(database, "done", limit=5)
    assert not database.query(
        "SELECT 1 FROM messages AS m WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE no = m.session)"
    )
