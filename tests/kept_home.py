"""A home with something in it, and everything that it says, to be compared."""

import contextlib
from pathlib import Path

import apsw

from conversations import agent, conversation, shell, user
from whet.changes import apply
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.listing import Filters, list_sessions
from whet.store.opening import opened
from whet.store.rows import Provenance, prepare
from whet.store.search import search
from whet.store.sessions import keep, load

PAGE_BYTES = 16_384


def add_session(database: Database, name: str, words: str) -> None:
    turns = (user(f"Please {words}."), *shell(f"make {words}", "done"), agent(f"It is {words}."))
    value = conversation(*turns, native_id=name)
    keep(database, prepare(value), Provenance(f"/sessions/{name}.jsonl", 1.0, 2.0))


def fill(home: Home, *, sessions: int = 3) -> None:
    """A home with sessions, a rule, settings, a skill with a program in it, and keys."""
    with opened(home) as database:
        for number in range(sessions):
            add_session(database, f"s{number}", f"lantern{number}")
        rule = Patch(Form.RULE, Action.ADD, "brief", "Answer briefly.", trust=Trust.OPERATOR)
        apply.apply(home, database, rule, actor=Actor.PERSON, now=1.0)
    (home.folder / "settings.toml").write_text('model = "local"\n')
    script = home.folder / "skills" / "tea" / "scripts" / "boil"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\n")
    script.chmod(0o700)
    (home.folder / "worker.env").write_text("KEY=secret\n")


def said(home: Home) -> object:
    """All that a home says of its sessions and its ledger."""
    with opened(home) as database:
        listed = list_sessions(database, Filters(), limit=100)
        found = [hit.session_id for hit in search(database, "lantern1")]
        ledger = ledger_of(home, database)
        return [load(database, each) for each in listed], found, ledger.entries(), ledger.state().rules


def page_of(path: Path, table: str) -> int:
    """The last page with rows of a table, one that they fill if there is any."""
    leaves = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'"
    sql = f"{leaves} ORDER BY unused < pgsize / 4 DESC, pageno DESC LIMIT 1"
    with contextlib.closing(apsw.Connection(str(path))) as connection:
        [(page,)] = connection.execute(sql, (table,)).fetchall()
    assert isinstance(page, int)
    return page


def flip(path: Path, page: int) -> None:
    """Overwrite the middle of one page, as a failing disk does."""
    body = bytearray(path.read_bytes())
    start = (page - 1) * PAGE_BYTES + PAGE_BYTES // 4
    body[start : start + PAGE_BYTES // 2] = b"\xa5" * (PAGE_BYTES // 2)
    path.write_bytes(body)
