"""Reviews of a live conversation: begun behind its back, by a process of their own, and told of in one line."""

import subprocess
import sys
import time

from whet.agent.session import Talk
from whet.improving.reviews_begun import news, reviews_of
from whet.runs.run import Ended
from whet.runs.settings import Review
from whet.sessions.transcripts import session_id
from whet.store.recording import SOURCE
from whet.told.review_when import Reviewed, ReviewKind, count, due

DID_NOT_RUN = "A review failed before it began. To see why, run `whet worker list`."
PROGRAM = "from whet.cli.main import main; main()"


class Reviews:
    """What a conversation has had reviewed. The next turn never waits for a review: it outruns it."""

    def __init__(self, talk: Talk, settings: Review) -> None:
        self._talk = talk
        self._settings = settings
        self._begun: dict[str, list[Reviewed]] = {}
        self._faults: list[str] = []
        self._at_work: list[subprocess.Popen[bytes]] = []
        self._told_until = time.time()

    def after(self, ended: Ended) -> None:
        """Begin the review that a finished turn calls for, if it does and no other is at work."""
        run = self._talk.run
        begun = self._begun.setdefault(run.id, [])
        known = (*reviews_of(self._talk.database, session_id(SOURCE, run.id)), *begun)
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
            lines += news(self._talk.home, self._talk.database, session_id(SOURCE, run), since=since)
        return tuple(lines)

    def _start(self, kind: ReviewKind) -> None:
        """In a process that outlives this one. Should it not get far, the next worker finds what it queued."""
        run = self._talk.run
        command = [sys.executable, "-c", PROGRAM, "learn", "--review", run.id, "--kind", kind.value, "--background"]
        model = self._settings.model or self._talk.model
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
