"""The filters of a search as SQL: of the sessions `s` that may hold a hit, and of the messages `m`."""

from typing import NamedTuple

from whet.store.listing import Filters, conditions


class Condition(NamedTuple):
    """A condition in SQL with its parameters."""

    sql: str
    parameters: list[object]


def of_session(filters: Filters) -> Condition:
    """Which sessions may hold a hit, as far as the session's own columns tell."""
    where, parameters = conditions(filters._replace(tool="", until=None))
    if filters.until is None:
        return Condition(where, parameters)
    return Condition(f"{where} AND (s.started IS NULL OR s.started < ?)", [*parameters, filters.until])


def of_message(filters: Filters, role: str = "") -> Condition:
    """Which messages may be hits; tool and time narrow the messages and not only their sessions."""
    where, parameters = conditions(filters._replace(tool="", since=None, until=None))
    clauses = [where]
    for clause, value in (
        ("m.role = ?", role or None),
        ("EXISTS (SELECT 1 FROM uses AS u WHERE u.message = m.no AND u.tool = ?)", filters.tool or None),
        ("coalesce(m.at, s.dated) >= ?", filters.since),
        ("coalesce(m.at, s.dated) < ?", filters.until),
    ):
        if value is not None:
            clauses.append(clause)
            parameters.append(value)
    return Condition(" AND ".join(clauses), parameters)
