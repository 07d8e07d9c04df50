"""Cases of other programs: what of one could be taken over, and what could not."""

import re
from typing import NamedTuple

from whet.trials.cases import NAME, Case

LONGEST_NAME = 80


class ReadCase(NamedTuple):
    """A case that was read, None where it cannot be one of ours; and what of it was left out."""

    name: str
    case: Case | None
    left_out: tuple[str, ...] = ()


class WrittenCase(NamedTuple):
    """The files of a case in another form, by their paths, none where it has no counterpart; and what was left out."""

    files: dict[str, str]
    left_out: tuple[str, ...] = ()


def plain_case_name(text: str) -> str:
    """A name that a case can have."""
    plain = re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-._")[:LONGEST_NAME]
    return plain if NAME.fullmatch(plain) else "case"
