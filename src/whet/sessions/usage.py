"""Tokens, added up."""

from collections.abc import Iterable

from whet.sessions.transcripts import Usage


def total(usages: Iterable[Usage | None]) -> Usage:
    """The sum of usages; its cost is unknown where none of them has one."""
    known = [usage for usage in usages if usage is not None]
    costs = [usage.cost_dollars for usage in known if usage.cost_dollars is not None]
    return Usage(
        input=sum(usage.input for usage in known),
        output=sum(usage.output for usage in known),
        cached=sum(usage.cached for usage in known),
        cache_written=sum(usage.cache_written for usage in known),
        cache_written_hour=sum(usage.cache_written_hour for usage in known),
        cost_dollars=sum(costs) if costs else None,
    )


def without(usage: Usage, part: Usage) -> Usage:
    """What is left of a usage when a part of it is counted elsewhere."""
    dollars = usage.cost_dollars
    return Usage(
        input=max(usage.input - part.input, 0),
        output=max(usage.output - part.output, 0),
        cached=max(usage.cached - part.cached, 0),
        cache_written=max(usage.cache_written - part.cache_written, 0),
        cache_written_hour=max(usage.cache_written_hour - part.cache_written_hour, 0),
        cost_dollars=None if dollars is None else max(dollars - (part.cost_dollars or 0.0), 0.0),
    )
