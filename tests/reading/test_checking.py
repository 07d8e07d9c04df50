"""Claims checked against a real store: quotes looked up once, calls kept once, and what a sceptic is shown."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from claimed_sessions import FIRST_DAY, INSTALL, PUSH, READER, claim_of, keep_claimed, keep_sessions, session
from team import ALICE, MALLORY, Team, team
from whet.lessons.claim_evidence import SessionCalls
from whet.lessons.claims import Claim
from whet.reading.checking import MESSAGES_AROUND, CheckedClaims, checked_claims, dossiers
from whet.reading.project_files import listed, project_claims
from whet.sessions.trust import Trust
from whet.store.claims import keep_pass
from whet.store.database import Database
from whet.store.listing import Filters
from whet.store.opening import opened
from whet.store.teachings import session_calls

PROJECT = "/srv/shop"


def checked(database: Database, *, declared: tuple[str, ...] = ()) -> CheckedClaims:
    return checked_claims(database, project_claims(database, PROJECT, listed(database, Filters()), declared=declared))


def test_calls_are_kept_once_and_again_for_a_session_that_has_grown(database: Database) -> None:
    keep_sessions(database, [session("one", PROJECT, 0), session("two", PROJECT, 1)])
    stored = listed(database, Filters())
    found = session_calls(database, stored)
    assert [call.command for call in found[stored[0].id].calls if call.command] == [
        "npm install left-pad",
        "bun add left-pad",
    ]
    database.execute("UPDATE derived SET record = ? WHERE kind = 'calls'", (b"{}",))
    assert session_calls(database, stored) == {each.id: SessionCalls() for each in stored}, (
        "what is kept is not found again"
    )
    database.execute("UPDATE derived SET version = '' WHERE kind = 'calls'")
    assert session_calls(database, stored) == found
    database.execute("UPDATE derived SET record = ? WHERE kind = 'calls'", (b"{",))
    assert session_calls(database, stored) == found


def test_a_quote_is_looked_up_once_and_again_when_its_session_changed(database: Database) -> None:
    read = keep_sessions(database, [session("one", PROJECT, 0), session("two", PROJECT, 1)])
    keep_claimed(database, PROJECT, read)
    first = checked(database)
    assert len(first.reports) == 2
    assert database.query("SELECT count(*) FROM claim_quotes WHERE checked IS NULL") == [(0,)]
    assert checked(database) == first
    keep_sessions(database, [session("one", PROJECT, 0, pad=1)])
    assert len(checked(database).reports) == 2


def test_a_quote_that_a_changed_record_no_longer_has_is_lost(database: Database) -> None:
    read = keep_sessions(database, [session("one", PROJECT, 0), session("two", PROJECT, 1)])
    keep_claimed(database, PROJECT, read)
    assert len(checked(database).reports) == 2
    other = session("one", PROJECT, 0)
    keep_sessions(database, [replace(other, messages=other.messages[:1])])
    keep_sessions(database, [replace(other, messages=(*other.messages[1:],))])
    [push] = [each for each in checked(database).reports if each.standing.claim.rule == PUSH.rule]
    assert (len(push.quotes), push.measures.inexact) == (1, 1)


def test_what_commands_print_is_believed_in_a_folder_that_its_owner_declared(
    database: Database, tmp_path: Path
) -> None:
    read = keep_sessions(database, [session("one", tmp_path, 0), session("two", tmp_path, 1)])
    printed = claim_of(read, INSTALL, 2, "npm error Unsupported URL Type workspace:")
    rule = "Unsupported URL Type workspace is an npm error here."
    keep_pass(database, PROJECT, read, [replace(printed, rule=rule, check=None)], reader=READER, now=FIRST_DAY)
    assert [each.trust for each in checked(database).reports] == [Trust.TOOL]
    assert [each.trust for each in checked(database, declared=(str(tmp_path),)).reports] == [Trust.AGENT]


def test_a_sceptic_is_shown_raw_messages_of_two_sessions(database: Database) -> None:
    read = keep_sessions(database, [session(f"day{day}", PROJECT, day) for day in range(4)])
    keep_claimed(database, PROJECT, read)
    install = next(each for each in checked(database).reports if each.standing.claim.check)
    [shown] = dossiers(database, [install], listed(database, Filters()))
    assert len({each.split()[0] for each in shown.messages}) == 2
    assert sum(" <- quoted" in each for each in shown.messages) == 2
    assert len(shown.messages) <= 2 * MESSAGES_AROUND
    assert len(install.hits) == 8


def test_many_claims_of_a_careless_reader_are_dropped_with_reasons_and_none_is_lost(database: Database) -> None:
    read = keep_sessions(database, [session("one", PROJECT, 0), session("two", PROJECT, 1)])
    many: list[Claim] = [
        replace(claim_of(read, PUSH, number, f"words {number}"), id=f"c{number}", rule=f"Do thing {number} well.")
        for number in range(250)
    ]
    keep_pass(database, PROJECT, read, many, reader=READER, now=FIRST_DAY)
    found = checked(database)
    assert found.reports == ()
    assert len(found.dropped) == 250
    assert all(each.why for each in found.dropped)


@pytest.fixture
def shop(postgres_url: str, tmp_path: Path) -> Iterator[Team]:
    with team(postgres_url, f"checking_{abs(hash(str(tmp_path)))}", tmp_path / "owner") as made:
        yield made


def test_in_a_team_the_words_of_another_members_session_are_a_strangers(shop: Team, tmp_path: Path) -> None:
    with (
        opened(shop.home(tmp_path / "alice", ALICE)) as alice,
        opened(shop.home(tmp_path / "mallory", MALLORY)) as mallory,
    ):
        read = keep_sessions(mallory, [session("one", PROJECT, 0), session("two", PROJECT, 1)])
        keep_claimed(alice, PROJECT, read)
        found = checked(alice)
        assert {each.trust for each in found.reports} == {Trust.EXTERNAL}
        assert all(each.standing.claim.rule != PUSH.rule for each in found.reports), "no person here said it"
