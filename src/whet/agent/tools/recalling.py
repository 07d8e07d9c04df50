"""Earlier sessions, searched by their words."""

import datetime
from typing import Annotated

from msgspec import Meta

from whet.agent.tools.situation import Given, Occasion
from whet.sessions.trust import Trust, lowest
from whet.store.opening import opened
from whet.store.search import Hit, search


def session_search(
    occasion: Occasion,
    *,
    query: Annotated[str, Meta(min_length=1, description='words that must all occur; "a phrase" in quotes')],
    limit: Annotated[int, Meta(ge=1, le=50)] = 8,
) -> Given:
    """Search earlier sessions."""
    with opened(occasion.situation.home) as database:
        hits = search(database, query, limit=limit)
    if not hits:
        return Given("[nothing found]", trust=Trust.AGENT)
    # What was said in a session is quoted here, and is worth no more than it was there.
    trust = min(Trust.TOOL, lowest(hit.message.trust for hit in hits))
    return Given("\n".join(_line(hit) for hit in hits), trust=trust)


def _line(hit: Hit) -> str:
    day = datetime.datetime.fromtimestamp(hit.at, datetime.UTC).strftime("%Y-%m-%d") if hit.at else "undated"
    return f"{hit.session_id[:12]} {day} {hit.role} in “{hit.title[:60]}”: {hit.snippet}"
