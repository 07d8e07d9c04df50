"""The database keeps entries as they were written: it refuses to change, replace or remove one."""

from collections.abc import Iterator

import apsw
import psycopg
import pytest

from whet.errors import WhetError
from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.patches import Action, Form, Patch, Proof, Scope
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.ledger import Ledger
from whet.store.opening import Owner

REST = "step, form, name, home, ends, at, body, maker, seal, hash"
REFUSALS = (apsw.ConstraintError, psycopg.errors.RaiseException)


def entry(name: str = "brief", step: Step = Step.APPLIED, **more: object) -> Entry:
    patch = Patch(
        Form.RULE,
        Action.ADD,
        name,
        "Answer “briefly” – 短く.",
        scope=Scope(tools=("Bash",)),
        trust=Trust.USER,
        proofs=(Proof("s1", 4, "timeout", "…"),),
    )
    return Entry(number=0, step=step, patch=patch, actor=Actor.PERSON, at=1.5, after=patch.after, **more)  # type: ignore[arg-type]


def test_entries_come_back_as_they_were_written(database: Database) -> None:
    ledger = Ledger(database)
    added = ledger.append([entry("one"), entry("two", note="why", verdict="accept")])
    assert [one.number for one in added] == [1, 2]
    assert ledger.append([entry("three")])[0].number == 3
    assert ledger.entries()[:2] == list(added)
    assert ledger.entry(2) == added[1]
    assert [rule.name for rule in ledger.state().rules] == ["one", "two", "three"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET step = 'refused'",
        "UPDATE entries SET number = 9 WHERE number = 1",
        "DELETE FROM entries",
        "DELETE FROM entries WHERE number = 1",
        f"INSERT INTO entries SELECT 1, {REST} FROM entries WHERE number = 2",
        f"INSERT INTO entries SELECT 7, {REST} FROM entries WHERE number = 2",
    ],
)
def test_the_database_refuses_to_change_an_entry(database: Database, statement: str) -> None:
    ledger = Ledger(database)
    before = ledger.append([entry("one"), entry("two")])
    with pytest.raises(REFUSALS):
        database.execute(statement)
    assert ledger.entries() == list(before)


def test_the_ways_around_the_triggers_are_closed(database: Database) -> None:
    ledger = Ledger(database)
    before = ledger.append([entry("one"), entry("two")])
    columns = f"1, {REST} FROM entries WHERE number = 2"
    around = {
        "sqlite": (f"INSERT OR REPLACE INTO entries SELECT {columns}", "UPDATE OR REPLACE entries SET number = 1"),
        "postgres": (
            "TRUNCATE entries",
            f"INSERT INTO entries SELECT {columns} ON CONFLICT (number) DO UPDATE SET step = 'refused'",
        ),
    }
    for statement in around[database.dialect]:
        with pytest.raises(REFUSALS):
            database.execute(statement)
    assert ledger.entries() == list(before)


def test_entries_that_are_added_together_are_all_there_or_none(database: Database) -> None:
    ledger = Ledger(database)

    def interrupted() -> Iterator[Entry]:
        yield entry("one")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ledger.append(interrupted())
    assert ledger.entries() == []


def test_an_entry_that_is_not_there_gives_advice(database: Database) -> None:
    with pytest.raises(WhetError, match="no entry 5"):
        Ledger(database).entry(5)


def test_what_is_unfinished_is_known_until_it_ends(database: Database) -> None:
    ledger = Ledger(database, Owner("mine"))
    (begun,) = ledger.append([entry("a", Step.BEGUN, home="mine", intends=Step.APPLIED)])
    assert ledger.state().unfinished
    assert not Ledger(database, Owner("theirs")).state().unfinished
    ledger.append([entry("a", Step.ABANDONED, home="mine", begun=begun.number)])
    assert not ledger.state().unfinished
