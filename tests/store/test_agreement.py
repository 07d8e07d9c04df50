"""Both databases find the same: one corpus, many queries, the same hits."""

from collections.abc import Iterator

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lengths import examples
from whet.errors import WhetError
from whet.sessions.transcripts import Message, Role, Text, ToolCall, Transcript
from whet.sessions.trust import Trust
from whet.store import sessions
from whet.store.database import Database
from whet.store.home import Home
from whet.store.listing import Filters
from whet.store.opening import opened
from whet.store.rows import Provenance, prepare
from whet.store.search import search

TEXTS = (
    "Fix the failing test in src/whet/store.py, please",
    "FAILED tests/test_store.py::test_keep - AssertionError: 3 != 4",
    "git commit --no-verify -m 'fix: the store'",
    "def keep_session(store, session_id=None): return store.keep(session_id)",
    "the the the fix fix",
    "Ärger mit Umlauten: naïve Résumés, ÉCOLE",
    "cafe\u0301 au lait",
    "データベースが見つかりません。再試行してください",
    "数据库连接失败:连接超时",
    "데이터베이스 오류",
    "ไม่พบไฟล์",
    "Ошибка: соединение разорвано; ЁЛКА",
    "done 🎉 ✓ 100% → ship it",
    "C++ and C# and .NET and a_b__c",
    "x86_64 1e5 0xff 3.14 v1.2.3-rc1 10,000",
    "https://example.org/a/b?c=d&e=%20f#g",
    "don't can't it's “quoted” text—with dashes",
    "a\nb\tc\r\nd\0e",
    "ﬁnal ｆｕｌｌｗｉｄｔｈ ² ½ Ⅷ",
    "हिन्दी में त्रुटि; שָׁלוֹם; مَرْحَبًا",
    "İstanbul ISPARTA ısı straße STRASSE",
    "",
    "word " * 300 + "tail",
)
QUERIES = (
    *("fix", "the fix", '"the store"', "store.py", "src/whet", "test_keep", "keep", "FAILED", "failed -keep"),
    *("--no-verify", "commit -verify", "fix*", "sto*", '"store ke"*', "session_id", "AssertionError", "3 4"),
    *("arger", "Ärger", "resumes", "ecole", "café", "cafe", "naive", "見つかり", "连接", "오류", "ไฟล์", "елка"),
    *("ошибка", "соедин*", "100", "ship it", "C++", "c", "net", "a_b", "b c", "x86", "1e5", "0xff", "3.14", "v1.2"),
    *("10,000", "example.org", "c=d", "20f", "don't", "it's", "quoted", "with dashes", "d e", "final", "fullwidth"),
    *("2", "त्रुटि", "שלום", "مرحبا", "istanbul", "isparta", "ısı", "strasse", "straße", "tail", "word -tail", "zzz"),
    *("AND", "OR not", "NEAR(fix the)", "fix AND the", "st?re", "s%", "🎉", "→", "::", "ailin", "-m", "' OR 1=1 --"),
)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, postgres_url: str) -> Iterator[tuple[Database, Database]]:
    """The same corpus in each database."""
    folder = tmp_path_factory.mktemp("agreement")
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA agreement")
    url = f"{postgres_url}&options=-csearch_path%3Dagreement"
    with opened(Home(folder / "sqlite")) as sqlite, opened(Home(folder / "postgres", url)) as postgres:
        fill(sqlite)
        fill(postgres)
        yield sqlite, postgres
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA agreement CASCADE")


def fill(database: Database) -> None:
    for number, text in enumerate(TEXTS):
        parts = (Text(text), ToolCall("c", "Bash")) if number % 4 == 0 else (Text(text),)
        role = Role.AGENT if number % 3 else Role.USER
        messages = (Message(role=role, parts=parts, trust=Trust.USER, at=100.0 + number),)
        value = Transcript(
            source="pi" if number % 2 else "codex",
            native_id=str(number),
            messages=messages,
            model=f"model-{number % 3}",
            folder=f"/w/app{number % 2}",
            ended=100.0 + number,
        )
        sessions.keep(database, prepare(value), Provenance(f"/{number}", 1.0, 2.0))


def found(database: Database, asked: str, filters: Filters, role: str) -> list[tuple[str, int, str]] | str:
    try:
        hits = search(database, asked, filters=filters, role=role, limit=100)
    except WhetError as error:
        return error.message
    return sorted((hit.session_id, hit.position, hit.snippet) for hit in hits)


FILTERS = (
    Filters(),
    Filters(source="pi"),
    Filters(model="MODEL-1"),
    Filters(folder="/w/app0"),
    Filters(tool="Bash"),
    Filters(since=103.0, until=115.0),
)


@pytest.mark.parametrize("asked", QUERIES)
def test_every_query_has_the_same_hits_in_both(both: tuple[Database, Database], asked: str) -> None:
    sqlite, postgres = both
    for filters in FILTERS:
        for role in ("", "user"):
            assert found(sqlite, asked, filters, role) == found(postgres, asked, filters, role)


@given(st.lists(st.sampled_from([*" \"*-/._'é見", "the", "fix", "store", "c", "ñ", "Ⅷ", "f", "st", "1"]), max_size=8))
@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_query_has_the_same_hits_in_both(both: tuple[Database, Database], pieces: list[str]) -> None:
    sqlite, postgres = both
    asked = "".join(pieces)
    assert found(sqlite, asked, Filters(), "") == found(postgres, asked, Filters(), "")
