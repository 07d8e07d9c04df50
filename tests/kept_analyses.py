"""The kept analyses of stored sessions with what each cost, as tests look at them."""

from collections.abc import Iterator
from typing import NamedTuple

from whet.store.database import Database
from whet.store.listing import Filters, conditions
from whet.store.rows import decoded_or_none
from whet.trouble.outcomes.view import Analysis


class JudgedSession(NamedTuple):
    """An analysed session with what it cost."""

    analysis: Analysis
    tokens: int
    is_own: bool  # whether this member wrote the session, and what was found in it


def judged(database: Database, filters: Filters) -> Iterator[JudgedSession]:
    """The analyses of all sessions that match; one that is nothing but a copy is not among them."""
    where, parameters = conditions(filters._replace(without_own_work=True))
    rows = database.query(
        "SELECT d.record, s.input_tokens + s.output_tokens, s.maker, d.maker FROM derived AS d"
        f" JOIN sessions AS s ON s.no = d.session WHERE d.kind = 'analysis' AND {where} ORDER BY s.no",
        parameters,
    )
    for record, tokens, *makers in rows:
        is_own = database.dialect == "sqlite" or {*makers} <= {"", database.member}
        analysis = decoded_or_none(record, Analysis)
        if analysis is not None and not analysis.copied.whole:
            yield JudgedSession(analysis, tokens - analysis.copied.tokens, is_own)
