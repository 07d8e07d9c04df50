"""Names of tools in one spelling."""

import re
from functools import lru_cache

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BREAK = re.compile(r"[^A-Za-z0-9]+")


@lru_cache(maxsize=4096)
def plain_name(name: str) -> str:
    """The tool's own name in one spelling: without server, namespace, capitals and hyphens."""
    own = name.rsplit("__", 1)[-1]
    own = re.split(r"[.:/]", own)[-1] or own
    return _BREAK.sub("_", _CAMEL.sub("_", own[:120])).strip("_").lower()
