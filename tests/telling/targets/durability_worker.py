"""Kills a write of state at every operation on files that Python makes, and says what each kill left.

It prints one JSON line: how many points there were, and what was neither old nor new. Each try is a fork of this
process, which has a single thread.
"""

import json
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from whet.changes.apply import apply, settle, undo
from whet.errors import WhetError
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.opening import opened
from whet.telling.targets.drawing import offered
from whet.telling.targets.settings import choose
from whet.telling.targets.sync import SyncOrder, sync

SKILL = "---\nname: deploy\ndescription: Deploys the service to production, step by step.\n---\n\nDo it.\n"
EVENTS = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.chown", "fcntl.flock")
PATCHES = {
    "rule": Patch(Form.RULE, Action.ADD, "read-first", "Read a file before you edit it.", trust=Trust.USER),
    "note": Patch(Form.NOTE, Action.ADD, "user/style", "Prefers short answers.", trust=Trust.USER),
    "skill": Patch(Form.SKILL, Action.ADD, "deploy", SKILL, trust=Trust.USER),
}
MOST_POINTS = 400


class Seen(NamedTuple):
    files: dict[str, bytes]
    in_force: tuple[str, ...]


def acted(folder: Path, act: Callable[[Home, Database], object]) -> None:
    home = Home(folder / "home")
    with opened(home) as database:
        act(home, database)


def put(folder: Path, name: str) -> None:
    acted(folder, lambda home, database: apply(home, database, PATCHES[name], actor=Actor.PERSON, now=1.0))


def take_back(folder: Path) -> None:
    acted(folder, lambda home, database: undo(home, database, actor=Actor.PERSON, now=1.0))


def sync_all(folder: Path) -> None:
    claude = choose("claude-code", person=folder, environment={}, project=folder / "project")

    def write(home: Home, database: Database) -> None:
        for change in sync(SyncOrder(home, partial(offered, home, ledger_of(home, database))), (claude,)):
            if change.kind in ("conflict", "skipped"):
                raise WhetError(change.note)

    acted(folder, write)


def prepare(folder: Path, *steps: str) -> None:
    (folder / "project").mkdir(parents=True)
    (folder / "project" / "CLAUDE.md").write_bytes(b"# Mine\r\n- No final line break")
    acted(folder, lambda _home, _database: None)
    for step in steps:
        sync_all(folder) if step == "sync" else put(folder, step)


def recover(folder: Path, *, syncing: bool) -> None:
    acted(folder, lambda home, database: settle(home, ledger_of(home, database), now=1.0))
    if syncing:
        sync_all(folder)


def look(folder: Path) -> Seen:
    names: list[str] = []
    acted(folder, lambda home, database: names.extend(item.name for item in ledger_of(home, database).state().items))
    return Seen(files_of(folder), tuple(sorted(names)))


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file that people and agents read: not the database, nor what is only for the next command.

    Nor the note of the newest entry, which may say less than the ledger.
    """
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return {
        name: path.read_bytes()
        for name, path in found.items()
        if not Path(name).name.startswith((".whet", "whet.db", "ledger.head"))
    }


def kill_at(number: int) -> None:
    """From now on, die at the operation of this number."""
    left = [number]

    def hook(event: str, _arguments: tuple[object, ...]) -> None:
        if event in EVENTS:
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def limit_files(size: int) -> None:
    """From now on no file grows beyond this size, as if the disk were full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def attempt(folder: Path, act: Callable[[Path], None], harm: Callable[[], None]) -> bool:
    """Whether the write said that it was done, with the harm in its way."""
    child = os.fork()
    if not child:
        harm()
        try:
            act(folder)
        except WhetError:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def wrong(folder: Path, sides: tuple[Seen, Seen], *, done: bool, syncing: bool) -> str:
    """What is neither the old state nor the new one, at once and after the next command."""
    before, after = sides
    for name, body in files_of(folder).items():
        if body not in (before.files.get(name), after.files.get(name)):
            return f"{name} is torn: {body!r:.200}"
    recover(folder, syncing=syncing)
    seen = look(folder)
    if seen not in sides:
        return f"{sorted(seen.files)} and {seen.in_force} do not belong together"
    return "what was said to be done is not there" if done and seen != after else ""


def main() -> None:
    operation, harm, work = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    base, clean, syncing = work / "base", work / "clean", operation == "sync"
    prepare(base, *{"undo": ("rule", "sync", "note"), "sync": ("rule", "sync", "skill")}.get(operation, ()))
    if syncing:
        acted(base, lambda home, database: undo(home, database, actor=Actor.PERSON, now=1.0))
        put(base, "skill")
    act = {"undo": take_back, "sync": sync_all}.get(operation) or partial(put, name=operation)
    shutil.copytree(base, clean)
    act(clean)
    sides = (look(base), look(clean))
    faults: list[str] = []
    harms = [partial(kill_at, number) for number in range(MOST_POINTS)]
    if harm == "full":
        harms = [partial(limit_files, size) for size in (0, 1, 16, 100, 400, 4096, 40_000)]
    points = 0
    for points, harmed in enumerate(harms, start=1):
        folder = work / "try"
        shutil.copytree(base, folder)
        done = attempt(folder, act, harmed)
        faults += [f"{points}: {found}" for found in [wrong(folder, sides, done=done, syncing=syncing)] if found]
        shutil.rmtree(folder)
        if done and harm == "kill":
            break
    sys.stdout.write(json.dumps({"points": points, "differ": sides[0] != sides[1], "faults": faults}) + "\n")


if __name__ == "__main__":
    main()
