"""Each analysis in short: what counts need of it, kept beside it, so that all sessions are counted in a moment."""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from whet.failures.analysis import Analysis, ModelUse
from whet.failures.signals import SHOWN
from whet.outcomes.deciding import Outcome
from whet.sessions.transcripts import Usage
from whet.store.database import Database
from whet.store.decoding import decoded_or_none
from whet.values import Value

PAGE = 200

IN_SHORT = (
    """CREATE TABLE analyses_in_short (
        session {number} PRIMARY KEY REFERENCES analyses (session) ON DELETE CASCADE,
        record {bytes} NOT NULL
    )""",
)
IN_SHORT_OF_A_TEAM = (
    # Whoever may write analyses may write these, so that a team goes on after its owner has migrated.
    """DO $$ DECLARE member TEXT; BEGIN
        FOR member IN SELECT DISTINCT grantee FROM information_schema.role_table_grants
            WHERE table_schema = current_schema() AND table_name = 'analyses' AND privilege_type = 'INSERT'
            AND grantee NOT IN (current_user, 'PUBLIC')
        LOOP
            EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON analyses_in_short TO %I', member);
        END LOOP;
    END $$""",
)
IN_SHORT_OF_ITS_MAKER = (
    # What stands beside an analysis speaks of its session: nobody writes it but whoever made the analysis.
    """CREATE FUNCTION keep_to_its_maker() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
    DECLARE maker TEXT; BEGIN
        EXECUTE format('SELECT maker FROM %I.analyses WHERE session = $1', tg_table_schema) INTO maker
            USING new.session;
        IF maker NOT IN ('', session_user) THEN RETURN NULL; END IF;
        RETURN new;
    END $$""",
    """CREATE TRIGGER analyses_in_short_have_a_maker BEFORE INSERT OR UPDATE ON analyses_in_short
    FOR EACH ROW EXECUTE FUNCTION keep_to_its_maker()""",
)


class ToolFact(Value, frozen=True, array_like=True, gc=False):
    """How often a session called one tool, and how many of the calls failed."""

    tool: str
    calls: int
    failed: int


class AnalysisInShort(Value, frozen=True, array_like=True, gc=False):
    """What was found in a session, without the places where it was found."""

    reasons: tuple[str, ...]  # before the session is compared with others
    backed: bool
    copied: bool  # nothing in it is its own
    decisive_step: int | None
    kinds: tuple[str, ...]
    tools: tuple[ToolFact, ...]
    cache_written: int = 0
    cache_written_hour: int = 0
    copied_messages: int = 0
    copied_usage: Usage = Usage()
    others: tuple[ModelUse, ...] = ()


class ShortRow(NamedTuple):
    """An analysis in short as it is kept."""

    session: int
    record: bytes


def in_short(analysis: Analysis) -> AnalysisInShort:
    """What counts need of an analysis."""
    tools: dict[str, list[int]] = {}
    for exchange in analysis.exchanges:
        counts = tools.setdefault(exchange.tool, [0, 0])
        counts[0] += 1
        counts[1] += exchange.outcome is Outcome.FAILED
    return AnalysisInShort(
        reasons=analysis.weighed.reasons,
        backed=analysis.backed,
        copied=analysis.copied.whole,
        decisive_step=analysis.decisive_step,
        kinds=tuple(sorted({signal.kind for signal in analysis.signals if signal.confidence >= SHOWN})),
        tools=tuple(ToolFact(tool, calls, failed) for tool, (calls, failed) in tools.items()),
        cache_written=analysis.cache_written,
        cache_written_hour=analysis.cache_written_hour,
        copied_messages=analysis.copied.messages,
        copied_usage=analysis.copied.usage,
        others=analysis.others,
    )


def keep_in_short(database: Database, session: int, analysis: Analysis) -> None:
    """Keep it beside its analysis, with which it goes."""
    _insert(database, [ShortRow(session, msgspec.json.encode(in_short(analysis)))])


def shorten(database: Database) -> int:
    """Put beside every analysis what an earlier version did not keep; how many there were."""
    missing = [session for (session,) in database.query(MISSING)]
    for start in range(0, len(missing), PAGE):
        numbers = missing[start : start + PAGE]
        places = ", ".join("?" * len(numbers))
        rows = database.query(f"SELECT session, record FROM analyses WHERE session IN ({places})", numbers)
        read = [(session, decoded_or_none(record, Analysis)) for session, record in rows]
        with database.writing():
            _insert(database, [ShortRow(no, msgspec.json.encode(in_short(found))) for no, found in read if found])
    return len(missing)


def _insert(database: Database, rows: Iterable[ShortRow]) -> None:
    database.many(
        "INSERT INTO analyses_in_short (session, record) SELECT session, ? FROM analyses WHERE session = ?"
        " ON CONFLICT (session) DO UPDATE SET record = excluded.record",
        [(record, session) for session, record in rows],
    )


MISSING = """
    SELECT a.session FROM analyses AS a LEFT JOIN analyses_in_short AS i ON i.session = a.session
    WHERE i.session IS NULL ORDER BY a.session
"""
