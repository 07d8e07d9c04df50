"""Guidance that a person wrote in the home: texts that are told in the place of those that ship, or beside them."""

from whet.store import files
from whet.store.home import Home

GUIDANCE = "guidance"
SUFFIX = ".md"


def guidance_texts(home: Home, *folders: str) -> dict[str, str]:
    """The texts in the folder for guidance, or in one within it, by their names."""
    place = (GUIDANCE, *folders)
    found = files.entries(files.beneath(home.folder, *place))
    names = [entry.name for entry in found if entry.kind == "file" and entry.name.endswith(SUFFIX)]
    return {name.removesuffix(SUFFIX): text_in(home, *place, name) for name in names}


def text_in(home: Home, *names: str) -> str:
    """The text of a file in the home; empty where there is none."""
    place = files.beneath(home.folder, *names)
    return files.decoded(files.read(place) or b"", place.path).removeprefix("\ufeff")
