"""The rows of a check-up: what was looked at, how it stands, and what to do where it is not in order."""

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from whet.store.home import Home


class Health(StrEnum):
    """How a thing stands. A warning leaves everything working; a failure does not."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


class CheckupRow(NamedTuple):
    """One thing that was looked at; one that is not in order names its fix."""

    name: str
    health: Health
    text: str
    fix: str = ""


class CheckupPlace(NamedTuple):
    """Where a check-up looks: the home, the person's own folder, the environment and the time.

    `progress` hears what is being looked at, and of what takes long, how far it is.
    """

    home: Home
    person: Path
    environment: Mapping[str, str]
    now: float
    progress: Callable[[str], None] = lambda _: None


Rows = Iterator[CheckupRow]


def ok(name: str, text: str) -> CheckupRow:
    return CheckupRow(name, Health.OK, text)


def warning(name: str, text: str, fix: str) -> CheckupRow:
    return CheckupRow(name, Health.WARNING, text, fix)


def failed(name: str, text: str, fix: str) -> CheckupRow:
    return CheckupRow(name, Health.FAILED, text, fix)
