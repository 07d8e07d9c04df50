"""What projects teach is kept, and is never other than what would be found from nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from conversations import agent, conversation, shell, user
from team import ALICE, MALLORY, Team, team
from whet.agents.recognising import formats
from whet.agents.registry import AGENTS
from whet.improving.taught import gathered, taught_by_projects
from whet.lessons.record import LessonEvidence, ProjectLessons
from whet.sessions.transcripts import Transcript
from whet.sessions.trust import Trust
from whet.store import sessions
from whet.store.database import Database
from whet.store.listing import Filters
from whet.store.opening import opened
from whet.store.rows import Provenance, prepare
from whet.store.teachings import MARK

EMBEDDED = pytest.mark.parametrize("home", ["sqlite"], indirect=True)
SAID = ("never wrap lines in the markdown", "always use tabs for the indentation", "never use tabs for the indentation")


def made(name: str, folder: str = "/home/noor/shop", said: str = SAID[0]) -> Transcript:
    failed = shell("rtk bun install", "error: unrecognized subcommand 'bun'", error=True)
    turns = (user(f"Hello {name}"), failed, shell("bun install", "Done"), agent("Done."), user(said))
    return replace(conversation(*turns, native_id=name), folder=folder)


def keep(database: Database, *transcripts: Transcript) -> None:
    for each in transcripts:
        sessions.keep(database, prepare(each), Provenance(f"/{each.native_id}", 1.0, 2.0))


def looked(database: Database, *, declared: tuple[str, ...] = ()) -> list[ProjectLessons]:
    """What is found with what is kept, which has to be what is found from nothing."""
    found = taught_by_projects(database, Filters(), declared=declared)
    again = taught_by_projects(database, Filters(), declared=declared)
    database.execute("DELETE FROM derived WHERE kind = 'lessons'")
    assert found == again == taught_by_projects(database, Filters(), declared=declared)
    return list(found)


def evidence(found: ProjectLessons) -> list[LessonEvidence]:
    own = [each.evidence for each in found.lessons]
    return [*own, *(each.evidence for each in found.dropped)]


def counted(found: list[ProjectLessons]) -> dict[str, int]:
    return {each.project: max((one.sessions for one in evidence(each)), default=0) for each in found}


def kept_projects(database: Database) -> set[str]:
    return {name.partition(MARK)[0] for (name,) in database.query("SELECT name FROM derived WHERE kind = 'lessons'")}


def kept_keys(database: Database) -> dict[str, str]:
    return {
        str(project).partition(MARK)[0]: str(key)
        for project, key in database.query("SELECT name, version FROM derived WHERE kind = 'lessons'")
    }


def test_a_new_a_grown_and_a_forgotten_session_change_the_lessons_at_once(database: Database) -> None:
    keep(database, made("a"), made("b"), made("c", "/home/noor/bank"))
    assert counted(looked(database)) == {"/home/noor/shop": 2, "/home/noor/bank": 1}
    keep(database, made("d"))
    assert counted(looked(database)) == {"/home/noor/shop": 3, "/home/noor/bank": 1}
    more = replace(
        made("c", "/home/noor/bank"), messages=(*made("c").messages, user("never use the old importer again"))
    )
    keep(database, more)
    [bank] = [each for each in looked(database) if each.project == "/home/noor/bank"]
    assert any("importer" in piece.text for one in evidence(bank) for piece in one.pieces)
    sessions.forget(database, made("a").id)
    assert counted(looked(database)) == {"/home/noor/shop": 2, "/home/noor/bank": 1}


def test_nothing_is_kept_of_a_forgotten_session(database: Database) -> None:
    keep(database, made("a"), made("b", "/home/noor/bank"))
    looked(database)
    assert kept_projects(database) == {"/home/noor/shop", "/home/noor/bank"}
    sessions.forget(database, made("b", "/home/noor/bank").id)
    assert kept_projects(database) == {"/home/noor/shop"}


def test_only_the_projects_with_something_new_are_made_anew(database: Database) -> None:
    keep(database, made("a"), made("b", "/home/noor/bank"))
    looked(database)
    before = kept_keys(database)
    keep(database, made("c"))
    looked(database)
    after = kept_keys(database)
    assert {project for project in after if after[project] != before[project]} == {"/home/noor/shop"}


@EMBEDDED
def test_a_project_is_believed_as_soon_as_it_is_declared(database: Database, tmp_path: Path) -> None:
    keep(database, made("a", str(tmp_path)), made("b", str(tmp_path)))

    def trusts(*declared: str) -> set[Trust]:
        found = (one for each in looked(database, declared=declared) for one in evidence(each))
        return {piece.trust for one in found for piece in one.pieces}

    assert trusts() == {Trust.USER, Trust.TOOL}
    assert trusts(str(tmp_path)) == {Trust.USER, Trust.AGENT}
    assert trusts() == {Trust.USER, Trust.TOOL}


@EMBEDDED
def test_a_record_that_came_with_a_declared_project_is_believed_no_more(database: Database, tmp_path: Path) -> None:
    assert {known.name for known in formats() if known.beside} == {
        agent.name for agent in AGENTS if agent.is_in_projects
    }
    keep(database, *(replace(made(name, str(tmp_path)), source="aider") for name in "ab"))
    found = (one for each in looked(database, declared=(str(tmp_path),)) for one in evidence(each))
    assert {piece.trust for one in found for piece in one.pieces} == {Trust.USER, Trust.TOOL}


@EMBEDDED
def test_a_file_of_the_project_that_says_it_is_seen_at_once(database: Database, tmp_path: Path) -> None:
    keep(database, made("a", str(tmp_path)), made("b", str(tmp_path)))

    def proposed() -> list[str]:
        return [one.patch.text for each in looked(database) for one in each.lessons if one.is_proposable]

    [rule, *_] = [text for text in proposed() if "markdown" in text]
    (tmp_path / "AGENTS.md").write_text(f"{rule}\n")
    assert rule not in proposed()
    (tmp_path / "AGENTS.md").unlink()
    assert rule in proposed()


def test_what_some_sessions_teach_does_not_take_the_place_of_what_all_do(database: Database) -> None:
    keep(database, made("a"), replace(made("b"), source="pi"))
    everything = counted(looked(database))
    kept = database.query("SELECT name, version FROM derived WHERE kind = 'lessons'")
    assert counted(list(taught_by_projects(database, Filters(source="pi")))) != everything
    assert database.query("SELECT name, version FROM derived WHERE kind = 'lessons'") == kept
    assert counted(looked(database)) == everything


def test_a_damaged_row_is_made_again(database: Database) -> None:
    keep(database, made("a"))
    found = looked(database)
    database.execute("UPDATE derived SET record = ? WHERE kind = 'lessons'", (b"{",))
    assert list(taught_by_projects(database, Filters())) == found


@EMBEDDED
def test_what_three_projects_teach_is_one_lesson_with_its_proposal(database: Database) -> None:
    keep(database, *(made(name, f"/home/noor/{name}") for name in ("a", "b", "c")), made("d", "/home/noor/d", SAID[1]))
    found = taught_by_projects(database, Filters())
    [first, *others] = gathered([lesson for each in found for lesson in each.lessons])
    assert len(first.seen_by.projects) >= 3
    assert first.rule not in [each.rule for each in others]


@pytest.fixture
def shop(postgres_url: str, tmp_path: Path) -> Iterator[Team]:
    with team(postgres_url, f"lessons_{abs(hash(str(tmp_path)))}", tmp_path / "owner") as made:
        yield made


def test_in_a_team_nobody_reads_lessons_that_another_wrote_and_forgetting_removes_them_all(
    shop: Team, tmp_path: Path
) -> None:
    with (
        opened(shop.home(tmp_path / "alice", ALICE)) as alice,
        opened(shop.home(tmp_path / "mallory", MALLORY)) as mallory,
    ):
        keep(alice, made("mine"))
        found = taught_by_projects(alice, Filters())
        taught_by_projects(mallory, Filters())
        assert alice.query("SELECT count(*) FROM derived WHERE kind = 'lessons'") == [(2,)]
        with shop.rows(MALLORY) as rows:
            rows.execute(f"DELETE FROM derived WHERE kind = 'lessons' AND maker = '{MALLORY}'".encode())
            rows.execute(b"""UPDATE derived SET record = '{"project": "/home/noor/shop"}' WHERE kind = 'lessons'""")
        assert taught_by_projects(alice, Filters()) == found
        sessions.forget(alice, made("mine").id)
        assert alice.query("SELECT count(*) FROM derived WHERE kind = 'lessons'") == [(0,)]


def drafted(database: Database) -> list[str]:
    return [one.rule for each in looked(database) for one in each.lessons]


@EMBEDDED
def test_what_the_ledger_would_refuse_is_not_offered(database: Database) -> None:
    keep(database, made("a", said="never use the exporter because it is always broken"))
    assert drafted(database) == []


@EMBEDDED
def test_an_error_that_a_draft_quotes_does_not_make_it_vanish(database: Database) -> None:
    for name in "abc":
        failed = shell("docker compose up", "docker: command not found", error=True)
        worked = shell("podman compose up", "started")
        keep(database, replace(conversation(user(f"Fix {name}"), failed, worked, native_id=name), folder="/srv/shop"))
    [project] = looked(database)
    assert any("run `podman compose up`" in one.rule and "command not found" in one.rule for one in project.lessons)
    assert project.dropped == ()
