"""What sessions teach is kept, made once, and believed only of those who may say it."""

from pathlib import Path

import pytest

from conversations import agent, conversation, shell, user
from team import ALICE, MALLORY, Team
from whet.improving.taught import taught_by_projects
from whet.lessons.finding import SessionTeaching, teaching_of
from whet.sessions.transcripts import Transcript
from whet.sessions.trust import Trust
from whet.store import sessions
from whet.store.database import Database
from whet.store.listing import Filters, list_sessions
from whet.store.opening import opened
from whet.store.rows import Provenance, prepare
from whet.store.side_by_side import BATCH_MESSAGES, POOL_FROM_MESSAGES, AnalysisProgress
from whet.store.teachings import keep_teachings, kept_teachings

ORDER = "never wrap lines in the markdown"


def made(name: str, said: str = ORDER) -> Transcript:
    failed = shell("rtk bun install", "error: unrecognized subcommand 'bun'", error=True)
    turns = (user(f"Hello {name}"), failed, shell("bun install", "Done"), agent("Done."), user(said))
    return conversation(*turns, native_id=name)


def long(name: str, messages: int) -> Transcript:
    more = (agent(f"Still at it: {number}.") for number in range(messages))
    return conversation(*made(name).messages, *more, native_id=name)


def keep(database: Database, value: Transcript) -> None:
    sessions.keep(database, prepare(value), Provenance(f"/{value.native_id}", 1.0, 2.0))


def kept(database: Database) -> dict[str, SessionTeaching]:
    found = list_sessions(database, Filters(), limit=99)
    return {session.native_id: teaching for session, teaching in kept_teachings(database, found)}


def test_only_what_is_new_or_was_read_by_another_version_is_read(database: Database) -> None:
    keep(database, made("a"))
    keep(database, made("b"))
    assert keep_teachings(database) == 2
    assert keep_teachings(database) == 0
    for name in ("a", "b"):
        pieces = teaching_of(made(name)).pieces
        assert [(each.text, each.trust) for each in kept(database)[name].pieces] == [
            (each.text, each.trust) for each in pieces
        ]
    keep(database, conversation(*made("a").messages, user("always use tabs"), native_id="a"))
    assert keep_teachings(database) == 1
    assert len(kept(database)["a"].pieces) == 3
    database.execute("UPDATE derived SET version = '' WHERE kind = 'teaching'")
    assert keep_teachings(database) == 2


def test_many_sessions_are_read_on_all_processors_with_the_same_result(database: Database) -> None:
    for number in range(3):
        keep(database, long(str(number), POOL_FROM_MESSAGES // 3 + 1))
    assert keep_teachings(database) == 3
    together = kept(database)
    database.execute("UPDATE derived SET version = '' WHERE kind = 'teaching'")
    assert keep_teachings(database, processors=1) == 3
    assert kept(database) == together
    assert all(teaching.pieces for teaching in together.values())


def test_an_interrupt_keeps_what_was_read_before(database: Database) -> None:
    for number in range(3):
        keep(database, long(str(number), BATCH_MESSAGES))

    def interrupt(progress: AnalysisProgress) -> None:
        if progress.done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        keep_teachings(database, progress=interrupt, processors=2)
    assert keep_teachings(database, processors=1) == 2


def test_a_forgotten_session_teaches_nothing(database: Database) -> None:
    keep(database, made("a"))
    keep_teachings(database)
    sessions.forget(database, made("a").id)
    assert database.query("SELECT count(*) FROM derived") == [(0,)]


def test_the_condensed_session_is_kept_with_what_it_teaches(database: Database) -> None:
    keep(database, made("a"))
    keep_teachings(database)
    condensed = kept(database)["a"].condensed
    made_now = teaching_of(made("a")).condensed
    assert condensed is not None
    assert made_now is not None
    assert condensed.events == made_now.events
    assert [event.kind.value for event in condensed.events] == ["person", "failed", "person"]


def test_a_second_look_finds_the_same_lessons(database: Database) -> None:
    keep(database, made("a"))
    keep(database, made("b"))
    assert taught_by_projects(database, Filters()) == taught_by_projects(database, Filters()) != ()


def test_in_a_team_whose_words_they_are_is_kept_and_a_strangers_are_not_believed(shop: Team, tmp_path: Path) -> None:
    with (
        opened(shop.home(tmp_path / "alice", ALICE)) as alice,
        opened(shop.home(tmp_path / "mallory", MALLORY)) as mallory,
    ):
        keep(alice, made("mine", "always use tabs for the indentation"))
        keep(mallory, made("theirs", "never use tabs for the indentation"))
        for database in (mallory, alice):
            keep_teachings(database)
        found = kept(alice)
        assert {piece.who for piece in found["mine"].pieces} == {ALICE}
        assert {piece.trust for piece in found["theirs"].pieces} == {Trust.EXTERNAL}
        mine, theirs = (found[name].condensed for name in ("mine", "theirs"))
        assert mine is not None
        assert theirs is not None
        assert [event.kind.value for event in mine.events] == ["person", "failed", "person"]
        assert {event.trust for event in theirs.events} == {Trust.EXTERNAL}
        assert [event.kind.value for event in theirs.events] == ["team", "failed", "team"]
        assert (mine.who, theirs.who) == (ALICE, MALLORY)
        keep_teachings(mallory)
        lessons = [one for each in taught_by_projects(alice, Filters()) for one in each.lessons]
        assert [one.rule for one in lessons if "tabs" in one.rule] == ["Always use tabs for the indentation"]
        with shop.rows(MALLORY) as rows:
            rows.execute(b"UPDATE derived SET record = '{}' WHERE kind = 'teaching'")
        assert kept(alice)["mine"] == SessionTeaching()
        assert keep_teachings(alice) == 1
        assert len(kept(alice)["mine"].pieces) == 2
