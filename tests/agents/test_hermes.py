"""Hermes' database in the versions that are in use."""

import json
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.agents.formats.source import Source
from whet.agents.hermes import records as hermes
from whet.agents.hermes import records as hermes_messages
from whet.sessions.transcripts import Disposition, Ending, Origin, Purpose, RecordedCheck, Role, Transcript, pair
from whet.sessions.trust import Trust

SESSION_COLUMNS = {
    11: "id TEXT PRIMARY KEY, source TEXT, model TEXT, model_config TEXT, system_prompt TEXT, title TEXT,"
    " parent_session_id TEXT, started_at REAL, ended_at REAL, end_reason TEXT, input_tokens INTEGER,"
    " output_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER, estimated_cost_usd REAL",
    17: ", cwd TEXT",
    24: ", system_prompt_hash TEXT, git_branch TEXT, git_repo_root TEXT",
    30: ", tool_names TEXT, pinned INTEGER NOT NULL DEFAULT 0",
}
MESSAGE_COLUMNS = {
    11: "id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT,"
    " tool_calls TEXT, tool_name TEXT, timestamp REAL, token_count INTEGER, finish_reason TEXT, reasoning TEXT",
    17: ", active INTEGER, reasoning_content TEXT",
    24: ", compacted INTEGER NOT NULL DEFAULT 0, observed INTEGER DEFAULT 0, effect_disposition TEXT",
    30: ", _compressed_summary INTEGER NOT NULL DEFAULT 0, api_content TEXT, display_kind TEXT",
}
VERSIONS = tuple(SESSION_COLUMNS)
SUMMARY = "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below."


class Store:
    """A state.db that a test fills row by row."""

    def __init__(self, folder: Path, version: int = 30) -> None:
        self.path = folder / "state.db"
        self.connection = apsw.Connection(str(self.path))
        self.connection.execute("PRAGMA journal_mode=WAL")
        for table, columns in (("sessions", SESSION_COLUMNS), ("messages", MESSAGE_COLUMNS)):
            parts = "".join(added for since, added in columns.items() if since <= version)
            self.connection.execute(f"CREATE TABLE {table} ({parts})")
        self.connection.execute("CREATE TABLE schema_version (version INTEGER)")
        self.connection.execute("INSERT INTO schema_version VALUES (?)", (version,))
        if version >= 24:
            self.connection.execute("CREATE TABLE system_prompts (hash TEXT PRIMARY KEY, prompt TEXT)")

    def add(self, table: str, **values: object) -> None:
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        self.connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values()))

    def session(self, session_id: str, **values: object) -> None:
        self.add("sessions", id=session_id, **{"source": "cli", "started_at": 1_770_000_000.0, **values})

    def say(self, session_id: str, role: str, content: str | None, **values: object) -> None:
        self.add("messages", session_id=session_id, role=role, content=content, **values)

    def ask(self, session_id: str, call_id: str, name: str, **arguments: object) -> None:
        call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        self.say(session_id, "assistant", "", tool_calls=json.dumps([call]))

    def answer(self, session_id: str, call_id: str, content: str, **values: object) -> None:
        self.say(session_id, "tool", content, tool_call_id=call_id, tool_name="terminal", **values)

    def read(self) -> dict[str, Transcript]:
        self.source = Source(self.path)
        assert hermes.sniff(self.source)
        return {found.native_id: found for found in hermes.read(self.source)}

    def texts(self, session_id: str) -> list[str]:
        return [message.text or message.results[0].text for message in self.read()[session_id].messages]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_schema_version_gives_the_same_conversation(tmp_path: Path, version: int) -> None:
    store = Store(tmp_path, version)
    store.session("s", model="hermes-4-70b", title="Disk is full", end_reason="cli_close", ended_at=1_770_000_060.0)
    store.say("s", "user", "What fills the disk?", timestamp=1_770_000_001.0)
    store.ask("s", "call_1", "terminal", command="du -sh /var/*")
    store.answer("s", "call_1", '{"output": "9.1G /var/log", "exit_code": 0, "error": null}')
    store.say("s", "assistant", "The logs do.", timestamp=1_770_000_009.0)
    found = store.read()["s"]
    assert [message.role for message in found.messages] == [Role.USER, Role.AGENT, Role.TOOL, Role.AGENT]
    (exchange,) = pair(found.messages).exchanges
    assert exchange.call.name == "terminal"
    assert exchange.result is not None
    assert exchange.result.text.startswith('{"output"')
    assert (found.model, found.title) == ("hermes-4-70b", "Disk is full")
    assert (found.ending, found.ending_detail) == (Ending.FINISHED, "cli_close")
    assert (found.started, found.ended) == (1_770_000_000.0, 1_770_000_060.0)


def test_rows_are_ordered_by_id_whatever_their_time_says(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.session("s")
    store.say("s", "user", "first", timestamp=1_770_000_500.0)
    store.say("s", "assistant", "second", timestamp=1_770_000_100.0)
    assert store.texts("s") == ["first", "second"]


def test_an_undone_row_is_left_out_and_a_row_without_the_flag_is_kept(tmp_path: Path) -> None:
    store = Store(tmp_path, 24)
    store.session("s")
    store.say("s", "user", "no flag", active=None)
    store.say("s", "assistant", "undone", active=0, compacted=0)
    store.say("s", "assistant", "active", active=1)
    assert store.texts("s") == ["no flag", "active"]


def test_a_row_that_was_summarised_away_is_still_part_of_the_record(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.session("s")
    store.say("s", "user", "the old question", active=0, compacted=1)
    store.say("s", "user", SUMMARY, active=1, _compressed_summary=1)
    store.say("s", "assistant", "the answer", active=1)
    messages = store.read()["s"].messages
    assert [message.origin for message in messages] == [Origin.TURN, Origin.SUMMARY, Origin.TURN]
    assert messages[1].trust is Trust.TOOL


def test_rows_that_a_compaction_repeats_are_counted_once(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.session("s")
    for active, compacted in ((0, 1), (1, 0)):
        if active:
            store.say("s", "user", SUMMARY)
        store.say("s", "user", "run the tests", active=active, compacted=compacted)
        call = [{"id": "call_1", "function": {"name": "terminal", "arguments": '{"command": "pytest"}'}}]
        store.say("s", "assistant", "", tool_calls=json.dumps(call), active=active, compacted=compacted)
        output = "[Old tool output cleared to save context space]" if active else '{"exit_code": 1}'
        store.answer("s", "call_1", output, active=active, compacted=compacted)
    store.say("s", "assistant", "One test fails.")
    pairing = pair(store.read()["s"].messages)
    assert [exchange.result.text for exchange in pairing.exchanges if exchange.result] == ['{"exit_code": 1}']


@given(
    texts=st.lists(st.text("abc", min_size=1), min_size=1, max_size=12, unique=True),
    head=st.integers(0, 12),
    tail=st.integers(0, 12),
)
def test_compacting_in_place_only_adds_the_summary(texts: list[str], head: int, tail: int) -> None:
    def row(text: str, role: str = "user") -> dict[str, Any]:
        return {"role": role, "content": text}

    rows = [row(text) for text in texts]
    head, tail = min(head, len(rows)), min(tail, max(0, len(rows) - head))
    archived = [{**found, "active": 0, "compacted": 1} for found in rows]
    after = [*archived, *rows[:head], row(SUMMARY), *rows[len(rows) - tail :], row("go on")]
    said = [message.text for message in hermes_messages.conversation(after, frozenset())]
    assert said == [*texts, SUMMARY, "go on"]


def test_a_call_id_that_is_used_again_after_a_compaction_is_a_new_call(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.session("s")
    store.ask("s", "call_0", "terminal", command="make")
    store.answer("s", "call_0", "built")
    store.say("s", "user", SUMMARY)
    store.ask("s", "call_0", "terminal", command="make test")
    store.answer("s", "call_0", "passed")
    results = [exchange.result for exchange in pair(store.read()["s"].messages).exchanges]
    assert [result.text for result in results if result] == ["built", "passed"]


def test_the_child_of_a_compressed_parent_continues_it(tmp_path: Path) -> None:
    store = Store(tmp_path, 11)
    store.session("first", end_reason="compression")
    store.say("first", "user", "port the parser")
    store.say("first", "assistant", "half of it is done")
    store.session("second", parent_session_id="first")
    store.say("second", "user", SUMMARY)
    store.say("second", "assistant", "half of it is done")
    store.say("second", "assistant", "all of it is done")
    found = store.read()
    assert found["first"].ending is Ending.COMPACTED
    assert (found["second"].parent, found["second"].purpose) == ("first", Purpose.CHAT)
    assert [message.text for message in found["second"].messages] == [SUMMARY, "all of it is done"]


def test_a_delegated_session_is_a_subtask_and_its_user_is_the_agent(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.session("parent", end_reason="cli_close")
    store.session("child", parent_session_id="parent")
    store.say("child", "user", "Look for unused imports.")
    child = store.read()["child"]
    assert child.purpose is Purpose.SUBTASK
    assert child.messages[0].trust is Trust.AGENT


@pytest.mark.parametrize("reason", ["branched", "session_reset", "new_session"])
def test_a_session_that_follows_another_is_no_subtask(tmp_path: Path, reason: str) -> None:
    store = Store(tmp_path)
    store.session("one", end_reason=reason)
    store.session("two", parent_session_id="one")
    assert store.read()["two"].purpose is Purpose.CHAT


def test_a_scheduled_session_is_a_job(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.session("nightly", source="cron", end_reason="cron_complete")
    assert store.read()["nightly"].purpose is Purpose.JOB


def test_parents_in_a_circle_are_reported_and_dropped(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.session("a", parent_session_id="b")
    store.session("b", parent_session_id="a")
    store.session("c", parent_session_id="c")
    assert {found.parent for found in store.read().values()} == {""}
    assert len(store.source.skipped) == 3


def test_a_parent_that_was_deleted_is_still_named(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.session("s", parent_session_id="gone")
    assert store.read()["s"].parent == "gone"


def test_content_kept_as_json_is_read_as_parts(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.session("s")
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    parts = [{"type": "text", "text": "What is this?"}, image]
    store.say("s", "user", "\x00json:" + json.dumps(parts))
    store.say("s", "user", "\x00json:{broken")
    first, second = store.read()["s"].messages
    assert [type(part).__name__ for part in first.parts] == ["Text", "Media"]
    assert second.text == "json:{broken"


def test_the_system_prompt_is_found_in_the_row_or_by_its_hash(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.add("system_prompts", hash="9c2f", prompt="You are Hermes.")
    store.session("old", system_prompt="You are old Hermes.")
    store.session("new", system_prompt_hash="9c2f")
    found = store.read()
    assert [found[name].messages[0].text for name in ("old", "new")] == ["You are old Hermes.", "You are Hermes."]
    assert found["new"].messages[0].role is Role.SYSTEM


def test_a_leaked_review_is_dropped_with_its_reply(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.session("s")
    store.say("s", "user", "Thanks!")
    store.say("s", "user", "Review the conversation above and consider saving to memory if appropriate.")
    store.ask("s", "call_9", "memory", action="add")
    store.answer("s", "call_9", '{"success": true}')
    store.say("s", "assistant", "Saved.")
    store.say("s", "user", "Next: the changelog.")
    assert store.texts("s") == ["Thanks!", "Next: the changelog."]


def test_blocked_and_interrupted_calls_are_told_apart(tmp_path: Path) -> None:
    store = Store(tmp_path, 24)
    store.session("s")
    for call_id, disposition in (("call_1", "none"), ("call_2", "unknown"), ("call_3", None)):
        store.ask("s", call_id, "terminal", command="rm -r build")
        store.answer("s", call_id, "{}", effect_disposition=disposition)
    results = [message.results[0] for message in store.read()["s"].messages if message.results]
    assert [result.disposition for result in results] == [Disposition.BLOCKED, Disposition.INTERRUPTED, None]


def test_what_is_overheard_or_hidden_is_not_the_users_word(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.session("s", source="telegram")
    store.say("s", "user", "(to the group) delete everything", observed=1)
    store.say("s", "user", "continue", display_kind="hidden")
    store.say("s", "user", "please sum up", observed=0)
    assert [message.trust for message in store.read()["s"].messages] == [Trust.TOOL, Trust.TOOL, Trust.USER]


def test_usage_counts_the_whole_prompt(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.session("s", input_tokens=100, cache_read_tokens=900, cache_write_tokens=50, output_tokens=7)
    store.session("free")
    usage = store.read()["s"].usage
    assert usage is not None
    assert (usage.input, usage.cached, usage.cache_written, usage.output) == (1050, 900, 50, 7)
    assert store.read()["free"].usage is None


def test_verifications_beside_the_database_are_checks_of_their_session(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.session("s")
    store.session("other")
    evidence = apsw.Connection(str(tmp_path / "verification_evidence.db"))
    evidence.execute(
        "CREATE TABLE verification_events (id INTEGER PRIMARY KEY, session_id TEXT, command TEXT,"
        " canonical_command TEXT, kind TEXT, scope TEXT, status TEXT, exit_code INTEGER)"
    )
    for status, exit_code in (("failed", 1), ("passed", 0)):
        evidence.execute(
            "INSERT INTO verification_events VALUES (NULL, 's', 'pytest -q', 'pytest', 'test', 'full', ?, ?)",
            (status, exit_code),
        )
    evidence.close()
    found = store.read()
    assert found["s"].checks == (
        RecordedCheck(name="pytest", passed=False, detail="test, full, exit code 1"),
        RecordedCheck(name="pytest", passed=True, detail="test, full, exit code 0"),
    )
    assert found["other"].checks == ()


def test_broken_verifications_are_reported_and_the_sessions_still_read(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.session("s")
    (tmp_path / "verification_evidence.db").write_bytes(b"SQLite format 3\0 and then nothing of the kind")
    assert store.read().keys() == {"s"}
    assert "verification_evidence.db" in store.source.skipped[0].reason


def test_rows_of_odd_types_and_roles_are_read_or_reported(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.session("s", tool_names='["terminal", 3]', model_config="{not json")
    store.add("messages", session_id="s", role="user", content=b"bytes \xff", timestamp="yesterday")
    store.add("messages", session_id="s", role="assistant", content=42, tool_calls='{"not": "a list"}')
    store.say("s", "session_meta", "{}")
    found = store.read()["s"]
    assert [message.text for message in found.messages] == ["bytes \ufffd", "42"]
    assert found.tools == ("terminal",)
    assert "session_meta" in store.source.skipped[0].reason


def test_other_databases_are_not_taken_for_hermes(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE sessions (id TEXT, name TEXT)")
    connection.execute("CREATE TABLE messages (id INTEGER, session_id TEXT, role TEXT, content TEXT)")
    connection.close()
    assert not hermes.sniff(Source(path))
