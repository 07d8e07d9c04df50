"""What reviews of a session were begun, and what they have learned: asked in every conversation, so it needs little."""

import re
import subprocess
import sys
import time

from whet.agent.session import OpenSession
from whet.ledger.entries import Entry, Step
from whet.own.runs.run import Ended
from whet.own.runs.settings import Review
from whet.own.told.review_when import Reviewed, ReviewKind, count, due, summary
from whet.sessions.transcripts import Ending, Purpose, session_id
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.recording import SOURCE
from whet.store.rows import SESSION_COLUMNS, Session, session_of

DID_NOT_RUN = "A review failed before it began. To see why, run `whet worker list`."
PROGRAM = "from whet.cli.main import main; main()"
_ID = re.compile(r"-review-(memory|skill|combined)-(\d+)")  # behind the id of the session


class Reviews:
    """What a conversation has had reviewed. The next turn never waits for a review: it outruns it."""

    def __init__(self, talk: OpenSession, settings: Review) -> None:
        self.talk = talk
        self._settings = settings
        self._begun: dict[str, list[Reviewed]] = {}
        self._faults: list[str] = []
        self._at_work: list[subprocess.Popen[bytes]] = []
        self._told_until = time.time()

    def after(self, ended: Ended) -> None:
        """Begin the review that a finished turn calls for, if it does and no other is at work."""
        run = self.talk.run
        begun = self._begun.setdefault(run.id, [])
        known = (*reviews_of(self.talk.database, session_id(SOURCE, run.id)), *begun)
        tools = (definition.name for definition in run.shown)
        kind = due(count(run.messages, known), ended.ending, self._settings, tools)
        if kind is not None:
            begun.append(Reviewed(kind, len(run.messages)))
            self._start(kind)

    def news(self) -> tuple[str, ...]:
        """What reviews have learned since this was last asked: a line for each that learned anything or failed."""
        since, self._told_until = self._told_until, time.time()
        lines, self._faults = self._faults, []
        lines += [DID_NOT_RUN for process in self._at_work if process.poll()]
        self._at_work = [process for process in self._at_work if process.returncode is None]
        for run in self._begun:
            lines += news(self.talk.home, self.talk.database, session_id(SOURCE, run), since=since)
        return tuple(lines)

    def _start(self, kind: ReviewKind) -> None:
        """In a process that outlives this one. Should it not get far, the next worker finds what it queued."""
        run = self.talk.run
        command = [sys.executable, "-c", PROGRAM, "learn", "--review", run.id, "--kind", kind.value, "--background"]
        model = self._settings.model or self.talk.model
        try:
            begun = subprocess.Popen(
                [*command, "--work", "--with", model],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            self._at_work.append(begun)
        except OSError as error:
            self._faults.append(
                f"The review did not start: {error}. To start it yourself, run `whet learn --review {run.id}`."
            )


def reviews_of(database: Database, session: str) -> tuple[Reviewed, ...]:
    """The reviews of a session that were begun, from their names."""
    rows = database.query(
        "SELECT own.native_id, parent.native_id FROM sessions AS own"
        " JOIN sessions AS parent ON parent.id = own.parent_id WHERE own.parent_id = ? AND own.purpose = ?",
        (session, Purpose.REVIEW.value),
    )
    found = (_ID.fullmatch(own.removeprefix(parent)) for own, parent in rows)
    return tuple(Reviewed(ReviewKind(each[1]), int(each[2])) for each in found if each)


def news(home: Home, database: Database, session: str, *, since: float) -> tuple[str, ...]:
    """What reviews of a session that ended since then have learned, a line for each that learned anything or failed."""
    rows = database.query(
        f"SELECT {SESSION_COLUMNS} FROM sessions WHERE parent_id = ? AND purpose = ? AND ended > ? ORDER BY ended",
        (session, Purpose.REVIEW.value, since),
    )
    ended = [each for each in map(session_of, rows) if each.ending != Ending.UNKNOWN]
    return tuple(filter(None, (_told(home, database, each) for each in ended)))


def _told(home: Home, database: Database, session: Session) -> str:
    failed = f"A review ended early: {session.ending}. {session.facts.ending_detail}".strip()
    is_whole = session.ending in (Ending.FINISHED, Ending.BUDGET)
    return " ".join(filter(None, ("" if is_whole else failed, summary(made_by(home, database, session.id)))))


def made_by(home: Home, database: Database, session: str) -> tuple[Entry, ...]:
    """The entries of the ledger that came from a session, without what it proposed and then took back."""
    entries = ledger_of(home, database).entries()
    made = [entry for entry in entries if any(proof.session == session for proof in entry.patch.proofs)]
    gone = {entry.about for entry in made if entry.step is Step.EXPIRED}
    return tuple(entry for entry in made if entry.number not in gone)
