"""On a server, what is kept beside messages comes and goes with them."""

from whet.sessions.transcripts import Message, Role, Text, ToolCall, Transcript
from whet.sessions.trust import Trust
from whet.store import sessions
from whet.store.database import Database
from whet.store.rows import Provenance, prepare
from whet.store.search import search

BESIDE = ("messages", "uses", "message_index")


def keep(database: Database, name: str) -> str:
    asked = Message(role=Role.USER, parts=(Text(f"a needle for {name}"),), trust=Trust.USER)
    called = Message(role=Role.AGENT, parts=(ToolCall(id="1", name="Bash", arguments="{}"),), trust=Trust.TOOL)
    transcript = Transcript(source="pi", native_id=name, messages=(asked, called))
    sessions.keep(database, prepare(transcript), Provenance(f"/{name}", 1.0, 2.0))
    return transcript.id


def numbers(database: Database) -> list[int]:
    return [int(database.query(f"SELECT count(*) FROM {table}")[0][0]) for table in BESIDE]


def test_a_forgotten_session_leaves_no_words_and_no_tools(database: Database) -> None:
    kept, gone = keep(database, "kept"), keep(database, "gone")
    assert numbers(database) == [4, 2, 4]
    sessions.forget(database, gone)
    assert numbers(database) == [2, 1, 2]
    assert [hit.session_id for hit in search(database, "needle")] == [kept]


def test_sessions_that_go_by_a_cascade_leave_none_either(database: Database) -> None:
    keep(database, "one")
    keep(database, "two")
    database.execute("DELETE FROM sessions")
    assert numbers(database) == [0, 0, 0]
