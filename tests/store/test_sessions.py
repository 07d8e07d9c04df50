"""Sessions are kept once, grow by what is new, share what they share, and are forgotten wholly."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lengths import examples
from whet.sessions.transcripts import (
    Ending,
    Message,
    Purpose,
    RecordedCheck,
    Role,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
    Usage,
)
from whet.sessions.trust import Trust
from whet.store import sessions
from whet.store.database import Database
from whet.store.listing import Filters, count_sessions, find, list_sessions
from whet.store.rows import AT_ONCE, DamagedRow, Provenance, prepare


def said(words: str, at: float | None = None) -> Message:
    return Message(role=Role.USER, parts=(Text(words),), trust=Trust.USER, at=at)


def transcript(name: str, *words: str, source: str = "codex") -> Transcript:
    return Transcript(source=source, native_id=name, messages=tuple(said(word) for word in words))


def keep(database: Database, value: Transcript) -> sessions.KeepResult:
    return sessions.keep(database, prepare(value), Provenance(f"/{value.native_id}", 1.0, 2.0))


def stored(database: Database, value: Transcript) -> Transcript:
    return sessions.load(database, find(database, value.id))


def rows(database: Database) -> int:
    return int(database.query("SELECT count(*) FROM messages")[0][0])


def test_a_transcript_comes_back_as_it_was(database: Database) -> None:
    value = Transcript(
        source="claude-code",
        native_id="0b1c",
        messages=(
            said("Fix the \0 test — 直して", at=12.5),
            Message(
                role=Role.AGENT,
                parts=(Text("I look."), ToolCall("c1", "Bash", '{"command":"ls"}')),
                trust=Trust.AGENT,
                at=13.0,
                model="some-model",
                usage=Usage(input=10, output=2, cached=8, cost_dollars=0.25),
            ),
            Message(role=Role.TOOL, parts=(ToolResult("c1", (Text("a\nb"),), error=False),), trust=Trust.TOOL),
        ),
        parent="0a",
        model="some-model",
        folder="/home/kim/app",
        purpose=Purpose.SUBTASK,
        ending=Ending.FINISHED,
        ending_detail="end_turn",
        started=12.5,
        ended=13.0,
        tools=("Bash",),
        checks=(RecordedCheck("tests", passed=True, score=1.0),),
    )
    keep(database, value)
    assert stored(database, value) == value
    session = find(database, value.id)
    assert (session.input_tokens, session.cached_tokens, session.cost_dollars) == (10, 8, 0.25)
    assert session.title == "Fix the  test — 直して"


def test_keeping_twice_changes_nothing(database: Database) -> None:
    value = transcript("a", "one", "two")
    assert keep(database, value) == ("imported", 2, "")
    assert keep(database, value) == ("unchanged", 0, "")
    assert rows(database) == 2


def test_a_grown_session_adds_only_what_is_new(database: Database) -> None:
    keep(database, transcript("a", "one", "two"))
    assert keep(database, transcript("a", "one", "two", "three")) == ("updated", 1, "")
    assert rows(database) == 3


def test_a_fork_costs_its_new_messages(database: Database) -> None:
    keep(database, transcript("a", "one", "two", "three"))
    assert keep(database, transcript("b", "one", "two", "else")) == ("imported", 1, "")
    assert rows(database) == 4
    assert stored(database, transcript("b")).messages[2] == said("else")


def test_forgetting_a_session_leaves_what_others_share(database: Database) -> None:
    keep(database, transcript("a", "one", "two", "three"))
    keep(database, transcript("b", "one", "two", "else"))
    keep(database, transcript("c", "one", "more"))
    assert sessions.forget(database, transcript("a").id) == 1
    assert stored(database, transcript("b")).messages == transcript("b", "one", "two", "else").messages
    assert stored(database, transcript("c")).messages == transcript("c", "one", "more").messages
    assert sessions.forget(database, transcript("a").id) == 0


def test_a_rewritten_session_replaces_the_old_one(database: Database) -> None:
    keep(database, transcript("a", "one", "two", "three"))
    assert keep(database, transcript("a", "one", "undone")).change == "updated"
    assert stored(database, transcript("a")).messages == transcript("a", "one", "undone").messages
    assert rows(database) == 2


def test_an_older_copy_of_a_session_takes_nothing_away(database: Database) -> None:
    keep(database, transcript("a", "one", "two", "three"))
    assert keep(database, transcript("a", "one")).change == "unchanged"
    assert stored(database, transcript("a")).messages == transcript("a", "one", "two", "three").messages


def test_another_file_with_the_same_id_is_a_conflict_and_not_an_update(database: Database) -> None:
    keep(database, transcript("a", "one", "two"))
    other = sessions.keep(database, prepare(transcript("a", "one", "else")), Provenance("/copy/of/a", 1.0, 2.0))
    assert other.change == "conflict"
    assert "/a" in other.note
    assert stored(database, transcript("a")).messages == transcript("a", "one", "two").messages


def test_comparing_says_what_keeping_would_do_and_does_nothing(database: Database) -> None:
    keep(database, transcript("a", "one"))
    longer = prepare(transcript("a", "one", "two"))
    assert sessions.compare(database, longer, path="/a") == ("updated", 1, "")
    assert sessions.compare(database, prepare(transcript("b", "one", "x")), path="/b") == ("imported", 1, "")
    assert rows(database) == 1


def test_the_id_of_a_parent_means_the_parent_and_not_its_sub_agents(database: Database) -> None:
    keep(database, transcript("main-1", "one"))
    part = Transcript(source="codex", native_id="main-1/agent", parent="main-1", messages=(said("two"),))
    keep(database, part)
    assert find(database, "main-").native_id == "main-1"
    assert find(database, "main-1/a").native_id == "main-1/agent"


steps = st.lists(
    st.tuples(
        st.sampled_from(["keep", "keep", "keep", "forget"]),
        st.sampled_from("abcde"),
        st.lists(st.sampled_from("xyz"), max_size=5),
    ),
    max_size=30,
)


@given(steps)
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_order_of_keeping_and_forgetting_agrees_with_a_plain_dictionary(
    database: Database, order: list[tuple[str, str, list[str]]]
) -> None:
    for name in "abcde":
        sessions.forget(database, transcript(name).id)
    model: dict[str, Transcript] = {}
    for action, name, words in order:
        if action == "keep":
            value = transcript(name, *words)
            keep(database, value)
            older = model.get(name)
            if older is None or older.messages[: len(words)] != value.messages:
                model[name] = value
        else:
            model.pop(name, None)
            sessions.forget(database, transcript(name).id)
    for value in model.values():
        assert stored(database, value) == value
    prefixes = {value.messages[:end] for value in model.values() for end in range(1, len(value.messages) + 1)}
    assert rows(database) == len(prefixes)


@given(steps, st.lists(st.tuples(st.sampled_from("abcdefg"), st.lists(st.sampled_from("xyz"), max_size=4)), max_size=9))
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_keeping_sessions_together_is_keeping_each_in_turn(
    database: Database, before: list[tuple[str, str, list[str]]], found: list[tuple[str, list[str]]]
) -> None:
    values = [transcript(name, *words) for name, words in found]

    def held() -> list[tuple[Transcript, int]]:
        listed = sorted(list_sessions(database, Filters(), limit=99), key=lambda session: session.no)
        return [(sessions.load(database, session), session.base_count) for session in listed]

    def begin() -> None:
        for name in "abcdefg":
            sessions.forget(database, transcript(name).id)
        for action, name, words in before:
            if action == "keep":
                keep(database, transcript(name, *words))

    begin()
    in_turn, stored_so = [keep(database, value) for value in values], held()
    begin()
    together = sessions.keep_all(
        database, [(prepare(value), Provenance(f"/{value.native_id}", 1.0, 2.0)) for value in values]
    )
    assert (together, held()) == (in_turn, stored_so)


def test_more_sessions_than_a_statement_takes_are_kept_together(database: Database) -> None:
    values = [transcript(str(number), f"Hello {number}") for number in range(AT_ONCE + 1)]
    given = [(prepare(value), Provenance("/all", 1.0, 2.0)) for value in values]
    assert {each.change for each in sessions.keep_all(database, given)} == {"imported"}
    assert {each.change for each in sessions.keep_all(database, given)} == {"unchanged"}
    assert count_sessions(database, Filters()) == len(values)


def test_sessions_that_stand_on_each_other_in_a_circle_are_damaged_and_no_endless_work(database: Database) -> None:
    """As rows can that another member wrote."""
    for value in (transcript("a", "one", "two"), transcript("b", "one", "three")):
        keep(database, value)
    first, second = (find(database, name) for name in "ab")
    database.execute("UPDATE sessions SET base = ?, base_count = 1 WHERE no = ?", (second.no, first.no))
    with pytest.raises(DamagedRow):
        sessions.load(database, find(database, "b"))
