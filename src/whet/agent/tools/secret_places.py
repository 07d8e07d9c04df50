"""Where programs keep keys, passwords and what was typed, on this machine."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from whet.shipped.data import secret_places as table

# Programs look in another folder for what they keep there, where the variable says so.
MOVED = (("XDG_CONFIG_HOME", ".config/"), ("XDG_DATA_HOME", ".local/share/"), ("XDG_STATE_HOME", ".local/state/"))


def secret_places(environment: Mapping[str, str], folder: Path) -> Iterator[Path]:
    """Every place that neither tools nor commands may see, whether or not something is there.

    A variable that names the working folder, or one around it, hides nothing.
    """
    own = Path(environment.get("HOME") or os.path.expanduser("~"))
    for place, _ in table():
        if place.startswith("$"):
            for path in _named(place, environment):
                if path != folder and path not in folder.parents and not path.is_relative_to("/dev"):
                    yield path
            continue
        yield own / place
        for name, usual in MOVED:
            if place.startswith(usual) and environment.get(name):
                yield Path(environment[name]) / place.removeprefix(usual)


def _named(place: str, environment: Mapping[str, str]) -> Iterator[Path]:
    name, _, part = place.removeprefix("$").partition("/")
    for each in environment.get(name, "").removeprefix("FILE:").split(os.pathsep):
        if each.startswith("/"):
            yield Path(each) / part
