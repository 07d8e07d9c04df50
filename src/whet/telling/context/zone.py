"""The time zone that this machine's clock shows."""

from collections.abc import Mapping
from pathlib import Path

from whet.errors import WhetError
from whet.own.jobs.job import zone_of

LINK = Path("/etc/localtime")
FOLDER = "zoneinfo/"


def local_zone(variables: Mapping[str, str], link: Path = LINK) -> str:
    """Its name as schedules write it; UTC where it has none."""
    named = variables.get("TZ", "").removeprefix(":")
    linked = str(link.resolve()).rpartition(FOLDER)[2] if FOLDER in str(link.resolve()) else ""
    for name in (named, linked.removeprefix("posix/").removeprefix("right/")):
        if name and _is_zone(name):
            return name
    return "UTC"


def _is_zone(name: str) -> bool:
    try:
        zone_of(name)
    except WhetError:
        return False
    return True
