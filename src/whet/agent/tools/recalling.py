"""Earlier sessions, searched by their words."""

import datetime
from typing import Annotated

from msgspec import Meta

from whet.agent.tools.situation import Given, Occasion
from whet.sessions.trust import Trust
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
    # Whose words they were there is lost here; and they may be of another project, or another person's.
    return Given("\n".join(_line(hit) for hit in hits), trust=Trust.EXTERNAL)


def _line(hit: Hit) -> str:
    day = datetime.datetime.fromtimestamp(hit.at, datetime.UTC).strftime("%Y-%m-%d") if hit.at else "undated"
    return f"{hit.session_id[:12]} {day} {hit.role} in “{hit.title[:60]}”: {hit.snippet}"
