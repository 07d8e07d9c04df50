"""Where a text came from, and so how far it may be believed."""

import functools
from collections.abc import Iterable
from enum import IntEnum

FOREIGN_WORDS = (
    "web",
    "fetch",
    "browse",
    "browser",
    "http",
    "url",
    "email",
    "inbox",
    "slack",
    "crawl",
    "scrape",
)


class Trust(IntEnum):
    """Ordered, so that the trust of a derived text is the `min` of its lineage."""

    EXTERNAL = 0
    TOOL = 1
    AGENT = 2
    USER = 3
    OPERATOR = 4

    @property
    def label(self) -> str:
        """The word for it in commands, tables and pages."""
        return self.name.lower()


def lowest(lineage: Iterable[Trust]) -> Trust:
    """The trust of a text made from others; a text made from nothing known is external."""
    return min(lineage, default=Trust.EXTERNAL)


@functools.lru_cache(maxsize=1024)
def trust_of_tool(name: str) -> Trust:
    """The trust of a tool's result: external when it carries what strangers wrote, else tool.

    Tools of MCP servers are always external, for nobody here can tell what they fetch.
    """
    lowered = name.lower()
    if lowered.startswith("mcp") or "__" in lowered:
        return Trust.EXTERNAL
    words = lowered.replace("-", "_").split("_")
    foreign = any(word in FOREIGN_WORDS for word in words) or lowered.startswith(("web", "browser", "google"))
    return Trust.EXTERNAL if foreign else Trust.TOOL
