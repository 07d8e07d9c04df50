"""The sync log: each change of what stands in a file is noted once, with its moment."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from command import Whet
from whet.changes.apply import apply
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch, digest
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import opened
from whet.telling.targets.settings import Target, add, load
from whet.telling.targets.sync import order_of, tell, withdraw
from whet.telling.targets.sync_log import FILE_NAME, FileStay, FileTelling, entries_for, load_log, note, stays_of

RULE = Patch(Form.RULE, Action.ADD, "tests", "Run ./dev test.", trust=Trust.OPERATOR)
GONE = Patch(Form.RULE, Action.REMOVE, "tests", before=digest(RULE.text), trust=Trust.OPERATOR)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    return tmp_path / "shop"


@pytest.fixture
def home(tmp_path: Path, shop: Path) -> Home:
    found = Home(tmp_path / "home")
    add(found, Target("codex", "codex", str(shop), file=str(shop / "AGENTS.md")))
    return found


def change(home: Home, database: Database, patch: Patch) -> int:
    return apply(home, database, patch, actor=Actor.PERSON, now=1.0).number


def test_what_sync_writes_and_takes_away_is_noted_once(home: Home, shop: Path) -> None:
    file = str(shop / "AGENTS.md")
    with opened(home) as database:
        tell(home, database, now=5.0)
        number = change(home, database, RULE)
        tell(home, database, now=10.0)
        tell(home, database, now=20.0)
        change(home, database, GONE)
        tell(home, database, now=30.0)
    written = FileTelling(10.0, file, ("codex",), str(shop), (number,))
    without = FileTelling(5.0, file, ("codex",), str(shop), ())
    assert load_log(home) == (without, written, replace(without, at=30.0))
    assert stays_of(load_log(home), number) == (FileStay(file, 10.0, 30.0),)


def test_a_target_that_is_removed_leaves_the_log_with_what_it_took_away(home: Home, shop: Path) -> None:
    with opened(home) as database:
        change(home, database, RULE)
        tell(home, database, now=10.0)
        [target] = load(home)
        withdraw(order_of(home, database, now=20.0), target, ())
    assert [each.entries for each in load_log(home)] == [(1,), ()]
    assert not (shop / "AGENTS.md").exists()


def test_what_was_not_written_is_not_noted(home: Home, shop: Path) -> None:
    with opened(home) as database:
        change(home, database, RULE)
        tell(home, database, now=10.0)
        file = shop / "AGENTS.md"
        file.write_text(file.read_text().replace("./dev", "./my"))
        change(home, database, GONE)
        tell(home, database, now=20.0)
    assert [each.at for each in load_log(home)] == [10.0], "the person's edit stands there still"


def test_a_dry_run_notes_nothing(home: Home) -> None:
    with opened(home) as database:
        change(home, database, RULE)
        [target] = load(home)
        withdraw(order_of(home, database, now=20.0, dry_run=True), target, ())
    assert load_log(home) == ()


def test_a_line_that_was_cut_short_is_left_out(home: Home) -> None:
    telling = FileTelling(1.0, "/AGENTS.md", ("codex",), "", (1,))
    note(home, telling)
    with (home.folder / FILE_NAME).open("ab") as log:
        log.write(b'{"at": 2')
    assert load_log(home) == (telling,)
    later = replace(telling, at=3.0, entries=())
    note(home, later)
    assert load_log(home) == (telling, later)


def test_all_files_that_an_agent_reads_count_together() -> None:
    log = (
        FileTelling(1.0, "/everywhere", ("codex", "opencode"), "", (1,)),
        FileTelling(2.0, "/shop/AGENTS.md", ("codex",), "/shop", (2,)),
        FileTelling(3.0, "/everywhere", ("codex", "opencode"), "", ()),
    )
    assert entries_for(log, agent="codex", folder="/shop/src", at=2.5) == frozenset((1, 2))
    assert entries_for(log, agent="codex", folder="/shop", at=3.0) == frozenset((2,))
    assert entries_for(log, agent="codex", folder="/shopping", at=3.0) == frozenset()
    assert entries_for(log, agent="opencode", folder="/shop", at=0.5) is None


def test_a_rule_is_shown_with_the_files_it_stood_in(whet: Whet, home: Home, shop: Path) -> None:
    assert whet("rules", "add", "tests", "Run ./dev test.").code == 0
    assert whet("sync").code == 0
    [shown] = whet("rules", "show", "--json").json["rules"]
    assert [(each["file"], each["until"]) for each in shown["files"]] == [(str(shop / "AGENTS.md"), None)]
    assert f"in {shop / 'AGENTS.md'} since" in " ".join(whet("rules", "show").out.split())
    assert load_log(home)
