"""The log of claims: kept whole or not at all, once, and without the words of a session that was forgotten."""

from pathlib import Path

from conversations import agent, conversation, shell, user
from team import ALICE, MALLORY, Team
from whet.lessons.claims import (
    Claim,
    ClaimAuthor,
    ClaimOperation,
    DroppedClaim,
    LoggedClaim,
    Quote,
    ReadBy,
    SessionRead,
)
from whet.sessions.transcripts import Transcript
from whet.store import sessions
from whet.store.claims import claimed_projects, claims_of, keep_pass, sessions_read
from whet.store.database import Database
from whet.store.opening import opened
from whet.store.rows import Provenance, prepare

PROJECT = "/home/noor/shop"
READER = ReadBy("opus")
SCEPTIC = ReadBy("opus", ClaimAuthor.SCEPTIC)


def made(name: str, *more: str) -> Transcript:
    said = tuple(user(each) for each in more)
    return conversation(user(f"Hello {name}"), shell("bun install", "Done"), agent("Done."), *said, native_id=name)


def keep(database: Database, value: Transcript) -> SessionRead:
    sessions.keep(database, prepare(value), Provenance(f"/{value.native_id}", 1.0, 2.0))
    stored = sessions.stored(database, value.id)
    assert stored is not None
    return SessionRead(stored.id, stored.head, stored.message_count)


def claimed(id: str, *quotes: Quote, operation: ClaimOperation = ClaimOperation.NEW) -> Claim:
    return Claim(operation, id, f"Use {id}.", quotes=quotes)


def said(database: Database) -> list[Claim]:
    return [each.claim for each in claims_of(database, PROJECT)]


def test_a_pass_is_kept_with_its_claims_and_the_sessions_that_it_read(database: Database) -> None:
    one, two = keep(database, made("one")), keep(database, made("two"))
    first = claimed("c1", Quote(one.session, 0, "Hello one"), Quote(two.session, 0, "Hello two"))
    unread = DroppedClaim(Claim(ClaimOperation.NEW, "", "no JSON"), "no JSON")
    assert keep_pass(database, PROJECT, [one, two], [first, unread], reader=READER, now=5.0)
    assert claims_of(database, PROJECT) == (
        LoggedClaim(1, PROJECT, 5.0, READER, first),
        LoggedClaim(2, PROJECT, 5.0, READER, unread.claim, dropped="no JSON"),
    )
    assert sessions_read(database, PROJECT) == {one.session: one, two.session: two}
    assert claimed_projects(database) == (PROJECT,)
    assert claims_of(database, "/elsewhere") == ()


def test_that_there_is_nothing_in_a_session_is_remembered(database: Database) -> None:
    one = keep(database, made("one"))
    assert keep_pass(database, PROJECT, [one], [], reader=READER, now=5.0)
    assert sessions_read(database, PROJECT) == {one.session: one}
    assert not keep_pass(database, PROJECT, [one], [], reader=READER, now=6.0)


def test_a_pass_is_kept_once_whatever_is_answered_the_second_time(database: Database) -> None:
    one = keep(database, made("one"))
    first = claimed("c1", Quote(one.session, 0, "Hello one"))
    assert keep_pass(database, PROJECT, [one], [first], reader=READER, now=5.0)
    assert not keep_pass(database, PROJECT, [one], [claimed("c2")], reader=READER, now=6.0)
    assert said(database) == [first]
    kept = claimed("c1", operation=ClaimOperation.KEEP)
    assert keep_pass(database, PROJECT, [], [kept], reader=SCEPTIC, now=7.0)
    assert not keep_pass(database, PROJECT, [], [kept], reader=SCEPTIC, now=8.0)
    assert [each.reader for each in claims_of(database, PROJECT)] == [READER, SCEPTIC]


def test_a_session_that_has_grown_is_read_from_where_it_ended(database: Database) -> None:
    short = made("one")
    before = keep(database, short)
    keep_pass(database, PROJECT, [before], [], reader=READER, now=5.0)
    after = keep(database, conversation(*short.messages, user("and one more thing"), native_id="one"))
    assert sessions_read(database, PROJECT)[after.session].messages == before.messages < after.messages
    assert keep_pass(database, PROJECT, [after], [], reader=READER, now=6.0)
    assert sessions_read(database, PROJECT) == {after.session: after}


def test_a_record_that_is_written_anew_keeps_its_claims_and_is_not_read_again(database: Database) -> None:
    before = keep(database, made("one"))
    first = claimed("c1", Quote(before.session, 0, "Hello one"))
    keep_pass(database, PROJECT, [before], [first], reader=READER, now=5.0)
    after = keep(database, made("one"))  # with other ids of its calls
    assert after.head != before.head
    assert said(database) == [first]
    assert sessions_read(database, PROJECT) == {before.session: before}


def test_quotes_from_no_session_of_the_store_are_counted_and_their_words_are_not_kept(database: Database) -> None:
    one = keep(database, made("one"))
    good = Quote(one.session, 0, "Hello one")
    keep_pass(database, PROJECT, [one], [claimed("c1", good, Quote("nowhere", 3, "xyzzy"))], reader=READER, now=5.0)
    [logged] = claims_of(database, PROJECT)
    assert (logged.claim.quotes, logged.misplaced) == ((good,), 1)


def test_a_forgotten_session_takes_its_quotes_along_and_the_claims_that_rest_on_it_alone(database: Database) -> None:
    one, two = keep(database, made("one")), keep(database, made("two"))
    of_one, of_two = Quote(one.session, 0, "Hello one"), Quote(two.session, 0, "Hello two")
    sharper = claimed("alone", operation=ClaimOperation.SHARPEN)
    keep_pass(
        database,
        PROJECT,
        [one, two],
        [claimed("both", of_one, of_two), claimed("alone", of_one), claimed("none"), claimed("other", of_two)],
        reader=READER,
        now=5.0,
    )
    keep_pass(database, PROJECT, [], [sharper, claimed("both", operation=ClaimOperation.KEEP)], reader=SCEPTIC, now=6.0)
    sessions.forget(database, one.session)
    assert [(each.id, each.operation.value, each.quotes) for each in said(database)] == [
        ("both", "new", (of_two,)),
        ("other", "new", (of_two,)),
        ("both", "keep", ()),
    ]
    assert sessions_read(database, PROJECT) == {two.session: two}
    sessions.forget(database, two.session)
    assert said(database) == []


def test_a_session_that_was_forgotten_while_it_was_read_leaves_nothing(database: Database) -> None:
    one, two = keep(database, made("one")), keep(database, made("two"))
    sessions.forget(database, one.session)
    keep_pass(database, PROJECT, [one, two], [claimed("c1", Quote(one.session, 0, "Hello"))], reader=READER, now=5.0)
    assert sessions_read(database, PROJECT) == {two.session: two}
    assert said(database)[0].quotes == ()


def test_what_no_database_takes_is_kept_without_it(database: Database) -> None:
    one = keep(database, made("one"))
    odd = Claim(ClaimOperation.NEW, "c\0", "Use\0 \ud800.", quotes=(Quote(one.session, 10**40, "Hel\0lo"),))
    assert keep_pass(database, PROJECT, [one], [odd, DroppedClaim(odd, "\0")], reader=READER, now=5.0)
    assert said(database)[0] == Claim(
        ClaimOperation.NEW, "c", "Use ?.", quotes=(Quote(one.session, 2**31 - 1, "Hello"),)
    )


def test_a_damaged_row_keeps_nobody_from_the_rest(database: Database) -> None:
    one = keep(database, made("one"))
    keep_pass(database, PROJECT, [one], [claimed("c1"), claimed("c2")], reader=READER, now=5.0)
    database.execute("UPDATE claims SET record = ? WHERE number = 1", (b"{",))
    assert [each.id for each in said(database)] == ["c2"]


def test_in_a_team_nobody_reads_what_the_reader_of_another_claimed(shop: Team, tmp_path: Path) -> None:
    with (
        opened(shop.home(tmp_path / "alice", ALICE)) as alice,
        opened(shop.home(tmp_path / "mallory", MALLORY)) as mallory,
    ):
        one = keep(alice, made("one"))
        quote = Quote(one.session, 0, "Hello one")
        for database, id in ((alice, "mine"), (mallory, "theirs")):
            assert keep_pass(database, PROJECT, [one], [claimed(id, quote)], reader=READER, now=5.0)
        assert said(alice) == [claimed("mine", quote)]
        with shop.rows(MALLORY) as rows:
            [(number,)] = alice.query("SELECT number FROM claims WHERE claim = 'mine'")
            rows.execute(f"INSERT INTO claim_quotes SELECT {number}, 7, '{ALICE}', id, 1, 'x' FROM sessions".encode())
        assert said(alice) == [claimed("mine", quote)]
        sessions.forget(alice, one.session)
        assert said(alice) == said(mallory) == []
