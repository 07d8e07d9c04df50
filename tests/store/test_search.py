"""Search finds words, phrases, code, paths and every script, ranks and narrows, on both databases alike."""

import contextlib
import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lengths import examples, long
from whet.errors import WhetError
from whet.sessions.transcripts import Message, Role, Text, Thought, ToolCall, ToolResult, Transcript
from whet.sessions.trust import Trust
from whet.store import sessions
from whet.store.database import Database
from whet.store.listing import Filters
from whet.store.rows import Provenance, prepare
from whet.store.search import Hit, for_postgres, for_sqlite, parse, search

NUMBERS = itertools.count()


def said(words: str, role: Role = Role.USER, at: float | None = None) -> Message:
    return Message(role=role, parts=(Text(words),), trust=Trust.USER, at=at)


def keep(database: Database, *messages: Message | str, **fields: object) -> Transcript:
    """Keep a session of its own that holds these messages."""
    values = {"source": "codex", "native_id": f"session-{next(NUMBERS)}", **fields}
    turns = tuple(said(message) if isinstance(message, str) else message for message in messages)
    transcript = Transcript(messages=turns, **values)  # type: ignore[arg-type]
    kept = sessions.keep(database, prepare(transcript), Provenance(f"/{transcript.native_id}", 5.0, 9.0))
    assert kept.change == "imported"
    return transcript


def found(database: Database, asked: str, **options: object) -> set[str]:
    """What the messages say that are found by their words."""
    hits = search(database, asked, **options)  # type: ignore[arg-type]
    return {hit.message.text for hit in hits}


def marked(hit: Hit) -> str:
    return hit.snippet[slice(*hit.match)]


def test_every_word_must_occur(database: Database) -> None:
    keep(database, "the disk is full", "the disk is empty", "a full stop")
    assert found(database, "disk full") == {"the disk is full"}
    assert found(database, "full") == {"the disk is full", "a full stop"}


def test_a_message_that_says_it_more_often_and_in_fewer_words_ranks_higher(database: Database) -> None:
    rambling = f"timeout {'and many other words ' * 60}"
    keep(database, "timeout after timeout", rambling, "one timeout here")
    assert [hit.message.text for hit in search(database, "timeout")] == [
        "timeout after timeout",
        "one timeout here",
        rambling,
    ]


def test_of_equals_the_newer_comes_first(database: Database) -> None:
    keep(database, *(f"equal {letter}" for letter in "abc"))
    assert [hit.message.text for hit in search(database, "equal")] == ["equal c", "equal b", "equal a"]


def test_pages_do_not_overlap_and_leave_nothing_out(database: Database) -> None:
    texts = [f"needle {'hay ' * (number % 7)}{number}" for number in range(60)]
    keep(database, *texts)
    pages = [search(database, "needle", limit=13, offset=start) for start in range(0, 65, 13)]
    together = [hit.message.text for page in pages for hit in page]
    assert len(together) == len(set(together)) == 60
    assert together == [hit.message.text for hit in search(database, "needle", limit=100)]


def test_a_phrase_is_words_in_a_row(database: Database) -> None:
    keep(database, "permission denied by the server", "denied: no permission")
    assert found(database, '"permission denied"') == {"permission denied by the server"}
    assert found(database, '"permission denied') == {"permission denied by the server"}
    assert len(found(database, "permission denied")) == 2


def test_a_star_takes_what_begins_so(database: Database) -> None:
    keep(database, "migrating now", "two migrations", "immigrant")
    assert found(database, "migrat*") == {"migrating now", "two migrations"}
    assert found(database, '"two migr"*') == {"two migrations"}


def test_a_minus_takes_away(database: Database) -> None:
    keep(database, "import failed", "import failed on windows", "import done")
    assert found(database, "import -windows -done") == {"import failed"}
    assert found(database, 'import -"failed on"') == {"import failed", "import done"}


def test_code_paths_and_flags_are_found(database: Database) -> None:
    text = (
        "git commit --no-verify; src/whet/store.py:12: def load_session(home) raises HomeNotFound, E0425\n"
        "https://example.org/a?b=c v1.2.3 utf-8 x86_64 0xdeadbeef user@example.org"
    )
    keep(database, text, "something else, no such thing")
    for asked in (
        *("src/whet/store.py", "whet/store", "store.py", "load_session", "session", "load_session(home)"),
        *("--no-verify", '"git commit --no-verify"', "HomeNotFound", "https://example.org/a?b=c", "v1.2.3"),
        *("utf-8", "x86_64", "0xdeadbeef", "user@example.org", "E0425"),
    ):
        assert found(database, asked) == {text}, asked


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("データベースが見つかりません", "見つかり"),
        ("数据库连接失败", "连接"),
        ("데이터베이스 오류가 발생했습니다", "오류"),
        ("ไม่พบไฟล์ที่ต้องการ", "ไฟล์"),
        ("Über naïve Résumés", "uber resumes"),
        ("uber naive", "Über naïve"),
        ("cafe\u0301 au lait", "café"),
        ("café au lait", "cafe\u0301"),
        ("ファイルＡＢＣ", "abc"),
        ("हिन्दी में त्रुटि", "त्रुटि"),
        ("שלום עולם", "עולם"),
        ("ошибка соединения", "ОШИБКА"),
        ("done 🎉 shipped", "shipped"),
    ],
)
def test_every_script_is_found(database: Database, text: str, asked: str) -> None:
    keep(database, text, "an unrelated message")
    assert found(database, asked) == {text}
    [hit] = search(database, asked)
    assert marked(hit)


def test_a_query_without_anything_wanted_is_a_mistake(database: Database) -> None:
    for asked in ("", "  ", '""', "*", '"*"', "->", "_", "-word", '-"two words"'):
        with pytest.raises(WhetError, match="Nothing to search for"):
            search(database, asked)


@pytest.mark.parametrize(
    "asked",
    [
        *("this AND that", "this OR that", "NOT this", "NEAR(this that, 5)", "words:this", "^this", "this + that"),
        *("a*b*c", "{this}", "this & !that | (those)", "this <-> that", "'this':*"),
    ],
)
def test_nothing_in_a_query_is_an_operator(database: Database, asked: str) -> None:
    keep(database, "plain words", asked)
    assert [hit.message.text for hit in search(database, asked)] == [asked]


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=30))
@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_can_be_asked(database: Database, asked: str) -> None:
    with contextlib.suppress(WhetError):
        search(database, asked)


def test_thoughts_calls_and_results_are_found(database: Database) -> None:
    call = ToolCall("c1", "Bash", '{"command": "grep -rn \\"colour\\" docs"}')
    keep(
        database,
        Message(role=Role.AGENT, parts=(Thought("perhaps a typo"), call), trust=Trust.AGENT),
        Message(role=Role.TOOL, parts=(ToolResult("c1", (Text("docs/a.md: colourful"),)),), trust=Trust.TOOL),
    )
    assert [hit.position for hit in search(database, "typo")] == [0]
    assert [hit.position for hit in search(database, '"grep -rn colour docs"')] == [0]
    assert [hit.position for hit in search(database, "colourful")] == [1]


def test_the_snippet_shows_the_whole_word_in_its_surroundings(database: Database) -> None:
    keep(database, f"{'before ' * 100}category\nthe  cat\tsat {'after ' * 100}")
    [hit] = search(database, "cat")
    assert marked(hit) == "cat"
    assert "category the cat sat after" in hit.snippet
    assert hit.snippet.startswith("…")
    assert hit.snippet.endswith("…")
    assert "\n" not in hit.snippet
    assert len(hit.snippet) < 260


def test_the_snippet_marks_what_matched_as_it_was_written(database: Database) -> None:
    keep(database, "voilà: mon Résumé final")
    [hit] = search(database, "resume")
    assert (marked(hit), hit.snippet) == ("Résumé", "voilà: mon Résumé final")


def test_filters_narrow_the_hits(database: Database) -> None:
    call = Message(role=Role.AGENT, parts=(Text("word"), ToolCall("c", "Bash")), trust=Trust.AGENT, at=250.0)
    first = keep(database, said("word", at=100.0), call, source="codex", model="gpt-5", folder="/srv/app", ended=250.0)
    second = keep(database, said("word", at=300.0), source="pi", model="Opus-4", folder="/srv/app2", ended=300.0)

    def ids(role: str = "", **filters: object) -> list[tuple[str, int]]:
        hits = search(database, "word", filters=Filters(**filters), role=role)  # type: ignore[arg-type]
        return sorted(((hit.session_id, hit.position) for hit in hits), key=lambda place: place[1])

    assert len(ids()) == 3
    assert ids(role="agent") == [(first.id, 1)]
    assert ids(source="pi") == [(second.id, 0)]
    assert ids(model="opus") == [(second.id, 0)]
    assert ids(tool="Bash") == [(first.id, 1)]
    assert ids(folder="/srv/app") == [(first.id, 0), (first.id, 1)]
    assert ids(folder="/srv/app/") == ids(folder="/srv/app")
    assert len(ids(folder="/srv")) == 3
    assert ids(folder="/WORK") == []
    assert ids(since=250.0) == [(second.id, 0), (first.id, 1)]
    assert ids(until=250.0) == [(first.id, 0)]
    assert ids(since=200.0, until=300.0) == [(first.id, 1)]
    assert ids(source="pi", role="agent") == []


def test_what_is_forgotten_is_found_no_more(database: Database) -> None:
    transcript = keep(database, "remember me")
    keep(database, "remember her")
    sessions.forget(database, transcript.id)
    assert found(database, "remember") == {"remember her"}
    keep(database, "remember him")
    assert found(database, "remember") == {"remember her", "remember him"}


def test_what_is_shared_is_found_until_the_last_session_is_forgotten(database: Database) -> None:
    first, second = keep(database, "shared", "one"), keep(database, "shared", "two")
    assert len(search(database, "shared")) == 1
    sessions.forget(database, first.id)
    assert [hit.session_id for hit in search(database, "shared")] == [second.id]
    sessions.forget(database, second.id)
    assert search(database, "shared") == []


def test_words_are_found_together_however_far_apart_they_stand(database: Database) -> None:
    text = f"alpha first phrase {'filler ' * 40_000} last phrase omega {'x' * 300_000}"
    keep(database, text)
    for asked in ("alpha omega", '"first phrase"', '"last phrase"', '"phrase omega" alpha', "omega filler"):
        assert len(search(database, asked)) == 1, asked
    assert found(database, "alpha -omega") == set()
    assert found(database, '"phrase first"') == set()


@pytest.mark.parametrize("step", [20, pytest.param(1, marks=long)])
def test_a_phrase_is_found_wherever_a_long_message_is_cut(database: Database, step: int) -> None:
    keep(database, " ".join(f"w{number}" for number in range(40_000)))
    for number in range(15_900, 16_100, step):
        assert len(search(database, f'"w{number} w{number + 1} w{number + 2}"')) == 1, number


def test_many_long_words_can_be_kept(database: Database) -> None:
    keep(database, " ".join(f"{'𐐀' * 200}{number}" for number in range(9_000)) + " needle")
    assert len(search(database, "needle")) == 1


@pytest.mark.parametrize("filters", [Filters(source="pi"), Filters(folder="/rare"), Filters(tool="Rare")])
def test_a_rare_filter_finds_old_hits_of_a_common_word(database: Database, filters: Filters) -> None:
    use = Message(role=Role.AGENT, parts=(Text("common"), ToolCall("c", "Rare")), trust=Trust.AGENT)
    rare = keep(database, use, source="pi", folder="/rare")
    for start in range(0, 6_000, 1_000):
        keep(database, *(f"common {number}" for number in range(start, start + 1_000)))
    assert [hit.session_id for hit in search(database, "common", filters=filters)] == [rare.id]


def test_a_session_that_grew_among_others_is_searched_wholly_and_alone(database: Database) -> None:
    """Its messages lie far apart in the store, with those of other folders between them."""
    grown = tuple(said(f"common part {number}") for number in range(3))
    for length in (1, 2, 3):
        value = Transcript(source="pi", native_id="grown", messages=grown[:length], folder="/rare")
        sessions.keep(database, prepare(value), Provenance("/grown", 5.0, 9.0))
        keep(database, *(f"common {length} {number}" for number in range(2_000)), folder="/other")
    assert found(database, "common", filters=Filters(folder="/rare")) == {message.text for message in grown}


def test_words_phrases_beginnings_and_exclusions_are_told_apart() -> None:
    query = parse('disk "is full" migr* -windows -"not now" src/a.py')
    assert query.wanted == (("disk",), ("is", "full"), ("migr",), ("src", "a", "py"))
    assert query.beginnings == (False, False, True, False)
    assert query.unwanted == (("windows",), ("not", "now"))


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("git commit --no-verify", (("git",), ("commit",), ("no", "verify"))),
        ("well-known a-b", (("well", "known"), ("a", "b"))),
        ('say "hello there', (("say",), ("hello", "there"))),
    ],
    ids=["a flag is no exclusion", "nor a minus in a word", "an open quote reaches to the end"],
)
def test_what_is_asked_is_taken_apart(asked: str, wanted: tuple[tuple[str, ...], ...]) -> None:
    assert parse(asked).wanted == wanted


def test_each_database_is_asked_the_same_in_its_own_words() -> None:
    query = parse('disk "is full" migr* -windows')
    assert for_sqlite(query) == '("disk" AND "is full" AND "migr"*) NOT "windows"'
    assert for_sqlite(query, ["mark"]) == '("disk" AND "is full" AND "migr"* AND "mark") NOT "windows"'
    assert for_postgres(query) == "('disk') & ('is' <-> 'full') & ('migr':*) & !('windows')"


@given(st.text(min_size=1))
def test_only_letters_and_digits_reach_the_databases(text: str) -> None:
    try:
        query = parse(text)
    except WhetError:
        return
    words = [word for phrase in (*query.wanted, *query.unwanted) for word in phrase]
    assert all(word.isalnum() for word in words)
