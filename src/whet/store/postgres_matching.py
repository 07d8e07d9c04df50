"""Matches in Postgres: the newest that the text vectors and the filters let through."""

from whet.store.database import Database, Row
from whet.store.listing import Filters
from whet.store.narrowing import of_message
from whet.store.queries import Query, for_postgres

# Only the newest are ranked: Postgres would else rank every match before it sorts them.
NEWEST = """
    WITH asked AS (SELECT CAST(? AS tsquery) AS query), newest AS (
        SELECT m.no, i.words FROM asked, message_index AS i
        JOIN messages AS m ON m.no = i.message JOIN sessions AS s ON s.no = m.session
        WHERE i.words @@ asked.query AND {where} ORDER BY m.no DESC LIMIT ?
    )
    SELECT newest.no, ts_rank(newest.words, asked.query, 1) FROM newest, asked
"""


def newest(database: Database, query: Query, filters: Filters, role: str, *, limit: int) -> list[Row]:
    """The newest messages that match, each with its score."""
    where, parameters = of_message(filters, role)
    return database.query(NEWEST.format(where=where), (for_postgres(query), *parameters, limit))
