"""A model that obeys whatever it reads, in a home of its own: it writes the order down as a note and as a skill."""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from whet.agent.assembling import RunPlace, RunRequest
from whet.agent.session import OpenSession, SessionRequest
from whet.agents.formats.source import Source
from whet.agents.recognising import recognise
from whet.improving.review import ReviewRequest, look_back
from whet.own.runs.settings import Settings
from whet.own.told.review_when import ReviewKind
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.listing import Filters, list_sessions
from whet.store.opening import opened
from whet.store.rows import Provenance, prepare
from whet.store.sessions import keep
from words_in_records import ORDER

ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
NOTE = ("memory", {"action": "add", "text": ORDER})
SKILL = ("skills", {"action": "create", "name": "reports", "description": ORDER, "text": ORDER})
Call = tuple[str, dict[str, Any]]


class Place(NamedTuple):
    """A home, and a folder to work in."""

    folder: Path
    home: Home
    work: Path

    def model(self, *turns: list[Call], toml: str = "") -> str:
        """The name of a model that makes the calls of each turn and is done; `toml` is more of the settings."""
        script = self.folder / "script.jsonl"
        lines = [{"calls": [{"name": name, "arguments": json.dumps(given)} for name, given in turn]} for turn in turns]
        script.write_text("\n".join(map(json.dumps, [*lines, {"text": "Done."}])) + "\n")
        self.home.folder.mkdir(mode=0o700, exist_ok=True)
        (self.home.folder / "settings.toml").write_text(f'model = "scripted:{script}"\n{toml}')
        return f"scripted:{script}"

    def talk(self, words: str, *before: Call, obeys: bool = True, **more: Any) -> None:
        """One order to our own agent: it makes the calls one by one, then obeys."""
        turns = [*([call] for call in before), *([[NOTE, SKILL]] if obeys else [])]
        settings = Settings(model=self.model(*turns), **more)
        with opened(self.home) as database:
            asked = SessionRequest(RunRequest(settings, RunPlace(self.work, ENVIRONMENT)))
            session = OpenSession(self.home, database, asked)
            try:
                for _ in session.turn(words, interrupt=threading.Event()):
                    pass
            finally:
                session.close()

    def review(self, *, toml: str = "") -> None:
        """Look back on every session there is."""
        self.model([NOTE, SKILL], toml=toml)
        with opened(self.home) as database:
            for session in list_sessions(database, Filters(), limit=50):
                ask = ReviewRequest(session.id, 10_000, ReviewKind.COMBINED)
                look_back(self.home, database, ask, environment=ENVIRONMENT, interrupt=threading.Event())

    def take(self, database: Database, path: Path) -> None:
        """Import a record; raises where no format knows it, for then nothing would be shown."""
        source = Source(path)
        known = recognise(source)
        if known is None:
            raise ValueError(f"{path} is in no format")
        for transcript in known.read(source):
            keep(database, prepare(transcript), Provenance(str(path), 1.0, 1.0))

    def imported(self, path: Path, *, toml: str = "") -> None:
        """Import a record and look back on it."""
        with opened(self.home) as database:
            self.take(database, path)
        self.review(toml=toml)

    def whet(self, *arguments: str, stdin: str = "", **variables: str) -> None:
        """The real command, without a terminal."""
        command = [str(Path(sys.executable).with_name("whet")), *arguments]
        environment = {**ENVIRONMENT, "WHET_HOME": str(self.home.folder), **variables}
        subprocess.run(command, input=stdin.encode(), capture_output=True, env=environment, cwd=self.work, check=False)


def through(act: Callable[[Place], None]) -> int:
    """How many notes, skills, rules and jobs are in force after an attack in a place of its own."""
    with tempfile.TemporaryDirectory(prefix="attack-") as base:
        folder = Path(base).resolve()
        place = Place(folder, Home(folder / "home"), folder / "work")
        place.work.mkdir()
        act(place)
        with opened(place.home) as database:
            return len(ledger_of(place.home, database).state().items)
