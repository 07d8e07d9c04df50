"""Sessions are listed by filters and found by the beginning of an id."""

import pytest

from whet.errors import WhetError
from whet.sessions.transcripts import Message, Purpose, Role, Text, ToolCall, Transcript
from whet.sessions.trust import Trust
from whet.sessions.worktrees import is_temporary
from whet.store import sessions
from whet.store.database import Database
from whet.store.listing import Filters, count_sessions, find, list_sessions
from whet.store.rows import Provenance, prepare


def keep(database: Database, name: str, *parts: Text | ToolCall, **fields: object) -> Transcript:
    message = Message(role=Role.AGENT, parts=parts or (Text(name),), trust=Trust.AGENT)
    transcript = Transcript(**{"source": "pi", "native_id": name, "messages": (message,), **fields})  # type: ignore[arg-type]
    sessions.keep(database, prepare(transcript), Provenance(f"/{name}", 50.0, 60.0))
    return transcript


def names(database: Database, **filters: object) -> list[str]:
    found = list_sessions(database, Filters(**filters), limit=100)  # type: ignore[arg-type]
    assert count_sessions(database, Filters(**filters)) == len(found)  # type: ignore[arg-type]
    return [session.native_id for session in found]


def test_the_latest_come_first_and_a_session_without_a_time_counts_by_its_file(database: Database) -> None:
    keep(database, "old", ended=10.0)
    keep(database, "new", ended=90.0)
    keep(database, "undated")
    assert names(database) == ["new", "undated", "old"]


def test_pages_follow_each_other(database: Database) -> None:
    for number in range(7):
        keep(database, f"s{number}", ended=number + 1.0)
    pages = [list_sessions(database, Filters(), limit=3, offset=start) for start in (0, 3, 6)]
    assert [each.native_id for page in pages for each in page] == ["s6", "s5", "s4", "s3", "s2", "s1", "s0"]


def test_each_filter_narrows(database: Database) -> None:
    keep(
        database,
        "a",
        ToolCall("c", "Bash"),
        source="codex",
        model="GPT-5-mini",
        folder="/w/app",
        started=1.0,
        ended=5.0,
    )
    keep(database, "b", folder="/w/app/sub", purpose=Purpose.SUBTASK, started=20.0, ended=30.0)
    keep(database, "c", folder="/w/application", model="100%", started=40.0, ended=45.0)
    assert names(database, source="codex") == ["a"]
    assert names(database, model="gpt-5") == ["a"]
    assert names(database, model="%") == ["c"]
    assert names(database, model="_") == []
    assert names(database, folder="/w/app") == ["b", "a"]
    assert names(database, folder="/w/app/") == ["b", "a"]
    assert names(database, folder="/W/app") == names(database, folder="/w/%") == []
    assert names(database, folder="/") == ["c", "b", "a"]
    assert names(database, tool="Bash") == ["a"]
    assert names(database, purpose="subtask") == ["b"]
    assert names(database, since=30.0) == ["c", "b"]
    assert names(database, until=20.0) == ["a"]
    assert names(database, since=4.0, until=35.0) == ["b", "a"]


def test_an_exact_id_is_meant_even_where_many_begin_with_it(database: Database) -> None:
    wanted = keep(database, "run", ended=1.0)
    for number in range(30):
        keep(database, f"run-{number}", ended=100.0 + number)
    assert find(database, "run").id == wanted.id


def test_an_id_may_be_written_in_great_letters_and_with_spaces_around(database: Database) -> None:
    wanted = keep(database, "native")
    assert find(database, f" {wanted.id[:14].upper()} ").native_id == "native"
    assert find(database, wanted.id[:12]).id == wanted.id


def test_the_candidates_of_an_ambiguous_id_are_listed(database: Database) -> None:
    made = [keep(database, f"twin-{number}", title=f"Title {number}") for number in range(3)]
    with pytest.raises(WhetError, match="ambiguous") as caught:
        find(database, "twin")
    assert all(each.id[:12] in caught.value.message for each in made)
    assert "Title 2" in caught.value.message


@pytest.mark.parametrize("asked", ["", "  ", "nothing", "%", "_"])
def test_an_id_that_names_no_session_is_a_mistake(database: Database, asked: str) -> None:
    keep(database, "a")
    with pytest.raises(WhetError, match=r"No session|id is empty") as caught:
        find(database, asked)
    assert "whet sessions" in caught.value.advice


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("/tmp", True),
        ("/tmp/x", True),
        ("/var/tmp/y", True),
        ("/tmpfiles", False),
        ("/TMP/x", False),
        ("/home/a/tmp", False),
        ("", False),
    ],
)
def test_the_store_and_the_page_know_the_same_temporary_folders(
    database: Database, folder: str, expected: bool
) -> None:
    keep(database, "it", folder=folder)
    assert is_temporary(folder) is expected
    assert (names(database, without_temporary=True) == []) is expected
    if folder:
        assert names(database, without_temporary=True, folder=folder) == ["it"], "who names a folder means it"


def test_what_whet_itself_wanted_is_left_out_unless_it_is_asked_for(database: Database) -> None:
    for purpose in (Purpose.CHAT, Purpose.TRIAL, Purpose.REVIEW, Purpose.JOB):
        keep(database, purpose.value, purpose=purpose, ended=10.0)
    assert sorted(names(database, without_own_work=True)) == ["chat", "job"]
    assert names(database, without_own_work=True, purpose="review") == ["review"]
