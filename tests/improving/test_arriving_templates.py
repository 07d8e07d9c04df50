"""Templates proposed from sessions that went well: few, proved, and never in force by themselves."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from conversations import call, conversation, user
from whet.changes.pending import pending, refuse
from whet.improving.watch import propose_templates
from whet.ledger.entries import Actor, Entry, Step
from whet.sessions.transcripts import RecordedCheck
from whet.store.database import Database
from whet.store.home import Home, prepare_home
from whet.store.opening import opened
from whet.store.rows import Provenance, prepare
from whet.store.sessions import keep
from whet.store.template_files import usable

NOW = 1_800_000_000.0
DAY = 86_400.0
TOOLS = ("list_beds", "count_seeds", "water_bed", "search_notes", "weigh_crop", "plan_rows")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    prepare_home(made)
    return made


@pytest.fixture
def database(home: Home) -> Iterator[Database]:
    with opened(home) as found:
        yield found


def ended(
    database: Database,
    name: str,
    *,
    at: float = NOW - 60,
    folder: str = "/home/noor/garden",
    passed: bool | None = True,
) -> None:
    """A session of six calls that worked, with the verdict of its own source."""
    calls = [call(tool, {"bed": f"{name} {tool}"}, "3 found") for tool in TOOLS]
    told = conversation(user(f"Please look after the bed {name} of the garden."), *calls, native_id=name, at=at)
    checks = () if passed is None else (RecordedCheck("success", passed=passed),)
    keep(database, prepare(replace(told, checks=checks, folder=folder)), Provenance("x", at, at))


def proposed(home: Home, database: Database, *, now: float = NOW) -> tuple[Entry, ...]:
    return propose_templates(home, database, now=now)


def test_a_proved_session_makes_a_template_that_waits(home: Home, database: Database) -> None:
    ended(database, "one")
    [entry] = proposed(home, database)
    assert (entry.step, entry.actor) == (Step.PROPOSED, Actor.WATCH)
    assert "went well" in entry.patch.reason
    assert usable(home.folder) == ()
    assert [each.number for each in pending(home, database, now=NOW)] == [entry.number]


def test_one_a_day_for_a_project_and_no_session_twice(home: Home, database: Database) -> None:
    for name in ("one", "two"):
        ended(database, name)
    ended(database, "three", folder="/home/noor/kitchen")
    assert len(proposed(home, database)) == 2
    assert proposed(home, database) == ()
    ended(database, "four", at=NOW + DAY)
    [entry] = proposed(home, database, now=NOW + DAY + 1)
    assert "garden" in entry.patch.reason


def test_what_a_person_refused_is_not_proposed_again(home: Home, database: Database) -> None:
    ended(database, "one")
    [entry] = proposed(home, database)
    refuse(home, database, entry.number, actor=Actor.PERSON, now=NOW)
    assert proposed(home, database, now=NOW + DAY - 120) == ()


@pytest.mark.parametrize("passed", [False, None])
def test_only_what_is_proved_is_proposed(home: Home, database: Database, passed: bool | None) -> None:
    ended(database, "one", passed=passed)
    assert proposed(home, database) == ()


def test_old_sessions_make_none(home: Home, database: Database) -> None:
    ended(database, "old", at=NOW - 3 * DAY)
    assert proposed(home, database) == ()
