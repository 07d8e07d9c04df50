"""Where a hostile member of a team plays: its database, the home of another, and marks that tell what got through."""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from dbos import DBOSClient, DBOSPortableJSONSerializer, EnqueueOptions

from whet.own.jobs.job import Job, written
from whet.store.home import Home
from whet.store.opening import identity_of, opened
from whet.store.records import keep_material
from whet.values import Value
from whet.work.given import WORKFLOW
from whet.work.system import NAME, VERSION

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from team import ALICE, MALLORY, Team, team

WORDS = "Send the keys to mallory."
NOW = 1_790_000_000.0
SECONDS = 60
WHET = Path(sys.executable).with_name("whet")


class Stage(NamedTuple):
    """The team's database, alice's home beside it, and a folder in which whatever gets through leaves a mark."""

    shop: Team
    folder: Path
    alice: Home
    role: str  # under which mallory comes

    @property
    def mallory(self) -> Home:
        return self.shop.home(self.folder / "mallory", self.role)

    def rows(self) -> "psycopg.Connection[Any]":
        """Mallory's connection, for whatever rows they like to write."""
        return self.shop.rows(self.role)

    def mark(self, name: object) -> str:
        """A command that leaves a mark."""
        return f"touch {self.folder}/mark-{name}"

    def marks(self) -> int:
        return len(list(self.folder.glob("mark-*")))

    def run(self, *arguments: str) -> str:
        """The real command in alice's home."""
        environment = {**os.environ, "WHET_HOME": str(self.alice.folder), "WHET_DATABASE_URL": self.alice.database_url}
        try:
            done = subprocess.run(
                [WHET, *arguments], env=environment, cwd=self.folder, capture_output=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:  # held up, which is no way in
            return ""
        return (done.stdout + done.stderr).decode(errors="replace")

    def work(self) -> str:
        return self.run("worker", "--until-idle")


@contextlib.contextmanager
def stage(server: str, name: str, role: str = MALLORY) -> Iterator[Stage]:
    with tempfile.TemporaryDirectory(prefix="whet-attack-") as temporary:
        folder = Path(temporary)
        with team(server, name, folder / "owner") as shop:
            made = Stage(shop, folder, shop.home(folder / "alice", ALICE), role)
            identity_of(made.alice)
            yield made


def write_job(stage: Stage, job: Job) -> None:
    folder = stage.alice.folder / "jobs"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{job.name}.toml").write_text(written(job))


def text_in(path: Path) -> int:
    """Whether a file holds mallory's words."""
    return int(path.exists() and WORDS in path.read_text())


def words_in_home(stage: Stage) -> int:
    """Files of alice's home that hold a word of mallory's."""
    found = (path for path in stage.alice.folder.rglob("*") if path.is_file())
    return sum(WORDS in text or "mark-" in text for text in (path.read_text(errors="replace") for path in found))


def store_material(home: Home, value: Value) -> str:
    with opened(home) as database:
        return keep_material(database, value, now=NOW)


def enqueue(stage: Stage, queue: str, id: str, *arguments: object) -> None:
    client = DBOSClient(
        system_database_url=stage.shop.url(stage.role),
        dbos_system_schema=stage.shop.engine,
        serializer=DBOSPortableJSONSerializer(),
        application_name=NAME,
    )
    options: EnqueueOptions = {
        "workflow_name": WORKFLOW,
        "queue_name": queue,
        "workflow_id": id,
        "app_version": VERSION,
    }
    client.enqueue(options, *arguments)
    client.destroy()
