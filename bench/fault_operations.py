"""Every write of state that Whet makes, each as something to prepare, to do once, and to look at afterwards."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import rival_learner
from rival_learner import Seen
from whet.changes.apply import apply, apply_all, revert, settle, undo
from whet.errors import WhetError
from whet.ledger.entries import CHANGES, Actor
from whet.ledger.marked_block import Block, find
from whet.ledger.patches import Action, Form, Patch, PatchOrigin, digest
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import has, ledger_of, noted
from whet.store.opening import opened
from whet.telling.targets.drawing import offered
from whet.telling.targets.settings import Target, choose
from whet.telling.targets.sync import SyncOrder, sync, withdraw

NOW = 1_800_000_000.0
# Half-written copies, the lock, the database, which is asked itself, and the note of its newest entry, which may lag.
NOT_STATE = (".whet-", ".changing", "whet.db", "ledger.head")
SKILL = "---\nname: deploy\ndescription: Deploys the service.\n---\n\nSee references/steps.md\n"
RULE = "Read a file in full before you edit it."
OTHER_RULE = "Run the tests that cover a change before you say that it is done."


class Tally(NamedTuple):
    """How many tries, and what went wrong in them."""

    tries: int
    acknowledged: int
    wrong: Counter[str]
    looks: int = 0  # of a reader meanwhile


class Operation(NamedTuple):
    """One write of state: what was there before, and the write itself."""

    name: str
    prepare: Callable[[Path], None]
    act: Callable[[Path], None]
    recover: Callable[[Path], None]
    look: Callable[[Path], Seen]


def home_of(folder: Path) -> Home:
    return Home(folder / "home")


def patch(form: Form, name: str, text: str) -> Patch:
    return Patch(form, Action.ADD, name, text, origin=PatchOrigin(said="bench"), trust=Trust.USER)


SUPPORT = patch(Form.FILE, "deploy/references/steps.md", "1. Build\n" * 2000)


def with_database(folder: Path, act: Callable[[Home, Database], object]) -> None:
    home = home_of(folder)
    with opened(home) as database:
        act(home, database)


def add_rule(folder: Path, text: str = RULE, name: str = "read-first") -> None:
    one = patch(Form.RULE, name, text)
    with_database(folder, lambda home, database: apply(home, database, one, actor=Actor.PERSON, now=NOW))


def add_note(folder: Path, text: str = "Prefers short answers.", name: str = "user/style") -> None:
    one = patch(Form.NOTE, name, text)
    with_database(folder, lambda home, database: apply(home, database, one, actor=Actor.PERSON, now=NOW))


def add_notes(folder: Path) -> None:
    """Two files in one batch: both old or both new."""
    both = (patch(Form.NOTE, "user/style", "Prefers short answers."), patch(Form.NOTE, "memory/port", "Port is 8080."))
    with_database(folder, lambda home, database: apply_all(home, database, both, actor=Actor.PERSON, now=NOW))


def add_skill(folder: Path) -> None:
    one = patch(Form.SKILL, "deploy", SKILL)
    with_database(folder, lambda home, database: apply(home, database, one, actor=Actor.PERSON, now=NOW))


def add_support(folder: Path) -> None:
    with_database(folder, lambda home, database: apply(home, database, SUPPORT, actor=Actor.PERSON, now=NOW))


def add_whole_skill(folder: Path) -> None:
    """A skill and its support file in one batch: both or neither."""
    both = (patch(Form.SKILL, "deploy", SKILL), SUPPORT)
    with_database(folder, lambda home, database: apply_all(home, database, both, actor=Actor.PERSON, now=NOW))


def archive_skill(folder: Path) -> None:
    gone = Patch(Form.SKILL, Action.REMOVE, "deploy", trust=Trust.USER, before=digest(SKILL))
    with_database(folder, lambda home, database: apply(home, database, gone, actor=Actor.PERSON, now=NOW))


def turn_back(folder: Path) -> None:
    def last(home: Home, database: Database) -> None:
        number = ledger_of(home, database).state().done[-1].number
        revert(home, database, number, actor=Actor.PERSON, now=NOW)

    with_database(folder, last)


def undo_last(folder: Path) -> None:
    with_database(folder, lambda home, database: undo(home, database, actor=Actor.PERSON, now=NOW))


def target_of(folder: Path) -> Target:
    return choose("claude-code", person=folder, environment={}, project=folder / "project")


def sync_all(folder: Path) -> None:
    def write(home: Home, database: Database) -> None:
        for change in sync(SyncOrder(home, partial(offered, home, ledger_of(home, database))), (target_of(folder),)):
            if change.kind in ("conflict", "skipped"):
                raise WhetError(change.note)

    with_database(folder, write)


def take_out(folder: Path) -> None:
    def remove(home: Home, database: Database) -> None:
        order = SyncOrder(home, partial(offered, home, ledger_of(home, database)))
        for change in withdraw(order, target_of(folder), ()):
            if change.kind in ("conflict", "skipped"):
                raise WhetError(change.note)

    with_database(folder, remove)


def start(folder: Path) -> None:
    """A home that was used before, and a project of the person's."""
    (folder / "project").mkdir(parents=True)
    (folder / "project" / "CLAUDE.md").write_bytes(b"# Mine\r\n\r\n- No final line break")
    add_rule(folder, OTHER_RULE, "test-first")
    add_note(folder, "Writes Python.", "user/language")


def after(*steps: Callable[[Path], None]) -> Callable[[Path], None]:
    def prepare(folder: Path) -> None:
        for step in (start, *steps):
            step(folder)

    return prepare


def settle_home(folder: Path) -> None:
    """What the next command does first."""
    with_database(folder, lambda home, database: settle(home, ledger_of(home, database), now=NOW))


def sync_again(folder: Path) -> None:
    settle_home(folder)
    sync_all(folder)


def take_out_again(folder: Path) -> None:
    settle_home(folder)
    take_out(folder)


def look(folder: Path) -> Seen:
    with opened(home_of(folder)) as database:
        items = ledger_of(home_of(folder), database).state().items
        seen = noted(home_of(folder).folder)
        if seen is not None and not has(database, seen):
            raise ValueError("the note names an entry that the ledger does not have")
    return Seen(files_of(folder), tuple(sorted((item.form.value, item.name, item.text) for item in items)))


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file that people or agents read."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    named = ((str(path.relative_to(folder)), path) for path in found)
    return {
        name: path.read_bytes()
        for name, path in named
        if not any(Path(name).name.startswith(part) or f"/{part}" in name for part in NOT_STATE)
    }


def changes_of(folder: Path) -> int:
    with opened(home_of(folder)) as database:
        return sum(entry.step in CHANGES for entry in ledger_of(home_of(folder), database).entries())


def agrees(folder: Path) -> bool:
    """Whether the files say exactly what the ledger says is in force."""
    with opened(home_of(folder)) as database:
        state = ledger_of(home_of(folder), database).state()
    found = {name: body.decode() for name, body in files_of(folder).items()}
    notes = [line for name in ("home/user.md", "home/memory.md") for line in found.get(name, "").splitlines()]
    said = [line.removeprefix("- ") for line in notes if line.startswith("- ")]
    skills = {name.split("/", 2)[2]: body for name, body in found.items() if name.startswith("home/skills/")}
    copies = {name.split("/", 3)[3] for name in found if name.startswith("project/.claude/skills/")}
    wanted = {f"{item.name}/SKILL.md": item.text for item in state.skills}
    wanted |= {item.name: item.text for item in state.of(Form.FILE)}
    block = find(found["project/CLAUDE.md"].encode())
    rules = block.text if isinstance(block, Block) else ""
    return (
        sorted(said) == sorted(item.text for item in state.notes)
        and skills == wanted
        and {name for name in copies if not name.endswith(".whet.json")} == set(wanted)
        and rules.count("\n- ") == len(state.rules)
        and all(f"- {item.text}" in rules for item in state.rules)
    )


WHET = (
    Operation("apply a rule", after(), add_rule, settle_home, look),
    Operation("revert a rule", after(add_rule), turn_back, settle_home, look),
    Operation("undo a rule", after(add_rule), undo_last, settle_home, look),
    Operation("apply a note", after(), add_note, settle_home, look),
    Operation("apply two notes", after(), add_notes, settle_home, look),
    Operation("undo two notes", after(add_notes), undo_last, settle_home, look),
    Operation("apply a skill", after(), add_skill, settle_home, look),
    Operation("add a support file", after(add_skill), add_support, settle_home, look),
    Operation("apply a skill and its file", after(), add_whole_skill, settle_home, look),
    Operation("undo a skill and its file", after(add_whole_skill), undo_last, settle_home, look),
    Operation("archive a skill", after(add_whole_skill), archive_skill, settle_home, look),
    Operation("revert a skill", after(add_skill), turn_back, settle_home, look),
    Operation("sync", after(add_skill, add_support, add_rule), sync_all, sync_again, look),
    Operation("sync a change", after(add_rule, sync_all, turn_back, add_skill), sync_all, sync_again, look),
    Operation("remove a target", after(add_skill, add_support, add_rule, sync_all), take_out, take_out_again, look),
)
RIVAL = (
    Operation("apply a rule", rival_learner.prepare, rival_learner.act, rival_learner.recover, rival_learner.look),
    Operation(
        "roll back",
        rival_learner.prepare_applied,
        rival_learner.act_back,
        rival_learner.recover,
        rival_learner.look,
    ),
)
SIDES = {"whet": WHET, "original": RIVAL}
